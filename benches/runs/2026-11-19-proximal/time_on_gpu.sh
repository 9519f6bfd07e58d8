#!/bin/sh
# Times hinge to a gap of 1e-3 on a device: KINFOLK=target/debug/kinfolk sh time_on_gpu.sh
# Once with the program before the change and once with the one after it, on the same machine.
set -eu
program=${KINFOLK:-kinfolk}
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
python3 - "$data" <<'P'
import sys
import numpy as np

folder, random = sys.argv[1], np.random.default_rng(0)


def write(name, rows, features, classes, near):
    centres = random.normal(size=(classes, features)).astype(np.float32)
    of_class = random.integers(0, classes, rows)
    inputs = near * centres[of_class] + random.normal(size=(rows, features)).astype(np.float32)
    inputs /= np.linalg.norm(inputs, axis=1, keepdims=True)
    np.savez(f"{folder}/{name}.npz", X=inputs, label=of_class)


write("linear", 19850, 4096, 397, 0.25)
write("rbf", 13083, 768, 77, 0.25)
P
nvidia-smi --query-gpu=name --format=csv,noheader || true
for repeat in 1 2 3; do
  for name in linear rbf; do
    kernel=$name
    [ "$name" = rbf ] && kernel=rbf:1
    for method in kin fmtl:k=1; do
      timeout 280 "$program" fit "$data/$name.npz" -o "$data/model.st" --force --method "$method" --loss hinge \
        --c strength:1 --kernel "$kernel" --scale none --tol 1e-3 --device cuda --max-seconds 200 --json 2>"$data/errors" |
        python3 -c "
import json, sys
said = json.load(sys.stdin)
found = said.get('certificate', said)
print('$name', '$method', 'run $repeat', said.get('seconds'), said.get('status'), said.get('solver'), found.get('gap'))
" || tail -3 "$data/errors"
    done
  done
done
