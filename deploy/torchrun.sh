#!/bin/sh
# The same script started by torchrun, which sets RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT. Symbind uses
# no part of PyTorch; rank 0 also runs the scheduler, at the port after torchrun's. On one machine:
#   WORKERS=4 ./torchrun.sh train.py --kv-store dist_sync
# On several, on each with its number and its address, and with the same token file:
#   NODES=2 NODE=0 MASTER=10.0.0.1 ADDRESS=10.0.0.1 ./torchrun.sh train.py --kv-store dist_sync
set -eu
if [ "${NODES:-1}" = 1 ]; then
  exec torchrun --standalone --nproc-per-node "${WORKERS:-2}" "$@"
fi
export SYMBIND_DIST_BIND="$ADDRESS"
export SYMBIND_DIST_TOKEN_FILE="${SYMBIND_DIST_TOKEN_FILE:-$HOME/.symbind_token}"
exec torchrun --nnodes "$NODES" --node-rank "$NODE" --master-addr "$MASTER" --master-port "${PORT:-29500}" \
  --nproc-per-node "${WORKERS:-2}" "$@"
