"""Runs the demo on a machine without ros2 launch: nodes under supervisord, agent in front."""
