# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The stand-in's body, sensors and settings, against what was measured on the demo.

The demo's URDF and its own nodes ran in MuJoCo, on flat ground with friction 1.0.
"""

from __future__ import annotations

import math
from typing import Any

from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_stand_in.body import Battery, Body, MOST_SAG_S, Rates, State
from curiosity_stand_in.kinematics import FORWARD
from curiosity_stand_in.parts import CLOSED, MAST
from curiosity_stand_in.rover import FASTEST_DRIVE, Rover
from curiosity_stand_in.settings import checked, PARAMETERS
from hypothesis import given
from hypothesis import strategies as st
import pytest

THRESHOLDS = load_config().thresholds
MPS = THRESHOLDS.body.forward_mps


class Timed:
    """A body and its clock."""

    def __init__(self, **start: Any) -> None:
        self.now = 1000.0
        self.body = Body(THRESHOLDS, lambda: self.now, **start)

    def wait(self, seconds: float) -> State:
        self.now += seconds
        return self.body.state()


@given(
    st.lists(
        st.tuples(
            st.just(0.0) | st.floats(-3, 3), st.floats(-1, 1), st.floats(0, 10), st.integers(1, 5)
        ),
        max_size=8,
    ),
    st.sampled_from([0.0, 1.0, MOST_SAG_S]),
)
def test_how_often_one_looks_changes_nothing(
    legs: list[tuple[float, float, float, int]], sag_s: float
) -> None:
    seldom, often = Timed(), Timed()
    seldom.body.sag_s = often.body.sag_s = sag_s
    for linear_x, angular_z, seconds, looks in legs:
        for timed in (seldom, often):
            timed.now = seldom.now  # the same number: a tick must fall into the same step
            timed.body.drive(linear_x, angular_z)
            if angular_z > 0.5:  # some legs close the mast, so that a stand there charges
                timed.body.move(MAST, MAST.moves['mast_close'])
        end = seldom.now + seconds
        for look in range(looks):
            often.wait(seconds / looks * (look < looks - 1))
        seldom.now = often.now = end
    a, b = seldom.body.state(), often.body.state()
    assert (a.pose.x, a.pose.y) == pytest.approx((b.pose.x, b.pose.y), abs=1e-4)
    assert (a.pose.z, a.pose.pitch) == pytest.approx((b.pose.z, b.pose.pitch), abs=1e-4)
    assert a.path_m == pytest.approx(b.path_m, abs=1e-4)
    assert a.wheels_turned == pytest.approx(b.wheels_turned, abs=1e-6)
    assert a.battery.charge == pytest.approx(b.battery.charge)
    assert a.joints == pytest.approx(b.joints)


def test_a_slipping_rover_loses_its_way_and_its_wheels_turn_on() -> None:
    timed = Timed()
    timed.body.drive(*FORWARD)
    with pytest.raises(ValueError, match='not finite'):
        timed.body.drive(math.nan, 0.0)
    there = timed.wait(5.0)
    assert timed.wait(-1.0) == there  # a clock that steps back
    timed.wait(1.0)
    timed.body.set_slip(1.0)
    before, after = timed.wait(0.0), timed.wait(3.0)
    assert after.pose == before.pose
    assert after.wheels_turned == pytest.approx(before.wheels_turned + 3.0 * FORWARD[0])
    assert after.velocity.forward == 0.0


@given(
    st.floats(0.1, 100),
    st.lists(st.tuples(st.booleans(), st.floats(0.0, 5.0)), min_size=1, max_size=6),
)
def test_while_it_moves_time_runs_no_faster_than_a_stop_can_follow(
    scale: float, parts: list[tuple[bool, float]]
) -> None:
    now = 1000.0
    rover = Rover(THRESHOLDS, lambda: now, time_scale=scale)
    slow = min(scale, FASTEST_DRIVE)
    for drives, wall in parts:
        with rover.body() as body:
            body.drive(2.0 if drives else 0.0, 0.0)
        before = rover.state()
        now += wall
        after = rover.state()
        passed = after.seconds - before.seconds
        assert after.path_m - before.path_m <= MPS * slow * wall + 1e-6
        if drives or after.moves:
            assert passed == pytest.approx(slow * wall, abs=1e-6)
        else:
            assert slow * wall - 1e-6 <= passed <= scale * wall + 1e-6


@pytest.mark.parametrize('scale', [0.1, 1.0, 100.0])
def test_it_charges_while_stowed_and_still_up_to_the_full_charge(scale: float) -> None:
    now = 50.0
    rates = Rates(drain_per_s=0.001, charge_per_s=0.02)
    rover = Rover(
        THRESHOLDS, lambda: now, time_scale=scale, charge=0.5, rates=rates, joints=CLOSED
    )
    now += 11.0 / scale
    battery = rover.state().battery
    assert battery == Battery(pytest.approx(0.7, abs=0.01), charging=True)
    assert not battery.full
    now += 100.0 / scale
    assert rover.state().battery == Battery(1.0, charging=True)
    with rover.body() as body:
        body.drive(2.0, 0.0)
    now += 100.0 / min(scale, FASTEST_DRIVE)
    assert rover.state().battery == Battery(pytest.approx(0.9, abs=0.01), charging=False)


def test_the_parameters_take_their_defaults() -> None:
    defaults = {name: parameter.default for name, parameter in PARAMETERS.items()}
    shipped = checked(defaults, PARAMETERS)
    assert Rates(shipped['battery_drain_per_s'], shipped['battery_charge_per_s']) == Rates()
    said = [(*row, refusal_of(*row[:2])) for row in REFUSED]
    assert [row for row in said if row[2] not in row[3]] == []


def refusal_of(name: str, value: Any) -> str:
    try:
        assert list(checked({name: value}, PARAMETERS)) == [name]
    except ValueError as error:
        return str(error)
    return ''


@given(
    st.sampled_from(sorted(PARAMETERS)),
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.lists(st.text(max_size=40)),
)
def test_every_value_is_taken_or_refused_by_name(name: str, value: Any) -> None:
    refusal = refusal_of(name, value)
    assert (refusal or f'parameter {name} is {value!r}: ').startswith(
        f'parameter {name} is {value!r}: '
    )


REFUSED: list[tuple[str, Any, str]] = [
    ('time_scale', 0.0, 'from 0.1 to 100'),
    ('time_scale', math.nan, 'from 0.1 to 100'),
    ('battery', 1.5, 'from 0 to 1'),
    ('battery', True, 'must be a number'),
    ('e_stop', 1, 'true or false'),
    ('initial_mast', 'shut', 'zero, open, closed'),
    ('lidar', 'roof', 'mast, body'),
    ('fault_image', 'black', 'none, stopped, corrupt'),
    ('fault_services', [1, 2], 'list of strings'),
    ('fault_services', ['fly:hang'], "'fly:hang'"),
    ('fault_services', ['/move_stop:hang'], 'the service must be one of'),
    ('fault_services', ['move_stop'], 'hang, late, absent'),
    ('fault_services', ['move_stop:hang:3'], 'takes no seconds'),
    ('fault_services', ['mast_open:late'], 'needs seconds'),
    ('fault_services', ['mast_open:late:1e9'], 'needs seconds'),
    ('fault_services', ['move_stop:hang', 'move_stop:absent'], 'has a fault already'),
]
