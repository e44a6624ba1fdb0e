import sys, re, pathlib, subprocess, textwrap
sys.path.insert(0,'/work/m/outside/tools')
from pp import select, fmt, fold
import difflib
ROOT='/work/wt/ow'
NAMES={'masks':dict(deft_columns='mask_columns',eagle_verify='mask_verify',flashinfer_prefill='mask_prefill',flex_blocks='mask_blocks',gather_keys='mask_gathered',ggml_softmax='mask_softmax',lists_two_phase='mask_lists',split_decode='mask_splits',trt_packed='mask_packed',two_phase_bits='mask_two_phase',vllm_tree='mask_tree',window_ranges='mask_ranges'),
'widths':dict(ck_gqa_widths='width_groups',fa3_varlen='width_ragged',flashinfer_mla='width_latent_merged',flashmla_576='width_latent_tiles',fp8_tensor_mla='width_tensor_scale',fp8_token_mla='width_token_scales',packed_vllm='width_packed',splitkv_triton='width_two_stages',two_phase_mla='width_two_phase',wide_values_fp64='width_double',window_sink_widths='width_windows')}
M='MASK-1'
def cl(base,**kw):
    return base,{int(k[1:]):v.replace('_','-') for k,v in kw.items()}
CL={
'deft_columns':cl(M,_1='PREFILL-1',_2='WINDOW-1',_9='RUNS-1',_11='RUNS-1',_16='MERGE-2',_18='PREFILL-3'),
'eagle_verify':cl(M,_2='GATE-3',_13='PREFILL-2',_14='MERGE-2',_15='MERGE-2',_16='MERGE-2',_18='PREFILL-3'),
'flashinfer_prefill':cl(M,_8='PREFILL-2',_9='PREFILL-3',_17='MERGE-1',_18='MERGE-2'),
'vllm_tree':cl(M,_1='PREFILL-3',_7='WINDOW-1',_8='WINDOW-1',_12='SCORE-4',_13='MERGE-1',_14='MERGE-2',_15='MERGE-2',_16='MERGE-2',_17='PREFILL-3'),
'trt_packed':cl(M,_2='WINDOW-1',_13='MERGE-2',_17='PREFILL-3',_18='MERGE-4',_19='PREFILL-3'),
'two_phase_bits':cl(M,_1='PREFILL-4',_2='MASK-3',_3='MASK-2',_4='MASK-2',_5='MASK-2',_6='MASK-3',_9='MERGE-1',_10='MERGE-2',_11='MERGE-2',_12='MERGE-2',_13='MASK-3',_14='MASK-3',_15='MASK-3',_16='PREFILL-3',_17='MASK-3',_18='PREFILL-3'),
'split_decode':cl(M,_7='GATE-3',_9='PREFILL-3',_10='MERGE-1',_11='MERGE-2',_12='MERGE-2',_13='MERGE-2',_16='PREFILL-2',_17='MERGE-7',_18='MERGE-4'),
'window_ranges':cl(M,_1='MERGE-2',_2='MERGE-2',_4='WINDOW-1',_6='MASK-2',_7='MASK-2',_8='MASK-2',_9='CONV-6',_10='WINDOW-2',_11='RUNS-1',_13='WINDOW-1',_15='MASK-2',_16='WINDOW-1',_17='PREFILL-3'),
'flex_blocks':cl(M,_1='WINDOW-1',_13='MERGE-2',_16='CONV-11',_18='CONV-2'),
'ggml_softmax':cl(M,_1='PREFILL-3',_7='SCORE-2',_8='SCORE-3',_9='SCORE-2',_10='SCORE-2',_11='SCORE-4',_12='SCORE-2',_14='CONV-9',_15='SCORE-3',_16='MERGE-2',_17='PREFILL-3',_18='SCORE-3'),
'lists_two_phase':cl(M,_1='MASK-2',_2='MASK-2',_4='MASK-2',_5='MASK-2',_6='MERGE-1',_7='MERGE-2',_8='MERGE-2',_9='MERGE-4',_10='MASK-4',_11='MASK-4',_12='RUNS-2',_13='MASK-3',_14='RUNS-1',_15='RUNS-1'),
'gather_keys':cl(M,_2='WINDOW-1',_14='GATE-14',_15='GATE-14',_18='PREFILL-3'),
'flashmla_576':cl('WIDTH-2',_1='GATE-10',_2='PREFILL-2',_3='SOFTMAX-1',_4='CONV-13',_5='MERGE-3',_7='SOFTMAX-2',_8='MERGE-3',_9='TPP-6',_11='GATE-3',_12='PREFILL-3',_13='PREFILL-3',_14='CONV-11',_15='CONV-11',_16='PREFILL-1'),
'splitkv_triton':cl('WIDTH-1',_2='SOFTMAX-1',_3='PREFILL-2',_4='MERGE-2',_5='CONV-13',_7='CONV-11',_9='MERGE-3',_10='PREFILL-2',_12='MERGE-7',_14='TPP-5'),
'two_phase_mla':cl('WIDTH-1',_1='GATE-3',_2='TPP-5',_3='GATE-10',_4='MERGE-2',_5='WIDTH-2',_7='MERGE-4',_8='TPP-1',_9='SOFTMAX-1',_11='PREFILL-4',_12='GATE-3',_13='PLAN-1',_14='PREFILL-4',_15='PREFILL-2'),
'ck_gqa_widths':cl('WIDTH-1',_2='TPP-6',_3='SOFTMAX-1',_6='CONV-13',_8='GATE-8',_9='WIDTH-2',_11='GATE-3',_12='MERGE-2',_14='RUNS-1',_15='WIDTH-2'),
'fp8_token_mla':cl('CONV-10',_1='NUM-16',_2='NUM-16',_5='MERGE-1',_6='MERGE-3',_7='TPP-6',_9='NUM-18',_12='NUM-18',_13='MERGE-7',_14='TPP-5',_15='CONV-11'),
'fp8_tensor_mla':cl('NUM-18',_2='SOFTMAX-1',_3='NUM-16',_4='NUM-16',_6='GATE-15',_8='TPP-6',_9='WIDTH-2',_10='MERGE-4',_11='MERGE-4',_12='WIDTH-1',_14='TPP-5',_15='TPP-5',_16='MERGE-7'),
'fa3_varlen':cl('WIDTH-1',_1='CONV-11',_4='TPP-6',_5='SOFTMAX-1',_6='MERGE-2',_8='MERGE-3',_10='GATE-3',_11='PREFILL-3',_12='MERGE-7',_13='PREFILL-1',_14='PREFILL-2',_15='PREFILL-2'),
'wide_values_fp64':cl('WIDTH-1',_3='GATE-15',_4='SOFTMAX-1',_5='GATE-15',_7='MERGE-3',_8='WIDTH-2',_9='CONV-11',_10='WIDTH-2',_16='GATE-15'),
'packed_vllm':cl('CONV-12',_3='WIDTH-1',_4='TPP-6',_5='CONV-13',_6='CONV-11',_7='TPP-6',_8='CONV-11',_11='CONV-13',_12='GATE-10',_13='TPP-5',_14='GATE-15',_15='WIDTH-1',_16='WIDTH-1'),
'window_sink_widths':cl('WINDOW-1',_1=M,_2=M,_4='CONV-6',_9='SCORE-3',_10='SCORE-3',_11='CONV-12',_12='SCORE-3',_13='MERGE-2',_14='PREFILL-3',_15='CONV-12',_16='CONV-9'),
'flashinfer_mla':cl('WIDTH-1',_1='GATE-10',_2='CONV-12',_3='SOFTMAX-1',_4='SOFTMAX-1',_5='SOFTMAX-1',_6='MERGE-3',_7='WIDTH-2',_8='WIDTH-2',_9='MERGE-4',_12='CONV-11',_13='TPP-5',_15='CONV-1',_16='CONV-1',_17='PREFILL-3'),
}
NOTFOUND=eval(open('notfound.py').read()) if pathlib.Path('notfound.py').exists() else {}
def words(kind):
    """{(stem, n): (what, when)}"""
    res={}; t=pathlib.Path(f'/work/m/outside/{kind}/LIST.md').read_text()
    if kind=='masks':
        for m in re.finditer(r'^- (\w+)\.c (\d+): (.*?) \| (?:.*) \| (.*?) \[\d+/\d+\]$',t,re.M):
            res[m[1],int(m[2])]=(m[3],m[4])
        return res
    stem=None
    for line in t.splitlines():
        if m:=re.match(r'## (\w+)\.c',line): stem=m[1]
        elif line.startswith('## '): stem=None
        elif stem and (m:=re.match(r'(\d+)\. (.*)',line)):
            x=m[2]
            x=re.sub(r' \([^()]*(?:class|cf\.|vLLM|FlashM|FlashA|TensorRT|FlashInfer|DeepSeek|ERRATA|MTP|VALID|kPad|FNUZ)[^()]*\)','',x)
            a,_,b=x.partition(': ')
            res[stem,int(m[1])]=(a,b.rstrip('.'))
    return res
OVER={('deft_columns',2):('rows taken to have no gaps, for the window','rows with gaps and a window'),
('eagle_verify',5):(None,'rows of a sequence with different begin'),
('lists_two_phase',5):(None,'chunks above 64 keys, first 64 masked: rare'),
('lists_two_phase',11):(None,'rows that differ'),
('two_phase_bits',8):(None,'first bit of a run not at a byte, or runs of 8 keys and more'),
('split_decode',4):(None,'begin(r) not at a multiple of 64'),
('split_decode',12):(None,'a split all masked beside others: NaN'),
('split_decode',13):(None,'a split all masked beside others'),
('flex_blocks',9):(None,'holes within a block'),
('gather_keys',16):(None,'more than 32 keys left, not a multiple of 32, with scores below about -10: rare'),
('vllm_tree',16):(None,'first tile all masked: a key of score 0 more'),
('vllm_tree',15):('maximum of a row whose first tile is all masked is 0 and stays 0',None),
('flex_blocks',13):('maximum of a partial block that is all masked for a row is 0 and stays',None),
('fp8_token_mla',1):('subnormal E4M3 become 0',None),
('flashmla_576',4):('scale 1/sqrt(576) instead of the call\'s',None),
}
def comment(what, when):
    what=what.rstrip('.'); what=what[0].upper()+what[1:]
    text=what+'.' + (f' Shows: {when}.' if when else '')
    return '\n'.join('# '+l for l in textwrap.wrap(text,96))
def slug(x): return re.sub(r'[^a-z0-9]+','-',x.lower()).strip('-')[:44].strip('-')
def prepare(text, kind, new):
    text=text.replace('#include "chunkproof/kernel.h"','#include <chunkproof/kernel.h>')
    assert text.count('#include <chunkproof/kernel.h>')==1
    text=re.sub(r'(?:#include <(?:math|string|stdint)\.h>\n)+\n#include <chunkproof/kernel.h>\n','#include "page_numbers.h"\n',text)
    assert 'page_numbers' in text
    text=re.sub(r'#define LOG2E 1\.4426950408889634f\n','',text)
    text=text.replace('MOST_D','WIDEST')
    for a,b in(('bf16','b'),('fp16','h')):
        text=text.replace(f'(float)cp_{a}_to_double(',f'{b}2f(').replace(f'cp_{a}_from_double(',f'f2{b}(')
    text=re.sub(r'#ifndef MISTAKE\n#define MISTAKE 0\n#endif\n\n?','',text)
    text=re.sub(r'(\.name = )"[^"]*"',lambda m:f'{m[1]}"{new.replace("_","-")}"',text)
    # head
    m=re.match(r'(/\* SPDX[^\n]*\n)/\* (.*?) \*/\n',text,re.S)
    body=re.sub(r'\n \* ?',' ',m[2])
    body+=' Somebody who had seen the header and the specification alone wrote it, with the mistakes that tests/faults/ makes of it.'
    lines=textwrap.wrap(body,95,break_on_hyphens=False)
    text=m[1]+'/* '+'\n * '.join(lines)+' */\n'+text[m.end():]
    return text
def final(x): return fmt(fold(x).rstrip('\n')+'\n',ROOT)
def occurs(s,t):
    """t in whole lines"""
    return s.count(t)
def apply(right,prs):
    t=right
    for a,b in prs:
        if t.count(a)!=1: return None
        t=t.replace(a,b)
    return t
def makepairs(right, wrong):
    a=right.split('\n'); b=wrong.split('\n')
    ops=[o for o in difflib.SequenceMatcher(None,a,b,autojunk=False).get_opcodes() if o[0]!='equal']
    H=[[o[1],o[2],o[3],o[4]] for o in ops]
    def join(gap):
        nonlocal H
        R=[]
        for h in H:
            if R and h[0]-R[-1][1]<=gap: R[-1]=[R[-1][0],h[1],R[-1][2],h[3]]
            else: R.append(list(h))
        H=R
    join(1)
    for _ in range(200):
        res=[];ok=True
        for k,h in enumerate(H):
            t='\n'.join(a[h[0]:h[1]])
            if t.strip() and right.count(t)==1 and h[3]>h[2]: continue
            # grow: alternately below and above, prefer the line before
            ok=False
            lo=h[0]>0; hi=h[1]<len(a)
            grow_lo = h.__len__()==4 or h[4]%2==1
            if len(h)==4: h.append(0)
            h[4]+=1
            if h[4]%2==1 and lo: h[0]-=1; h[2]-=1
            else: h[1]+=1; h[3]+=1
        H2=[]
        for h in H:
            if H2 and h[0]<=H2[-1][1]: H2[-1]=[H2[-1][0],max(h[1],H2[-1][1]),H2[-1][2],max(h[3],H2[-1][3])]
            else: H2.append(h)
        H=H2
        if ok: break
    prs=[('\n'.join(a[h[0]:h[1]]),'\n'.join(b[h[2]:h[3]])) for h in H]
    if apply(right,prs)==wrong: return prs
    # one change
    lo=min(h[0] for h in H);hi=max(h[1] for h in H);lo2=min(h[2] for h in H);hi2=max(h[3] for h in H)
    prs=[('\n'.join(a[lo:hi]),'\n'.join(b[lo2:hi2]))]
    assert apply(right,prs)==wrong,'pairs'
    return prs
def convert(kind, stem):
    new=NAMES[kind][stem]
    text=prepare(pathlib.Path(f'/work/m/ow-src/{kind}/{stem}.c').read_text(),kind,new)
    right=final(select(text,0))
    assert 'MISTAKE' not in right
    W=words(kind)
    ns=sorted(n for s,n in W if s==stem)
    have=sorted({int(x) for x in re.findall(r'MISTAKE\s*[=!]=\s*(\d+)',text)})
    if ns!=have: print('!!',stem,set(ns)^set(have))
    out=[f'# Faults of tests/gate/{new}.c, by its author, who had not seen the gate.','# What a record says: tests/faults/README.md.']
    nf=NOTFOUND.get(stem,{})
    if nf:
        for n,why in sorted(nf.items()):
            what=(OVER.get((stem,n),(None,))[0] or W[stem,n][0]).rstrip('.'); what=what if what.startswith('first(') else what[0].upper()+what[1:]
            out+=['\n'.join('# '+l for l in textwrap.wrap(f'Not found by the default tier: {what}. {why}',96))]
    wrongs={}
    for n in ns:
        wrong=final(select(text,n)); wrongs[n]=wrong
        assert 'MISTAKE' not in wrong and wrong!=right
        if n in nf: continue
        what,when=W[stem,n]
        ow=OVER.get((stem,n),(None,None)); what=ow[0] or what; when=ow[1] or when
        assert 'the same' not in (when or '')[:8] or (stem,n)==('fp8_token_mla',5) or print('SAME',stem,n,when)
        base,sp=CL[stem]
        rec=[ '', comment(what,when), f'fault: {new.replace("_","-")}-{n}-{slug(what)}', f'clause: {sp.get(n,base)}','gate: itself']
        for x,y in makepairs(right,wrong): rec+=['---- right',x,'---- wrong',y]
        rec+=['----']; out+=rec
    pathlib.Path(f'{ROOT}/tests/gate/{new}.c').write_text(right)
    pathlib.Path(f'{ROOT}/tests/faults/tests/gate/{new}.c.faults').write_text('\n'.join(out)+'\n')
    d=pathlib.Path(f'/work/m/ow-src/twins'); d.mkdir(exist_ok=True)
    for n,w in {0:right,**wrongs}.items(): (d/f'{new}.{n}.c').write_text(w)
    L=[l for x in out for l in x.split('\n') if len(l)>100]
    R=[l for l in right.split('\n') if len(l)>100]
    print(new,len(ns),len(right.split('\n')),sum(len(x.split('\n')) for x in out),'long:',len(L),len(R))
    for l in L+R: print('   ',l)
which=sys.argv[1:]
for kind in NAMES:
    for stem in NAMES[kind]:
        if which and kind not in which and stem not in which: continue
        try: convert(kind,stem)
        except Exception as e:
            import traceback; traceback.print_exc(); print('FAILED',stem)
