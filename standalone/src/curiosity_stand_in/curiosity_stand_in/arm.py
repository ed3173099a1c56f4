# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The arm's joints and the trajectories of its two services, as the demo's move_arm has them."""

from __future__ import annotations

from curiosity_stand_in.trajectory import Angles, Waypoint

NAMES = ('arm_01_joint', 'arm_02_joint', 'arm_03_joint', 'arm_04_joint', 'arm_tools_joint')
ZERO: Angles = (0.0,) * len(NAMES)  # as in the simulator at the start: 2.24 m ahead of the base
MOVES: dict[str, tuple[Waypoint, ...]] = {  # radians, in the order of NAMES
    'open_arm': (Waypoint(4.0, (0.0, -0.5, 3.0, 1.0, 0.0)),),
    'close_arm': (Waypoint(4.0, (-1.57, -0.4, -1.1, -1.57, -1.57)),),
}
