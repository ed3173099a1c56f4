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

from curiosity_rosa_demo.agent.kernel.telemetry_sync import KernelRules
from curiosity_rosa_demo.domain.brain_state import (
    BatteryLevel,
    BrainState,
    HCIState,
    Mode,
    QueuedTask,
    TasksState,
    unstowed_part,
    UserInterruptType,
)
from curiosity_rosa_demo.domain.task_state import LifecycleState

# -----------------------------------------------------------------------------------------------
# Sort the tasks into the order in which they would run: by priority, then by submission
#
# The task runner orders urgent tasks and assigns the resources.


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


# -----------------------------------------------------------------------------------------------
# Choose the mode from the state: safety first, then the battery, the user and the tasks
#
# Four causes latch SAFE: the e-stop; an obstacle in the way, if ``telemetry.obstacle_stop_m`` is
# set; a rover that moves with the mast or a part of its profile not stowed for longer than the
# adapter needs to stop it; a skill that failed with SAFETY_VIOLATION. The latch lasts until the
# operator clears it and the cause is gone. While the adapter is silent, the mode is SAFE without a
# latch. With ``obstacle_stop_m`` set, the same holds for a scan that had a view ahead.


INTERRUPT_REASONS = {
    UserInterruptType.STOP: 'the user said stop',
    UserInterruptType.PAUSE: 'the user said pause',
}


def event_arbitrate(state: BrainState, rules: KernelRules) -> BrainState:
    causes, silences = _latch_causes(state, rules), _silent_sources(state, rules)
    latch = state.robot.safety_latch or '; '.join(causes)
    events = state.robot.events
    if state.hci.user_interrupt is UserInterruptType.CLEAR:
        events = [*events, _clear_text(latch, causes, silences)]
        if not causes:
            latch = ''
    mode, reason = _mode(state, latch or '; '.join(silences))
    return state.model_copy(
        update={
            'robot': state.robot.model_copy(update={'safety_latch': latch, 'events': events}),
            'tasks': state.tasks.model_copy(update={'mode': mode, 'mode_reason': reason}),
        }
    )


def _latch_causes(state: BrainState, rules: KernelRules) -> list[str]:
    """The causes of a SAFE latch that are present in this tick."""
    robot, causes = state.robot, []
    if robot.estop:
        causes.append('e-stop pressed')
    near = robot.scan_min_m
    if robot.moving and near is not None and near < rules.obstacle_stop_m:
        causes.append(f'obstacle nearer than {rules.obstacle_stop_m:g} m')
    since = robot.exposed_since_s
    if since is not None and state.telemetry.now_s - since >= rules.exposed_s:
        causes.append(f'moving with the {unstowed_part(robot.mast, robot.appendages)}')
    if robot.violation:
        causes.append(robot.violation)
    return causes


def _silent_sources(state: BrainState, rules: KernelRules) -> list[str]:
    """The silent sources without which the rover must not run. They do not latch."""
    scan = state.robot.heard.get('scan')
    saw_ahead = rules.obstacle_stop_m > 0.0 and scan is not None and scan.value.get('view')
    needed = ('adapter', 'scan') if saw_ahead else ('adapter',)
    return [f'{source} is silent' for source in needed if source in state.robot.silent]


def _clear_text(latch: str, causes: list[str], silences: list[str]) -> str:
    if causes:
        return f'not cleared: {"; ".join(causes)}'
    if latch:
        return f'cleared: {latch}'
    return f'nothing to clear: {"; ".join(silences) or "no safety latch"}'


def _mode(state: BrainState, safe_reason: str) -> tuple[Mode, str]:
    if safe_reason:
        return Mode.SAFE, safe_reason
    if state.robot.battery_state is BatteryLevel.LOW:
        return Mode.CHARGE, 'battery is low'
    interrupt_reason = INTERRUPT_REASONS.get(state.hci.user_interrupt)
    if interrupt_reason:
        return Mode.IDLE, interrupt_reason
    if any(wants_to_run(task) for task in state.tasks.queue):
        return Mode.EXEC, 'there are tasks to do'
    return Mode.IDLE, 'nothing to do'


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
