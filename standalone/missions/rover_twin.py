# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A twin of the rover behind its adapter: pure, one thread, its clock owned, its faults by name.

The rules are the product's own: each motion passes Rules, as in the adapter's process. The body
and its services are DemoRover's; odometry and joint states come at 10 Hz. Time passes when a
caller waits.

Metres, radians and seconds in the world frame (REP 103). The twin stands for RoverClient.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
import math
from pathlib import Path
import random
from types import SimpleNamespace
from typing import Any

from curiosity_rosa_demo.adapter.part import MAST, MAST_COMMANDS
from curiosity_rosa_demo.adapter.report import status_of
from curiosity_rosa_demo.adapter.rules import Rules
from curiosity_rosa_demo.adapter.steps import MotionRefused
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.geometry import DIRECTIONS
from curiosity_rosa_demo.domain.ground import GroundAnalysis
from curiosity_rosa_demo.domain.models import RoverPose
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.infra.clocks import SimulationClock
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.obstacles import free_distance, RoverShape
from curiosity_rosa_demo.infra.ros_io import ServiceFailed
from curiosity_rosa_demo.recording.rule_run import ReplayClock
from curiosity_rosa_demo.tools.rover_client import answered_failure
from curiosity_stand_in.body import State, WHEELS
from curiosity_stand_in.drivers import DemoRover
from curiosity_stand_in.kinematics import Pose
from curiosity_stand_in.parts import INITIAL, is_stowed, Joints
from curiosity_stand_in.scenery import Disc, Light
from missions.acts import Judge
import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]

STEP_S = 0.05
ANSWER_S = 0.1  # of a status: whoever polls it sees time pass
FASTEST_WHEEL = max(map(abs, WHEELS.values()))
REPORT_STEPS = 2  # odometry, joint states and scan at 10 Hz
RIM_POINTS = 48  # returns of the scan from one obstacle
SCAN_RANGE_M = 20.0
LONGEST_WAIT_S = 120.0  # of one call: a model may ask for a million seconds
_ANALYSIS_FILE = Path(__file__).with_name('analysis.json')
ANALYSIS = GroundAnalysis.model_validate_json(_ANALYSIS_FILE.read_text(encoding='utf-8'))
PICTURE_TOPIC, ANALYSIS_TOPIC = '/capture/image_raw/compressed', '/capture/analysis/compressed'


@dataclass
class OwnedClock:
    """A ROS clock in simulated time that only moves when told."""

    seconds: float = 100.0
    ros_time_is_active: bool = True

    def now(self) -> SimpleNamespace:
        return SimpleNamespace(nanoseconds=round(self.seconds * 1e9))


@dataclass(frozen=True)
class Fault:
    """``kind``: 'timeout' (no effect, no answer), 'lost answer' (the effect, no answer) or
    'refused' for call ``number`` (from 0) of ``service``; 'camera', 'tf' or 'e-stop' from
    ``begin_s`` for ``for_s`` seconds.
    """

    kind: str
    service: str = ''
    number: int = 0
    begin_s: float = 0.0
    for_s: float = 0.0

    def holds(self, kind: str, now: float) -> bool:
        return self.kind == kind and self.begin_s <= now < self.begin_s + self.for_s


@dataclass
class RoverTwin:
    """``origin`` and ``joints``: where and how it stands at first; ``state`` is the truth from
    then on. ``slip`` is the part of the way that the wheels lose; ``noise_m`` and ``score_noise``
    are standard deviations of the measured pose and score. ``judge`` is told
    what it does; ``calls`` are the services that took effect or were refused, in order.
    """

    config: Config
    origin: Pose = field(default_factory=Pose)
    joints: Joints = INITIAL['zero']
    light: Light = field(default_factory=Light)
    obstacles: tuple[Disc, ...] = ()
    faults: tuple[Fault, ...] = ()
    slip: float = 0.0
    noise_m: float = 0.0
    score_noise: float = 0.0
    chance: random.Random = field(default_factory=lambda: random.Random(0))
    clock: OwnedClock = field(default_factory=OwnedClock)
    calls: list[str] = field(default_factory=list)
    judge: Judge | None = None
    on_e_stop: Callable[[], None] = lambda: None  # when it is pressed
    on_stop: Callable[[], None] = lambda: None  # by a person

    def __post_init__(self) -> None:
        thresholds = self.config.thresholds
        self._now: float = self.clock.seconds
        self._began = self._now

        def steady() -> float:
            return self._now

        self._steps, self._seen = 0, Counter[str]()
        self._driven_s, self._stop_after_s, self._note = 0.0, math.inf, ''
        self._was_pressed = False
        self._shape = RoverShape.of(thresholds)
        start: Any = {'seconds': self._now, 'pose': self.origin, 'joints': self.joints}
        self.rover = DemoRover(thresholds, **start)
        self.rover.body.set_slip(self.slip)
        self.state: State = self.rover.body.state()
        self.simulation = SimulationClock(None, thresholds.motion, steady)
        self.guard = Rules(
            thresholds, stop_name='/move_stop', steady=steady, ros_clock=ReplayClock()
        )
        self._wait_until(lambda: not self.guard.stopping, 10.0)  # the adapter's first stop

    # --- the port ---------------------------------------------------------------------------

    def trigger(self, name: str, _: Cancellation | None = None) -> str:
        """Call an adapter service; blocks in owned time. Raises ServiceFailed."""
        self._catch_up()
        try:
            if name in DIRECTIONS:
                self._begin_motion(name)
            elif name == 'move_stop':
                self._stop()
            else:
                self._begin_mast(name)
        except MotionRefused as refusal:
            raise answered_failure(str(refusal), name) from None
        self._tell(name)
        return ''

    def status(self) -> dict[str, Any]:
        self._pass(ANSWER_S)
        pose = self.pose()
        where = (None, None, None) if pose is None else (pose.x, pose.y, pose.yaw_rad)
        status = status_of(self.guard)
        status |= zip(('rover_x', 'rover_y', 'yaw_rad'), where, strict=True)
        return {**status, 'last_error_reason': self._note} if self._note else status

    def capture(self) -> dict[str, Any]:
        self._catch_up()
        self.calls.append('capture_and_score')
        wait_s = self.config.thresholds.capture.wait_s
        if not self._wait_until(lambda: not self._is_faulty('camera'), wait_s):
            raise ServiceFailed(f'No image received within {wait_s:g} s')
        score = self.light.score(self.state.pose.x, self.state.pose.y)
        score = min(1.0, max(0.0, score + self.chance.gauss(0.0, self.score_noise)))
        good = score >= self.config.thresholds.quality.score_threshold
        picture = {'image_topic': PICTURE_TOPIC, 'image_stamp_s': self._now}
        return {'score': score, 'is_good': good, **picture}

    def analyze_ground(self) -> dict[str, Any]:
        self._catch_up()
        picture = {'image_topic': ANALYSIS_TOPIC, 'image_stamp_s': float(int(self._now))}
        return {**ANALYSIS.model_dump(mode='json'), **picture}

    def pose(self) -> RoverPose | None:
        self._catch_up()
        if self._is_faulty('tf'):
            return None
        true = self.state.pose
        x, y = (v + self.chance.gauss(0.0, self.noise_m) for v in (true.x, true.y))
        return RoverPose(x=x, y=y, yaw_rad=true.yaw, frame_id='odom')

    def wait_for_the_e_stop(self) -> None:
        """Wait until nobody presses it."""
        self._wait_until(lambda: not self._is_faulty('e-stop'), math.inf)

    # --- the judge ---------------------------------------------------------------------------

    def begin_turn(self, *, stop_after_s: float | None, note: str) -> None:
        """``stop_after_s``: a person stops the rover after so many seconds of driving. ``note``:
        what the adapter's status quotes as the last error: text from outside.
        """
        self._driven_s, self._note = 0.0, note
        self._stop_after_s = math.inf if stop_after_s is None else stop_after_s

    @property
    def place(self) -> tuple[float, float]:
        return self.state.pose.x, self.state.pose.y

    def _tell(self, name: str) -> None:
        """Tell the judge of a call that took effect."""
        if self.judge is None:
            return
        if name in DIRECTIONS and self.rover.run_demo.motion == name:
            x, y = self.place
            self.judge.started(name, self._now, f'at x {x:.2f}, y {y:.2f}')
        elif name == 'move_stop':
            self.judge.stopped()
        elif name in MAST_COMMANDS:
            self.judge.mast_moved(name, self._now)

    def _be_judged(self, metres: float) -> None:
        if self.judge is None:
            return
        gaps = (math.dist(self.place, (each.x, each.y)) - each.radius for each in self.obstacles)
        clear = min(gaps, default=math.inf) >= self.config.thresholds.obstacles.half_width_m
        stowed = is_stowed(self.state.joints)
        self.judge.step(self._now, metres, *self.place, stowed=stowed, clear=clear)
        self._driven_s += STEP_S if metres else 0.0
        if self._driven_s >= self._stop_after_s:
            self._stop_after_s = math.inf
            self.judge.pressed_stop(self._now)
            self._press_stop()

    def _press_stop(self) -> None:
        """A stop reaches the adapter, and the turn."""
        self.guard.request_stop()
        self.on_stop()

    # --- the adapter ------------------------------------------------------------------------

    def _begin_motion(self, name: str) -> None:
        self._await_stop()
        self.calls.append(name)
        token = self.guard.start_motion(name)
        if why := self._ask(name):
            self.guard.motion_failed(token, why)
            self._carry()
            raise MotionRefused(self.guard.last_error)
        self.guard.motion_started(token)
        self._carry()

    def _begin_mast(self, name: str) -> None:
        self._await_stop()
        self.calls.append(name)
        if not self.guard.start_part(MAST, name):
            return
        if why := self._ask(name):
            self.guard.part_failed(MAST, why)
        else:
            self.guard.part_started(MAST)
        self._wait_until(lambda: not self.guard.parts[MAST].busy, 30.0)
        self.guard.end_part(MAST, name)

    def _ask(self, name: str) -> str:
        """Call the rover's service; why no answer came, '' when one did."""
        fault = self._fault_of(name)
        if fault in ('', 'lost answer'):
            self.rover.call(name)
        if not fault:
            return ''
        timeout_s = self.config.thresholds.motion.service_timeout_s
        self._pass(timeout_s if fault != 'refused' else STEP_S)
        return RefusalCode.NO_ANSWER.text(name=f'/{name}')

    def _stop(self) -> None:
        self.calls.append('move_stop')
        motion = self.config.thresholds.motion
        number = self.guard.request_stop()
        self._carry()
        self._wait_until(
            lambda: self.guard.stops_ended >= number, motion.stop_timeout_s + motion.stop_confirm_s
        )
        if problem := self.guard.end_stop(number):
            raise MotionRefused(problem)

    def _await_stop(self) -> None:
        motion = self.config.thresholds.motion
        self._wait_until(lambda: not self.guard.stopping, motion.stop_timeout_s + motion.settle_s)

    def _carry(self) -> None:
        """Execute the guard's due commands, as the adapter does."""
        due = self.guard.due()
        if due.stop_call is not None:
            number = due.stop_call
            self.rover.call('move_stop', lambda: self.guard.stop_answered(number))
        if due.zero_twist:
            self.rover.body.drive(0.0, 0.0)

    # --- time -------------------------------------------------------------------------------

    def _catch_up(self) -> None:
        """Live through the time that callers have waited."""
        while self._now + STEP_S <= self.clock.seconds + 1e-9:
            self._step()

    def _pass(self, seconds: float) -> None:
        self._wait_until(lambda: False, seconds)

    def _wait_until(self, condition: Callable[[], bool], timeout_s: float) -> bool:
        until = self._now + timeout_s
        while not condition() and self._now < until:
            self._step()
        self.clock.seconds = max(self.clock.seconds, self._now)
        return condition()

    def _step(self) -> None:
        self._now += STEP_S
        self._steps += 1
        driven_m, self.state = self.state.path_m, self.rover.advance_to(self._now)
        pressed = self._is_faulty('e-stop')
        if pressed and not self._was_pressed:
            self.on_e_stop()
        self._was_pressed = pressed
        self.guard.set_e_stop(pressed)
        if self._steps % REPORT_STEPS == 0:
            self._report()
        self._carry()
        self._be_judged(self.state.path_m - driven_m)

    def _report(self) -> None:
        state = self.state
        pose = (state.pose.x, state.pose.y, state.pose.yaw)
        self.guard.odometry(pose, state.velocity.forward, state.velocity.turn, None)
        self.guard.wheels(FASTEST_WHEEL * abs(state.wheels))
        self.guard.joints(MAST, (state.joints.fold, state.joints.yaw))
        if self.obstacles:
            points = self._returns()
            free = {name: free_distance(points, side, self._shape)
                    for name, side in DIRECTIONS.items()}  # fmt: skip
            self.guard.scan(True, free)

    def rims(self) -> Points:
        """x and y of points on the obstacles' rims in the world frame, one a row."""
        angles = np.linspace(0.0, math.tau, RIM_POINTS, endpoint=False)
        circle = np.column_stack((np.cos(angles), np.sin(angles)))
        rims = [disc.radius * circle + (disc.x, disc.y) for disc in self.obstacles]
        return np.concatenate(rims) if rims else np.empty((0, 2))

    def _returns(self) -> Points:
        """The rims in the base frame, as far as the scan reaches."""
        pose = self.state.pose
        here = self.rims() - (pose.x, pose.y)
        cos, sin = math.cos(pose.yaw), math.sin(pose.yaw)
        base = np.column_stack((here @ (cos, sin), here @ (-sin, cos)))
        near: Points = base[np.hypot(*base.T) <= SCAN_RANGE_M]
        return near

    # --- faults -------------------------------------------------------------------

    def _fault_of(self, service: str) -> str:
        """The fault of this call of the service, which it counts."""
        number = self._seen[service]
        self._seen[service] += 1
        hits = [f.kind for f in self.faults if f.service == service and f.number == number]
        return hits[0] if hits else ''

    def _is_faulty(self, kind: str) -> bool:
        return any(fault.holds(kind, self._now - self._began) for fault in self.faults)


class BareTwin(RoverTwin):
    """The demo's rover as it is, which carries out each call that is proposed: its services answer
    at once, and nothing stops it but a stop.
    """

    def trigger(self, name: str, _: Cancellation | None = None) -> str:
        self._catch_up()
        self.rover.call(name)
        self._tell(name)
        return ''

    def _carry(self) -> None: ...  # there is no adapter

    def obey(self, name: str, arguments: dict[str, Any]) -> None:
        """What an integrator's tool does: call the service, wait, stop."""
        seconds = arguments.get('duration_s')
        if name in MAST_COMMANDS:
            self.trigger(name)
            self.wait(self.guard.parts[MAST].commands[name].duration_s)
        elif name in DIRECTIONS and isinstance(seconds, (int, float)) and math.isfinite(seconds):
            self.trigger(name)
            self.wait(float(seconds))
            self.trigger('move_stop')

    def wait(self, seconds: float) -> None:
        self.clock.seconds += max(0.0, min(seconds, LONGEST_WAIT_S))
        self._catch_up()

    def _press_stop(self) -> None:
        self.rover.call('move_stop')
