# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the rover itself tells of how it drove: whatever the nodes claim, these rules must hold."""

from __future__ import annotations

import bisect

from adapter_world import in_motion, mast_of, near, ODOMETRY
from curiosity_stand_in import mast
from harness import Sandbox, wait_until
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState

LEASH_S = 30.0  # motion.max_duration_s
SLACK_S = 1.0  # a stop's own time
QUEUE = 1000


class Witness:
    """Odometry and mast of one sandbox from now on, compared by the rover's own time."""

    def __init__(self, box: Sandbox, namespace: str = '') -> None:
        self._odometry: list[Odometry] = box.collect(Odometry, namespace + ODOMETRY, QUEUE)
        joints = f'{namespace}/joint_states'
        self._joints: list[JointState] = box.collect(JointState, joints, QUEUE)

    @property
    def place(self) -> tuple[float, float]:
        """Where the rover is, by its last word: x and y, metres."""
        wait_until(lambda: self._odometry, 'odometry of the rover')
        at = self._odometry[-1].pose.pose.position
        return at.x, at.y

    def violations(self) -> list[str]:
        """Where it drove with its mast not stowed, or for longer than the leash."""
        assert self._joints, 'the rover told nothing of its mast'
        masts = sorted((_seconds(each), mast_of(each)) for each in list(self._joints))
        found: list[str] = []
        since: float | None = None
        for message in list(self._odometry):
            at = _seconds(message)
            if not in_motion(message):
                since = None
                continue
            since = at if since is None else since
            if at - since > LEASH_S + SLACK_S:
                found.append(f'{at:.2f} s: drives since {since:.2f} s')
            before = bisect.bisect_right(masts, at, key=lambda each: each[0])
            if before and not near(masts[before - 1][1], *mast.CLOSED[:2]):
                found.append(f'{at:.2f} s: drives with its mast at {masts[before - 1][1]}')
        return found


def _seconds(message: Odometry | JointState) -> float:
    return float(message.header.stamp.sec + message.header.stamp.nanosec * 1e-9)
