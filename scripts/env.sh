# source scripts/env.sh: set up the venv, the ROS underlay and both overlays in this shell.
# Works in bash; changes PATH, PYTHONPATH and the ROS variables only.
_cr_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [ ! -x "$_cr_root/.venv/bin/python" ]; then
  echo "env.sh: no environment in $_cr_root yet; run scripts/setup.sh" >&2
  return 1
fi
. "$_cr_root/scripts/checkout.sh"
_cr_leave_other "$_cr_root/.venv"
if [ "$(cat "$_cr_root/.venv/.ros")" = system ]; then
  if [ -z "${AMENT_PREFIX_PATH:-}" ]; then
    _cr_nounset=$-
    set +u
    . "$(compgen -G '/opt/ros/*/setup.bash' | tail -n 1)"
    case $_cr_nounset in *u*) set -u ;; esac
  fi
else
  export AMENT_PREFIX_PATH="$_cr_root/.venv" CMAKE_PREFIX_PATH="$_cr_root/.venv"
  export ROS_DISTRO=jazzy ROS_VERSION=2 ROS_PYTHON_VERSION=3
  # With SYSTEM_DEFAULT the profile decides: this machine only, no shared memory.
  if [ -z "${ROS_AUTOMATIC_DISCOVERY_RANGE:-}${FASTRTPS_DEFAULT_PROFILES_FILE:-}${FASTDDS_DEFAULT_PROFILES_FILE:-}" ]; then
    export ROS_AUTOMATIC_DISCOVERY_RANGE=SYSTEM_DEFAULT FASTRTPS_DEFAULT_PROFILES_FILE="$_cr_root/standalone/fastdds.xml"
  fi
fi
case ":$PATH:" in
  *":$_cr_root/.venv/bin:"*) ;;
  *) export PATH="$_cr_root/.venv/bin:$PATH" VIRTUAL_ENV="$_cr_root/.venv" ;;
esac
for _cr_setup in "$_cr_root/standalone/install/local_setup.bash" "$_cr_root/overlay_ws/install/local_setup.bash"; do
  if [ -r "$_cr_setup" ]; then
    _cr_nounset=$-
    set +u
    . "$_cr_setup"
    case $_cr_nounset in *u*) set -u ;; esac
  fi
done
unset _cr_root _cr_setup _cr_nounset
unset -f _cr_made_in _cr_is_moved _cr_leave_other
