#!/usr/bin/env bash
# The net under a change: what differs from the committed expectations of net/expected? Exits non-zero then.
#
#   scripts/net.sh [PART]...            parts: inputs-0 inputs-1 inputs-arm traces plants proofs mutants
#   scripts/net.sh --update [PART]...   what is now is what is expected: judge the diff before you commit it
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh
source scripts/env.sh
source scripts/tool_env.sh
_cr_tool_env .venv-net standalone/requirements-net.txt mutmut
tests=overlay_ws/src/curiosity_rosa_demo/test
export PYTHONPATH=$PWD/standalone:$PWD/$tests:$PWD/$tests/unit${PYTHONPATH:+:$PYTHONPATH}
exec python net/main.py "$@"
