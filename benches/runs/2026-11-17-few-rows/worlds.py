import numpy as np,sys
# train/test with nested tasks
r=np.random.default_rng(1)
n,d=5,8
for world,(sh,rank,own) in {'lowrank':(0.3,3,0.2),'common':(1.0,1,0.3),'indep':(0,1,1.0)}.items():
    T=1200
    W=sh*r.normal(size=(d,1))+0.6*r.normal(size=(d,rank))@r.normal(size=(rank,T))+own*r.normal(size=(d,T))
    for part,m in (('tr',n),('te',20)):
        X=r.normal(size=(T*m,d)); t=np.repeat(np.arange(T),m); y=(X*W.T[t]).sum(1)+1.0*r.normal(size=T*m)
        for Ts in (100,300,1200):
            with open(f'{world}_{Ts}_{part}.csv','w') as f:
                f.write(','.join(f'x{j}' for j in range(d))+',task,y\n')
                for i in range(Ts*m): f.write(','.join('%.5g'%v for v in X[i])+f',t{t[i]},{y[i]:.5g}\n')
