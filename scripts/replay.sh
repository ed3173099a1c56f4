#!/usr/bin/env bash
# Play a recording back onto the topics, so that RViz and the page show the run again:
#   scripts/replay.sh FILE [--speed N] [--loop]
# Not beside a rover: it ends when an adapter is in the same ROS domain.
set -euo pipefail
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$scripts/env.sh"
exec python -m curiosity_rosa_demo.recording.replay.main "$@"
