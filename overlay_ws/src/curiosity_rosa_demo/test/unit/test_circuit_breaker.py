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


def test_after_its_time_it_allows_one_trial() -> None:
    breaker = CircuitBreaker(1, 60.0)
    breaker.record_start()
    breaker.record_failure(0.0)
    assert breaker.allows(60.0)
    assert breaker.allows(60.0)  # asking changes nothing
    breaker.record_start()
    assert (breaker.state, breaker.allows(1e9)) == ('half open', False)


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
        assert breaker.state == ('closed' if row < limit else 'open')
        if not allowed:
            continue
        breaker.record_start()
        if works:
            breaker.record_success()
            row = 0
        else:
            breaker.record_failure(at)
            row, opened = row + 1, at
