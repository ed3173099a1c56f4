#!/usr/bin/env bash
# In the container: start the agent with its console in this terminal. scripts/console.sh calls it.
#   console.sh [--replace] [ARGUMENT OF agent_node]...
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/ros_env.sh"
say() { printf 'console: %s\n' "$*" >&2; }

if [[ ${CURIOSITY_AGENT:-none} == headless ]]; then
  say "the agent of this container runs without a console (CURIOSITY_AGENT=headless): http://127.0.0.1:8765/ is its page"
  say "for a console set CURIOSITY_AGENT=none in .env, and scripts/compose.sh up -d"
  exit 1
fi
replace=""
if [[ ${1:-} == --replace ]]; then replace=1; shift; fi
mapfile -t agents < <("$here/agents.sh")
if ((${#agents[@]})); then
  if [[ -z $replace ]]; then
    say "process ${agents[*]} of this container is an agent already: use its console, or the page http://127.0.0.1:8765/"
    say "when its terminal is lost: scripts/console.sh --replace stops the rover, ends it and goes on with its tasks"
    exit 1
  fi
  kill -TERM "${agents[@]}"
  for _ in {1..150}; do
    [[ -n $("$here/agents.sh") ]] || break
    sleep 0.1
  done
  if [[ -n $("$here/agents.sh") ]]; then
    say "process ${agents[*]} does not end; scripts/compose.sh restart curiosity_demo ends it"
    exit 1
  fi
fi
exec ros2 run curiosity_rosa_demo agent_node "$@" --ros-args -p use_sim_time:=true
