# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The adapter's status as a dict, and which of its fields are measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# measured values and looked-up names: they change without an event
MEASURED_FIELDS = frozenset(
    (
        *('rover_x', 'rover_y', 'yaw_rad', 'mast_yaw_rad', 'obstacle_ahead_m', 'free_m'),
        *('real_time_factor', 'rival_publishers'),
    )
)

Status = dict[str, Any]


def without_measured(status: Status) -> Status:
    """The fields of ``status`` that change by decisions and events only."""
    return {key: value for key, value in status.items() if key not in MEASURED_FIELDS}


def rival_texts(status: Mapping[str, Any]) -> list[str]:
    """A line for each topic of ``rival_publishers``: who publishes it, and the way out."""
    rivals = status.get('rival_publishers')
    if not isinstance(rivals, dict):
        return []
    return [
        f'several publishers of {topic}: {", ".join(map(str, nodes))}; end one rover or '
        'simulator, or give each its own ROS_DOMAIN_ID'
        for topic, nodes in rivals.items()
        if isinstance(nodes, list)
    ]
