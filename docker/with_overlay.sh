#!/usr/bin/env bash
# Entry point of the demo's container: run the demo's command and the overlay. When one of them exits, this script
# ends the other and exits with status 1. On SIGTERM or SIGINT it ends the agents, then the overlay, whose adapter
# stops the rover, then the rover's nodes.
set -uo pipefail
set -m # each child gets its own process group and does not ignore SIGINT
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

wait_for_exit() { # wait_for_exit SECONDS PID...: succeed once all have exited, fail after SECONDS; -PID is a group
  local pid left=$(($1 * 10))
  for pid in "${@:2}"; do
    while kill -0 -- "$pid" 2>/dev/null; do
      ((left-- > 0)) || return 1
      sleep 0.1
    done
  done
}

shut_down() { # shut_down EXIT_STATUS
  local agents
  trap '' TERM INT
  if [[ ${CURIOSITY_AGENT:-headless} == none ]]; then # docker exec started it, so launch does not end it
    mapfile -t agents < <("$here/agents.sh")
    kill -TERM "${agents[@]}" 2>/dev/null
    wait_for_exit 10 "${agents[@]}"
  fi
  kill -INT "$overlay" 2>/dev/null # only ros2 launch, which ends its nodes one by one; SIGTERM would orphan them
  wait_for_exit 25 "$overlay" || kill -TERM -- "-$overlay" 2>/dev/null # launch hangs
  # A launch that was killed leaves its nodes, which have heard SIGTERM (pdeathsig). The adapter then stops the rover,
  # by the rover's nodes.
  wait_for_exit 10 "-$overlay"
  kill -INT -- "-$demo" 2>/dev/null # as Ctrl-C does
  wait_for_exit 5 "-$demo"
  kill -KILL -- "-$overlay" "-$demo" 2>/dev/null
  exit "$1"
}

for folder in "$XDG_STATE_HOME" "$ROS_LOG_DIR"; do
  if [[ ! -w $folder ]]; then
    echo "overlay: user $(id -u) cannot write $folder: the volume is of another user number;" \
      "scripts/compose.sh down --volumes removes it, with its tasks, recordings and logs" >&2
    exit 1
  fi
done

"$@" &
demo=$!
(
  set +m
  trap 'exit 130' INT # without it bash waits for the build, forgets the signal and launches
  "$here/build_overlay.sh" || exit
  source "$here/ros_env.sh"
  exec env --default-signal=INT ros2 launch curiosity_rosa_demo demo.launch.py use_sim_time:=true agent:="${CURIOSITY_AGENT:-headless}"
) &
overlay=$!
trap 'shut_down 0' TERM INT

wait -n "$demo" "$overlay"
status=$?
if kill -0 "$demo" 2>/dev/null; then ended='the overlay'; else ended="the demo's command"; fi
echo "overlay: $ended has ended (status $status), so this container ends" >&2
shut_down 1
