# Functions for env.sh, setup.sh and build_overlay.sh: detect a moved or foreign environment. Source it in bash.

_cr_made_in() {  # _cr_made_in VENV: print the path that it was created for; its scripts and CMake's caches contain it
  if [ -r "$1/.path" ]; then cat "$1/.path"; return; fi
  sed -n '1s|^#! *\(.*\)/bin/python[0-9.]*$|\1|p' "$1/bin/pip" 2>/dev/null
}

_cr_is_moved() {  # _cr_is_moved VENV: succeed if it was created for another path
  local made_in
  made_in=$(_cr_made_in "$1")
  [ -n "$made_in" ] && ! [ "$made_in" -ef "$1" ]
}

_cr_leave_other() {  # _cr_leave_other VENV: undo the changes of another checkout's env.sh (ROS from PyPI) to this shell
  local other=${VIRTUAL_ENV:-} home name kept part parts
  if [ -z "$other" ] || [ "$other" -ef "$1" ] || [ "$(cat "$other/.ros" 2>/dev/null)" != wheels ]; then return 0; fi
  home=${other%/.venv}
  for name in PATH PYTHONPATH LD_LIBRARY_PATH AMENT_PREFIX_PATH CMAKE_PREFIX_PATH COLCON_PREFIX_PATH PKG_CONFIG_PATH \
    FASTRTPS_DEFAULT_PROFILES_FILE FASTDDS_DEFAULT_PROFILES_FILE; do
    [ -n "${!name:-}" ] || continue
    kept=
    IFS=: read -ra parts <<<"${!name}"
    for part in "${parts[@]}"; do
      case $part in "$home"/* | '') ;; *) kept+=${kept:+:}$part ;; esac
    done
    if [ -n "$kept" ]; then export "$name=$kept"; else unset "$name"; fi
  done
  if [ -z "${FASTRTPS_DEFAULT_PROFILES_FILE:-}${FASTDDS_DEFAULT_PROFILES_FILE:-}" ]; then  # env.sh sets it together with the profile
    unset ROS_AUTOMATIC_DISCOVERY_RANGE
  fi
  unset VIRTUAL_ENV
}
