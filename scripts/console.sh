#!/usr/bin/env bash
# Attach a console to the agent in the demo's container, which "scripts/compose.sh up" started:
#   scripts/console.sh [-c COMMAND]...
# Any number of consoles may be attached; :quit detaches this one, and the agent goes on. In a script, without a
# terminal, pass commands with -c. The other operators see CURIOSITY_OPERATOR, by default user@host, beside what you do.
set -euo pipefail
options=(--env "CURIOSITY_OPERATOR=${CURIOSITY_OPERATOR:-${USER:-$(id -un 2>/dev/null || id -u)}@${HOSTNAME:-host}}")
[[ -t 0 && -t 1 ]] || options+=(--no-TTY)
exec "$(dirname "${BASH_SOURCE[0]}")/compose.sh" exec "${options[@]}" curiosity_demo /curiosity_rosa/docker/console.sh "$@"
