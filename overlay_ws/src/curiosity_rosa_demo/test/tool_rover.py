# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The rover behind the agent's tools without ROS: it stands for RoverClient, and owns its time.

The body is DemoRover's. Time passes while the tools wait, and faults are set by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
import threading
from typing import Any

from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.models import (
    INTERRUPTED_TEXT,
    MAST_IS_CLOSED,
    MOVE_IN_PROGRESS,
    NEED_TO_CLOSE_MAST,
    NEED_TO_OPEN_MAST,
    RoverPose,
    ToolResult,
)
from curiosity_rosa_demo.domain.refusal import read_answer, Refusal, RefusalCode
from curiosity_rosa_demo.domain.skills import MOTIONS
from curiosity_rosa_demo.infra.clocks import SimulationClock
from curiosity_rosa_demo.infra.config.limits import Thresholds
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.infra.ros_io import ServiceFailed
from curiosity_rosa_demo.tools.rover_client import answered_failure
from curiosity_rosa_demo.tools.tool_impl import ToolRun
from curiosity_stand_in.body import RAMP_S, ROCKING, START_S, State, TICK_S
from curiosity_stand_in.drivers import DemoRover, REPEAT_S
from curiosity_stand_in.kinematics import Pose
from missions.rover_twin import ANALYSIS, ANALYSIS_TOPIC, OwnedClock, PICTURE_TOPIC

SHIPPED = load_config()
FIGURES = SHIPPED.thresholds
SPEED_MPS, TURN_MPS = FIGURES.body.forward_mps, FIGURES.body.turn_mps
RADIUS_M = FIGURES.obstacles.turn_radius_m
START_LATE_S = REPEAT_S + TICK_S + START_S + RAMP_S / 2  # a motion behind its call, at most
STOP_LATE_S = TICK_S + ROCKING[-1][0]  # from /move_stop until the body stands, at most


def with_figures(
    thresholds: Thresholds, *, forward_mps: float, turn_mps: float, turn_radius_m: float
) -> Thresholds:
    """The thresholds of a body with these speeds and this turning radius."""
    body = {'forward_mps': forward_mps, 'turn_mps': turn_mps}
    return thresholds.changed(body=body, obstacles={'turn_radius_m': turn_radius_m})


class Hurry(Cancellation):
    """A stop button whose waits take no time, but make the owned clock pass."""

    def __init__(self, clock: OwnedClock) -> None:
        super().__init__()
        self._clock = clock

    def sleep(self, seconds: float) -> None:
        self.check()
        self._clock.seconds += max(seconds, 1e-3)  # past every rounding


@dataclass
class SimulatedRover:
    """``calls`` are the services called, in order. A fault raises what it returns, if anything.

    ``mast_is_open`` and ``motion`` are what the adapter says, ``state`` is the truth; ``figures``
    and ``origin``: its body, and where that stands at first.
    """

    clock: OwnedClock = field(default_factory=OwnedClock)
    mast_is_open: bool | None = False
    light: float = 0.9
    tells_pose: bool = True
    calls: list[str] = field(default_factory=list)
    faults: dict[str, Callable[[], Exception | None]] = field(default_factory=dict)
    extra_status: dict[str, Any] = field(default_factory=dict)
    motion: str = ''
    starts: list[str] = field(default_factory=list)
    overlapped: bool = False
    figures: Thresholds = FIGURES
    origin: Pose = field(default_factory=Pose)

    def __post_init__(self) -> None:
        # Without simulated time: a busy machine would make the simulation count as slow.
        self.simulation = SimulationClock(None, FIGURES.motion)
        self.demo = DemoRover(self.figures, seconds=self.clock.seconds, pose=self.origin)
        self._body = threading.Lock()
        self._one_at_a_time = threading.Lock()
        self.last_error = ''

    # --- the port ---------------------------------------------------------------------------

    def trigger(self, name: str, _: Cancellation | None = None) -> str:
        with self.called(name):
            if name in MOTIONS:
                if self.mast_is_open is not False:
                    raise answered_failure(NEED_TO_CLOSE_MAST, name)
                if self.motion:
                    raise answered_failure(MOVE_IN_PROGRESS, name)
                self._ask(name)
                self.motion = name
                self.starts.append(name)
            elif name == 'move_stop':
                self.halt()
            elif self.motion:
                raise answered_failure(MOVE_IN_PROGRESS, name)
            elif name == 'mast_rotate' and self.mast_is_open is False:
                raise answered_failure(NEED_TO_OPEN_MAST, name)
            elif name.startswith('mast_'):
                self._ask(name)
                self.mast_is_open = name != 'mast_close'
        return ''

    def status(self) -> dict[str, Any]:
        with self.called('get_status'):
            pose = self.pose()
            where = {}
            if pose is not None:
                where = {'rover_x': pose.x, 'rover_y': pose.y, 'yaw_rad': pose.yaw_rad}
            return {
                'mast_is_open': self.mast_is_open,
                'moving': bool(self.motion),
                'last_error_reason': self.last_error,
                **where,
                **self.extra_status,
            }

    def capture(self) -> dict[str, Any]:
        with self.called('capture_and_score'):
            picture = {'image_topic': PICTURE_TOPIC, 'image_stamp_s': 1.5}
            return {'score': self.light, 'is_good': self.light >= 0.8, **picture}

    def analyze_ground(self) -> dict[str, Any]:
        with self.called('analyze_ground'):
            picture = {'image_topic': ANALYSIS_TOPIC, 'image_stamp_s': 1.0}
            return {**ANALYSIS.model_dump(mode='json'), **picture}

    def place(self, x: float) -> None:
        """Put it there, facing ahead, with its mast as at the start."""
        self.demo = DemoRover(self.figures, seconds=self.clock.seconds, pose=Pose(x))

    def pose(self) -> RoverPose | None:
        if not self.tells_pose:
            return None
        pose = self.state.pose
        return RoverPose(x=pose.x, y=pose.y, yaw_rad=pose.yaw, frame_id='odom')

    @property
    def state(self) -> State:
        with self._body:
            return self.demo.advance_to(self.clock.seconds)

    def _ask(self, service: str) -> None:
        with self._body:
            self.demo.advance_to(self.clock.seconds)
            self.demo.call(service)

    # --- what the tests do to it ------------------------------------------------------------

    def halt(self, why: str = '') -> None:
        """The adapter stops it, and waits until it stands."""
        self._ask('move_stop')
        self.clock.seconds = max(self.clock.seconds, self.demo.body.moves_until)
        self.motion, self.last_error = '', why

    @contextmanager
    def answers_another(self) -> Iterator[None]:
        """Inside a fault: the adapter answers a second caller meanwhile."""
        self._one_at_a_time.release()
        try:
            yield
        finally:
            self._one_at_a_time.acquire()

    @contextmanager
    def called(self, name: str) -> Iterator[None]:
        if not self._one_at_a_time.acquire(blocking=False):
            self.overlapped = True
            raise AssertionError(f'{name} while another tool runs')
        try:
            self.calls.append(name)
            error = self.faults.get(name, lambda: None)()
            if isinstance(error, ServiceFailed):
                raise answered_failure(str(error), name)
            if error is not None:
                raise error
            yield
        finally:
            self._one_at_a_time.release()


def run_tool(
    rover: SimulatedRover,
    name: str,
    button: Cancellation | None = None,
    config: Config = SHIPPED,
    **arguments: Any,
) -> ToolResult:
    """Run a tool of that rover. Without a stop ``button`` its waits take no time."""
    client: Any = rover
    button = button or Hurry(rover.clock)
    return ToolRun(client, config, client.clock, name, button).result(**arguments)


# --- failures with the codes that the product gives them -----------------------------------------

OWN = {
    INTERRUPTED_TEXT: RefusalCode.INTERRUPTED,
    MAST_IS_CLOSED: RefusalCode.MAST_IS_CLOSED,
    'Rejected by the operator': RefusalCode.REJECTED,
}
OUTSIDE = Refusal(RefusalCode.GEOFENCE, 'outside the fence', 'inside', 'turn round')
MAST_OUT = Refusal(RefusalCode.MAST_NOT_CLOSED, '', 'closed', 'mast_close first')


def failed(reason: str, **data: Any) -> ToolResult:
    """The result of one of the rover's tools for what the adapter has answered."""
    code, facts = read_answer(reason)
    return ToolResult.failure(reason, OWN.get(reason) or code, **facts, **data)


def ended_early(answer: str, **data: Any) -> ToolResult:
    """Of a motion that had begun."""
    code, facts = read_answer(answer)
    data = {'duration_s': 1.0, **facts, **data}
    return ToolResult.failure(f'Motion ended early: {answer}', code, **data)
