#!/usr/bin/env bash
# Health check: succeed if all nodes of the overlay publish on the diagnostics topic.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/ros_env.sh"
exec python "$here/health.py"
