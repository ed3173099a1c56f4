# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""What the kernel decided about SAFE, with the facts on which it did. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from curiosity_rosa_demo.agent.kernel.decide import event_arbitrate
from curiosity_rosa_demo.domain.brain_state import (
    BrainState,
    HCIState,
    RobotState,
    Telemetry,
    UserInterruptType,
)
from curiosity_rosa_demo.domain.models import Json, Model
from curiosity_rosa_demo.infra.config.topics import Config

PERIOD_S = 1.0  # between two that changed nothing


class KernelDecision(Model):
    """What one tick decided about SAFE, and on which facts: a recording holds it, and
    agent/check.py decides ``again``. ``robot``: with the latch from before it. ``verdict``: the
    latch after it; '' without SAFE.
    """

    kind: Literal['kernel'] = 'kernel'
    now_s: float
    robot: RobotState
    interrupt: UserInterruptType
    verdict: str

    @property
    def name(self) -> str:
        return 'kernel: SAFE'

    @property
    def inputs(self) -> str:
        facts = self.robot.model_dump(mode='json', exclude_defaults=True)
        return f'{self.interrupt.value} at {self.now_s:.3f} s with {facts}'

    def again(self, config: Config) -> str:
        state = BrainState(
            telemetry=Telemetry(now_s=self.now_s),
            hci=HCIState(user_interrupt=self.interrupt),
            robot=self.robot,
        )
        return event_arbitrate(state, config.thresholds).robot.safety_latch


class KernelDecisions:
    """Tells of each tick that changed SAFE or was asked to clear it, and of others once in
    PERIOD_S.
    """

    def __init__(self, tell: Callable[[KernelDecision], None]) -> None:
        self._tell = tell
        self._latch: str | None = None  # after the tick before; None: there was none
        self._next_s = 0.0

    def on_tick(self, state: BrainState) -> None:
        """``state``: after the tick."""
        robot, now_s = state.robot, state.telemetry.now_s
        before = robot.safety_latch if self._latch is None else self._latch
        self._latch = robot.safety_latch
        interrupt = state.hci.user_interrupt
        is_change = before != robot.safety_latch or interrupt is UserInterruptType.CLEAR
        if not is_change and now_s < self._next_s:
            return
        self._next_s = now_s + PERIOD_S
        known: Json = {'heard': {}, 'refused': [], 'ages_s': {}, 'silent': [], 'events': []}
        facts = robot.model_copy(update={**known, 'safety_latch': before})
        self._tell(
            KernelDecision.model_construct(
                now_s=now_s, robot=facts, interrupt=interrupt, verdict=robot.safety_latch
            )
        )
