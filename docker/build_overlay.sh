#!/usr/bin/env bash
# In the container: build the overlay into /overlay, if its sources have changed since the last build.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd /overlay
sources=(/curiosity_rosa/overlay_ws/src /curiosity_rosa/standalone/src/curiosity_stand_in)
key=$(find "${sources[@]}" "$here/colcon.yaml" -type f ! -name '*.pyc' ! -path '*.egg-info/*' ! -path '*/.*' -print0 |
  LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum)
[[ $(cat .built 2>/dev/null) != "$key" ]] || exit 0

source "$here/ros_env.sh"
echo "overlay: building it from /curiosity_rosa" >&2
mkdir -p log
rm -rf {build,install}/curiosity_{rosa_demo,stand_in} # setuptools would keep modules that the sources have lost
if ! colcon build >log/build.txt 2>&1; then
  tail -n 40 log/build.txt >&2
  echo "overlay: building it failed; 'scripts/compose.sh cp curiosity_demo:/overlay/log/build.txt FILE' copies the log" >&2
  exit 1
fi
printf '%s\n' "$key" >.built
