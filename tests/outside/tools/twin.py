"""twin.py TREE NAME... : writes TREE/tests/gate/_twin_NAME.c (removed by caller) compiled to /work/m/tw/NAME.so"""
import sys, pathlib, subprocess, os
tree=pathlib.Path(sys.argv[1]); names=sys.argv[2:]
os.makedirs('/work/m/tw', exist_ok=True)
recs={}
for f in (tree/'tests/faults/tests/gate').glob('*.faults'):
    cur=None; mode=None
    for line in f.read_text().splitlines():
        if line.startswith('fault: '): cur={'file': str(f.relative_to(tree/'tests/faults'))[:-7], 'pairs': []}; recs[line[7:]]=cur; mode=None
        elif line=='---- right': cur['pairs'].append([[],[]]); mode=0
        elif line=='---- wrong': mode=1
        elif line=='----': mode=None
        elif mode is not None: cur['pairs'][-1][mode].append(line)
for n in names:
    r=recs[n]; src=(tree/r['file']).read_text()
    for a,b in r['pairs']:
        a='\n'.join(a); b='\n'.join(b); assert src.count(a)==1,(n,a); src=src.replace(a,b)
    tmp=tree/'tests/gate'/f'_twin_{os.getpid()}.c'; tmp.write_text(src)
    o=subprocess.run(['gcc','-std=c11','-O2','-shared','-fPIC','-D_GNU_SOURCE','-I',str(tree/'include'),'-I',str(tree),'-I',str(tree/'tests'),'-I',str(tree/'ref'),'-o',f'/work/m/tw/{n}.so',str(tmp),str(tree/'build/gcc/libchunkproof.a'),'-lm'],capture_output=True,text=True)
    tmp.unlink(); print(n, 'ok' if o.returncode==0 else o.stderr[:300])
