#!/usr/bin/env bash
# Whether every node of the overlay that is to run here says on the diagnostics topic that it lives.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/ros_env.sh"
exec python "$here/health.py"
