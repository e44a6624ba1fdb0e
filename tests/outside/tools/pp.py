import re, difflib, subprocess
def select(text, n):
    """text as the preprocessor sees it, for conditionals on MISTAKE alone"""
    out=[]; stack=[]  # (is_mistake, taken_before, active)
    def active(): return all(s[2] for s in stack)
    def ev(e):
        e=re.sub(r'/\*.*?\*/','',e); e=re.sub(r'//.*','',e)
        e=e.replace('defined(MISTAKE)','1' if n else '0').replace('defined MISTAKE','1' if n else '0')
        e=re.sub(r'\bMISTAKE\b',str(n),e).replace('||',' or ').replace('&&',' and ').replace('!=','<>').replace('!',' not ').replace('<>','!=')
        return bool(eval(e))
    for line in text.split('\n'):
        s=line.strip()
        m=re.match(r'#\s*(if|ifdef|ifndef|elif|else|endif|define|undef)\b(.*)',s)
        if m and m[1] in('if','ifdef','ifndef'):
            mine='MISTAKE' in m[2]
            if mine:
                if m[1]=='if': v=ev(m[2])
                elif m[1]=='ifdef': v=bool(n)
                else:
                    v=False  # ifndef MISTAKE: default definition
                stack.append([True,v,v]); continue
            stack.append([False,False,True])
        elif m and m[1]=='elif' and stack and stack[-1][0]:
            v=not stack[-1][1] and ev(m[2]); stack[-1][2]=v; stack[-1][1]=stack[-1][1] or v; continue
        elif m and m[1]=='else' and stack and stack[-1][0]:
            stack[-1][2]=not stack[-1][1]; continue
        elif m and m[1]=='endif':
            t=stack.pop()
            if t[0]: continue
        elif m and m[1]=='define' and re.match(r'\s*MISTAKE\b',m[2]): continue
        if active(): out.append(line)
    return '\n'.join(out)
def fold(text):
    return re.sub(r'\n{3,}','\n\n',text)
def fmt(text, root):
    return subprocess.run(['clang-format','--assume-filename='+root+'/tests/gate/x.c'],input=text,capture_output=True,text=True,cwd=root,check=True).stdout
def pairs(right, wrong):
    a=right.split('\n'); b=wrong.split('\n'); res=[]
    ops=[o for o in difflib.SequenceMatcher(None,a,b,autojunk=False).get_opcodes() if o[0]!='equal']
    # join near hunks
    merged=[]
    for o in ops:
        if merged and o[1]-merged[-1][1]<=2: merged[-1]=[merged[-1][0],o[2],merged[-1][2],o[4]]
        else: merged.append([o[1],o[2],o[3],o[4]])
    for i1,i2,j1,j2 in merged:
        lo,hi=0,0
        while True:
            ra=a[max(0,i1-lo):i2+hi]; rb=b[max(0,j1-lo):j2+hi]
            t='\n'.join(ra)
            if ra and t.strip() and right.count(t)==1: break
            if lo<=hi and i1-lo>0: lo+=1
            else: hi+=1
            if hi>60: raise SystemExit('no unique')
        res.append((t,'\n'.join(rb)))
    return res
