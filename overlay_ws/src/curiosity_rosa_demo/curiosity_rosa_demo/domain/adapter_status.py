# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The status of the adapter as its readers have it: what changes by itself, and what by events."""

from __future__ import annotations

from typing import Any

# never rest quite still
MEASURED_FIELDS = frozenset({'rover_x', 'rover_y', 'yaw_rad', 'mast_yaw_rad'})

Status = dict[str, Any]


def without_measured(status: Status) -> Status:
    """What of a status changes by decisions and events, not by mere motion."""
    return {key: value for key, value in status.items() if key not in MEASURED_FIELDS}
