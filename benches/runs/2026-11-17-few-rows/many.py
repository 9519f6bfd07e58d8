import numpy as np,sys
T,n,d,kind=int(sys.argv[1]),int(sys.argv[2]),int(sys.argv[3]),sys.argv[4]
r=np.random.default_rng(0)
W=r.normal(size=(d,4))@r.normal(size=(4,T))+0.5*r.normal(size=(d,1))
X=r.normal(size=(T*n,d)); t=np.repeat(np.arange(T),n)
y=(X*W.T[t]).sum(1)+r.normal(size=T*n)
if kind=='c': y=(y>0).astype(int)
import csv
with open(sys.argv[5],'w') as f:
    f.write(','.join(f'x{j}' for j in range(d))+',task,y\n')
    for i in range(T*n): f.write(','.join('%.5g'%v for v in X[i])+f',t{t[i]},{y[i] if kind=="c" else "%.5g"%y[i]}\n')
