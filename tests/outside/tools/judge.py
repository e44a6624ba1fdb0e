"""judge.py LOG JOBS PATTERN... : twins/NAME.N.c; N = 0 by all cases, others --first"""
import sys,re,subprocess,pathlib,os,time,concurrent.futures as cf,fnmatch
log,jobs,pats=sys.argv[1],int(sys.argv[2]),sys.argv[3:]
ROOT='/work/wt/ow'; os.makedirs('so',exist_ok=True)
def one(f):
    so=f'so/{f.stem}.so'
    c=subprocess.run(['nice','gcc','-std=c11','-O1','-ffp-contract=off','-shared','-fPIC','-w',*[f'-I{ROOT}/{x}' for x in('include','.','ref','tests','tests/gate')],'-o',so,str(f),f'{ROOT}/build/gcc/libchunkproof.a','-lm'],capture_output=True,text=True)
    if c.returncode: return f.stem,'COMPILE',c.stderr[:300],0
    zero=f.stem.endswith('.0'); t=time.time()
    try: r=subprocess.run(['nice','-n','10',f'{ROOT}/build/gcc/chunkproof','gate','--kernel',so]+([] if zero else ['--first']),capture_output=True,text=True,timeout=1200)
    except subprocess.TimeoutExpired: return f.stem,'TIMEOUT','',1200
    L=[l for l in (r.stdout+r.stderr).splitlines() if l.strip()]
    pathlib.Path('said').mkdir(exist_ok=True); pathlib.Path(f'said/{f.stem}').write_text(r.stdout+r.stderr)
    return f.stem,{0:'right',1:'wrong'}.get(r.returncode,r.returncode),(L[-1] if L else '')[:150],time.time()-t
fs=[f for p in pats for f in sorted(pathlib.Path('twins').glob(p+'.c'),key=lambda f:(f.stem.split('.')[0],int(f.stem.split('.')[1])))]
done=set()
if os.path.exists(log): done={l.split()[0] for l in open(log)}
fs=[f for f in fs if f.stem not in done]
with cf.ThreadPoolExecutor(jobs) as ex, open(log,'a') as o:
    fut={ex.submit(one,f):f for f in fs}
    for x in cf.as_completed(fut):
        s,v,t,d=x.result(); bad='' if (v=='right')==s.endswith('.0') and v in('right','wrong') else ' <<<'
        print(s,v,f'{d:.0f}s',t,bad,file=o,flush=True)
print('done')
