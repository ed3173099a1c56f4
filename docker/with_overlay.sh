#!/usr/bin/env bash
# Entry point of the demo's container: the overlay beside the command, which is the demo's own. Ends when one of
# them ends, with status 1. Told to stop it ends the agents, the overlay, whose adapter stops the rover, and then
# the rover's own nodes.
set -uo pipefail
set -m # each child is a process group of its own, and hears SIGINT
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

gone() { # gone SECONDS PID...: wait so long until none of them is left
  local pid left=$(($1 * 10))
  for pid in "${@:2}"; do
    while kill -0 "$pid" 2>/dev/null; do
      ((left-- > 0)) || return 1
      sleep 0.1
    done
  done
}

end() { # end STATUS
  local agents
  trap '' TERM INT
  if [[ ${CURIOSITY_AGENT:-none} == none ]]; then # it came by docker exec, and launch knows nothing of it
    mapfile -t agents < <("$here/agents.sh")
    kill -TERM "${agents[@]}" 2>/dev/null
    gone 10 "${agents[@]}"
  fi
  kill -INT "$overlay" 2>/dev/null # ros2 launch alone, which tells its nodes in turn; SIGTERM would orphan them
  gone 25 "$overlay"
  kill -INT -- "-$demo" 2>/dev/null # as Ctrl-C does
  gone 5 "$demo"
  kill -KILL -- "-$overlay" "-$demo" 2>/dev/null
  exit "$1"
}

"$@" &
demo=$!
(
  set +m
  "$here/build_overlay.sh" || exit
  source "$here/ros_env.sh"
  exec env --default-signal=INT ros2 launch curiosity_rosa_demo demo.launch.py agent:="${CURIOSITY_AGENT:-none}"
) &
overlay=$!
trap 'end 0' TERM INT

wait -n "$demo" "$overlay"
status=$?
if kill -0 "$demo" 2>/dev/null; then ended='the overlay'; else ended="the demo's command"; fi
echo "overlay: $ended has ended (status $status), so this container ends" >&2
end 1
