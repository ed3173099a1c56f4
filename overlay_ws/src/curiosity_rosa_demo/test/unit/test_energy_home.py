# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The charge to come home: what passes leaves enough of it, and the way home stays free."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from curiosity_rosa_demo.agent.react.guardrails.energy import energy_home
from curiosity_rosa_demo.agent.react.guardrails.geofence import metres_ahead, reach_of
from curiosity_rosa_demo.agent.react.guardrails.rules import drive_refusal, find_refusal
from curiosity_rosa_demo.agent.react.guardrails.situation import Limits, Situation
from curiosity_rosa_demo.domain.brain_state import Spent
from examples import examples
from guardrails_world import all_limits, FREE, propose, READY, SHIPPED, situations
from hypothesis import assume, given, HealthCheck, settings
from hypothesis import strategies as st
import pytest

ENERGY = SHIPPED.energy
LEAST = SHIPPED.battery_low + ENERGY.reserve
FORWARD = propose('move_forward', duration_s=2.0)
coordinates = st.floats(-80.0, 80.0)
parts = st.floats(0.0, 1.0)
NEEDED = 'ENERGY: the battery is at 20.0%, this motion and the way home need 36.1%; charge first'
STANDING = situations(**FREE, moving=False)
DRIVING = situations(**FREE, moving=True) | situations(**FREE, moving=None)


def ready(**changes: Any) -> Situation:
    return dataclasses.replace(READY, **changes)


# of the situations far from home most are refused
@settings(
    max_examples=examples(300),
    deadline=None,
    suppress_health_check=[HealthCheck.filter_too_much],
)
@given(
    st.sampled_from(['move_forward', 'turn_left', 'turn_right', 'navigate_to_pose']),
    st.fixed_dictionaries(
        {'duration_s': st.floats(0.1, 20.0), 'x': coordinates, 'y': coordinates}
    ),
    STANDING | DRIVING,
    all_limits,
    st.tuples(parts, parts, st.floats(0.0, math.tau)),
)
def test_what_passes_leaves_the_charge_for_the_way_home_or_leads_home(
    name: str,
    arguments: dict[str, float],
    situation: Situation,
    limits: Limits,
    way: tuple[float, float, float],
) -> None:
    """Wherever in its reach the motion ends, by a path as long as it may be."""
    limits = dataclasses.replace(limits, energy=limits.energy.model_copy(update={'enabled': True}))
    proposal, charge = propose(name, **arguments), situation.battery
    assume(charge is not None and energy_home(proposal, situation, limits) is None)
    reach, metres = (rule(proposal, situation, limits) for rule in (reach_of, metres_ahead))
    assert charge is not None
    assert reach is not None
    assert metres is not None
    home = (limits.energy.home_x, limits.energy.home_y)
    (x, y), (end_x, end_y) = reach.points[0], reach.points[-1]
    along, aside, direction = way
    end = (
        x + along * (end_x - x) + aside * reach.radius * math.cos(direction),
        y + along * (end_y - y) + aside * reach.radius * math.sin(direction),
    )
    least = limits.battery_low + limits.energy.reserve
    left = charge - limits.energy.charge_per_m * (metres + math.dist(end, home))
    if left >= least - 1e-9:
        return
    assert situation.moving is False
    if name.startswith('turn'):
        bearing = math.atan2(home[1] - y, home[0] - x) - (situation.yaw_rad or 0.0)
        side = math.sin(bearing) * (1.0 if name == 'turn_left' else -1.0)
        assert side > 0.0 or math.cos(bearing) < 0.0
    else:
        on_line = (x + along * (end_x - x), y + along * (end_y - y))
        assert math.dist(on_line, home) <= math.dist((x, y), home) + 1e-9


@settings(max_examples=examples(50), deadline=None)
@given(coordinates, coordinates, st.floats(-4.0, 4.0))
def test_a_rover_with_too_little_charge_still_comes_home(x: float, y: float, yaw: float) -> None:
    """By legs of one second, a turn of 0.4 rad or a metre, with a charge that never suffices."""
    home = propose('navigate_to_pose', x=0.0, y=0.0)
    assume(math.hypot(x, y) > 3.0)
    assert find_refusal(home, ready(x=x, y=y, yaw_rad=yaw, battery=0.21), SHIPPED) is None
    for _ in range(300):
        if math.hypot(x, y) < 3.0:
            return
        facts = {'mode': 'EXEC', 'mast': 'closed', 'moving': False, 'battery_pct': 21.0}
        facts |= {'x': x, 'y': y, 'yaw_rad': yaw}
        bearing = math.remainder(math.atan2(-y, -x) - yaw, math.tau)
        name = 'move_forward'
        if abs(bearing) > 0.4:
            name = 'turn_left' if bearing > 0.0 else 'turn_right'
        assert drive_refusal(name, 1.0, facts, Spent(), SHIPPED) is None
        if name != 'move_forward':
            yaw += math.copysign(0.4, bearing)
        x, y = x + math.cos(yaw), y + math.sin(yaw)
    pytest.fail(f'not at home but at {x}, {y}')


@pytest.mark.parametrize(
    ('facts', 'refused'),
    [
        ({'battery': 0.37}, ''),  # 55.5 m there and home at 0.002 per metre, above 25 %
        ({'battery': 0.2}, NEEDED),
        ({'battery': 0.2, 'yaw_rad': math.pi}, ''),
        ({'battery': 0.2, 'x': 0.0, 'yaw_rad': math.pi}, 'ENERGY: the battery is at 20.0%'),
        ({'battery': 0.2, 'yaw_rad': math.pi, 'moving': True}, 'ENERGY: the battery is at 20.0%'),
        ({'battery': None}, ''),
        ({'x': None}, 'ENERGY: the pose or the goal is unknown; wait for the pose'),
    ],
)
def test_a_drive_away_from_home_needs_the_charge_of_the_way_back(
    facts: dict[str, Any], refused: str
) -> None:
    """Two seconds at 1 m/s, and 3.5 s until the rover stands for sure."""
    situation = ready(**{'x': 44.5, **facts})
    refusal = energy_home(FORWARD, situation, SHIPPED)
    assert (refusal.reason if refusal else '').startswith(refused)
    assert bool(refusal) is bool(refused)
    off = dataclasses.replace(SHIPPED, energy=ENERGY.model_copy(update={'enabled': False}))
    assert energy_home(FORWARD, situation, off) is None


def test_the_refusal_says_what_is_left_and_the_way_out() -> None:
    refusal = find_refusal(FORWARD, ready(x=50.0, battery=0.3), SHIPPED)
    assert refusal is not None
    assert (refusal.rule, refusal.code.value) == ('energy_home', 'ENERGY')
    assert refusal.allowed == f'a motion after which {LEAST:.0%} are left at home, x 0, y 0'
    assert refusal.way_out == 'charge first: stand with the mast stowed; or drive home'
