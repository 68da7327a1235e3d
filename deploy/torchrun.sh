#!/bin/sh
# The same script started by torchrun, which sets RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT. Symbind uses
# no part of PyTorch; rank 0 also runs the scheduler. Run this on every machine, with the same token file:
#   NODES=2 MASTER=10.0.0.1 ADDRESS=(this machine's address) ./torchrun.sh train.py --kv-store dist_sync
# On one machine no variable is needed.
set -eu
if [ "${NODES:-1}" = 1 ]; then
  exec torchrun --standalone --nproc-per-node "${WORKERS:-2}" "$@"
fi
export SYMBIND_DIST_BIND="$ADDRESS"
export SYMBIND_DIST_TOKEN_FILE="${SYMBIND_DIST_TOKEN_FILE:-$HOME/.symbind_token}"
exec torchrun --nnodes "$NODES" --nproc-per-node "${WORKERS:-2}" --rdzv-backend c10d \
  --rdzv-endpoint "$MASTER:29400" --local-addr "$ADDRESS" "$@"
