# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The actions that a tick requests of the rest of the agent, as data. Pure.

``plan`` compares the states before and after a tick. An unchanged mode requests no action; a
user's stop always does. Stopping the rover comes before every other action.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from curiosity_rosa_demo.agent.kernel.kernel_route import (
    CHARGE_SKILL,
    ENDED_STATES,
    goal_of,
    INTERRUPT_REASONS,
    RUNNING_STATES,
    wants_to_run,
)
from curiosity_rosa_demo.agent.kernel.safe_orders import SKILLS_IN_SAFE
from curiosity_rosa_demo.agent.language.questions import Topic
from curiosity_rosa_demo.domain.brain_state import (
    ApprovalAction,
    BrainState,
    HCIState,
    Mode,
    UserInterruptType,
)
from curiosity_rosa_demo.domain.origin import Origin
from pydantic import JsonValue


@dataclass(frozen=True)
class StopRover:
    """``cancellable_only``: skills with ``cancel_supported`` false keep running, as in a pause."""

    why: str
    cancellable_only: bool = False


@dataclass(frozen=True)
class HoldTasks:
    """Only tasks of ``allow_skills`` may run; others are paused. Replaces an earlier hold."""

    why: str
    allow_skills: frozenset[str] = frozenset()


@dataclass(frozen=True)
class CancelAllTasks:
    """Cancel every task that has not ended."""

    why: str


@dataclass(frozen=True)
class PauseTask:
    id: str
    why: str


@dataclass(frozen=True)
class HoldAfterSafe:
    """Every task that waits or was interrupted needs its own resume, except charging."""

    why: str


@dataclass(frozen=True)
class ReportHeldTasks:
    """Tell the user how many tasks are held, and how to resume or drop them."""


@dataclass(frozen=True)
class ReleaseTasks:
    """End the hold. The tasks that it paused resume by themselves."""


@dataclass(frozen=True)
class SubmitCharge:
    pass


@dataclass(frozen=True)
class ResumeTask:
    """``id`` None resumes every paused task."""

    id: str | None = None


@dataclass(frozen=True)
class SubmitGoal:
    """``preempt``: run it before the active task, which resumes afterwards."""

    text: str
    priority: int
    preempt: bool = False
    origin: Origin | None = None  # the door through which it came; None: none
    asked_by: str = ''  # the person who asked, as others see it; '': without a name


@dataclass(frozen=True)
class Approve:
    """The answer to an open question. ``payload`` may hold the question's ``id`` (default: the
    oldest question), the ``arguments`` of an EDIT, and ``why``.
    """

    action: ApprovalAction
    payload: dict[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """Reply to the question ``text`` about these topics, at once. It changes nothing."""

    topics: tuple[Topic, ...]
    text: str


@dataclass(frozen=True)
class Notice:
    """A line for the user. ``ok`` False: the message that it answers had no effect."""

    text: str
    ok: bool = True


Action = (
    StopRover
    | HoldTasks
    | CancelAllTasks
    | PauseTask
    | HoldAfterSafe
    | ReportHeldTasks
    | ReleaseTasks
    | SubmitCharge
    | ResumeTask
    | SubmitGoal
    | Approve
    | Answer
    | Notice
)


def plan(before: BrainState, after: BrainState) -> list[Action]:
    """Return the actions of a tick, in the order in which to execute them."""
    hold, previous_hold = _hold_action(after), _hold_action(before)
    interrupt_reason = INTERRUPT_REASONS.get(after.hci.user_interrupt, '')
    estop_pressed = after.robot.estop and not before.robot.estop
    actions: list[Action] = []
    if estop_pressed or (hold and hold != previous_hold):
        actions.append(StopRover(after.tasks.preempt_reason or after.tasks.mode_reason))
    elif interrupt_reason:
        paused = after.hci.user_interrupt is UserInterruptType.PAUSE
        actions.append(StopRover(interrupt_reason, cancellable_only=paused))
    if hold and hold != previous_hold:
        actions.append(hold)
    # Before the release: otherwise a task could resume for a moment.
    actions += _pause_actions(after, interrupt_reason)
    latch = before.robot.safety_latch
    cleared = bool(latch) and not after.robot.safety_latch
    is_over = before.tasks.mode is Mode.SAFE and after.tasks.mode is not Mode.SAFE
    if cleared or is_over:
        actions.append(HoldAfterSafe(f'SAFE: {latch or before.tasks.mode_reason}'))
    if previous_hold and not hold:
        actions.append(ReleaseTasks())
    if _is_charge_due(after, entered=before.tasks.mode is not Mode.CHARGE):
        actions.append(SubmitCharge())
    actions += _user_actions(after)
    kept = after.hci.user_interrupt is UserInterruptType.CLEAR and after.robot.safety_latch != ''
    # event_arbitrate appends its answer to a clear as the last event.
    refused = after.robot.events[-1:] if kept else []
    actions += [Notice(text, ok=text not in refused) for text in _notices(before, after)]
    if cleared or is_over:
        actions.append(ReportHeldTasks())
    return actions


def _hold_action(state: BrainState) -> HoldTasks | None:
    tasks = state.tasks
    if tasks.mode is Mode.SAFE:
        return HoldTasks(f'SAFE: {tasks.mode_reason}', SKILLS_IN_SAFE)
    if tasks.mode is Mode.CHARGE:
        return HoldTasks(f'CHARGE: {tasks.mode_reason}', frozenset({CHARGE_SKILL}))
    return None


def _pause_actions(after: BrainState, interrupt_reason: str) -> list[Action]:
    """A stop cancels all tasks. A pause pauses the waiting tasks first, so that none starts."""
    if after.hci.user_interrupt is UserInterruptType.STOP:
        return [CancelAllTasks(interrupt_reason)]
    if after.hci.user_interrupt is UserInterruptType.PAUSE:
        ready = [task for task in after.tasks.queue if wants_to_run(task)]
        ready.sort(key=lambda task: task.status in RUNNING_STATES)
        return [PauseTask(task.task_id, interrupt_reason) for task in ready]
    return []


def _is_charge_due(after: BrainState, *, entered: bool) -> bool:
    """True on entering CHARGE, and in CHARGE on RESUME or NEW_GOAL, unless a charge task is live.

    Never together with a STOP.
    """
    interrupt = after.hci.user_interrupt
    wanted = entered or interrupt in (UserInterruptType.RESUME, UserInterruptType.NEW_GOAL)
    return (
        after.tasks.mode is Mode.CHARGE
        and wanted
        and interrupt is not UserInterruptType.STOP
        and not any(
            task.skill == CHARGE_SKILL and task.status not in ENDED_STATES
            for task in after.tasks.queue
        )
    )


def _user_actions(after: BrainState) -> list[Action]:
    """The actions for a RESUME, NEW_GOAL, APPROVAL or NORMAL of the user."""
    hci = after.hci
    if hci.user_interrupt is UserInterruptType.RESUME:
        task_id = hci.interrupt_payload.get('task_id')
        return [ResumeTask(task_id if isinstance(task_id, str) else None)]
    if hci.user_interrupt is UserInterruptType.NEW_GOAL:
        goal = goal_of(hci)
        if goal is None:
            return [Notice('A goal without words was ignored')]
        # In the other modes the flag is set for another reason than the goal.
        preempt = after.tasks.mode is Mode.EXEC and after.tasks.preempt_flag
        return [SubmitGoal(goal.text, goal.priority, preempt)]
    if hci.user_interrupt is UserInterruptType.APPROVAL:
        return [_approval(hci)]
    if hci.user_interrupt is UserInterruptType.NORMAL:
        return [Answer(_topics(hci), hci.user_utterance)]
    return []


def _topics(hci: HCIState) -> tuple[Topic, ...]:
    names, known = hci.interrupt_payload.get('topics'), {topic.value for topic in Topic}
    names = names if isinstance(names, list) else []
    return tuple(Topic(name) for name in names if isinstance(name, str) and name in known)


def _approval(hci: HCIState) -> Action:
    response = hci.approval_response or {}
    try:
        action = ApprovalAction(response.get('action'))
    except ValueError:
        allowed = ', '.join(each.value for each in ApprovalAction)
        return Notice(f'An answer without an action was ignored; the actions are {allowed}')
    return Approve(action, {key: value for key, value in response.items() if key != 'action'})


def _notices(before: BrainState, after: BrainState) -> list[str]:
    lines = list(after.robot.events)
    hold, previous_hold = _hold_action(after), _hold_action(before)
    if previous_hold and (hold is None or after.tasks.mode is not before.tasks.mode):
        lines.append(f'{before.tasks.mode.value} is over')
    if hold and hold != previous_hold:
        lines.append(hold.why)
    is_delayed = after.hci.user_interrupt in (UserInterruptType.RESUME, UserInterruptType.NEW_GOAL)
    if after.tasks.mode is Mode.CHARGE and hold and is_delayed:  # SAFE refuses it
        lines.append(f'It has to wait: {hold.why}')
    if after.tasks.mode is Mode.CHARGE and after.hci.user_interrupt is UserInterruptType.STOP:
        lines.append('The battery is low: say resume to charge')
    return lines
