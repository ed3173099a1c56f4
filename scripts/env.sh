# source scripts/env.sh: set up the venv, the ROS underlay and both overlays in this shell.
# Works in bash; changes PATH, PYTHONPATH and the ROS variables only.
# CURIOSITY_DISTRO=kilted selects the second environment, in .kilted. Use one environment per shell.
_cr_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
_cr_home=$_cr_root
if [ "${CURIOSITY_DISTRO:-jazzy}" != jazzy ]; then _cr_home=$_cr_root/.$CURIOSITY_DISTRO; fi
if [ ! -x "$_cr_home/.venv/bin/python" ]; then
  echo "env.sh: no environment in $_cr_home yet; run ${CURIOSITY_DISTRO:+CURIOSITY_DISTRO=$CURIOSITY_DISTRO }scripts/setup.sh" >&2
  return 1
fi
. "$_cr_root/scripts/checkout.sh"
_cr_leave_other "$_cr_home/.venv"
if [ "$(cat "$_cr_home/.venv/.ros")" = system ]; then
  if [ -z "${AMENT_PREFIX_PATH:-}" ]; then
    _cr_nounset=$-
    set +u
    . "$(compgen -G '/opt/ros/*/setup.bash' | tail -n 1)"
    case $_cr_nounset in *u*) set -u ;; esac
  fi
else
  export AMENT_PREFIX_PATH="$_cr_home/.venv" CMAKE_PREFIX_PATH="$_cr_home/.venv"
  export CURIOSITY_DISTRO="${CURIOSITY_DISTRO:-jazzy}"
  export ROS_DISTRO="$CURIOSITY_DISTRO" ROS_VERSION=2 ROS_PYTHON_VERSION=3
  # With SYSTEM_DEFAULT the profile decides: this machine only, no shared memory.
  if [ -z "${ROS_AUTOMATIC_DISCOVERY_RANGE:-}${FASTRTPS_DEFAULT_PROFILES_FILE:-}${FASTDDS_DEFAULT_PROFILES_FILE:-}" ]; then
    export ROS_AUTOMATIC_DISCOVERY_RANGE=SYSTEM_DEFAULT FASTRTPS_DEFAULT_PROFILES_FILE="$_cr_root/standalone/fastdds.xml"
  fi
  if [ "$ROS_DISTRO" != jazzy ] && [ -n "${FASTRTPS_DEFAULT_PROFILES_FILE:-}" ]; then  # renamed in Fast DDS 3
    export FASTDDS_DEFAULT_PROFILES_FILE="$FASTRTPS_DEFAULT_PROFILES_FILE"
    unset FASTRTPS_DEFAULT_PROFILES_FILE
  fi
fi
case ":$PATH:" in
  *":$_cr_home/.venv/bin:"*) ;;
  *) export PATH="$_cr_home/.venv/bin:$PATH" VIRTUAL_ENV="$_cr_home/.venv" ;;
esac
for _cr_setup in "$_cr_home/standalone/install/local_setup.bash" "$_cr_home/overlay_ws/install/local_setup.bash"; do
  if [ -r "$_cr_setup" ]; then
    _cr_nounset=$-
    set +u
    . "$_cr_setup"
    case $_cr_nounset in *u*) set -u ;; esac
  fi
done
unset _cr_root _cr_home _cr_setup _cr_nounset
unset -f _cr_made_in _cr_is_moved _cr_leave_other
