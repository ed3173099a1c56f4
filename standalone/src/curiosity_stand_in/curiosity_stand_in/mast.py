# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The mast's joints and the trajectories of the rover's three mast services."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

NAMES = ('mast_p_joint', 'mast_02_joint', 'mast_cameras_joint')


@dataclass(frozen=True)
class Joints:
    """Joint angles in radians.

    ``fold`` (mast_p_joint) is 0 raised and 1.57 stowed; ``yaw`` (mast_02_joint) turns the head,
    positive to the left; ``tilt`` (mast_cameras_joint) looks further down when positive.
    """

    fold: float = 0.0
    yaw: float = 0.0
    tilt: float = 0.0


@dataclass(frozen=True)
class Waypoint:
    """Target joints at a time in seconds from the start of the trajectory."""

    seconds: float
    joints: Joints


ZERO = Joints()
OPENED = Joints(0.0, -0.5, 0.0)
CLOSED = Joints(1.57, -1.57, 0.0)
STOWED_WITHIN = 0.1  # radians from CLOSED, in fold and yaw
INITIAL = {'zero': ZERO, 'open': OPENED, 'closed': CLOSED}

MOVES: dict[str, tuple[Waypoint, ...]] = {
    'mast_open': (Waypoint(1.0, OPENED),),
    'mast_close': (Waypoint(1.0, CLOSED),),
    # The first waypoint has fold = 0 as well: rotating also raises a closed mast.
    'mast_rotate': (
        Waypoint(2.0, Joints(0.0, -1.57, 0.0)),
        Waypoint(4.0, Joints(0.0, -3.14, 0.0)),
        Waypoint(6.0, Joints(0.0, -6.28, 0.0)),
    ),
}


@dataclass(frozen=True)
class Trajectory:
    """Straight lines in joint space from ``start`` through ``waypoints``, then hold the last."""

    start: Joints
    waypoints: tuple[Waypoint, ...] = ()

    def __post_init__(self) -> None:
        times = [0.0, *(point.seconds for point in self.waypoints)]
        if any(later <= earlier for earlier, later in pairwise(times)):
            raise ValueError(f'waypoint times must rise from 0: {times}')

    @property
    def stowed_from(self) -> float | None:
        """Seconds from the start until the mast is stowed to the end; None: it ends unstowed."""
        poses = (self.start, *(point.joints for point in self.waypoints))
        if not _stowed(poses[-1]):
            return None
        return 0.0 if all(map(_stowed, poses)) else self.waypoints[-1].seconds

    def at(self, seconds: float) -> Joints:
        """The joints ``seconds`` after the start."""
        before = Waypoint(0.0, self.start)
        for after in self.waypoints:
            if seconds < after.seconds:
                part = (seconds - before.seconds) / (after.seconds - before.seconds)
                return _between(before.joints, after.joints, max(0.0, part))
            before = after
        return before.joints


def _stowed(joints: Joints) -> bool:
    return (
        abs(joints.fold - CLOSED.fold) <= STOWED_WITHIN
        and abs(joints.yaw - CLOSED.yaw) <= STOWED_WITHIN
    )


def _between(a: Joints, b: Joints, part: float) -> Joints:
    return Joints(
        a.fold + (b.fold - a.fold) * part,
        a.yaw + (b.yaw - a.yaw) * part,
        a.tilt + (b.tilt - a.tilt) * part,
    )
