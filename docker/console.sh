#!/usr/bin/env bash
# In the container: attach a console to the running agent. scripts/console.sh calls it.
#   console.sh [ARGUMENT OF console]...
# With CURIOSITY_AGENT=none, the first console is the agent itself, in this terminal; it ends with it.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/ros_env.sh"

if [[ ${CURIOSITY_AGENT:-headless} == none && -z $("$here/agents.sh") ]]; then
  exec ros2 run curiosity_rosa_demo agent_node "$@" --ros-args -p use_sim_time:=true
fi
# The agent starts after the overlay is built, and serves once its imports are done.
exec ros2 run curiosity_rosa_demo console --wait 180 "$@"
