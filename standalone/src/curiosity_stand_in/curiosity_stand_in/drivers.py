# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""The demo's own service nodes, with their manners. Pure: no ROS, no threads.

Each node serves one request at a time, first in, first out, and answers before the motion starts.
A node that hangs keeps its queue and repeats nothing; the wheels keep the last Twist.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
import math
from typing import Any

from curiosity_rosa_demo.infra.config.limits import Thresholds
from curiosity_stand_in.body import Body, State
from curiosity_stand_in.kinematics import FORWARD, LEFT, RIGHT
from curiosity_stand_in.parts import ARM, MAST

REPEAT_S = 0.1  # of run_demo
ROUNDING = 1e-9  # of an owner that adds up its steps
MOTIONS = {'move_forward': FORWARD, 'turn_left': LEFT, 'turn_right': RIGHT}
Effects = Mapping[str, Callable[[], None]]


class RunDemo:
    """Repeats the chosen Twist until /move_stop, which sends a single zero.

    ``publish`` takes linear.x and angular.z; the owner calls ``repeat`` every ``REPEAT_S``.
    """

    def __init__(self, publish: Callable[[float, float], None]) -> None:
        self._publish = publish
        self.motion = ''  # the one that it repeats
        self.effects: Effects = {
            **{name: partial(self._begin, name) for name in MOTIONS},
            'move_stop': self._stop,
        }

    def _begin(self, name: str) -> None:
        self.motion = name

    def _stop(self) -> None:
        self.motion = ''
        self._publish(0.0, 0.0)

    def repeat(self) -> None:
        if self.motion:
            self._publish(*MOTIONS[self.motion])


@dataclass
class ServiceNode:
    """The queue of one node: a request is a service's name and what to do with its answer."""

    effects: Effects
    hanging: bool = False
    queue: deque[tuple[str, Callable[[], None]]] = field(default_factory=deque)

    def serve(self) -> bool:
        """Serve the first request; False: there is none, or the node hangs."""
        if self.hanging or not self.queue:
            return False
        name, answer = self.queue.popleft()
        self.effects[name]()
        answer()
        return True


class DemoRover:
    """The body and its three service nodes in memory, for a test or a bench that owns the time.

    ``start``: keyword arguments of Body, where and how the rover stands at first.
    """

    def __init__(self, thresholds: Thresholds, *, seconds: float = 0.0, **start: Any) -> None:
        self.seconds = seconds
        self.body = Body(thresholds, lambda: self.seconds, **start)
        self.run_demo = RunDemo(self.body.drive)
        self.drive = ServiceNode(self.run_demo.effects)
        self.mast = ServiceNode(MAST.effects(self.body.move))
        self.arm = ServiceNode(ARM.effects(self.body.move))

    def call(self, service: str, answer: Callable[[], None] = lambda: None) -> None:
        """Ask for a service. ``answer`` is called when the node serves it: at once, or, if the
        node hangs, in a later ``advance_to``.
        """
        for node in (self.drive, self.mast, self.arm):
            if service in node.effects:
                node.queue.append((service, answer))
                self._serve()
                return
        raise KeyError(f'the demo has no service {service!r}')

    def advance_to(self, seconds: float) -> State:
        """Let time pass; the state then."""
        self._serve()
        beat = (math.floor(self.seconds / REPEAT_S + ROUNDING) + 1) * REPEAT_S
        if beat <= seconds + ROUNDING and not self.drive.hanging:
            self.seconds = beat
            self.run_demo.repeat()  # the later ones say the same
        self.seconds = max(self.seconds, seconds)
        return self.body.state()

    def _serve(self) -> None:
        for node in (self.drive, self.mast, self.arm):
            while node.serve():
                pass
