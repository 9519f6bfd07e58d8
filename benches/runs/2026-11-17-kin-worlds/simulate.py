import json,sys,statistics as st
import numpy as np
worlds=[json.loads(l) for l in open(sys.argv[1]) if l.strip()]
worlds=[w for w in worlds if w["metric"] in ("pooled-r2","auc","class-accuracy")]
print(len(worlds),"worlds")
from collections import Counter
def best(rows):  # by cv
    ok=[r for r in rows if r[2] is not None and r[2]==r[2]]
    return max(ok,key=lambda r:r[2]) if ok else None
def fam(w,pred): return [r for r in w['rows'] if pred(r[0])]
def params(n): 
    return dict(p.split('=') for p in n.split(':')[1].split(','))
def kin(w,f):
    out=[]
    for r in w['rows']:
        if r[0].startswith('kin'):
            p=params(r[0]); 
            if f(int(float(p['k'])),float(p['common']),float(p['own'])): out.append(r)
    return out
def higher(w): return True
res={}
def add(name,w,row): res.setdefault(name,[]).append(float('nan') if row is None else row[4])
ks=[1,2,4];cs=[0,10,100,1000];os_=[0,10,100]
def walk(w,start,order,better,hop=2.0,rounds=2):
    axes={'k':ks,'c':cs,'o':os_}
    cache={}
    def get(pt):
        key=tuple(pt[a] for a in 'kco')
        if key not in cache:
            cache[key]=best(kin(w,lambda k,c,o:(k,c,o)==key))
        return cache[key]
    now=dict(start)
    def se(a,b):
        d=[x-y for x,y in zip(a[3],b[3]) if x is not None and y is not None]
        return np.std(d,ddof=1)/len(d)**.5 if len(d)>1 else 0
    for _ in range(rounds):
        before=dict(now)
        for a in order:
            vals=axes[a]; i=vals.index(now[a]); cur=get(now); tried=[]
            for rng in (range(i-1,-1,-1),range(i+1,len(vals))):
                for j in rng:
                    pt=dict(now);pt[a]=vals[j]; r=get(pt)
                    if r is None or cur is None: continue
                    tried.append((r,pt))
                    if r[2]-cur[2]<-hop*se(r,cur): break
            if tried:
                r,pt=max(tried,key=lambda t:t[0][2])
                if cur is None or r[2]-cur[2]>better*se(r,cur): now=pt
        if now==before: break
    return get(now),len(cache)
ncache=[]
for w in worlds:
    for n in ['stl','pooled']: add(n,w,best(fam(w,lambda x:x==n)))
    add('mtl',w,best(fam(w,lambda x:x.startswith('mtl'))))
    add('fmtl',w,best(kin(w,lambda k,c,o:c==0 and o==0)))
    add('kin full',w,best(kin(w,lambda k,c,o:True)))
    add('kin oracle C+all',w,max(kin(w,lambda *a:True),key=lambda r:r[4]))
    for c in cs:
        for o in os_:
            add(f'k1 c{c} o{o}',w,best(kin(w,lambda k,cc,oo:k==1 and cc==c and oo==o)))
    for c,o in [(10,0),(10,10),(100,0),(100,10),(100,100)]:
        for b in (0,0.5,1.0):
            r,n=walk(w,{'k':1,'c':c,'o':o},'cok',b); add(f'walk c{c} o{o} b{b}',w,r)
    for b in (0,.5,1): 
        r,n=walk(w,{'k':1,'c':10,'o':10},'cok',b,rounds=1); add(f'walk1 c10 o10 b{b}',w,r)
names=list(res)
A=np.array([res[n] for n in names])
hind=np.nanmax(A[[names.index(n) for n in ['stl','pooled','mtl','fmtl']]],axis=0)
print("method: mean score, mean diff to hindsight-best simple (points), share below by >0.5pt, >2pt, min")
for n,a in zip(names,A):
    d=100*(a-hind); ok=~np.isnan(d)
    se = d[ok].std() / ok.sum() ** .5
    low = f"<-0.5: {np.mean(d[ok] < -.5):.2f} <-2: {np.mean(d[ok] < -2):.2f} min {d[ok].min():.1f}"
    print(f"{n:22s} {100 * np.nanmean(a):6.2f} diff {d[ok].mean():+6.2f} +- {se:.2f} | {low}")
