#!/usr/bin/env bash
# Rehearse the product in real physics (MuJoCo) and print a table. Exits with 1 if something happened that must not.
#
#   scripts/physics.sh [--demos PATH] [--record DIR] [RUN]...
#
#   --demos PATH   with the rover and the nodes of this clone of space-ros/demos; without, with our own
#   --record DIR   the record and the log of each run                            (default run/physics)
#   RUN            only these, such as 'facing away' or 'kill adapter_node'      (default: all, some 10 minutes)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh --physics
source scripts/env.sh
exec python standalone/physics/rehearsal.py "$@"
