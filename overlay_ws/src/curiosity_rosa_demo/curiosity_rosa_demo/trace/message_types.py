"""The class of a ROS message by its name."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def message_class(type_name: str) -> Any:
    """Of a name such as nav_msgs/msg/Odometry. Raises ImportError, AttributeError where it is not
    installed."""
    package, _, name = type_name.partition('/msg/')
    return getattr(import_module(f'{package}.msg'), name)
