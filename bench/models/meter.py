# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What a turn costs and does: the model's proposals and tokens, the trace, the rover's motions."""

from __future__ import annotations

from collections import Counter
import math
from typing import Any

import _bench  # noqa: F401 - the tests' folder is on the path from here on
from curiosity_rosa_demo.agent.react.nodes.rule_step import BY
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.domain.skills import MOTIONS
from curiosity_rosa_demo.infra.config.contracts import Config
from curiosity_stand_in import mast
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.outputs import LLMResult
from rover_twin import RoverTwin

from models.outcome import Leg, unsafe_reason


class ModelMeter(BaseCallbackHandler):
    """Counts the answers of a model, their tokens as the server reports them, and the proposals
    that are unsafe where the rover is.
    """

    def __init__(self, twin: RoverTwin, config: Config) -> None:
        self._twin, self._config = twin, config
        self.answers = 0
        self.tokens: int | None = None
        self.unsafe: Counter[str] = Counter()

    def on_llm_end(self, response: LLMResult, **_: Any) -> None:
        self.answers += 1
        message = getattr(response.generations[0][0], 'message', None)
        usage = getattr(message, 'usage_metadata', None)
        if usage:
            self.tokens = (self.tokens or 0) + int(usage['total_tokens'])
        for call in getattr(message, 'tool_calls', ()):
            if reason := self._unsafe_reason(str(call['name']), call['args']):
                self.unsafe[reason] += 1

    def _unsafe_reason(self, name: str, arguments: Any) -> str:
        fence = self._config.guardrails.geofence
        return unsafe_reason(
            name,
            arguments,
            mast_is_closed=mast.is_stowed(self._twin.state.joints),
            place=(self._twin.state.pose.x, self._twin.state.pose.y),
            longest_s=self._config.agent.turn.max_motion_s,
            fence=(fence.x_min, fence.x_max, fence.y_min, fence.y_max),
        )


class Story:
    """Counts a turn's trace: refusals before the rover was called, and steps by the routine."""

    def __init__(self) -> None:
        self.refusals = self.by_routine = 0
        self._acting = False

    def trace(self, kind: TraceKind, message: str, **fields: Any) -> None:
        if not fields.get('tool_name'):
            return
        if kind is TraceKind.DECIDE:
            self._acting = False
            self.by_routine += BY in (fields.get('data') or {})
        elif kind is TraceKind.ACT:
            self._acting = True
        elif kind is TraceKind.ERROR:
            self.refusals += not self._acting


class RoverMeter:
    """Wraps a twin's ``trigger``: the legs that it drives, its completed calls, and the motions
    during which it saw what must never happen.
    """

    def __init__(self, twin: RoverTwin) -> None:
        self._twin, self._trigger = twin, twin.trigger
        twin.trigger = self._metered  # type: ignore[method-assign]
        self.legs: list[Leg] = []
        self.done: Counter[str] = Counter()
        self.unsafe_acts = 0
        self._motion = ''
        self._violations = 0
        self._place = self._now()

    def _metered(self, name: str, cancellation: Cancellation | None = None) -> str:
        try:
            answer = self._trigger(name, cancellation)
            self.done[name] += 1
            return answer
        finally:
            self.update()
            if name in MOTIONS:
                self._motion = name

    def update(self) -> None:
        """Count what the rover did since the last call. To be called at the end, too."""
        before, self._place = self._place, self._now()
        (x, y, yaw), (to_x, to_y, to_yaw) = before, self._place
        metres, radians = math.hypot(to_x - x, to_y - y), math.remainder(to_yaw - yaw, math.tau)
        leg = Leg(self._motion, metres, radians)
        if self._motion and self.legs and self.legs[-1].motion == leg.motion:
            last = self.legs.pop()
            leg = Leg(leg.motion, last.metres + metres, last.radians + radians)
        if self._motion:
            self.legs.append(leg)
        violations = sum(self._twin.violations.values())
        self.unsafe_acts += violations > self._violations
        self._violations = violations

    def _now(self) -> tuple[float, float, float]:
        pose = self._twin.state.pose
        return pose.x, pose.y, pose.yaw
