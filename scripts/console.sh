#!/usr/bin/env bash
# Open the agent's console in the demo's container, which "scripts/compose.sh up" started:
#   scripts/console.sh [--replace] [-c COMMAND]...
# --replace first ends an agent whose terminal was lost. In a script, without a terminal, pass commands with -c.
set -euo pipefail
options=()
[[ -t 0 && -t 1 ]] || options=(--no-TTY)
exec "$(dirname "${BASH_SOURCE[0]}")/compose.sh" exec "${options[@]}" curiosity_demo /curiosity_rosa/docker/console.sh "$@"
