# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The parts on the rover's body: mast and arm, their joints, and the services of the demo's nodes
that move them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from curiosity_stand_in.trajectory import Trajectory, Waypoint

Waypoints = tuple[Waypoint, ...]


class Joints(NamedTuple):
    """The mast's joint angles in radians.

    ``fold`` (mast_p_joint) is 0 raised and 1.57 stowed; ``yaw`` (mast_02_joint) turns the head,
    positive to the left; ``tilt`` (mast_cameras_joint) looks further down when positive.
    """

    fold: float = 0.0
    yaw: float = 0.0
    tilt: float = 0.0


@dataclass(frozen=True, eq=False)
class Part:
    """``moves``: trajectories by service, radians in the order of ``joints``."""

    name: str
    joints: tuple[str, ...]
    moves: Mapping[str, Waypoints]

    def effects(self, move: Callable[[Part, Waypoints], None]) -> dict[str, Callable[[], None]]:
        """What its services do."""
        return {name: partial(move, self, waypoints) for name, waypoints in self.moves.items()}


OPENED = Joints(0.0, -0.5, 0.0)
CLOSED = Joints(1.57, -1.57, 0.0)
STOWED_WITHIN = 0.1  # radians from CLOSED, in fold and yaw
INITIAL = {'zero': Joints(), 'open': OPENED, 'closed': CLOSED}

MAST = Part(
    'mast',
    ('mast_p_joint', 'mast_02_joint', 'mast_cameras_joint'),
    {
        'mast_open': (Waypoint(1.0, OPENED),),
        'mast_close': (Waypoint(1.0, CLOSED),),
        # The first waypoint has fold = 0 as well: rotating also raises a closed mast.
        'mast_rotate': (
            Waypoint(2.0, Joints(0.0, -1.57, 0.0)),
            Waypoint(4.0, Joints(0.0, -3.14, 0.0)),
            Waypoint(6.0, Joints(0.0, -6.28, 0.0)),
        ),
    },
)
ARM = Part(  # at the start, with its joints at 0, it reaches 2.24 m ahead of the base
    'arm',
    ('arm_01_joint', 'arm_02_joint', 'arm_03_joint', 'arm_04_joint', 'arm_tools_joint'),
    {
        'open_arm': (Waypoint(4.0, (0.0, -0.5, 3.0, 1.0, 0.0)),),
        'close_arm': (Waypoint(4.0, (-1.57, -0.4, -1.1, -1.57, -1.57)),),
    },
)
PARTS = (MAST, ARM)


def is_stowed(joints: Joints) -> bool:
    """Whether a camera and its mast are folded away; ``tilt`` does not matter."""
    return all(
        abs(angle - stowed) <= STOWED_WITHIN
        for angle, stowed in zip(joints[:2], CLOSED[:2], strict=True)
    )


def stowed_from(trajectory: Trajectory) -> float | None:
    """Seconds from its start until the mast is stowed to the end; None: it ends unstowed."""
    return trajectory.near_from(CLOSED[:2], STOWED_WITHIN)
