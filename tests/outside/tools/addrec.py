import sys,re,pathlib,os
sys.path.insert(0,'/work/m'); from pp import pairs
os.chdir('/work/wt/next')
recs=[('double',2,'WIDTH-1','Last incomplete block of 64 of a half left out','d_v from 129 on'),
('double',4,'WIDTH-1','Odd d from 64 on loses its last number','an odd d from 65 on'),
('double',11,'WIDTH-1','Both groups have d_v / 2 rounded down','an odd d_v'),
('double',13,'WIDTH-1','Merge of 256 threads','d_v above 256'),
('latent_merged',4,'CONV-13','kpe has 64 numbers at most','d - d_v above 64'),
('two_stages',2,'CONV-13','BLOCK_DPE = 64 fixed','d more than 64 above a power of two'),
('token_scales',14,'TPP-5','First tile of heads as short as the last one','a group above 16 with 1 to 7 heads left over')]
for k,n,clause,what,shows in recs:
    p=pathlib.Path(f'tests/faults/tests/gate/width_{k}.c.faults'); s=p.read_text()
    right=pathlib.Path(f'tests/gate/width_{k}.c').read_text(); wrong=pathlib.Path(f'/work/m/ow-src/twins/width_{k}.{n}.c').read_text()
    # drop the comment
    head,rest=s.split('\n\n',1)
    parts=re.split(r'(?m)^(?=# Not found by the default tier: )',head)
    keep=[x for x in parts if not x.startswith('# Not found by the default tier: '+what[:18])]
    assert len(keep)==len(parts)-1,(k,n,[x[:60] for x in parts])
    head=''.join(keep).rstrip('\n')
    slug=re.sub(r'[^a-z0-9]+','-',what.lower()).strip('-')[:48].strip('-')
    rec=f'# {what}. Shows: {shows}.\nfault: width-{k.replace("_","-")}-{n}-{slug}\nclause: {clause}\ngate: itself\n'
    for a,b in pairs(right,wrong): rec+=f'---- right\n{a}\n---- wrong\n{b}\n'
    rec+='----\n'
    # place in order of numbers
    blocks=re.split(r'(?m)^(?=# .*(?:\n# .*)*\nfault: )',rest)
    out=[];done=False
    for b in blocks:
        m=re.search(r'fault: width-[a-z-]+-(\d+)-',b)
        if m and int(m[1])>n and not done: out.append(rec+'\n'); done=True
        out.append(b)
    if not done: out.append('\n'+rec)
    p.write_text(head+'\n\n'+''.join(out))
