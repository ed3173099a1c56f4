# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What a tick asks of the world outside the kernel, as data. Pure.

``plan`` compares the state before a tick with the one after it. The same mode twice asks for
nothing; a user's stop always stops. The rover is stopped before anything else is done.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from curiosity_rosa_demo.agent.kernel.event_arbitrate import INTERRUPT_REASONS
from curiosity_rosa_demo.agent.kernel.kernel_route import goal_of
from curiosity_rosa_demo.agent.kernel.task_queue import (
    CHARGE_SKILL,
    ENDED_STATES,
    RUNNING_STATES,
    wants_to_run,
)
from curiosity_rosa_demo.domain.brain_state import (
    ApprovalAction,
    BrainState,
    HCIState,
    Mode,
    UserInterruptType,
)
from pydantic import JsonValue


@dataclass(frozen=True)
class StopRover:
    """``cancellable_only``: skills with ``cancel_supported`` false go on, as after a pause."""

    why: str
    cancellable_only: bool = False


@dataclass(frozen=True)
class HoldTasks:
    """No task runs but those of ``allow_skills``, others are paused. Replaces an earlier hold."""

    why: str
    allow_skills: frozenset[str] = frozenset()


@dataclass(frozen=True)
class CancelAllTasks:
    """Every task that has not ended."""

    why: str


@dataclass(frozen=True)
class PauseTask:
    id: str
    why: str


@dataclass(frozen=True)
class ReleaseTasks:
    """The hold is over; what it paused goes on by itself."""


@dataclass(frozen=True)
class SubmitCharge:
    pass


@dataclass(frozen=True)
class ResumeTask:
    """``id`` None: every task that was paused."""

    id: str | None = None


@dataclass(frozen=True)
class SubmitGoal:
    """``preempt``: before what runs, which goes on afterwards."""

    text: str
    priority: int
    preempt: bool = False


@dataclass(frozen=True)
class Approve:
    """The answer to an open question. ``payload``: its ``id``, without which it is the oldest;
    ``arguments`` of an EDIT; ``why``.
    """

    action: ApprovalAction
    payload: dict[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True)
class Notice:
    """For the user."""

    text: str


Action = (
    StopRover
    | HoldTasks
    | CancelAllTasks
    | PauseTask
    | ReleaseTasks
    | SubmitCharge
    | ResumeTask
    | SubmitGoal
    | Approve
    | Notice
)


def plan(before: BrainState, after: BrainState) -> list[Action]:
    """What to do, in this order."""
    hold, held = _hold_action(after), _hold_action(before)
    said = INTERRUPT_REASONS.get(after.hci.user_interrupt, '')
    pressed = after.robot.estop and not before.robot.estop
    actions: list[Action] = []
    if pressed or (hold and hold != held):
        actions.append(StopRover(after.tasks.preempt_reason or after.tasks.mode_reason))
    elif said:
        paused = after.hci.user_interrupt is UserInterruptType.PAUSE
        actions.append(StopRover(said, cancellable_only=paused))
    if hold and hold != held:
        actions.append(hold)
    # Before the release, so that nothing resumes for a moment.
    actions += _pause_actions(after, said)
    if held and not hold:
        actions.append(ReleaseTasks())
    if _is_charge_due(after, entered=before.tasks.mode is not Mode.CHARGE):
        actions.append(SubmitCharge())
    actions += _user_actions(after)
    actions += [Notice(text) for text in _notices(before, after)]
    return actions


def _hold_action(state: BrainState) -> HoldTasks | None:
    tasks = state.tasks
    if tasks.mode is Mode.SAFE:
        return HoldTasks(f'SAFE: {tasks.mode_reason}')
    if tasks.mode is Mode.CHARGE:
        return HoldTasks(f'CHARGE: {tasks.mode_reason}', frozenset({CHARGE_SKILL}))
    return None


def _pause_actions(after: BrainState, said: str) -> list[Action]:
    """A stop cancels; a pause lets nothing begin in place of what it pauses."""
    if after.hci.user_interrupt is UserInterruptType.STOP:
        return [CancelAllTasks(said)]
    if after.hci.user_interrupt is UserInterruptType.PAUSE:
        ready = [task for task in after.tasks.queue if wants_to_run(task)]
        ready.sort(key=lambda task: task.status in RUNNING_STATES)
        return [PauseTask(task.task_id, said) for task in ready]
    return []


def _is_charge_due(after: BrainState, *, entered: bool) -> bool:
    """On entering CHARGE; and, when its task is gone, as soon as the user wants to go on."""
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
    """What the user said, other than to stop or to pause."""
    hci = after.hci
    if hci.user_interrupt is UserInterruptType.RESUME:
        task_id = hci.interrupt_payload.get('task_id')
        return [ResumeTask(task_id if isinstance(task_id, str) else None)]
    if hci.user_interrupt is UserInterruptType.NEW_GOAL:
        goal = goal_of(hci)
        if goal is None:
            return [Notice('A goal without words was ignored')]
        # In the other modes the flag has another reason.
        preempt = after.tasks.mode is Mode.EXEC and after.tasks.preempt_flag
        return [SubmitGoal(goal.text, goal.priority, preempt)]
    if hci.user_interrupt is UserInterruptType.APPROVAL:
        return [_approval(hci)]
    return []


def _approval(hci: HCIState) -> Action:
    response = hci.approval_response or {}
    try:
        action = ApprovalAction(response.get('action'))
    except ValueError:
        ways = ', '.join(way.value for way in ApprovalAction)
        return Notice(f'An answer without an action was ignored; the actions are {ways}')
    return Approve(action, {key: value for key, value in response.items() if key != 'action'})


def _notices(before: BrainState, after: BrainState) -> list[str]:
    lines = list(after.robot.events)
    hold, held = _hold_action(after), _hold_action(before)
    if held and (hold is None or after.tasks.mode is not before.tasks.mode):
        lines.append(f'{before.tasks.mode.value} is over')
    if hold and hold != held:
        lines.append(hold.why)
    waits = after.hci.user_interrupt in (UserInterruptType.RESUME, UserInterruptType.NEW_GOAL)
    if hold and waits:
        lines.append(f'It has to wait: {hold.why}')
    if after.tasks.mode is Mode.CHARGE and after.hci.user_interrupt is UserInterruptType.STOP:
        lines.append('The battery is low: say resume to charge')
    return lines
