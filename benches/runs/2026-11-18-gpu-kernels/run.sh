K=${KINFOLK:-kinfolk}; D=$(mktemp -d)
python3 - $D <<'P'
import sys, numpy as np
d=sys.argv[1]; r=np.random.default_rng(0)
# like sentence embeddings: 77 clusters on the sphere, 384 features
n,f,T=13083,384,77
c=r.normal(size=(T,f)); lab=r.integers(0,T,n); X=c[lab]*0.25+r.normal(size=(n,f)); X/=np.linalg.norm(X,axis=1,keepdims=True)
np.savez(d+'/c.npz',X=X,label=lab); np.savez(d+'/y.npz',X=X,Y=2.0*(lab[:,None]==np.arange(T))-1)
np.savez(d+'/s.npz',X=X[:3000],label=lab[:3000])
P
nvidia-smi --query-gpu=name --format=csv,noheader
for rep in 1 2; do for l in squared logistic hinge squared_hinge; do f=c
 for tol in 1e-3 1e-6; do
  [ $l$tol = hinge1e-6 ] && continue
  timeout 100 $K fit $D/$f.npz -o $D/m.st --force --loss $l --c strength:1 --kernel rbf:1 --scale none --tol $tol --device cuda --max-seconds 60 --json 2>$D/err | python3 -c "import json,sys; r=json.loads(sys.stdin.read()); c=r.get('certificate',r); print('$l','$tol','cuda',r.get('seconds'),r.get('status'),r.get('solver'),c.get('gap'), c.get('primal'))" || tail -3 $D/err
 done; done; done
timeout 100 $K fit $D/s.npz -o $D/g.st --force --loss logistic --c strength:1 --kernel rbf:1 --scale none --tol 1e-6 --device cuda --quiet; $K certify $D/g.st $D/s.npz --device cpu | tail -2
timeout 100 $K fit $D/s.npz -o $D/h.st --force --loss logistic --c strength:1 --kernel rbf:1 --scale none --tol 1e-6 --device cpu --quiet; $K certify $D/h.st $D/s.npz --device cuda | tail -2
for l in squared hinge; do timeout 60 $K fit $D/c.npz -o $D/m.st --force --loss $l --c strength:1 --kernel rbf:1 --scale none --tol 1e-3 --device cpu --max-seconds 40 --json 2>$D/err | python3 -c "import json,sys; r=json.loads(sys.stdin.read()); c=r.get('certificate',r); print('$l','1e-3','cpu16',r.get('seconds'),r.get('status'),r.get('solver'))"; done
