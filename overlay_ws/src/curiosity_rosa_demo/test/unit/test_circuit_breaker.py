# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A model that keeps failing is left alone, then tried once."""

from __future__ import annotations

from curiosity_rosa_demo.agent.llm.circuit_breaker import CircuitBreaker
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest


def failed(breaker: CircuitBreaker, *times: float) -> CircuitBreaker:
    for at in times:
        assert breaker.allows(at)
        breaker.record_start()
        breaker.record_failure(at)
    return breaker


def test_it_opens_after_so_many_failures_in_a_row() -> None:
    breaker = failed(CircuitBreaker(3, 60.0), 0.0, 1.0)
    assert (breaker.state, breaker.allows(1.0)) == ('closed', True)
    failed(breaker, 2.0)
    assert (breaker.state, breaker.allows(2.0), breaker.allows(61.9)) == ('open', False, False)


def test_a_success_between_two_failures_begins_the_count_anew() -> None:
    breaker = failed(CircuitBreaker(2, 60.0), 0.0)
    breaker.record_start()
    breaker.record_success()
    assert failed(breaker, 1.0).allows(1.0)
    assert not failed(breaker, 2.0).allows(2.0)


def test_after_its_time_it_allows_one_trial() -> None:
    breaker = failed(CircuitBreaker(1, 60.0), 0.0)
    assert breaker.allows(60.0)
    assert breaker.allows(60.0)  # asking changes nothing
    breaker.record_start()
    assert (breaker.state, breaker.allows(1e9)) == ('half open', False)


def test_a_trial_that_fails_opens_it_for_as_long_again() -> None:
    breaker = failed(CircuitBreaker(3, 60.0), 0.0, 1.0, 2.0, 62.0)
    assert not breaker.allows(121.9)
    assert breaker.allows(122.0)


def test_a_trial_that_succeeds_closes_it() -> None:
    breaker = failed(CircuitBreaker(2, 60.0), 0.0, 1.0)
    breaker.record_start()
    breaker.record_success()
    assert (breaker.state, breaker.allows(61.0)) == ('closed', True)
    assert failed(breaker, 62.0).allows(62.0)


@pytest.mark.parametrize(('failures', 'open_s'), [(0, 1.0), (1, 0.0), (1, float('nan'))])
def test_settings_without_a_meaning_are_refused(failures: int, open_s: float) -> None:
    with pytest.raises(ValueError, match='failures'):
        CircuitBreaker(failures, open_s)


@settings(deadline=None)
@given(
    st.integers(1, 4),
    st.floats(0.5, 100.0),
    st.lists(st.tuples(st.floats(-5.0, 150.0), st.booleans()), max_size=60),
)
def test_whatever_happens_no_call_begins_while_it_is_open(
    limit: int, open_s: float, course: list[tuple[float, bool]]
) -> None:
    breaker, at, row, opened = CircuitBreaker(limit, open_s), 0.0, 0, float('-inf')
    for step, works in course:
        at += step
        allowed = breaker.allows(at)
        assert allowed == (row < limit or at >= opened + open_s)
        if not allowed:
            continue
        breaker.record_start()
        if works:
            breaker.record_success()
            row = 0
        else:
            breaker.record_failure(at)
            row, opened = row + 1, at
