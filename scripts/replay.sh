#!/usr/bin/env bash
# Replay a recording on the topics, so that RViz and the page show the run:
#   scripts/replay.sh FILE [--speed N] [--loop]
# It refuses to play, or ends, while an adapter or a rover is in the same ROS domain.
# Or replay recordings into the rules, without ROS topics, and compare their decisions with the recorded ones:
#   scripts/replay.sh --check FILE... [--config-dir DIR]
set -euo pipefail
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$scripts/env.sh"
if [[ ${1-} == --check ]]; then
  shift
  exec python -m curiosity_rosa_demo.agent.check "$@"
fi
exec python -m curiosity_rosa_demo.recording.replay "$@"
