# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The rover as skills reach it: what is known, and what one skill may drive in several legs."""

from __future__ import annotations

from typing import Any

from curiosity_rosa_demo.agent.skills.plugins import GuardedWorld, NO_MOTION_TEXT
from curiosity_rosa_demo.domain.brain_state import BrainState, Mode, Spent
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.skills import MOTIONS
from curiosity_rosa_demo.infra.config.contracts import Config
from curiosity_rosa_demo.infra.ros_io import ServiceFailed
from curiosity_rosa_demo.tools import rover_tools
from hypothesis import given
from hypothesis import strategies as st
import pytest
from tool_rover import SimulatedRover, SPEED_MPS, START_LATE_S
from turn_world import SHIPPED, SimulatedRoverWorld


def with_metres(most: float) -> Config:
    rules = SHIPPED.guardrails
    budget = rules.budget.model_copy(update={'max_metres': most})
    guardrails = rules.model_copy(update={'budget': budget})
    return SHIPPED.model_copy(update={'guardrails': guardrails})


def drive(world: Any, seconds: float = 2.0) -> Any:
    return world.tool('move_forward', Cancellation(), duration_s=seconds)


@pytest.mark.parametrize(
    ('mast_is_open', 'mast'), [(True, 'open'), (False, 'closed'), (None, 'unknown')]
)
def test_the_mast_is_closed_only_when_the_adapter_says_so(
    mast_is_open: bool | None, mast: str
) -> None:
    assert (
        SimulatedRoverWorld(SimulatedRover(mast_is_open=mast_is_open), SHIPPED).facts()['mast']
        == mast
    )


def test_of_a_silent_adapter_nothing_is_known() -> None:
    rover = SimulatedRover(faults={'get_status': lambda: ServiceFailed('Service timeout: x')})
    facts = SimulatedRoverWorld(rover, SHIPPED).facts()
    assert (facts['mast'], facts['moving'], facts['x']) == ('unknown', None, None)


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


def test_a_broken_safety_rule_is_told_whatever_the_skill_makes_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rover_tools, 'STANDSTILL_TIMEOUT_S', 0.1)
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

    drive_into_a_fault()
    assert world.take_fault() == 'Service timeout: move_stop'
    assert world.take_fault() == ''
    drive_into_a_fault()
    assert drive(world).ok
    assert world.take_fault() == ''
    rover.mast_is_open = True
    assert not drive(world).ok
    assert world.take_fault() == ''  # a refusal stops no rover


def test_a_skill_of_others_drives_nowhere_the_guardrails_would_not() -> None:
    rover = SimulatedRover(mast_is_open=True)
    world = GuardedWorld(SimulatedRoverWorld(rover, SHIPPED))
    assert drive(world).error_reason == 'Need to close mast'
    assert 'move_forward' not in rover.calls
    assert world.tool('mast_close', Cancellation()).ok
    assert drive(world).ok
    far = GuardedWorld(SimulatedRoverWorld(rover, with_metres(1.0)))
    assert drive(far).error_reason.startswith('BUDGET: ')
    assert rover.starts == ['move_forward']


def test_a_skill_of_others_that_a_pause_cannot_stop_does_not_drive() -> None:
    rover = SimulatedRover(mast_is_open=False)
    world = GuardedWorld(SimulatedRoverWorld(rover, SHIPPED), may_move=False)
    assert drive(world).error_reason == NO_MOTION_TEXT
    assert rover.starts == []
    assert world.tool('mast_open', Cancellation()).ok


# --- the guardrails at the call itself ----------------------------------------------------------


def fenced(**fence: object) -> Config:
    rules = SHIPPED.guardrails
    guardrails = rules.model_copy(update={'geofence': rules.geofence.model_copy(update=fence)})
    return SHIPPED.model_copy(update={'guardrails': guardrails})


def state_with(*, mode: Mode = Mode.IDLE, latch: str = '') -> BrainState:
    state = BrainState()
    return state.model_copy(
        update={
            'tasks': state.tasks.model_copy(update={'mode': mode}),
            'robot': state.robot.model_copy(update={'safety_latch': latch}),
        }
    )


def refuse_status() -> ServiceFailed:
    return ServiceFailed('Service timeout: /adapter/get_status')


@pytest.mark.parametrize(
    ('rover', 'config', 'state', 'reason'),
    [
        ({}, fenced(x_max=3.0), {}, 'GEOFENCE: may lead to x '),
        ({}, with_metres(1.0), {}, 'BUDGET: up to '),
        ({}, SHIPPED, {'mode': Mode.SAFE}, 'SAFE_MODE: the mode is SAFE'),
        ({}, SHIPPED, {'latch': 'e_stop'}, 'SAFE_MODE: the safety latch is set (e_stop)'),
        ({}, SHIPPED, {'mode': Mode.CHARGE}, 'BATTERY_CRITICAL: '),
        ({'mast_is_open': True}, SHIPPED, {}, 'Need to close mast'),
        ({'mast_is_open': None}, SHIPPED, {}, 'Need to close mast'),
        ({'faults': {'get_status': refuse_status}}, SHIPPED, {}, 'Service timeout: '),
    ],
)
def test_each_rule_refuses_a_call_that_no_turn_has_checked(
    rover: dict[str, Any], config: Config, state: dict[str, Any], reason: str
) -> None:
    simulated = SimulatedRover(**rover)
    world = SimulatedRoverWorld(simulated, config)
    world.brain_state = lambda: state_with(**state)
    result = drive(world, 12.0)
    assert not result.ok
    assert result.error_reason.startswith(reason)
    assert simulated.starts == []
    assert world.tool('move_stop', Cancellation()).ok  # always allowed


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
    world = SimulatedRoverWorld(rover, fenced(**fence))
    for name, seconds in calls:
        arguments = {'duration_s': seconds} if name in MOTIONS else {}
        mast_was_open, starts = rover.mast_is_open, len(rover.starts)
        world.tool(name, Cancellation(), **arguments)
        assert mast_was_open is False or len(rover.starts) == starts
        status = rover.status()
        assert max(abs(status['rover_x']), abs(status['rover_y'])) < half_m
