# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Whether the rover drives as its profile says: speeds and turning radius by odometry. Pure.

A leg is what the rover drives of one motion, without its first RAMP_S. The radius of an arc is its
speed divided by its turn rate, so no clock is needed. The last long enough leg of each motion
tells; a profile whose figure differs by more than FAR_OFF is wrong, or the rover is another one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
import math

from curiosity_rosa_demo.adapter.drive_watch import MIN_READINGS, Pose, RAMP_S
from curiosity_rosa_demo.domain.geometry import DIRECTIONS
from curiosity_rosa_demo.infra.config.limits import Thresholds
from curiosity_rosa_demo.infra.config.robot import AppendageCommand, RobotProfile

# --- Whether another shipped profile fits the robot that runs here. Pure -----------------------


def mismatch(
    chosen: str,
    missing: Collection[str],
    profiles: Mapping[str, RobotProfile],
    is_offered: Callable[[AppendageCommand], bool],
) -> str:
    """The way out of a wrong choice; '' without one. ``missing``: names of the ``chosen`` profile
    behind which there is no robot. A profile fits if the robot offers each of its commands.
    """
    if not missing:
        return ''
    fitting = [
        name
        for name, profile in profiles.items()
        if name != chosen
        and profile.commands
        and all(is_offered(command) for _, command in profile.commands.values())
    ]
    if not fitting:
        return ''
    others = ' or '.join(sorted(fitting))
    way_out = 'choose with --robot, robot:= or nodes.yaml'
    return f'Robot profile {chosen} does not fit this robot, {others} does; {way_out}'


FAR_OFF = 0.25  # of the profile's figure
MIN_LEG_M = 0.5  # a leg of a navigation is 1 m long
MAX_RADIUS_M = 1000.0  # the greatest that a profile can say; a rover that drives straight on


@dataclass
class _Leg:
    """Sums over the odometry of one motion: metres, m/s, rad/s."""

    motion: str
    began: float
    last: Pose | None = None
    metres: float = 0.0
    readings: int = 0
    speed: float = 0.0
    turn_rate: float = 0.0

    @property
    def tells(self) -> bool:
        return self.metres >= MIN_LEG_M and self.readings >= MIN_READINGS

    @property
    def radius_m(self) -> float:
        return min(self.speed / max(abs(self.turn_rate), 1e-9), MAX_RADIUS_M)


class ProfileFigures:
    """The caller holds one lock around all methods. ``clock``: seconds for waits that depend on
    the simulator.
    """

    def __init__(self, thresholds: Thresholds, clock: Callable[[], float]) -> None:
        self._body, self._clock = thresholds.body, clock
        self._radius_m = thresholds.obstacles.turn_radius_m
        self._leg: _Leg | None = None
        self._texts: dict[str, list[str]] = {}  # of the last leg that tells, by motion

    def begin(self, motion: str) -> None:
        """The start call of ``motion`` is sent now. A repeated one changes nothing."""
        if self._leg is None or self._leg.motion != motion:
            self.end()
            self._leg = _Leg(motion, self._clock())

    def record(self, pose: Pose | None, speed: float, turn_rate: float) -> None:
        """An odometry message: m/s and rad/s of any sign. ``pose`` None: not finite."""
        leg = self._leg
        if leg is None or self._clock() - leg.began < RAMP_S:
            return
        if pose is None or not (math.isfinite(speed) and math.isfinite(turn_rate)):
            return
        if leg.last is not None:
            leg.metres += math.dist(pose[:2], leg.last[:2])
        leg.last = pose
        leg.readings += 1
        leg.speed += abs(speed)
        leg.turn_rate += turn_rate

    def end(self) -> None:
        """The rover stands, or is being stopped."""
        leg, self._leg = self._leg, None
        if leg is not None and leg.tells:
            self._texts[leg.motion] = [text for text in self._findings(leg) if text]

    def findings(self) -> list[str]:
        """Each figure of the profile that is far off, with its key and the measured value."""
        return [text for texts in self._texts.values() for text in texts]

    def _findings(self, leg: _Leg) -> list[str]:
        speed = leg.speed / leg.readings
        if DIRECTIONS[leg.motion] == 0:
            return [_far_off(leg.motion, 'm/s', speed, 'body.forward_mps', self._body.forward_mps)]
        return [
            _far_off(leg.motion, 'm/s', speed, 'body.turn_mps', self._body.turn_mps),
            _far_off(
                leg.motion,
                'm of radius',
                leg.radius_m,
                'obstacles.turn_radius_m',
                self._radius_m,
            ),
        ]


def _far_off(motion: str, unit: str, measured: float, key: str, figure: float) -> str:
    if abs(measured - figure) <= FAR_OFF * figure:
        return ''
    return (
        f'{motion} measures {measured:.3g} {unit}, the profile says {figure:.3g}: '
        f'correct thresholds.{key} in it'
    )
