# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What a tick asks for: the rover is stopped first, and nothing is asked for twice."""

from __future__ import annotations

from typing import Any

from curiosity_rosa_demo.agent.kernel.actions import (
    Action,
    Approve,
    CancelAllTasks,
    HoldAfterSafe,
    HoldTasks,
    Notice,
    PauseTask,
    plan,
    ReleaseTasks,
    ReportHeldTasks,
    ResumeTask,
    StopRover,
    SubmitCharge,
    SubmitGoal,
)
from curiosity_rosa_demo.agent.kernel.event_arbitrate import event_arbitrate
from curiosity_rosa_demo.agent.kernel.kernel_route import kernel_route
from curiosity_rosa_demo.agent.kernel.safe_orders import SKILLS_IN_SAFE
from curiosity_rosa_demo.agent.kernel.task_queue import task_queue, wants_to_run
from curiosity_rosa_demo.domain.brain_state import (
    ApprovalAction,
    BatteryLevel,
    BrainState,
    HCIState,
    Mode,
    QueuedTask,
    RobotState,
    TasksState,
    UserInterruptType,
)
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_strategies import RULES, states
import pytest

many = settings(max_examples=examples(150), deadline=None)
DRIVE = QueuedTask(task_id='d', goal='', priority=3, status='ACTIVE', skill='react')
WAIT = QueuedTask(task_id='w', goal='', priority=1, skill='react')
CHARGE = QueuedTask(task_id='c', goal='', priority=9, status='ACTIVE', skill='charge')
LOW = {'battery_state': BatteryLevel.LOW}
PRESSED = {'estop': True}
Intent = UserInterruptType


def ticked(
    *queue: QueuedTask, said: Intent = Intent.NONE, payload: Any = None, **robot: Any
) -> BrainState:
    """After a tick in which the robot stood so and the user said that."""
    answer = payload if said is Intent.APPROVAL else None
    hci = HCIState(user_interrupt=said, interrupt_payload=payload or {}, approval_response=answer)
    active = next((task.task_id for task in queue if task.status == 'ACTIVE'), None)
    tasks = TasksState(queue=list(queue), active_task_id=active)
    state = BrainState(hci=hci, robot=RobotState(**robot), tasks=tasks)
    return decided(state)


def decided(state: BrainState) -> BrainState:
    return kernel_route(task_queue(event_arbitrate(state, RULES)))


def acts(before: BrainState, after: BrainState) -> list[Action]:
    return [action for action in plan(before, after) if not isinstance(action, Notice)]


def notices(before: BrainState, after: BrainState) -> list[str]:
    return [action.text for action in plan(before, after) if isinstance(action, Notice)]


WORKING = ticked(DRIVE, WAIT)
SAFE = ticked(DRIVE, WAIT, **PRESSED)
CHARGING = ticked(DRIVE, CHARGE, **LOW)
SAFE_HOLD = HoldTasks('SAFE: e-stop pressed', SKILLS_IN_SAFE)
HOLD_AFTER_SAFE = HoldAfterSafe('SAFE: e-stop pressed')
SILENT_HOLD = HoldTasks('SAFE: adapter is silent', SKILLS_IN_SAFE)
CHARGE_HOLD = HoldTasks('CHARGE: battery is low', frozenset({'charge'}))


def test_entering_safe_stops_and_holds() -> None:
    assert acts(WORKING, SAFE) == [StopRover('SAFE: e-stop pressed'), SAFE_HOLD]
    assert notices(WORKING, SAFE) == ['SAFE: e-stop pressed']


def test_entering_charge_stops_holds_all_but_charging_and_charges() -> None:
    low = ticked(DRIVE, WAIT, **LOW)
    why = StopRover('CHARGE: battery is low')
    assert acts(WORKING, low) == [why, CHARGE_HOLD, SubmitCharge()]
    assert acts(WORKING, CHARGING) == [why, CHARGE_HOLD]  # its task is there already


SILENT = ticked(DRIVE, WAIT, silent=['adapter'])


@pytest.mark.parametrize('before', [SILENT, CHARGING])
def test_leaving_releases(before: BrainState) -> None:
    assert acts(before, WORKING) == [ReleaseTasks()]
    assert notices(before, WORKING) == [f'{before.tasks.mode.value} is over']


def test_clearing_the_latch_holds_every_task_before_it_releases() -> None:
    assert acts(SAFE, WORKING) == [HOLD_AFTER_SAFE, ReleaseTasks(), ReportHeldTasks()]
    silent = ticked(DRIVE, WAIT, said=Intent.CLEAR, silent=['adapter'])
    assert acts(SAFE, silent)[1:] == [SILENT_HOLD, HOLD_AFTER_SAFE, ReportHeldTasks()]


def test_a_refused_clear_had_no_effect() -> None:
    refused = ticked(DRIVE, said=Intent.CLEAR, **PRESSED)
    assert plan(SAFE, refused) == [Notice('not cleared: e-stop pressed', ok=False)]


def test_from_charge_to_safe_and_back() -> None:
    assert acts(CHARGING, SAFE) == [StopRover('SAFE: e-stop pressed'), SAFE_HOLD]
    cleared = [CHARGE_HOLD, HOLD_AFTER_SAFE]
    assert acts(SAFE, CHARGING)[1:] == [*cleared, ReportHeldTasks()]
    assert acts(SAFE, ticked(DRIVE, **LOW))[1:] == [*cleared, SubmitCharge(), ReportHeldTasks()]


def test_a_stop_cancels_in_every_mode() -> None:
    why = 'the user said stop'
    for before, robot in ((WORKING, {}), (SAFE, PRESSED), (CHARGING, LOW), (BrainState(), {})):
        after = ticked(DRIVE, said=Intent.STOP, **robot)
        first, second = acts(before, after)
        assert isinstance(first, StopRover)
        assert second == CancelAllTasks(why)
    assert acts(after, after) == [first, second]  # also the second time


def test_a_stop_while_charging_charges_again_when_the_user_goes_on() -> None:
    stopped = ticked(DRIVE, CHARGE, said=Intent.STOP, **LOW)
    assert notices(CHARGING, stopped) == ['The battery is low: say resume to charge']
    alone = ticked(**LOW)
    assert acts(stopped, alone) == []
    assert acts(alone, ticked(said=Intent.RESUME, **LOW)) == [SubmitCharge(), ResumeTask()]
    assert acts(CHARGING, ticked(CHARGE, said=Intent.RESUME, **LOW)) == [ResumeTask()]


def test_a_stop_is_not_followed_by_a_charge_that_moves_the_mast() -> None:
    after = ticked(DRIVE, said=Intent.STOP, **LOW)
    why = 'the user said stop'
    assert acts(WORKING, after) == [StopRover(why), CHARGE_HOLD, CancelAllTasks(why)]


def test_a_stop_that_ends_a_hold_cancels_before_it_releases() -> None:
    after = ticked(DRIVE, said=Intent.STOP)
    why = 'the user said stop'
    assert acts(CHARGING, after) == [StopRover(why), CancelAllTasks(why), ReleaseTasks()]


def test_a_pause_lets_nothing_begin_in_place_of_what_it_pauses() -> None:
    after = ticked(DRIVE, WAIT, said=Intent.PAUSE)
    why = 'the user said pause'
    stop = StopRover(why, cancellable_only=True)
    assert acts(WORKING, after) == [stop, PauseTask('w', why), PauseTask('d', why)]


@pytest.mark.parametrize(
    ('payload', 'task_id'), [({}, None), ({'task_id': 'd'}, 'd'), ({'task_id': 3}, None)]
)
def test_resume(payload: Any, task_id: str | None) -> None:
    after = ticked(DRIVE, said=Intent.RESUME, payload=payload)
    assert acts(WORKING, after) == [ResumeTask(task_id)]


@pytest.mark.parametrize(('priority', 'preempt'), [(4, True), (3, False)])
def test_a_goal_preempts_or_queues(priority: int, preempt: bool) -> None:
    payload = {'text': 'find the light', 'priority': priority}
    goal = SubmitGoal('find the light', priority, preempt)
    assert acts(WORKING, ticked(DRIVE, said=Intent.NEW_GOAL, payload=payload)) == [goal]
    waiting = ticked(DRIVE, said=Intent.NEW_GOAL, payload=payload, **PRESSED)
    assert acts(SAFE, waiting) == [SubmitGoal('find the light', priority)]
    assert notices(SAFE, waiting) == []  # the dispatcher refuses it


def test_a_goal_without_words_is_ignored() -> None:
    after = ticked(said=Intent.NEW_GOAL, payload={'text': ' '})
    assert plan(after, after) == [Notice('A goal without words was ignored')]


@pytest.mark.parametrize('action', ApprovalAction)
def test_an_answer_is_handed_on(action: ApprovalAction) -> None:
    payload = {'action': action.value, 'arguments': {'duration_s': 2}}
    after = ticked(DRIVE, said=Intent.APPROVAL, payload=payload)
    assert acts(WORKING, after) == [Approve(action, {'arguments': {'duration_s': 2}})]
    unclear = ticked(DRIVE, said=Intent.APPROVAL, payload={'action': ['EDIT']})
    assert plan(WORKING, unclear) == [
        Notice('An answer without an action was ignored; the actions are APPROVE, EDIT, REJECT')
    ]


def test_the_e_stop_stops_again_while_safe_lasts() -> None:
    released = ticked(DRIVE, safety_latch='e-stop pressed')
    assert acts(SAFE, released) == []
    assert acts(released, SAFE) == [StopRover('SAFE: e-stop pressed')]
    assert acts(SILENT, SAFE) == [StopRover('SAFE: e-stop pressed'), SAFE_HOLD]


@given(states(), states())
@many
def test_the_rules_of_every_plan(first: BrainState, second: BrainState) -> None:
    before, after = decided(first), decided(second)
    actions = plan(before, after)
    kinds = [type(action) for action in actions]
    mode, intent = after.tasks.mode, after.hci.user_interrupt
    stops = kinds.count(StopRover)
    assert stops <= 1
    assert stops == 0 or kinds[0] is StopRover
    held = Mode.SAFE, Mode.CHARGE
    entered = mode is not before.tasks.mode and mode in held
    pressed = after.robot.estop and not before.robot.estop
    if entered or pressed or intent in (Intent.STOP, Intent.PAUSE):
        assert kinds[0] is StopRover
    assert (CancelAllTasks in kinds) is (intent is Intent.STOP)
    assert not entered or HoldTasks in kinds
    assert (ReleaseTasks in kinds) is (before.tasks.mode in held and mode not in held)
    assert SubmitCharge not in kinds or mode is Mode.CHARGE
    assert not {HoldTasks, ReleaseTasks} <= set(kinds)
    cleared = bool(before.robot.safety_latch) and not after.robot.safety_latch
    assert (HoldAfterSafe in kinds) is (ReportHeldTasks in kinds) is cleared
    if cleared and ReleaseTasks in kinds:
        assert kinds.index(HoldAfterSafe) < kinds.index(ReleaseTasks)
    paused = [action.id for action in actions if isinstance(action, PauseTask)]
    if intent is Intent.PAUSE:
        ready = [task.task_id for task in after.tasks.queue if wants_to_run(task)]
        assert sorted(paused) == sorted(ready)
    else:
        assert paused == []
    if any(isinstance(action, SubmitGoal) and action.preempt for action in actions):
        assert mode is Mode.EXEC


@given(states())
@many
def test_the_same_mode_twice_asks_for_nothing(state: BrainState) -> None:
    after = decided(state.model_copy(update={'hci': HCIState()}))
    quiet = after.model_copy(update={'robot': after.robot.model_copy(update={'events': []})})
    assert plan(quiet, quiet) == []


@given(st.lists(st.sampled_from([SAFE, CHARGING, WORKING]), min_size=2, max_size=6))
@many
def test_the_last_hold_or_release_fits_the_last_mode(history: list[BrainState]) -> None:
    gate: HoldTasks | None = None
    before = BrainState()
    for after in history:
        for action in plan(before, after):
            if isinstance(action, HoldTasks):
                gate = action
            elif isinstance(action, ReleaseTasks):
                assert gate is not None
                gate = None
        before = after
        expected = {Mode.SAFE: SAFE_HOLD, Mode.CHARGE: CHARGE_HOLD}.get(after.tasks.mode)
        assert gate == expected
