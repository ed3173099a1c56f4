# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""In SAFE every order that could move the rover is refused; what looks or stops is taken."""

from __future__ import annotations

from datetime import datetime, timezone

from curiosity_rosa_demo.agent.kernel.safe_orders import order_refusal, SKILLS_IN_SAFE
from curiosity_rosa_demo.domain.brain_state import BrainState, Mode, RobotState, TasksState
from hypothesis import given
from hypothesis import strategies as st
from kernel_strategies import states
import pytest
from react_world import REGISTRY

SINCE = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
SKILLS = ['', *(definition.name for definition in REGISTRY)]


@given(states(), st.sampled_from(SKILLS), st.none() | st.just(SINCE))
def test_safe_alone_refuses_and_says_why_since_when_and_the_way_out(
    state: BrainState, skill: str, since: datetime | None
) -> None:
    why = order_refusal(state, skill, since)
    assert bool(why) is (state.tasks.mode is Mode.SAFE and skill not in SKILLS_IN_SAFE)
    if why:
        assert why.startswith('SAFE_MODE: refused')
        assert state.tasks.mode_reason in why
        assert (f'{SINCE.astimezone():%Y-%m-%d %H:%M:%S}' in why) is (since is not None)
        assert (':clear' in why) is bool(state.robot.estop or state.robot.safety_latch)


def test_no_skill_that_is_taken_in_safe_needs_base_or_mast() -> None:
    for definition in REGISTRY:
        if definition.name in SKILLS_IN_SAFE:
            assert definition.resources_required == []


@pytest.mark.parametrize(
    ('robot', 'way_out'),
    [
        (RobotState(estop=True, safety_latch='x'), 'Release the e-stop, then enter :clear.'),
        (RobotState(safety_latch='x'), 'Look at the rover, then enter :clear.'),
        (RobotState(silent=['adapter']), 'SAFE ends when it is back.'),
    ],
)
def test_the_way_out_fits_the_cause(robot: RobotState, way_out: str) -> None:
    state = BrainState(robot=robot, tasks=TasksState(mode=Mode.SAFE, mode_reason='x'))
    assert order_refusal(state, 'react', SINCE).endswith(way_out)
