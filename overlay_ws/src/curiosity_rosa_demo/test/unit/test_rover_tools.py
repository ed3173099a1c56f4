# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""The tools of the rover, and the world of the skills on top of them."""

from __future__ import annotations

from collections.abc import Callable
import math
import time
from types import SimpleNamespace
from typing import Any

from curiosity_rosa_demo.adapter.report import status_of
from curiosity_rosa_demo.agent.tasks.origin import Order, under_order
from curiosity_rosa_demo.domain.brain_state import Spent
from curiosity_rosa_demo.domain.cancellation import Cancellation, TurnCancelled
from curiosity_rosa_demo.domain.models import (
    AGENT_IS_SILENT,
    MAST_IS_CLOSED,
    MAST_IS_NOT_RAISED,
    NEED_TO_CLOSE_MAST,
    ToolResult,
)
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.domain.serde import read_object
from curiosity_rosa_demo.domain.skills import MOTIONS
from curiosity_rosa_demo.infra.clocks import SimulationClock
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.ros_io import ServiceFailed
from curiosity_rosa_demo.tools import tool_impl
from curiosity_rosa_demo.tools.rover_client import RoverClient
from curiosity_rosa_demo.tools.tool_impl import LINK_TIMEOUT_S
from guard_world import CLOSED, CONFIG, World
from hypothesis import given
from hypothesis import strategies as st
from missions.rover_twin import OwnedClock
import pytest
from tool_rover import (
    failed,
    Hurry,
    PICTURE_TOPIC,
    RADIUS_M,
    run_tool,
    SimulatedRover,
    SPEED_MPS,
    START_LATE_S,
    STOP_LATE_S,
    TURN_MPS,
)
from turn_world import NINE, SHIPPED, SimulatedRoverWorld, with_rules

COSTS = SHIPPED.tool_costs.tools


def in_turn(*steps: Callable[[], Any]) -> Callable[[], Exception | None]:
    """A fault that does one thing at the first call, another at the second; then nothing."""
    left = list(steps)

    def fault() -> Exception | None:
        found = left.pop(0)() if left else None
        return found if isinstance(found, Exception) else None

    return fault


def orders_of(rover: SimulatedRover) -> list[str]:
    """The calls but get_status, which a motion asks for each half second of steady time."""
    return [call for call in rover.calls if call != 'get_status']


@given(duration=st.floats(0.05, 20.0), name=st.sampled_from(MOTIONS))
def test_a_motion_starts_waits_stops_and_waits_until_the_rover_is_still(
    duration: float, name: str
) -> None:
    rover = SimulatedRover()
    began = rover.clock.seconds
    result = run_tool(rover, name, duration_s=duration)
    assert result.ok, result.error_reason
    assert orders_of(rover) == [name, 'move_stop']
    assert rover.calls[-1] == 'get_status'
    waited_s = rover.clock.seconds - began
    assert duration - 0.1 <= waited_s <= duration + STOP_LATE_S + 0.1
    assert result.data['duration_s'] == duration
    pose, ahead = rover.state.pose, name == 'move_forward'
    driven_m, speed = (pose.x, SPEED_MPS) if ahead else (abs(pose.yaw) * RADIUS_M, TURN_MPS)
    assert result.data['distance_m'] == pytest.approx(driven_m, rel=0.05, abs=0.03)
    assert driven_m == pytest.approx(duration * speed, rel=0.05, abs=START_LATE_S * speed)
    assert result.data['cost'] == COSTS[name]


def test_a_refused_motion_is_not_stopped_and_one_without_an_answer_is() -> None:
    for mast in (True, None):
        rover = SimulatedRover(mast_is_open=mast)
        result = run_tool(rover, 'move_forward', duration_s=1.0)
        assert result == failed(NEED_TO_CLOSE_MAST, cost=COSTS['move_forward'])
        assert rover.calls == ['move_forward']
    rover = SimulatedRover()
    timeout = RefusalCode.NO_ANSWER.text(name='/adapter/move_forward')

    def begins_late() -> Exception:
        rover.motion = 'move_forward'
        return ServiceFailed(timeout)

    rover.faults['move_forward'] = begins_late
    result = run_tool(rover, 'move_forward', duration_s=1.0)
    assert (result.error_reason, result.data['cost']) == (timeout, COSTS['move_forward'])
    assert result.data['distance_m'] == 0.0
    assert rover.calls == ['move_forward', 'move_stop']
    assert not rover.motion


class Slowing(Cancellation):
    """Waits take real time. The rover's clock runs at real time until the rover drives, then at
    ``factor`` of it.
    """

    def __init__(self, rover: SimulatedRover, factor: float = 1.0) -> None:
        super().__init__()
        self._rover, self._factor = rover, factor

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        self._rover.clock.seconds += seconds * (self._factor if self._rover.motion else 1.0)


def test_a_motion_begins_once_the_adapter_hears_the_agent_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for refusals in (1, 10):
        rover = SimulatedRover()
        silent = [lambda: ServiceFailed(AGENT_IS_SILENT)] * refusals
        rover.faults['move_forward'] = in_turn(*silent)
        assert run_tool(rover, 'move_forward', duration_s=1.0).ok
        assert orders_of(rover) == ['move_forward'] * (refusals + 1) + ['move_stop']
    rover = SimulatedRover()  # one that never does is not asked for ever
    monkeypatch.setattr(time, 'monotonic', lambda: rover.clock.seconds)
    rover.faults['move_forward'] = lambda: ServiceFailed(AGENT_IS_SILENT)
    began = rover.clock.seconds
    result = run_tool(rover, 'move_forward', duration_s=1.0)
    assert result.error_reason == AGENT_IS_SILENT
    assert rover.clock.seconds - began == pytest.approx(LINK_TIMEOUT_S, abs=0.5)
    assert 'move_stop' not in rover.calls


@pytest.mark.parametrize(
    ('reason', 'said'), [('Leash: stopped after 30 s',) * 2, ('', 'the rover was stopped')]
)
def test_a_motion_that_something_ended_says_so_and_how_far_it_came(reason: str, said: str) -> None:
    rover = SimulatedRover()
    rover.faults['get_status'] = in_turn(lambda: rover.halt(reason))
    result = run_tool(rover, 'move_forward', Slowing(rover), duration_s=20.0)
    assert result.error_reason == f'Motion ended early: {said}'
    assert rover.calls == ['move_forward', 'get_status', 'move_stop', 'get_status']
    seconds = result.data['duration_s']
    assert isinstance(seconds, float)
    assert 0.0 < seconds < 1.0
    assert result.data['distance_m'] == pytest.approx(rover.state.pose.x, rel=0.1)


def test_a_motion_that_was_stopped_just_before_its_end_is_no_success() -> None:
    for is_stopping in (False, True):  # an adapter that begins anew stops the rover by itself
        rover = SimulatedRover(extra_status={'stopping': is_stopping})
        if not is_stopping:
            rover.faults['get_status'] = in_turn(rover.halt)
        result = run_tool(rover, 'move_forward', duration_s=0.2)
        assert result.error_reason == 'Motion ended early: the rover was stopped'
        assert orders_of(rover) == ['move_forward', 'move_stop']


IMPATIENT = SHIPPED.changed(
    thresholds={'motion': {'clock_max_age_s': 0.3, 'slowest_real_time_factor': 0.5}}
)


def test_time_that_stands_or_creeps_keeps_no_rover_driving_and_none_begins_without_it() -> None:
    stands, creeps = 'No simulated time', 'simulated time is too slow'
    for factor, duration_s, reason in ((0.0, 20.0, stands), (0.1, 0.5, creeps)):
        rover = SimulatedRover()
        button = Slowing(rover, factor)
        result = run_tool(rover, 'move_forward', button, IMPATIENT, duration_s=duration_s)
        assert result.error_reason.startswith(f'Motion ended early: {reason}')
        assert rover.calls[-2:] == ['move_stop', 'get_status']
    rover = SimulatedRover(clock=OwnedClock(seconds=0.0))
    button = Cancellation()  # which makes no time pass on the rover's clock
    result = run_tool(rover, 'move_forward', button, IMPATIENT, duration_s=2.0)
    assert result.error_reason.startswith(f'{stands}: use_sim_time is on and /clock was')
    assert rover.calls == []


def slow_rover(factor: float) -> SimulatedRover:
    """A rover whose simulation was measured to run at ``factor`` of real time."""
    rover, ros, steady_s = SimulatedRover(), OwnedClock(), 0.0
    rover.simulation = SimulationClock(ros, SHIPPED.thresholds.motion, lambda: steady_s)
    for _ in range(10):
        steady_s, ros.seconds = steady_s + 0.1, ros.seconds + 0.1 * factor
        rover.simulation()
    return rover


def test_a_motion_longer_than_the_leash_of_a_slow_simulation_has_legs() -> None:
    for factor, legs in ((1.0, 1), (0.5, 1), (0.1, 3)):
        rover = slow_rover(factor)
        result = run_tool(rover, 'move_forward', duration_s=6.0)
        assert result.ok, result.error_reason
        assert orders_of(rover) == ['move_forward', 'move_stop'] * legs
        assert result.data['duration_s'] == pytest.approx(6.0)
        assert result.data['distance_m'] == pytest.approx(rover.state.pose.x, rel=0.05)
    rover = slow_rover(0.1)  # a leg that is refused ends the motion
    rover.faults['move_forward'] = in_turn(lambda: None, lambda: ServiceFailed('Obstacle ahead'))
    result = run_tool(rover, 'move_forward', duration_s=6.0)
    assert result.error_reason == 'Motion ended early: Obstacle ahead'
    assert result.data['duration_s'] == pytest.approx(2.0)
    assert not rover.motion
    rover = SimulatedRover()  # and the way is told although something of ours broke on it
    rover.faults['get_status'] = lambda: ZeroDivisionError('a bug')
    result = run_tool(rover, 'move_forward', duration_s=4.0)
    assert result.error_reason.startswith('Internal error in move_forward: ZeroDivisionError')
    assert result.error_code == RefusalCode.INTERNAL_ERROR
    assert result.data['distance_m'] > 0.0  # type: ignore[operator]
    assert 'move_stop' in rover.calls


@pytest.mark.parametrize('stops', ['work', 'fail'])
def test_a_cancelled_motion_stops_the_rover_before_it_ends(stops: str) -> None:
    rover = SimulatedRover()
    button = Hurry(rover.clock)
    rover.faults['move_forward'] = in_turn(lambda: button.cancel('Stopped by a test'))
    if stops == 'fail':
        rover.faults['move_stop'] = lambda: ServiceFailed('no')
    with pytest.raises(TurnCancelled, match='Stopped by a test'):
        run_tool(rover, 'move_forward', button, duration_s=5.0)
    assert rover.calls[:2] == ['move_forward', 'move_stop']
    assert 'get_status' not in rover.calls


@pytest.mark.parametrize('name', NINE)
def test_a_cancelled_turn_calls_nothing_more(name: str) -> None:
    rover = SimulatedRover()
    button = Cancellation()
    button.cancel('Stopped by a test')
    arguments = {'duration_s': 1.0} if name in MOTIONS else {}
    with pytest.raises(TurnCancelled):
        run_tool(rover, name, button, **arguments)
    assert rover.calls == []


def test_a_capture_is_taken_unless_the_mast_is_known_or_seen_not_to_be_up() -> None:
    seen = {'score': 0.5, 'is_good': False, 'image_topic': PICTURE_TOPIC, 'image_stamp_s': 1.5}
    cost, at = COSTS['capture_and_score'], {'x': 0.0, 'y': 0.0, 'yaw_rad': 0.0}
    for mast in (True, None):
        rover = SimulatedRover(mast_is_open=mast, light=0.5)
        assert run_tool(rover, 'capture_and_score').data == {**seen, **at, 'cost': cost}
    closed = run_tool(SimulatedRover(mast_is_open=False), 'capture_and_score')
    assert closed == failed(MAST_IS_CLOSED, cost=cost)
    world = World()
    world.mast = world.mast_target = CLOSED  # by an adapter that is no more
    for joints_on in (False, True, False):
        world.joints_on = joints_on
        world.step(2 * CONFIG.mast.joint_max_age_s)
        status = status_of(world.guard)
        assert status['mast'] == 'unknown'
        rover = SimulatedRover(mast_is_open=None, extra_status=status)
        result = run_tool(rover, 'capture_and_score')
        told = (MAST_IS_NOT_RAISED, RefusalCode.MAST_IS_CLOSED) if joints_on else ('', '')
        assert (result.error_reason, result.error_code) == told


@pytest.mark.parametrize('value', [math.nan, math.inf, object(), '\ud83d'])
def test_what_json_cannot_carry_is_a_failed_result(value: object) -> None:
    rover = SimulatedRover(extra_status={'rover_x': value})
    result = run_tool(rover, 'get_status')
    assert not result.ok
    assert result.error_reason.startswith('get_status answered what JSON cannot carry: ')
    assert result.error_code == ''  # what a rover says is no fault of ours


@given(
    name=st.sampled_from(NINE),
    fault=st.sampled_from(NINE),
    error=st.sampled_from(
        [ServiceFailed('no'), ServiceFailed(''), ServiceFailed(' '), KeyError('x'), RuntimeError()]
    ),
    mast=st.sampled_from([True, False, None]),
)
def test_every_tool_answers_a_result_and_leaves_the_rover_still(
    name: str, fault: str, error: Exception, mast: bool | None
) -> None:
    rover = SimulatedRover(mast_is_open=mast)
    rover.faults[fault] = in_turn(lambda: error)
    result = run_tool(rover, name, **({'duration_s': 1.0} if name in MOTIONS else {}))
    assert isinstance(result, ToolResult)
    assert result.data['cost'] == COSTS[name]
    assert not rover.motion
    assert not rover.starts or rover.calls.index('move_stop') > rover.calls.index(name)


@given(
    st.text()
    | st.sampled_from(['[]', 'null', '3', '"x"', '{"x": NaN', '[' * 10_000, '{"x":' * 10_000])
)
def test_a_status_that_is_no_json_object_is_a_failed_service(text: str) -> None:
    client: Any = SimpleNamespace(trigger=lambda name: text, pose=lambda: None)
    with pytest.raises(ServiceFailed, match='get_status answered no JSON object'):
        RoverClient.status(client)
    assert read_object('{"x": [1, NaN], "y": -Infinity}') == {'x': [1, None], 'y': None}


def with_metres(most: float) -> Config:
    return with_rules(budget={'max_metres': most})


def drive(world: Any) -> Any:
    return world.tool('move_forward', Cancellation(), duration_s=2.0)


def test_of_a_silent_adapter_nothing_is_known() -> None:
    rover = SimulatedRover(faults={'get_status': lambda: ServiceFailed('Service timeout: x')})
    facts = SimulatedRoverWorld(rover, SHIPPED).facts()
    assert (facts['mast'], facts['moving'], facts['x']) == ('unknown', None, None)
    assert drive(SimulatedRoverWorld(rover, SHIPPED)).error_code == RefusalCode.ROVER_SILENT
    assert rover.starts == []


def test_the_legs_of_one_skill_count_together_until_the_turn_counts_them() -> None:
    rover, spent = SimulatedRover(), Spent()
    world = SimulatedRoverWorld(rover, with_metres(7.0))
    world.spent = lambda: spent
    assert world.may_drive('move_forward', 2.0) == ''  # up to 5.5 m, with the way of a stop
    while (why := world.may_drive('move_forward', 2.0)) == '':
        before_m = rover.state.pose.x
        driven_m = drive(world).data['distance_m']
        assert driven_m == pytest.approx(rover.state.pose.x - before_m, abs=0.1)
        assert driven_m == pytest.approx(2.0 * SPEED_MPS, abs=START_LATE_S * SPEED_MPS)
    assert why.startswith('BUDGET: ')
    assert world.may_drive('move_forward', 0.1) == ''
    spent = Spent(steps=1, metres=0.0)  # a new step: the turn says what was spent
    assert world.may_drive('move_forward', 1.0) == ''


def test_a_leg_that_no_pose_measures_counts_as_the_longest_one() -> None:
    rules = with_rules(budget={'max_metres': 7.0}, geofence={'enabled': False})
    world = SimulatedRoverWorld(SimulatedRover(tells_pose=False), rules)
    assert drive(world).ok
    assert drive(world).error_code == RefusalCode.BUDGET


def test_a_broken_safety_rule_is_told_whatever_the_skill_makes_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tool_impl, 'STANDSTILL_TIMEOUT_S', 0.1)
    told: list[str] = []
    rover = SimulatedRover(extra_status={'moving': True})
    result = drive(SimulatedRoverWorld(rover, SHIPPED, on_violation=told.append))
    assert told == [result.error_reason]
    assert told[0].startswith('SAFETY_VIOLATION: ')


def test_a_fault_that_ended_a_motion_is_told_once_unless_a_later_one_went_well() -> None:
    rover = SimulatedRover()
    world = SimulatedRoverWorld(rover, SHIPPED)

    def drive_into_a_fault() -> None:
        rover.faults['move_stop'] = lambda: ServiceFailed('Service timeout: move_stop')
        assert not drive(world).ok
        del rover.faults['move_stop']
        assert world.tool('move_stop', Cancellation()).ok

    with under_order(Order(task_id='drives')):
        drive_into_a_fault()
        assert world.take_fault('asks') == ''  # it is another task's
        assert world.take_fault('drives') == 'Service timeout: move_stop'
        assert world.take_fault('drives') == ''
        drive_into_a_fault()
        assert drive(world).ok
        assert world.take_fault('drives') == ''
        rover.mast_is_open = True
        assert not drive(world).ok
        assert world.take_fault('drives') == ''  # a refusal stops no rover


@given(
    st.lists(
        st.tuples(
            st.sampled_from((*MOTIONS, 'mast_open', 'mast_close', 'move_stop')),
            st.floats(0.1, 30.0),
        ),
        max_size=12,
    ),
    st.sampled_from([3.0, 6.0, 20.0]),
)
def test_no_sequence_of_calls_leaves_the_fence_or_drives_with_the_mast_up(
    calls: list[tuple[str, float]], half_m: float
) -> None:
    rover = SimulatedRover()
    fence = {'x_min': -half_m, 'x_max': half_m, 'y_min': -half_m, 'y_max': half_m}
    world = SimulatedRoverWorld(rover, with_rules(geofence=fence))
    for name, seconds in calls:
        arguments = {'duration_s': seconds} if name in MOTIONS else {}
        mast_was_open, starts = rover.mast_is_open, len(rover.starts)
        world.tool(name, Cancellation(), **arguments)
        assert mast_was_open is False or len(rover.starts) == starts
        status = rover.status()
        assert max(abs(status['rover_x']), abs(status['rover_y'])) < half_m
