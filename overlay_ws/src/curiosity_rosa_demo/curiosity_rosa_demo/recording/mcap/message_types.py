# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Import a ROS message class by its type name."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def message_class(type_name: str) -> Any:
    """The class for a type name such as nav_msgs/msg/Odometry. Raises ImportError or
    AttributeError if it is not installed.
    """
    package, _, name = type_name.partition('/msg/')
    return getattr(import_module(f'{package}.msg'), name)
