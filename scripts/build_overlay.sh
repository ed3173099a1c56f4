#!/usr/bin/env bash
# Build both colcon workspaces into standalone/install and overlay_ws/install, if their inputs have changed.
# Python sources are linked, not copied: an edit needs no build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
venv=$PWD/.venv
[[ -x $venv/bin/colcon ]] || { echo "build_overlay: no environment in $PWD yet; run scripts/setup.sh" >&2; exit 1; }
source scripts/checkout.sh
if _cr_is_moved "$venv"; then
  echo "build_overlay: $venv was made for $(_cr_made_in "$venv"); run scripts/setup.sh, which makes it anew" >&2
  exit 1
fi
exec 9>"$venv/.building" && flock 9  # concurrent starts build one after another; the second finds the result

inputs() {  # everything that symlinks do not update: the file list, package metadata and interface definitions
  cat "$venv/.complete"
  find standalone/src overlay_ws/src -type f ! -name '*.pyc' ! -path '*.egg-info/*' | LC_ALL=C sort
  find standalone/src overlay_ws/src -type f \( -name package.xml -o -name 'setup.*' -o -name CMakeLists.txt \
    -o -name '*.srv' -o -name '*.msg' -o -name '*.action' \) -print0 | LC_ALL=C sort -z | xargs -0 cat
}
key=$(inputs | sha256sum)
[[ $(cat "$venv/.built" 2>/dev/null) != "$key" ]] || exit 0
rm -f "$venv/.built"

build() {  # build WORKSPACE PACKAGE...
  local to=$PWD/$1
  local log=$to/log/setup.txt
  mkdir -p "$to/log"
  if ! (cd "$1" && PYTHONWARNINGS=ignore "$venv/bin/python" "$venv/bin/colcon" --log-base "$to/log" build --symlink-install \
    --build-base "$to/build" --install-base "$to/install" --packages-select "${@:2}" \
    --cmake-args -DBUILD_TESTING=OFF "-DPython3_EXECUTABLE=$venv/bin/python" --no-warn-unused-cli) >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    echo "build_overlay: building $1 failed; the whole log is $log" >&2
    exit 1
  fi
}

source scripts/env.sh
standalone=(curiosity_stand_in curiosity_physics)
[[ $(cat "$venv/.ros") == system ]] || standalone+=(control_msgs tf2_msgs)
echo "setup: building the workspaces" >&2
build standalone "${standalone[@]}"
build overlay_ws curiosity_rosa_interfaces curiosity_rosa_demo
printf '%s\n' "$key" >"$venv/.built"
