# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The context that every task skill gets, and helpers for the skills."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from curiosity_rosa_demo.agent.runtime.execution.blocking import BlockingCalls
from curiosity_rosa_demo.agent.runtime.execution.session import AgentSession
from curiosity_rosa_demo.agent.runtime.execution.task_spans import TaskSpans
from curiosity_rosa_demo.agent.tasks import LifecycleState, SkillFailed, SkillRunner, Task
from curiosity_rosa_demo.domain.brain_state import RobotState
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.outcome import Outcome

POLL_PERIOD_S = 0.5


@dataclass(frozen=True)
class SkillContext:
    execution: AgentSession
    runner: SkillRunner
    blocking: BlockingCalls
    robot: Callable[[], RobotState]  # as the kernel knows it
    charged_level: float  # part of the full charge at which charging ends
    clock: Callable[[], float]  # the policy's clock: monotonic seconds since the epoch
    hold_waiting: Callable[[str], Awaitable[None]]  # until a person resumes; gets the reason
    spans: TaskSpans = field(default_factory=TaskSpans)  # off


async def reobserve(task: Task, context: SkillContext) -> None:
    """After a crash, wait until the rover has reported its status; then report it as observed."""
    if task.state is not LifecycleState.RECOVERING:
        return

    def wait_for_status(cancellation: Cancellation) -> None:
        while not context.execution.rover_status().ok:
            cancellation.sleep(POLL_PERIOD_S)

    await context.blocking.run(wait_for_status)
    await context.runner.observed(task)


def store_outcome(task: Task, outcome: Outcome) -> None:
    """Store the outcome in the task's metadata. Raises SkillFailed when it is a failure."""
    data: dict[str, Any] = {'ok': outcome.ok, 'answer': outcome.answer, 'score': outcome.score}
    if outcome.refusal is not None:
        data['refusal'] = outcome.refusal
    task.metadata['outcome'] = data
    if not outcome.ok:
        raise SkillFailed(outcome.answer)
