# shellcheck shell=bash source=/dev/null
# source docker/ros_env.sh: in the container, set up the demo's workspace (or ROS alone), the virtual environment and
# the overlay. Works with set -eu.
_cr_options=$-
set +eu
if [ -r /home/spaceros-user/curiosity_ws/install/setup.bash ]; then
  . /home/spaceros-user/curiosity_ws/install/setup.bash
else
  for _cr_setup in /opt/ros/*/setup.bash; do . "$_cr_setup"; done
fi
if [ -r /overlay/install/local_setup.bash ]; then . /overlay/install/local_setup.bash; fi
case ":$PATH:" in
  *":$CURIOSITY_VENV/bin:"*) ;;
  *) export PATH="$CURIOSITY_VENV/bin:$PATH" ;;
esac
case $_cr_options in *e*) set -e ;; esac # $(set +o) would not tell: a substitution is without -e
case $_cr_options in *u*) set -u ;; esac
unset _cr_options _cr_setup
