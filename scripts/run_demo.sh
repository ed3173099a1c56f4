#!/usr/bin/env bash
# Install missing packages, start the rover and the nodes, and open the agent's console.
#
#   scripts/run_demo.sh [-c COMMAND]... [--speed F] [--artifacts DIR] [--record DIR] [--config-dir DIR]
#                       [--no-stand-in [--sim-time true|false]] [--stand-in NAME=VALUE]... [--rovers N] [--discovery-server]
#                       [--body mujoco [--demos PATH] [--physics NAME=VALUE]...]
set -euo pipefail
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
"$scripts/setup.sh"
source "$scripts/env.sh"
export PYTHONPATH="$scripts/../standalone${PYTHONPATH:+:$PYTHONPATH}"
exec python -m runner "$@"
