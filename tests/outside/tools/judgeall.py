"""judgeall.py OUT TREE [FILE...]: right kernels by 400 cases, twins by --first. Results to OUT/judged.txt"""
import sys, pathlib, re, subprocess, concurrent.futures as cf, os
sys.path.insert(0,'/work/m'); 
out=pathlib.Path(sys.argv[1]); tree=pathlib.Path(sys.argv[2]); only=sys.argv[3:]
bt='/work/m/jb_'+out.name; os.makedirs(bt,exist_ok=True)
gate=[str(tree/'build/gcc/chunkproof'),'gate']
def one(f,n):
    so=f'{bt}/{f.stem}.{n}.so'
    c=subprocess.run(['nice','gcc','-std=c11','-O2','-w','-shared','-fPIC','-DMISTAKE='+str(n),'-I',str(tree/'include'),'-o',so,str(f),str(tree/'build/gcc/libchunkproof.a'),'-lm'],capture_output=True,text=True)
    if c.returncode: return f.stem,n,'COMPILE',c.stderr[:300]
    cmd=['nice']+gate+['--kernel',so]+(['--first'] if n else [])
    try: r=subprocess.run(cmd,capture_output=True,text=True,timeout=900)
    except subprocess.TimeoutExpired: return f.stem,n,'TIMEOUT',''
    lines=[l for l in (r.stdout+r.stderr).splitlines() if l.strip()]
    text=next((l for l in lines if 'must be' in l or 'differs' in l or 'written' in l or 'read ' in l or 'ended' in l),lines[-1] if lines else '')
    return f.stem,n,{0:'right',1:'wrong',2:'none'}.get(r.returncode,r.returncode),text[:200]+(' || '+lines[-1][:200] if r.returncode!=1 else '')
jobs=[]
for f in sorted(out.glob('*.c')):
    if only and f.stem not in only: continue
    ns=sorted({int(x) for x in re.findall(r'MISTAKE\s*[=!]=\s*(\d+)',f.read_text())}|{0})
    jobs+=[(f,n) for n in ns]
res=[]
with cf.ThreadPoolExecutor(2) as ex, open(out/'judged.txt','a') as log:
    for r in ex.map(lambda j: one(*j), jobs):
        flag='' if (r[1]==0 and r[2]=='right') or (r[1] and r[2]=='wrong') else ' <<<'
        print(*r,flag,file=log,flush=True)
        if flag: print(*r,flag,flush=True)
print('done',len(jobs))
