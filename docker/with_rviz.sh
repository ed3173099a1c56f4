#!/usr/bin/env bash
# Entry point of the demo's Gazebo container: RViz with our file beside the command, which is the demo's own.
set -eo pipefail
# shellcheck source=/dev/null
source "/opt/ros/$ROS_DISTRO/setup.bash"
rviz2 -d /curiosity_rosa/overlay_ws/src/curiosity_rosa_demo/config/rviz.yaml --ros-args -p use_sim_time:=true &
exec "$@"
