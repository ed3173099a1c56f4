# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

from __future__ import annotations

from collections.abc import Callable

from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_stand_in.battery import Battery, Rates, SETTLE_S
from curiosity_stand_in.body import Body, TICK_S
from curiosity_stand_in.mast import CLOSED, MOVES, stowed_from, ZERO
from curiosity_stand_in.rover import FASTEST_DRIVE, Rover
from curiosity_stand_in.trajectory import Trajectory
from hypothesis import given
from hypothesis import strategies as st
import pytest

THRESHOLDS = load_config().thresholds
RATES = Rates(drain_per_s=0.001, charge_per_s=0.02)
MAST_S = stowed_from(Trajectory(ZERO, MOVES['mast_close'])) or 0.0
TICK = TICK_S * 0.03  # what either rate changes until the wheels take a Twist
rates = st.builds(Rates, st.floats(0, 1), st.floats(0, 1))
fractions = st.floats(0, 1)
moments = st.floats(0, 1000)


class Drive:
    """A rover and its wall clock."""

    def __init__(self, *, charge: float = 0.5, scale: float = 1.0, **rover: object) -> None:
        self._now = 50.0
        self.rover = Rover(
            THRESHOLDS, lambda: self._now, time_scale=scale, charge=charge, rates=RATES, **rover
        )

    def do(self, command: Callable[[Body], None]) -> None:
        with self.rover.body() as body:
            command(body)

    def wait(self, seconds: float) -> Battery:
        self._now += seconds
        return self.rover.state().battery


def test_it_charges_while_stowed_and_still_up_to_the_full_charge() -> None:
    drive = Drive()
    drive.wait(5.0)
    drive.do(lambda body: body.move_mast(MOVES['mast_close']))
    drive.wait(0.5)
    assert drive.wait(MAST_S - 0.51) == Battery(pytest.approx(0.5, abs=1e-3), charging=False)
    assert drive.wait(10.01) == Battery(pytest.approx(0.7, abs=1e-3), charging=True)
    assert not drive.rover.state().battery.full
    assert drive.wait(100.0) == Battery(1.0, charging=True)
    assert drive.rover.state().battery.full
    drive.do(lambda body: body.move_mast(MOVES['mast_open']))
    assert not drive.wait(1.0).charging


@pytest.mark.parametrize('scale', [0.1, 1.0, 100.0])
def test_its_rates_are_of_the_rovers_own_time(scale: float) -> None:
    drive = Drive(scale=scale, joints=CLOSED)
    drive.wait(SETTLE_S / scale)
    assert drive.wait(5.0 / scale).charge == pytest.approx(0.6, abs=TICK)
    drive.do(lambda body: body.drive(2.0, 0.0))
    assert drive.wait(100.0 / min(scale, FASTEST_DRIVE)).charge == pytest.approx(0.5, abs=TICK)


def test_a_stowed_rover_charges_a_second_after_it_has_come_to_a_stand() -> None:
    drive = Drive(joints=CLOSED)
    drive.do(lambda body: body.drive(2.0, 0.0))
    drive.wait(30.0)
    drive.do(lambda body: body.drive(0.0, 0.0))
    with drive.rover.body() as body:
        stands_in = body.moves_until - body.state().seconds
    assert not drive.wait(stands_in + SETTLE_S - 0.1).charging
    drive.do(lambda body: body.drive(0.0, 0.0))  # a repeated stop does not begin the second again
    assert drive.wait(0.2).charging


@given(fractions, rates, moments, moments, st.booleans(), st.none() | moments)
def test_the_charge_is_a_fraction_whatever_happens(
    charge: float, rates: Rates, start: float, spent: float, driving: bool, since: float | None
) -> None:
    after = Battery(charge).after(
        rates, start=start, end=start + spent, driving=driving, charges_from=since
    )
    assert 0.0 <= after.charge <= 1.0
    if since is None:
        assert after.charge <= charge
        assert not after.charging
    elif since <= start:
        assert after.charge >= charge
        assert after.charging


@given(fractions, moments, moments, moments, st.booleans(), st.none() | moments)
def test_two_steps_are_as_good_as_one(
    charge: float, start: float, first: float, second: float, driving: bool, since: float | None
) -> None:
    middle, end = start + first, start + first + second
    once = Battery(charge).after(RATES, start=start, end=end, driving=driving, charges_from=since)
    half = Battery(charge).after(
        RATES, start=start, end=middle, driving=driving, charges_from=since
    )
    twice = half.after(RATES, start=middle, end=end, driving=driving, charges_from=since)
    assert twice.charge == pytest.approx(once.charge, abs=1e-9)
    assert twice.charging == once.charging
