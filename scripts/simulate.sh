#!/usr/bin/env bash
# Run missions of the whole product in one thread, each from one seed; a failing one is shrunk and told.
#
#   scripts/simulate.sh --seed N [--minutes M] [--seeds COUNT] [--record FILE] [--keep FOLDER] [--quiet]
#   scripts/simulate.sh --mission FILE            replay a mission of standalone/missions/kept
#
# Exits with 1 if a rule was violated, 2 for wrong arguments.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/env.sh
export PYTHONPATH=$PWD/standalone${PYTHONPATH:+:$PYTHONPATH}
exec python -m missions "$@"
