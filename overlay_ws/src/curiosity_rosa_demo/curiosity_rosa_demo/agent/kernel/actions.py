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

from dataclasses import dataclass

from curiosity_rosa_demo.agent.kernel.decide import (
    CHARGE_SKILL,
    ENDED_STATES,
    goal_priority,
    INTERRUPT_REASONS,
    SKILLS_IN_SAFE,
)
from curiosity_rosa_demo.agent.language.questions import Topic
from curiosity_rosa_demo.agent.language.tables import DEFAULT
from curiosity_rosa_demo.agent.language.understand import Utterance
from curiosity_rosa_demo.domain.brain_state import (
    ApprovalAction,
    BrainState,
    Json,
    Mode,
    UserInterruptType,
)

RESUME_TO_CHARGE_TEXT = 'The battery is low: say resume to charge'


class Action:
    """One request of a tick."""


@dataclass(frozen=True)
class StopRover(Action):
    """``cancellable_only``: skills with ``cancel_supported`` false keep running, as in a pause."""

    why: str
    cancellable_only: bool = False


@dataclass(frozen=True)
class HoldTasks(Action):
    """Only tasks of ``allow_skills`` may run; others are paused. Replaces an earlier hold."""

    why: str
    allow_skills: frozenset[str] = frozenset()


@dataclass(frozen=True)
class CancelAllTasks(Action):
    """Cancel every task that has not ended."""

    why: str


@dataclass(frozen=True)
class PauseTasks(Action):
    """Hold every task, the waiting ones first, so that none starts."""

    why: str


@dataclass(frozen=True)
class HoldAfterSafe(Action):
    """Every task that waits or was interrupted needs its own resume, except charging. The user is
    told how many are held, and how to resume or drop them, after the other actions.
    """

    why: str


@dataclass(frozen=True)
class ReleaseTasks(Action):
    """End the hold. The tasks that it paused resume by themselves."""


@dataclass(frozen=True)
class SubmitCharge(Action):
    pass


@dataclass(frozen=True)
class ResumeTask(Action):
    """``id`` None resumes every paused task."""

    id: str | None = None


@dataclass(frozen=True)
class SubmitGoal(Action):
    """``preempt``: run it before the active task, which resumes afterwards."""

    said: Utterance
    priority: int
    preempt: bool = False


@dataclass(frozen=True)
class Approve(Action):
    """The answer to an open question. ``payload`` may hold the question's ``id`` (default: the
    oldest question), the ``arguments`` of an EDIT, ``why`` and ``by``.
    """

    action: ApprovalAction
    payload: Json


@dataclass(frozen=True)
class Answer(Action):
    """Reply to the question ``text`` about these topics, at once. It changes nothing."""

    topics: tuple[Topic, ...]
    text: str
    language: str = DEFAULT


@dataclass(frozen=True)
class Notice(Action):
    """A line for the user. ``ok`` False: the message that it answers had no effect."""

    text: str
    ok: bool = True


def plan(before: BrainState, after: BrainState) -> list[Action]:
    """Return the actions of a tick, in the order in which to execute them."""
    hold, previous_hold = _hold_action(after), _hold_action(before)
    interrupt = after.hci.user_interrupt
    interrupt_reason = INTERRUPT_REASONS.get(interrupt, '')
    estop_pressed = after.robot.estop and not before.robot.estop
    actions: list[Action] = []
    if estop_pressed or (hold and hold != previous_hold):
        actions.append(StopRover(after.tasks.preempt_reason or after.tasks.mode_reason))
    elif interrupt_reason:
        paused = interrupt is UserInterruptType.PAUSE
        actions.append(StopRover(interrupt_reason, cancellable_only=paused))
    if hold and hold != previous_hold:
        actions.append(hold)
    # Before the release: otherwise a task could resume for a moment.
    if interrupt is UserInterruptType.STOP:
        actions.append(CancelAllTasks(interrupt_reason))
    elif interrupt is UserInterruptType.PAUSE:
        actions.append(PauseTasks(interrupt_reason))
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
    kept = interrupt is UserInterruptType.CLEAR and after.robot.safety_latch != ''
    # event_arbitrate appends its answer to a clear as the last event.
    refused = after.robot.events[-1:] if kept else []
    actions += [Notice(text, ok=text not in refused) for text in _notices(before, after)]
    return actions


def _hold_action(state: BrainState) -> HoldTasks | None:
    tasks = state.tasks
    if tasks.mode is Mode.SAFE:
        return HoldTasks(f'SAFE: {tasks.mode_reason}', SKILLS_IN_SAFE)
    if tasks.mode is Mode.CHARGE:
        return HoldTasks(f'CHARGE: {tasks.mode_reason}', frozenset({CHARGE_SKILL}))
    return None


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
    hci, payload = after.hci, after.hci.interrupt_payload
    if hci.user_interrupt is UserInterruptType.RESUME:
        task_id = payload.get('task_id')
        return [ResumeTask(None if task_id is None else str(task_id))]
    if hci.user_interrupt is UserInterruptType.NEW_GOAL:
        # In the other modes the flag is set for another reason than the goal.
        preempt = after.tasks.mode is Mode.EXEC and after.tasks.preempt_flag
        meaning = payload['said']
        assert isinstance(meaning, dict)
        said = Utterance.of(str(payload['text']), meaning)
        return [SubmitGoal(said, goal_priority(hci), preempt)]
    if hci.user_interrupt is UserInterruptType.APPROVAL:
        answer = {key: value for key, value in payload.items() if key != 'action'}
        return [Approve(ApprovalAction(payload['action']), answer)]
    if hci.user_interrupt is UserInterruptType.NORMAL:
        topics = payload['topics']
        assert isinstance(topics, list)
        language = str(payload['language'])
        return [Answer(tuple(map(Topic, topics)), hci.user_utterance, language)]
    return []


def _notices(before: BrainState, after: BrainState) -> list[str]:
    lines, interrupt = list(after.robot.events), after.hci.user_interrupt
    hold, previous_hold = _hold_action(after), _hold_action(before)
    if previous_hold and (hold is None or after.tasks.mode is not before.tasks.mode):
        lines.append(f'{before.tasks.mode.value} is over')
    if hold and hold != previous_hold:
        lines.append(hold.why)
    is_delayed = interrupt in (UserInterruptType.RESUME, UserInterruptType.NEW_GOAL)
    if after.tasks.mode is Mode.CHARGE and hold and is_delayed:  # SAFE refuses it
        lines.append(f'It has to wait: {hold.why}')
    if after.tasks.mode is Mode.CHARGE and interrupt is UserInterruptType.STOP:
        lines.append(RESUME_TO_CHARGE_TEXT)
    return lines
