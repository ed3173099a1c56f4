#!/usr/bin/env bash
# The console of the rover in the demo's container, which scripts/compose.sh up started:
#   scripts/console.sh [--replace] [-c COMMAND]...
# --replace ends an agent whose terminal was lost first. Without a terminal (a script) give commands with -c.
set -euo pipefail
options=()
[[ -t 0 && -t 1 ]] || options=(--no-TTY)
exec "$(dirname "${BASH_SOURCE[0]}")/compose.sh" exec "${options[@]}" curiosity_demo /curiosity_rosa/docker/console.sh "$@"
