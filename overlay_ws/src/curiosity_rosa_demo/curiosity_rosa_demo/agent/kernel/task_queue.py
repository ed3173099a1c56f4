# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Sort the tasks into the order in which they would run: by priority, then by submission.

The task runner orders urgent tasks and assigns the resources.
"""

from __future__ import annotations

from curiosity_rosa_demo.domain.brain_state import BrainState, Mode, QueuedTask, TasksState
from curiosity_rosa_demo.domain.task_state import LifecycleState

CHARGE_SKILL = 'charge'
# Names of the states, as in QueuedTask.status.
RUNNING_STATES = frozenset(state.name for state in LifecycleState if state.running)
READY_STATES = RUNNING_STATES | {state.name for state in LifecycleState if state.waits_its_turn}
ENDED_STATES = frozenset(state.name for state in LifecycleState if state.terminal)


def task_queue(state: BrainState) -> BrainState:
    queue = sorted(state.tasks.queue, key=lambda task: -task.priority)
    return state.model_copy(update={'tasks': state.tasks.model_copy(update={'queue': queue})})


def wants_to_run(task: QueuedTask) -> bool:
    """Whether only the mode or an occupied resource can keep ``task`` from running."""
    return task.status in READY_STATES and not task.held


def next_candidate(tasks: TasksState) -> QueuedTask | None:
    """The task to run in the current mode: the running one, else the first ready one."""
    if tasks.mode is Mode.SAFE:
        return None
    ready = [task for task in tasks.queue if wants_to_run(task)]
    if tasks.mode is Mode.CHARGE:
        ready = [task for task in ready if task.skill == CHARGE_SKILL]
    running = (task for task in ready if task.status in RUNNING_STATES)
    return next(running, ready[0] if ready else None)


def active_task(tasks: TasksState) -> QueuedTask | None:
    """The task of ``active_task_id``; if the queue lacks that ID, the first running task."""
    named = (task for task in tasks.queue if task.task_id == tasks.active_task_id)
    running = (task for task in tasks.queue if task.status in RUNNING_STATES)
    return next(named, None) or next(running, None)
