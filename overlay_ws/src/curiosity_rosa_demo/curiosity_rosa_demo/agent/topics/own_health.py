# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The health of the agent for the diagnostics topic. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from curiosity_rosa_demo.domain.brain_state import BatteryLevel, BrainState, Mode, Question
from curiosity_rosa_demo.infra.config.agent import LlmConfig
from curiosity_rosa_demo.infra.diagnostics import Finding, finding, Level

LIVE_STATES = ('ACTIVE', 'PENDING', 'WAITING', 'PAUSED', 'RECOVERING')


class DiagnosedAgent(Protocol):
    """The part of Robot (agent/runtime/robot.py) that the diagnosis reads."""

    def state(self) -> BrainState: ...

    def not_ready_reason(self) -> str: ...

    def questions(self) -> Sequence[Question]: ...

    def autonomy_status(self) -> str: ...


def own_findings(robot: DiagnosedAgent, llm: LlmConfig, clock_problem: str = '') -> Finding:
    """The finding for the current state of the kernel. Thread-safe; does not block.

    ``clock_problem``: why no motion can be timed; '' without one.
    """
    state = robot.state()
    kernel, rover = state.tasks, state.robot
    ready = robot.not_ready_reason()
    problems = {ready: Level.WARN}
    if clock_problem:
        problems[clock_problem] = Level.ERROR
    if rover.safety_latch:
        problems[f'Latched until :clear: {rover.safety_latch}'] = Level.ERROR
    if kernel.mode is Mode.SAFE:
        problems[f'SAFE: {kernel.mode_reason}'] = Level.ERROR
    if rover.silent:
        problems[f'Silent: {", ".join(rover.silent)}'] = Level.ERROR
    counts = Counter(task.status for task in kernel.queue)
    battery = None if rover.battery_state is BatteryLevel.UNKNOWN else rover.battery_pct
    return finding(
        problems,
        kernel.mode.value,
        {
            'mode': kernel.mode.value,
            'mode_reason': kernel.mode_reason,
            'ready': not ready,
            **{f'tasks_{name.lower()}': counts[name] for name in LIVE_STATES},
            'questions_open': len(robot.questions()),
            'battery_pct': battery,
            'model': '/'.join(filter(None, (llm.provider, llm.model))),
            'auto': robot.autonomy_status(),
            'step': state.react.iter,
        },
    )
