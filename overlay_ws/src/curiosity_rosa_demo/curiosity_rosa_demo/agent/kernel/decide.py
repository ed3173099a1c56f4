# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Three steps of a tick: the mode with its latch, the order of the tasks, and the one to run; and
what a recording keeps of the decision about SAFE.

Pure, as the other steps.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Literal

from curiosity_rosa_demo.agent.kernel.sense import E_STOP_CAUSE
from curiosity_rosa_demo.domain.brain_state import (
    BatteryLevel,
    BrainState,
    HCIState,
    Mode,
    QueuedTask,
    RobotState,
    TasksState,
    Telemetry,
    unstowed_part,
    UserInterruptType,
)
from curiosity_rosa_demo.domain.models import Json, Model
from curiosity_rosa_demo.domain.task_state import LifecycleState
from curiosity_rosa_demo.domain.text import count_text
from curiosity_rosa_demo.infra.config.limits import Thresholds
from curiosity_rosa_demo.infra.config.topics import Config

CHARGE_SKILL = 'charge'
SKILLS_IN_SAFE = frozenset({'get_status', 'query_world', 'query_graph', 'move_stop', 'stop_base'})
RUNNING_STATES = frozenset(state.name for state in LifecycleState if state.running)
READY_STATES = RUNNING_STATES | {state.name for state in LifecycleState if state.waits_its_turn}
ENDED_STATES = frozenset(state.name for state in LifecycleState if state.terminal)
INTERRUPT_REASONS = {
    UserInterruptType.STOP: 'the user said stop',
    UserInterruptType.PAUSE: 'the user said pause',
}

# --- The mode -----------------------------------------------------------------------------------


def event_arbitrate(state: BrainState, rules: Thresholds) -> BrainState:
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


def _latch_causes(state: BrainState, rules: Thresholds) -> list[str]:
    """The causes of a SAFE latch that are present in this tick."""
    robot, causes = state.robot, []
    if robot.estop:
        causes.append(E_STOP_CAUSE)
    near, stop_m = robot.scan_min_m, rules.telemetry.obstacle_stop_m
    if robot.moving and near is not None and near < stop_m:
        causes.append(f'obstacle nearer than {stop_m:g} m')
    since = robot.exposed_since_s
    # The time that the adapter needs to stop a rover that moves with a part not stowed.
    longest_s = rules.motion.stop_timeout_s + rules.motion.settle_s
    if since is not None and state.telemetry.now_s - since >= longest_s:
        causes.append(f'moving with the {unstowed_part(robot.mast, robot.appendages)}')
    if robot.violation and robot.violation not in causes:
        causes.append(robot.violation)
    return causes


def _silent_sources(state: BrainState, rules: Thresholds) -> list[str]:
    """The silent sources without which the rover must not run. They do not latch."""
    scan = state.robot.heard.get('scan')
    saw_ahead = (
        rules.telemetry.obstacle_stop_m > 0.0 and scan is not None and scan.value.get('view')
    )
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
    held = sum(task.held for task in state.tasks.queue)
    return Mode.IDLE, f'{count_text(held, "task")} held' if held else 'nothing to do'


# --- Orders in SAFE -----------------------------------------------------------------------------


def order_refusal(state: BrainState, skill: str, since: datetime | None) -> str:
    """Why an order for ``skill`` is refused now; '' when it is taken. The code SAFE_MODE stands in
    docs/reference/guardrails.md.

    ``since``: when SAFE began; None: unknown. An empty ``skill`` stands for any order that could
    move the rover.
    """
    if state.tasks.mode is not Mode.SAFE or skill in SKILLS_IN_SAFE:
        return ''
    begun = f'since {since.astimezone():%Y-%m-%d %H:%M:%S}' if since else 'since an unknown time'
    return (
        f'SAFE_MODE: refused, nothing may move. SAFE {begun}: {state.tasks.mode_reason}. '
        f'{way_out(state)}'
    )


def way_out(state: BrainState) -> str:
    """What ends SAFE, as a sentence."""
    if state.robot.estop:
        return 'Release the e-stop, then enter :clear.'
    if state.robot.safety_latch:
        return 'Look at the rover, then enter :clear.'
    return 'SAFE ends when it is back.'


# --- The task to run ----------------------------------------------------------------------------


def task_queue(state: BrainState, rules: Thresholds) -> BrainState:
    queue = sorted(state.tasks.queue, key=lambda task: -task.priority)
    return state.model_copy(update={'tasks': state.tasks.model_copy(update={'queue': queue})})


def kernel_route(state: BrainState, rules: Thresholds) -> BrainState:
    """``active_task_id``: before it, the running task; after it, the one that should run. A new
    goal that outranks the active task sets ``preempt_flag`` and keeps the ID: it is no task yet.
    """
    tasks = state.tasks
    reason = _preemption_reason(state)
    interrupted = state.hci.user_interrupt in INTERRUPT_REASONS
    candidate = None if interrupted else _next_candidate(tasks)
    update = {
        'active_task_id': candidate.task_id if candidate else None,
        'preempt_flag': bool(reason),
        'preempt_reason': reason,
    }
    return state.model_copy(update={'tasks': tasks.model_copy(update=update)})


def wants_to_run(task: QueuedTask) -> bool:
    """Whether only the mode or an occupied resource can keep ``task`` from running."""
    return task.status in READY_STATES and not task.held


def _next_candidate(tasks: TasksState) -> QueuedTask | None:
    """The task to run in the current mode: the running one, else the first ready one."""
    if tasks.mode is Mode.SAFE:
        return None
    ready = [task for task in tasks.queue if wants_to_run(task)]
    if tasks.mode is Mode.CHARGE:
        ready = [task for task in ready if task.skill == CHARGE_SKILL]
    running = (task for task in ready if task.status in RUNNING_STATES)
    return next(running, ready[0] if ready else None)


def _preemption_reason(state: BrainState) -> str:
    """The reason why the running task must yield now; empty if it need not."""
    tasks = state.tasks
    named = (task for task in tasks.queue if task.task_id == tasks.active_task_id)
    started = (task for task in tasks.queue if task.status in RUNNING_STATES)
    running = next(named, None) or next(started, None)
    if tasks.mode is Mode.SAFE:
        return f'SAFE: {tasks.mode_reason}'
    if interrupt_reason := INTERRUPT_REASONS.get(state.hci.user_interrupt, ''):
        return interrupt_reason
    if tasks.mode is Mode.CHARGE:
        charges = running.skill == CHARGE_SKILL if running else tasks.active_task_id is None
        return '' if charges else f'CHARGE: {tasks.mode_reason}'
    if state.hci.user_interrupt is UserInterruptType.NEW_GOAL and running and running.preemptible:
        priority = goal_priority(state.hci)
        if priority > running.priority:
            return f'a goal of priority {priority} before one of {running.priority}'
    return ''


def goal_priority(hci: HCIState) -> int:
    priority = hci.interrupt_payload['priority']
    assert isinstance(priority, int)
    return priority


# --- What was decided about SAFE, with the facts on which it was --------------------------------

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
