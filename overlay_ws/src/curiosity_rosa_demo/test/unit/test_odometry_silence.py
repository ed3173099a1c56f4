# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Odometry that falls silent during a motion: a warning, then a stop, and no false alarm."""

from __future__ import annotations

from curiosity_rosa_demo.adapter.odometry_silence import OdometrySilence, SilenceDue
from curiosity_rosa_demo.infra.config_loader import load_config
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest

MOTION = load_config().thresholds.motion
WARN_S, STOP_S = MOTION.odometry_max_age_s, MOTION.odometry_stop_s
CHECK_S = 0.1  # the guard looks this often while the rover moves
WARNING = SilenceDue('No odometry for 1 s of a motion')
STOP = SilenceDue(stop_reason='No odometry for 3 s; the rover was stopped')
slow = st.floats(1.0, 10.0)  # steady seconds of a simulated one


def checks(rule: OdometrySilence, begin: float, end: float, heard: float) -> list[SilenceDue]:
    """What was due from ``begin`` to ``end``, with odometry up to ``heard``."""
    seen, now = [], begin
    while now <= end:
        seen.append(rule.check(now, max(0.0, now - heard)))
        now += CHECK_S
    return [each for each in seen if each != SilenceDue()]


@settings(max_examples=examples(100), deadline=None)
@given(slow, st.lists(st.floats(0.0, 0.99), max_size=30), st.booleans())
def test_odometry_that_comes_in_time_brings_neither_warning_nor_stop(
    factor: float, gaps: list[float], heard_before: bool
) -> None:
    """At any rate, and in a slow simulation; nor does odometry that was never heard."""
    rule, now = OdometrySilence(MOTION, lambda seconds: seconds * factor), 100.0
    assert rule.check(now, 50.0 if heard_before else None) == SilenceDue()
    for gap in gaps:
        age_s = gap * WARN_S * factor
        now += age_s
        assert rule.check(now, age_s if heard_before else None) == SilenceDue()


@settings(max_examples=examples(100), deadline=None)
@given(slow, st.floats(0.0, 30.0), st.floats(0.0, 30.0))
def test_each_silence_is_warned_of_once_and_stopped_in_time(
    factor: float, driven_s: float, old_s: float
) -> None:
    """Whether it begins during the motion or ``old_s`` before it."""
    rule = OdometrySilence(MOTION, lambda seconds: seconds * factor)
    heard = 100.0 + driven_s if driven_s else 100.0 - old_s
    silent_from = max(heard, 100.0)
    before = silent_from + STOP_S * factor - 0.01
    assert checks(rule, 100.0, before, heard) == [WARNING]
    assert rule.check(silent_from + STOP_S * factor + 0.01, 1e3) == STOP
    rule.end()  # the next motion has the same time
    assert rule.check(500.0, 400.0) == SilenceDue()
    assert rule.check(500.0 + STOP_S * factor + 0.01, 500.0) == STOP


def test_odometry_that_is_back_makes_the_next_silence_a_new_one() -> None:
    rule = OdometrySilence(MOTION, lambda seconds: seconds)
    assert checks(rule, 0.0, 1.5, heard=0.0) == [WARNING]
    assert rule.check(1.6, 0.1) == SilenceDue()
    assert checks(rule, 1.7, 4.0, heard=1.6) == [WARNING]


@pytest.mark.parametrize('stop_s', [0.5, 1.0])
def test_a_stop_before_its_warning_is_a_configuration_error(stop_s: float) -> None:
    with pytest.raises(ValueError, match=r'odometry_max_age_s \(1.0\), or 0'):
        type(MOTION).model_validate({**MOTION.model_dump(), 'odometry_stop_s': stop_s})


def test_it_can_be_switched_off() -> None:
    off = MOTION.model_copy(update={'odometry_stop_s': 0.0})
    assert checks(OdometrySilence(off, lambda seconds: seconds), 0.0, 20.0, heard=0.0) == []
