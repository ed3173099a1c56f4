#!/usr/bin/env bash
# Entry point of the demo's Gazebo container: start RViz with our configuration, then the demo's command.
set -eo pipefail
# shellcheck source=/dev/null
source "/opt/ros/$ROS_DISTRO/setup.bash"
rviz2 -d /curiosity_rosa/overlay_ws/src/curiosity_rosa_demo/config/rviz.yaml --ros-args -p use_sim_time:=true &
exec "$@"
