# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Select the task to run, and decide whether and why the active task must yield.

On input, ``active_task_id`` is the running task; on output, the task that should run. A new goal
that outranks the active task sets ``preempt_flag`` and keeps the ID: the goal is not a task yet.
"""

from __future__ import annotations

from dataclasses import dataclass

from curiosity_rosa_demo.agent.kernel.event_arbitrate import INTERRUPT_REASONS
from curiosity_rosa_demo.agent.kernel.task_queue import active_task, CHARGE_SKILL, next_candidate
from curiosity_rosa_demo.domain.brain_state import (
    BrainState,
    HCIState,
    Mode,
    QueuedTask,
    TasksState,
    UserInterruptType,
)

DEFAULT_PRIORITY = 3
PRIORITIES = range(-1000, 1001)


@dataclass(frozen=True)
class Goal:
    text: str
    priority: int


def kernel_route(state: BrainState) -> BrainState:
    tasks = state.tasks
    reason = _preemption_reason(state, active_task(tasks))
    interrupted = state.hci.user_interrupt in INTERRUPT_REASONS
    candidate = None if interrupted else next_candidate(tasks)
    update = {
        'active_task_id': candidate.task_id if candidate else None,
        'preempt_flag': bool(reason),
        'preempt_reason': reason,
    }
    return state.model_copy(update={'tasks': tasks.model_copy(update=update)})


def goal_of(hci: HCIState) -> Goal | None:
    """The goal of a NEW_GOAL intent; None for other intents and for a goal without text."""
    if hci.user_interrupt is not UserInterruptType.NEW_GOAL:
        return None
    text, priority = hci.interrupt_payload.get('text'), hci.interrupt_payload.get('priority')
    if not isinstance(text, str):
        text = hci.user_utterance
    if isinstance(priority, bool) or not isinstance(priority, int) or priority not in PRIORITIES:
        priority = DEFAULT_PRIORITY
    return Goal(text, priority) if text.strip() else None


def _preemption_reason(state: BrainState, running: QueuedTask | None) -> str:
    """The reason why the running task must yield now; empty if it need not."""
    tasks = state.tasks
    interrupt_reason = INTERRUPT_REASONS.get(state.hci.user_interrupt, '')
    if tasks.mode is Mode.SAFE:
        return f'SAFE: {tasks.mode_reason}'
    if interrupt_reason:
        return interrupt_reason
    if tasks.mode is Mode.CHARGE:
        return '' if _may_run_charge(tasks, running) else f'CHARGE: {tasks.mode_reason}'
    goal = goal_of(state.hci)
    if goal and running and running.preemptible and goal.priority > running.priority:
        return f'a goal of priority {goal.priority} before one of {running.priority}'
    return ''


def _may_run_charge(tasks: TasksState, running: QueuedTask | None) -> bool:
    return running.skill == CHARGE_SKILL if running else tasks.active_task_id is None
