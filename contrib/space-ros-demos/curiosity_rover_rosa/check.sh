#!/usr/bin/env bash
# In the environment of the overlay: start a simulated rover in the dark, tell the agent to find the light, and succeed
# only if the last picture is bright enough. Uses no key, no network and no screen.
set -uo pipefail
folder=$(mktemp -d)
pids=()

program() { # program PACKAGE EXECUTABLE: print the path of an executable of a ROS package
  local prefix
  for prefix in ${AMENT_PREFIX_PATH//:/ }; do
    if [[ -x $prefix/lib/$1/$2 ]]; then echo "$prefix/lib/$1/$2"; return; fi
  done
  echo "check.sh: no executable $2 of package $1 in AMENT_PREFIX_PATH" >&2
  return 1
}

end() { # the last one that was started ends first
  local i
  for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
    kill -TERM "${pids[i]}" 2>/dev/null
    wait "${pids[i]}" 2>/dev/null
  done
  rm -rf "$folder"
}
trap end EXIT
trap 'exit 130' INT TERM

export XDG_STATE_HOME=$folder/state ROS_LOG_DIR=$folder/log
for node in curiosity_stand_in:stand_in_node curiosity_rosa_demo:{adapter,simulator,visualizer}_node; do
  path=$(program "${node%%:*}" "${node##*:}") || exit 1
  "$path" >"$folder/${node##*:}.log" 2>&1 &
  pids+=($!)
done
agent=$(program curiosity_rosa_demo agent_node) || exit 1
timeout --signal=INT --kill-after=30 "${CHECK_TIMEOUT_S:-600}" "$agent" -c "${CHECK_GOAL:-find the light}" |
  tee "$folder/agent.txt"

python3 - "$folder/agent.txt" <<'END'
import json, sys
from curiosity_rosa_demo.infra.config_loader import load_config, shipped_config_dir

threshold = load_config(str(shipped_config_dir())).thresholds.quality.score_threshold
try:
    result = json.loads(open(sys.argv[1], encoding='utf-8').read().splitlines()[-1])
except (ValueError, IndexError):
    sys.exit('check: FAILED, the agent gave no result')
score = result.get('score')
if not result['ok'] or score is None or score < threshold:
    sys.exit(f'check: FAILED, score {score}, needed {threshold}: {result["answer"]}')
print(f'check: passed, score {score}, needed {threshold}')
END
