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
HOLD_AFTER_SILENCE = HoldAfterSafe('SAFE: adapter is silent')
SILENT_HOLD = HoldTasks('SAFE: adapter is silent', SKILLS_IN_SAFE)
CHARGE_HOLD = HoldTasks('CHARGE: battery is low', frozenset({'charge'}))


SILENT = ticked(DRIVE, WAIT, silent=['adapter'])
LATCHED = ticked(DRIVE, safety_latch='e-stop pressed')
LOW_ALONE = ticked(**LOW)
STOP_CHARGING = ticked(DRIVE, CHARGE, said=Intent.STOP, **LOW)
STOP_SAFE = StopRover('SAFE: e-stop pressed')
STOP_CHARGE = StopRover('CHARGE: battery is low')
STOP_USER, CANCEL = StopRover('the user said stop'), CancelAllTasks('the user said stop')
PAUSED = 'the user said pause'
CLEARED = [CHARGE_HOLD, HOLD_AFTER_SAFE]


def resumed(payload: Any) -> BrainState:
    return ticked(DRIVE, said=Intent.RESUME, payload=payload)


def goal(priority: int, **robot: Any) -> BrainState:
    payload = {'text': 'find the light', 'priority': priority}
    return ticked(DRIVE, said=Intent.NEW_GOAL, payload=payload, **robot)


ACTS: dict[str, tuple[BrainState, BrainState, list[Action]]] = {
    'SAFE stops and holds': (WORKING, SAFE, [STOP_SAFE, SAFE_HOLD]),
    'CHARGE holds all but charging, and charges': (
        *(WORKING, ticked(DRIVE, WAIT, **LOW)),
        [STOP_CHARGE, CHARGE_HOLD, SubmitCharge()],
    ),
    'it charges once': (WORKING, CHARGING, [STOP_CHARGE, CHARGE_HOLD]),
    'SAFE without a latch is over': (
        *(SILENT, WORKING),
        [HOLD_AFTER_SILENCE, ReleaseTasks(), ReportHeldTasks()],
    ),
    'CHARGE is over': (CHARGING, WORKING, [ReleaseTasks()]),
    'a clear holds every task before it releases': (
        *(SAFE, WORKING),
        [HOLD_AFTER_SAFE, ReleaseTasks(), ReportHeldTasks()],
    ),
    'a clear while the adapter is silent': (
        *(SAFE, ticked(DRIVE, WAIT, said=Intent.CLEAR, silent=['adapter'])),
        [StopRover('SAFE: adapter is silent'), SILENT_HOLD, HOLD_AFTER_SAFE, ReportHeldTasks()],
    ),
    'from CHARGE to SAFE': (CHARGING, SAFE, [STOP_SAFE, SAFE_HOLD]),
    'and back': (SAFE, CHARGING, [STOP_CHARGE, *CLEARED, ReportHeldTasks()]),
    'and back, without its task': (
        *(SAFE, ticked(DRIVE, **LOW)),
        [STOP_CHARGE, *CLEARED, SubmitCharge(), ReportHeldTasks()],
    ),
    'a stop in SAFE': (
        *(SAFE, ticked(DRIVE, said=Intent.STOP, **PRESSED)),
        [STOP_USER, CANCEL],
    ),
    'a stop in CHARGE': (CHARGING, STOP_CHARGING, [STOP_USER, CANCEL]),
    'a second stop': (STOP_CHARGING, STOP_CHARGING, [STOP_USER, CANCEL]),
    'a stop is not followed by a charge, which moves the mast': (
        *(WORKING, ticked(DRIVE, said=Intent.STOP, **LOW)),
        [STOP_USER, CHARGE_HOLD, CANCEL],
    ),
    'nor is the tick after it': (STOP_CHARGING, LOW_ALONE, []),
    'a user who goes on charges again': (
        *(LOW_ALONE, ticked(said=Intent.RESUME, **LOW)),
        [SubmitCharge(), ResumeTask()],
    ),
    'but not twice': (
        *(CHARGING, ticked(CHARGE, said=Intent.RESUME, **LOW)),
        [ResumeTask()],
    ),
    'a stop that ends a hold cancels before it releases': (
        *(CHARGING, ticked(DRIVE, said=Intent.STOP)),
        [STOP_USER, CANCEL, ReleaseTasks()],
    ),
    'a pause lets nothing begin in place of what it pauses': (
        *(WORKING, ticked(DRIVE, WAIT, said=Intent.PAUSE)),
        [
            StopRover(PAUSED, cancellable_only=True),
            *(PauseTask('w', PAUSED), PauseTask('d', PAUSED)),
        ],
    ),
    'resume': (WORKING, resumed({}), [ResumeTask()]),
    'resume of a task': (WORKING, resumed({'task_id': 'd'}), [ResumeTask('d')]),
    'resume of what is no task': (WORKING, resumed({'task_id': 3}), [ResumeTask()]),
    'a goal that preempts': (WORKING, goal(4), [SubmitGoal('find the light', 4, True)]),
    'a goal that queues': (WORKING, goal(3), [SubmitGoal('find the light', 3, False)]),
    'a goal in SAFE': (SAFE, goal(4, **PRESSED), [SubmitGoal('find the light', 4)]),
    'the e-stop is released and SAFE lasts': (SAFE, LATCHED, []),
    'the e-stop is pressed again': (LATCHED, SAFE, [STOP_SAFE]),
    'the e-stop in SAFE': (SILENT, SAFE, [STOP_SAFE, SAFE_HOLD]),
}


@pytest.mark.parametrize('case', ACTS)
def test_each_change_asks_for_its_actions_in_their_order(case: str) -> None:
    before, after, wanted = ACTS[case]
    assert acts(before, after) == wanted


@pytest.mark.parametrize(
    ('before', 'after', 'said'),
    [
        (WORKING, SAFE, ['SAFE: e-stop pressed']),
        (SILENT, WORKING, ['SAFE is over']),
        (CHARGING, STOP_CHARGING, ['The battery is low: say resume to charge']),
        (SAFE, goal(4, **PRESSED), []),  # the dispatcher refuses it
        (WORKING, ticked(said=Intent.NEW_GOAL), ['A goal without words was ignored']),
    ],
)
def test_what_is_told(before: BrainState, after: BrainState, said: list[str]) -> None:
    assert notices(before, after) == said


def test_a_refused_clear_had_no_effect() -> None:
    refused = ticked(DRIVE, said=Intent.CLEAR, **PRESSED)
    assert plan(SAFE, refused) == [Notice('not cleared: e-stop pressed', ok=False)]


@pytest.mark.parametrize('action', ApprovalAction)
def test_an_answer_is_handed_on(action: ApprovalAction) -> None:
    payload = {'action': action.value, 'arguments': {'duration_s': 2}}
    after = ticked(DRIVE, said=Intent.APPROVAL, payload=payload)
    assert acts(WORKING, after) == [Approve(action, {'arguments': {'duration_s': 2}})]
    unclear = ticked(DRIVE, said=Intent.APPROVAL, payload={'action': ['EDIT']})
    assert plan(WORKING, unclear) == [
        Notice('An answer without an action was ignored; the actions are APPROVE, EDIT, REJECT')
    ]


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
    safe_ends = before.tasks.mode is Mode.SAFE is not mode
    assert (HoldAfterSafe in kinds) is (ReportHeldTasks in kinds) is (cleared or safe_ends)
    if HoldAfterSafe in kinds and ReleaseTasks in kinds:
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
