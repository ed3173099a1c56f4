# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""The kernel: what it makes of telemetry, its mode, what it asks for, and its loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
import json
import math
from typing import Any

from curiosity_rosa_demo.agent.kernel.actions import (
    Action,
    Approve,
    CancelAllTasks,
    HoldAfterSafe,
    HoldTasks,
    Notice,
    PauseTasks,
    plan,
    ReleaseTasks,
    ResumeTask,
    StopRover,
    SubmitCharge,
    SubmitGoal,
)
from curiosity_rosa_demo.agent.kernel.decide import (
    event_arbitrate,
    kernel_route,
    SKILLS_IN_SAFE,
    task_queue,
    wants_to_run,
)
from curiosity_rosa_demo.agent.kernel.hear import Answered, Asked, Message, Said, Stopped
from curiosity_rosa_demo.agent.kernel.loop import KernelLoop, tick
from curiosity_rosa_demo.agent.kernel.sense import (
    PATHS,
    reading_problem,
    reduce_scan,
    SECTOR_BEARINGS,
    telemetry_sync,
    world_update,
)
from curiosity_rosa_demo.agent.language.understand import understand
from curiosity_rosa_demo.domain.brain_state import (
    ApprovalAction,
    BatteryLevel,
    BrainState,
    HCIState,
    Mode,
    Question,
    QueuedTask,
    Reading,
    RobotState,
    TasksState,
    Telemetry,
    UserInterruptType,
)
from curiosity_rosa_demo.domain.models import MAX_DEPTH
from curiosity_rosa_demo.domain.serde import from_json, to_json
from curiosity_rosa_demo.infra.config.limits import Thresholds
from curiosity_rosa_demo.infra.obstacles import ObstacleView
from examples import examples
from explored_tasks import VirtualLoop
from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from strategies import (
    bad_values,
    good_values,
    json_objects,
    reading,
    readings,
    RULES,
    SOURCES,
    states,
    tasks,
    text,
    UNWARY,
)

many = settings(max_examples=examples(150), deadline=None)
SCAN = {
    **{'view': True, 'ahead_m': 9.0, 'behind_m': 2.0, 'left_m': 0.1, 'right_m': None},
    **{'forward_m': 1.0, 'turn_left_m': 3.0, 'turn_right_m': None},
}
STILL = {
    **dict.fromkeys(('x', 'y', 'z', 'orientation_z', 'linear_x', 'angular_z'), 0.0),
    'orientation_w': 1.0,
}
rules = st.sampled_from([RULES, UNWARY])


def hear(state: BrainState, now_s: float, **values: Any) -> BrainState:
    """After a tick's telemetry, with these sources read at ``now_s`` and no other read anew."""
    new = {source: reading(value, now_s) for source, value in values.items()}
    telemetry = Telemetry(now_s=now_s)
    telemetry = telemetry.model_copy(
        update={'readings': {**state.telemetry.readings, **new}, 'now_s': now_s}
    )
    return telemetry_sync(state.model_copy(update={'telemetry': telemetry}), RULES)


def say(state: BrainState, intent: UserInterruptType) -> BrainState:
    return state.model_copy(update={'hci': HCIState(user_interrupt=intent)})


@given(st.sampled_from(SOURCES), st.data())
@many
def test_a_reading_that_cannot_be_used_changes_nothing_and_is_told_once(
    source: str, data: st.DataObject
) -> None:
    good, bad = data.draw(good_values[source]), data.draw(bad_values(source))
    before = hear(BrainState(), 1.0, **{source: good})
    assert before.robot.refused == []
    after = hear(before, 1.5, **{source: bad})
    known = {'pose', 'twist', 'battery_pct', 'mast', 'moving', 'scan_min_m', 'estop', 'heard'}
    for name in known:
        assert getattr(after.robot, name) == getattr(before.robot, name)
    assert after.robot.ages_s == {source: 0.5}
    assert [event for event in after.robot.events if 'ignored' in event]
    again = hear(after, 1.6, **{source: bad})
    assert not [event for event in again.robot.events if 'ignored' in event]
    assert hear(again, 1.7, **{source: good}).robot.refused == []


@given(st.lists(st.booleans(), min_size=1, max_size=4))
@many
def test_of_readings_at_one_instant_the_last_one_counts(presses: list[bool]) -> None:
    state = BrainState()
    for pressed in presses:
        state = hear(state, 1.0, estop={'pressed': pressed})
        assert state.robot.estop is pressed


def test_a_source_falls_silent_once_and_comes_back() -> None:
    for source, value, max_age_s in (
        ('odometry', STILL, 2.0),
        ('adapter', {'mast': 'open', 'moving': False}, 3.0),
        ('scan', {'view': True, **dict.fromkeys((*SECTOR_BEARINGS, *PATHS), 2.0)}, 3.0),
        ('battery', {'fraction': 0.5}, 10.0),
    ):
        state = hear(BrainState(), 0.0, **{source: value})
        for at_s, silent, events in (
            (max_age_s, [], []),
            (max_age_s + 0.1, [source], [f'{source} fell silent after {max_age_s:g} s']),
            (max_age_s + 0.2, [source], []),
        ):
            state = hear(state, at_s)
            assert (state.robot.silent, state.robot.events) == (silent, events)
        assert state.robot.scan_min_m is None
        state = hear(state, max_age_s + 0.3, **{source: value})
        assert (state.robot.silent, state.robot.events) == ([], [f'{source} is back'])


@given(st.lists(st.floats(0.0, 1.0), max_size=8))
@many
def test_a_low_battery_stays_low_until_it_is_charged(fractions: list[float]) -> None:
    state, low = BrainState(), False
    assert state.robot.battery_state is BatteryLevel.UNKNOWN
    for at, fraction in enumerate(fractions):
        state = hear(state, float(at), battery={'fraction': fraction})
        low = fraction <= RULES.battery.low or (low and fraction < RULES.battery.charged)
        expected = BatteryLevel.FULL if fraction >= 0.99 else BatteryLevel.OK
        assert state.robot.battery_state is (BatteryLevel.LOW if low else expected)
        assert state.robot.battery_pct == pytest.approx(100 * fraction)


def test_clearance_is_that_in_the_direction_of_motion() -> None:
    clear = {(0.2, 0): 1.0, (0.0, 0): 1.0, (-0.2, 0): 2.0, (0.2, 0.1): 3.0, (0.2, -0.1): None}
    for (speed, turn), expected in clear.items():
        moving = {**STILL, 'linear_x': speed, 'angular_z': turn}
        state = hear(BrainState(), 0.0, scan=SCAN, odometry=moving)
        assert state.robot.scan_min_m == expected
        assert state.robot.moving is (speed != 0.0)
        blind = hear(BrainState(), 0.0, scan={**SCAN, 'view': False}, odometry=moving)
        assert blind.robot.scan_min_m is None
    assert 'no view ahead' in world_update(blind, RULES).world.summary
    obstacles = world_update(state, RULES).world.obstacles
    assert [each['distance_m'] for each in obstacles] == [0.1, 2.0, 9.0]
    assert [each['bearing_rad'] for each in obstacles] == [math.pi / 2, math.pi, 0.0]
    assert world_update(hear(state, 60.0), RULES).world.obstacles == []


def test_motion_is_measured_and_the_adapter_is_believed_only_without_odometry() -> None:
    state = hear(BrainState(), 0.0, adapter={'mast': 'opening', 'moving': True})
    assert state.robot.moving
    assert not hear(state, 0.1, odometry=STILL).robot.moving
    turning = hear(state, 0.1, odometry={**STILL, 'angular_z': -0.5}).robot
    assert turning.moving
    assert turning.resources == {'base_busy': True, 'mast_busy': True, 'camera_busy': False}


points = st.lists(st.tuples(st.floats(-30.0, 30.0), st.floats(-30.0, 30.0)), max_size=40)


@given(points)
@many
def test_a_sector_holds_its_nearest_obstacle(places: list[tuple[float, float]]) -> None:
    free_m = {'move_forward': 1.5, 'turn_left': math.inf, 'turn_right': 0.0}
    reduced = reduce_scan(ObstacleView(True, free_m, np.array(places).reshape(-1, 2)))
    assert (reduced['view'], *(reduced[key] for key in PATHS)) == (True, 1.5, None, 0.0)
    assert reduce_scan(None)['view'] is False
    assert reading_problem('scan', reduce_scan(None)) == ''
    assert reading_problem('scan', reduced) == ''
    for name, bearing in (('ahead_m', 0), ('left_m', 90), ('behind_m', 180), ('right_m', 270)):
        inside, edge = [], []
        for x, y in places:
            degrees = math.degrees(math.atan2(y, x)) - bearing
            off = abs((degrees + 180.0) % 360.0 - 180.0)
            at_edge = abs(off - 30.0) < 0.01 or math.hypot(x, y) < 1e-6
            (edge if at_edge else inside if off < 30.0 else []).append(math.hypot(x, y))
        nearest = min(inside, default=None)
        found = reduced[name]
        assert found == pytest.approx(nearest) or any(found == pytest.approx(at) for at in edge)


def at(x: float, y: float = 0.0, **more: float) -> BrainState:
    state = hear(BrainState(), 0.0, odometry={**STILL, 'x': x, 'y': y, **more})
    return world_update(state, RULES)


def test_the_summary_says_where_and_how_it_stands() -> None:
    state = at(1.2, -0.04, orientation_z=math.sin(0.1), orientation_w=math.cos(0.1))
    closed = {'mast': 'closed', 'moving': False}
    state = hear(state, 0.5, battery={'fraction': 0.85}, adapter=closed)
    lost = hear(state, 60.0)
    assert [world_update(each, RULES).world.summary for each in (state, lost, BrainState())] == [
        'at x 1.2 m, y 0.0 m, heading 11 deg; standing still; mast closed; battery 85 %',
        'last seen at x 1.2 m, y 0.0 m, heading 11 deg; motion unknown; mast unknown; '
        'battery 85 %; silent: odometry, battery, adapter',
        'place unknown; motion unknown; mast unknown; battery unknown',
    ]


def dangers(state: BrainState, rules: Thresholds) -> bool:
    """What latches, said in another way than the code does."""
    robot, since = state.robot, state.robot.exposed_since_s
    near = robot.scan_min_m is not None and robot.scan_min_m < rules.telemetry.obstacle_stop_m
    return robot.estop or (robot.moving and near) or (since is not None and 100.0 - since >= 1.5)


@given(states(), rules)
@many
def test_the_mode_is_decided_by_safety_then_battery_then_user_then_tasks(
    state: BrainState, rules: Thresholds
) -> None:
    """Property 4."""
    after = event_arbitrate(state, rules)
    assert after == event_arbitrate(state, rules)
    other = state.model_copy(
        update={'tasks': state.tasks.model_copy(update={'mode': Mode.SAFE, 'mode_reason': 'x'})}
    )
    assert event_arbitrate(other, rules) == after  # the mode before does not count
    intent, danger = state.hci.user_interrupt, dangers(state, rules)
    latched = danger or (bool(state.robot.safety_latch) and intent is not UserInterruptType.CLEAR)
    assert bool(after.robot.safety_latch) is latched
    scan = state.robot.heard.get('scan')
    saw_ahead = scan is not None and scan.value['view'] and rules is not UNWARY
    blind = 'scan' in state.robot.silent and saw_ahead
    if latched or 'adapter' in state.robot.silent or blind:
        expected = Mode.SAFE
    elif state.robot.battery_state is BatteryLevel.LOW:
        expected = Mode.CHARGE
    elif intent in (UserInterruptType.STOP, UserInterruptType.PAUSE):
        expected = Mode.IDLE
    else:
        expected = Mode.EXEC if any(map(wants_to_run, state.tasks.queue)) else Mode.IDLE
    assert after.tasks.mode is expected
    assert after.tasks.mode_reason


def test_the_latch_outlives_its_cause_until_it_is_cleared() -> None:
    state = event_arbitrate(hear(BrainState(), 0.0, estop={'pressed': True}), RULES)
    assert state.robot.events[0] == 'e-stop pressed'
    assert (hear(state, 1e6).robot.silent, hear(state, 1e6).robot.estop) == ([], True)
    assert (state.tasks.mode, state.robot.safety_latch) == (Mode.SAFE, 'e-stop pressed')
    refused = event_arbitrate(say(state, UserInterruptType.CLEAR), RULES)
    assert refused.tasks.mode is Mode.SAFE
    assert refused.robot.events[-1] == 'not cleared: e-stop pressed'
    released = event_arbitrate(hear(state, 1.0, estop={'pressed': False}), RULES)
    assert released.tasks.mode is Mode.SAFE
    for other in set(UserInterruptType) - {UserInterruptType.CLEAR}:
        assert event_arbitrate(say(released, other), RULES).tasks.mode is Mode.SAFE
    cleared = event_arbitrate(say(released, UserInterruptType.CLEAR), RULES)
    assert (cleared.tasks.mode, cleared.robot.safety_latch) == (Mode.IDLE, '')
    assert cleared.robot.events[-1] == 'cleared: e-stop pressed'


def test_what_the_adapter_tells_latches_like_the_agents_own() -> None:
    adapter = {'mast': 'closed', 'moving': True}
    told: list[tuple[Any, str]] = [
        ({'e_stop': True}, 'e-stop pressed'),
        ({'violation': 'It moves on'}, 'It moves on'),
    ]
    for more, latch in told:
        state = event_arbitrate(hear(BrainState(), 0.0, adapter={**adapter, **more}), RULES)
        assert (state.tasks.mode, state.robot.safety_latch) == (Mode.SAFE, latch)
        clear = say(state, UserInterruptType.CLEAR)
        assert event_arbitrate(clear, RULES).robot.safety_latch == latch
        both = hear(state, 1.0, adapter={**adapter, 'e_stop': False}, estop={'pressed': True})
        assert both.robot.estop


def test_moving_unstowed_latches_once_the_adapter_should_have_stopped_it() -> None:
    driving = {**STILL, 'linear_x': 0.3}
    for mast, arm, reason in (
        ('open', 'stowed', 'moving with the mast open'),
        ('closed', 'deployed', 'moving with the arm deployed'),
        ('closed', 'unknown', 'moving with the arm unknown'),
    ):
        state = BrainState()
        adapter = {'mast': mast, 'moving': True, 'appendages': {'arm': arm}}
        for now_s, mode in ((0.0, Mode.IDLE), (1.4, Mode.IDLE), (1.5, Mode.SAFE)):
            state = event_arbitrate(hear(state, now_s, odometry=driving, adapter=adapter), RULES)
            assert state.tasks.mode is mode
        assert state.robot.safety_latch == reason
        assert f'arm {arm}' in world_update(state, RULES).world.summary
        still = hear(state, 1.6, odometry=STILL)
        assert still.robot.exposed_since_s is None
        assert event_arbitrate(still, RULES).tasks.mode is Mode.SAFE
    closed = hear(BrainState(), 0.0, odometry=driving, adapter={'mast': 'closed', 'moving': True})
    assert closed.robot.exposed_since_s is None


def test_an_adapter_that_waits_for_its_rover_has_not_seen_it_move() -> None:
    """It starts before the rover, calls it moving since nobody knows better, and holds it."""
    state = BrainState()
    for now_s in (0.0, 1.0, 2.0, 9.0):
        doubt = {'mast': 'unknown', 'moving': True}
        state = event_arbitrate(hear(state, now_s, adapter=doubt), RULES)
        assert (state.tasks.mode, state.robot.exposed_since_s) == (Mode.IDLE, None)
    driving = {**STILL, 'linear_x': 0.3}
    assert hear(state, 9.5, odometry=driving, adapter=doubt).robot.exposed_since_s == 9.5
    raised = hear(state, 9.5, adapter={'mast': 'open', 'moving': True})
    assert raised.robot.exposed_since_s == 9.5  # known to be up, it counts without odometry, too


@given(states(), rules)
@many
def test_what_must_preempt_preempts(state: BrainState, rules: Thresholds) -> None:
    """Property 5."""
    before, ordered = state.tasks.queue, task_queue(state, rules).tasks.queue
    places = [(-task.priority, before.index(task)) for task in ordered]
    assert places == sorted(places)
    assert len(ordered) == len(before)
    after = kernel_route(task_queue(event_arbitrate(state, rules), rules), rules)
    tasks, intent = after.tasks, state.hci.user_interrupt
    by_id = {task.task_id: task for task in state.tasks.queue}
    running = by_id.get(state.tasks.active_task_id or '') or next(
        (task for task in tasks.queue if task.status in ('ACTIVE', 'RECOVERING')), None
    )
    chosen = by_id.get(tasks.active_task_id or '')
    assert bool(tasks.preempt_reason) is tasks.preempt_flag
    assert chosen is None or wants_to_run(chosen)
    if tasks.mode is Mode.SAFE or intent in (UserInterruptType.STOP, UserInterruptType.PAUSE):
        assert tasks.preempt_flag
        assert chosen is None
    elif tasks.mode is Mode.CHARGE:
        assert chosen is None or chosen.skill == 'charge'
        assert tasks.preempt_flag or running is None or running.skill == 'charge'
    elif tasks.preempt_flag:
        assert running
        assert running.preemptible
        assert state.hci.interrupt_payload['priority'] > running.priority
    elif tasks.mode is Mode.EXEC:
        assert chosen is not None


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
    return kernel_route(task_queue(event_arbitrate(state, RULES), RULES), RULES)


def acts(before: BrainState, after: BrainState) -> list[Action]:
    return [action for action in plan(before, after) if not isinstance(action, Notice)]


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


def answered(payload: Any) -> BrainState:
    return ticked(DRIVE, said=Intent.APPROVAL, payload=payload)


LIGHT = understand('find the light')


def goal(priority: int, **robot: Any) -> BrainState:
    payload = {'text': LIGHT.text, 'priority': priority, 'said': LIGHT.to_json()}
    return ticked(DRIVE, said=Intent.NEW_GOAL, payload=payload, **robot)


SILENT_CLEAR = ticked(DRIVE, WAIT, said=Intent.CLEAR, silent=['adapter'])
STOP_SILENT = StopRover('SAFE: adapter is silent')
OVER = [ReleaseTasks()]
LOW_STOP = ticked(DRIVE, said=Intent.STOP, **LOW)
LOW_RESUME = ticked(said=Intent.RESUME, **LOW)
ACTS: dict[str, tuple[BrainState, BrainState, list[Action]]] = {
    'SAFE stops and holds': (WORKING, SAFE, [STOP_SAFE, SAFE_HOLD]),
    'CHARGE holds all but charging': (
        *(WORKING, ticked(DRIVE, WAIT, **LOW)),
        [STOP_CHARGE, CHARGE_HOLD, SubmitCharge()],
    ),
    'SAFE without a latch is over': (SILENT, WORKING, [HOLD_AFTER_SILENCE, *OVER]),
    'a clear holds every task before it releases': (SAFE, WORKING, [HOLD_AFTER_SAFE, *OVER]),
    'a clear while the adapter is silent': (
        *(SAFE, SILENT_CLEAR),
        [STOP_SILENT, SILENT_HOLD, HOLD_AFTER_SAFE],
    ),
    'and back, without its task': (
        *(SAFE, ticked(DRIVE, **LOW)),
        [STOP_CHARGE, *CLEARED, SubmitCharge()],
    ),
    'no charge after a stop': (WORKING, LOW_STOP, [STOP_USER, CHARGE_HOLD, CANCEL]),
    'nor in the tick after it': (STOP_CHARGING, LOW_ALONE, []),
    'a user who goes on charges again': (LOW_ALONE, LOW_RESUME, [SubmitCharge(), ResumeTask()]),
    'a stop that ends a hold cancels before it releases': (
        *(CHARGING, ticked(DRIVE, said=Intent.STOP)),
        [STOP_USER, CANCEL, ReleaseTasks()],
    ),
    'a pause lets nothing begin in place of what it pauses': (
        *(WORKING, ticked(DRIVE, WAIT, said=Intent.PAUSE)),
        [StopRover(PAUSED, cancellable_only=True), PauseTasks(PAUSED)],
    ),
    'resume of a task': (WORKING, resumed({'task_id': 'd'}), [ResumeTask('d')]),
    'a goal that preempts': (WORKING, goal(4), [SubmitGoal(LIGHT, 4, True)]),
    'a goal that queues': (WORKING, goal(3), [SubmitGoal(LIGHT, 3, False)]),
    **{
        f'an answer: {said}': (
            *(WORKING, answered({'action': said.value, 'arguments': {'duration_s': 2}})),
            [Approve(said, {'arguments': {'duration_s': 2}})],
        )
        for said in ApprovalAction
    },
    'the e-stop is pressed again': (LATCHED, SAFE, [STOP_SAFE]),
}


def test_each_change_asks_for_its_actions_in_their_order() -> None:
    for case, (before, after, wanted) in ACTS.items():
        assert acts(before, after) == wanted, case


TOLD = [
    (WORKING, SAFE, 'SAFE: e-stop pressed'),
    (SILENT, WORKING, 'SAFE is over'),
    (CHARGING, STOP_CHARGING, 'The battery is low: say resume to charge'),
    (SAFE, goal(4, **PRESSED), ''),  # the dispatcher refuses it
]


def test_what_is_told() -> None:
    for before, after, told in TOLD:
        notices = [each for each in plan(before, after) if isinstance(each, Notice)]
        assert [each.text[: len(told)] for each in notices] == ([told] if told else [])
        assert all(each.ok for each in notices)


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
    assert (HoldAfterSafe in kinds) is (cleared or safe_ends)
    if HoldAfterSafe in kinds and ReleaseTasks in kinds:
        assert kinds.index(HoldAfterSafe) < kinds.index(ReleaseTasks)
    assert (PauseTasks in kinds) is (intent is Intent.PAUSE)
    if any(isinstance(action, SubmitGoal) and action.preempt for action in actions):
        assert mode is Mode.EXEC


QUESTIONS = [Question(id='q1', text='drive?'), Question(id='q2', text='drive?')]


@dataclass
class World:
    """What a kernel sees, and what it did about it."""

    now_s: float = 100.0
    readings: dict[str, Reading] = field(default_factory=dict)
    told: list[tuple[list[Action], Message | None, BrainState]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.loop = KernelLoop(
            readings=lambda: self.readings,
            tasks=list,
            question=lambda: None,
            act=lambda *told: self.told.append(told),
            tick_s=0.1,
            rules=RULES,
            clock=lambda: self.now_s,
        )


async def turns_until(condition: Callable[[], bool], what: str) -> None:
    """Let the loop turn, while no time passes."""
    for _ in range(1000):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError(f'not within 1000 turns of the loop: {what}')


def test_each_message_gets_a_tick_of_its_own_and_an_urgent_input_does_not_wait() -> None:
    world, loop = World(), VirtualLoop()
    sent = [Said('stop'), Asked(Intent.PAUSE), Said('find the light')]

    async def live() -> None:
        job = asyncio.create_task(world.loop.run())
        for each in sent:
            world.loop.post(each)
        await turns_until(lambda: world.loop.ticks >= len(sent), 'a tick for each message')
        ticks = world.loop.ticks
        world.readings = {'battery': reading({'fraction': 0.1}, world.now_s)}
        world.loop.tick_now()
        await turns_until(lambda: world.loop.ticks > ticks, 'a tick for an urgent input')
        await asyncio.sleep(1.0)  # of virtual time
        job.cancel()
        await asyncio.wait([job])
        assert job.cancelled(), job.exception()

    try:
        loop.run_until_complete(live())
    finally:
        loop.close()
    heard = [(each, after.hci.user_interrupt) for _, each, after in world.told if each is not None]
    assert heard == list(zip(sent, (Intent.STOP, Intent.PAUSE, Intent.NEW_GOAL), strict=True))
    first_low = next(actions for actions, _, after in world.told if after.robot.battery_pct < 11)
    assert isinstance(first_low[0], StopRover)
    assert len(world.told) >= 10
    metrics = world.loop.state.trace.metrics
    assert metrics == {
        'ticks': len(world.told), 'messages': 3, 'rover_stops': 3, 'mode_changes': 1
    }  # fmt: skip


DEEP = '{"a": ' + '[' * (MAX_DEPTH - 1) + ']' * (MAX_DEPTH - 1) + '}'  # too deep for a payload
sent_messages = st.one_of(
    st.builds(Said, text, by=text, question=st.none() | text),
    st.builds(Asked, st.sampled_from([Intent.PAUSE, Intent.RESUME, Intent.CLEAR]), text),
    st.builds(Answered, st.sampled_from(ApprovalAction), text, text, text, json_objects),
    st.just(Stopped('a client', 1)),
    st.just(Answered(ApprovalAction.EDIT, arguments=json.loads(DEEP))),
)


@given(st.data())
@settings(max_examples=examples(100), deadline=None)
def test_whatever_comes_in_the_kernel_goes_on_and_a_latch_stays_until_cleared(
    data: st.DataObject,
) -> None:
    state, latched, held = BrainState(), False, False
    for number in range(data.draw(st.integers(1, 12))):
        now_s = float(number)
        telemetry = Telemetry.model_construct(now_s=now_s, readings=data.draw(readings(now_s)))
        work = state.tasks.model_copy(
            update={
                'inbox': data.draw(st.lists(sent_messages, max_size=1)),
                'queue': data.draw(st.lists(tasks, max_size=3)),
            }
        )
        before = state
        state = tick(state.model_copy(update={'telemetry': telemetry, 'tasks': work}), RULES)
        kept = state.model_copy(update={'telemetry': Telemetry(now_s=now_s)})
        assert from_json(BrainState, to_json(kept)) == kept
        actions = plan(before, state)
        if state.robot.estop:
            assert state.tasks.mode is Mode.SAFE
            if not before.robot.estop:
                assert isinstance(actions[0], StopRover)
        if latched and state.hci.user_interrupt is not UserInterruptType.CLEAR:
            assert state.robot.safety_latch
            assert state.tasks.mode is Mode.SAFE
        latched = bool(state.robot.safety_latch)
        for action in actions:
            held = isinstance(action, HoldTasks) or (held and not isinstance(action, ReleaseTasks))
        assert held is (state.tasks.mode in (Mode.SAFE, Mode.CHARGE))
