# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

from __future__ import annotations

from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.trace.trace_buffer import TraceBuffer
from hypothesis import given
from hypothesis import strategies as st
import pytest

sizes = st.integers(1, 20)


def event(number: int) -> TraceEvent:
    return TraceEvent(event_id=str(number), ts=float(number), kind=TraceKind.ACT, message='m')


@given(sizes, st.integers(0, 60))
def test_the_last_n_stay_oldest_first(size: int, count: int) -> None:
    buffer = TraceBuffer(size)
    sent = [event(number) for number in range(count)]
    assert [buffer.append(each) for each in sent] == [True] * count
    assert buffer.last() == sent[-size:]
    assert len(buffer) == min(size, count)


@given(sizes, st.lists(st.integers(0, 8)), st.integers(-3, 30))
def test_an_event_that_is_here_is_not_taken_again(
    size: int, numbers: list[int], count: int
) -> None:
    buffer = TraceBuffer(size)
    for number in numbers:
        here = {each.event_id for each in buffer.last()}
        assert buffer.append(event(number)) is (str(number) not in here)
    ids = [each.event_id for each in buffer.last()]
    assert len(set(ids)) == len(ids) <= size
    newest = buffer.last(count)
    assert newest == buffer.last()[len(ids) - len(newest) :]
    assert len(newest) == min(max(count, 0), len(ids))


def test_what_last_gives_is_a_copy() -> None:
    buffer = TraceBuffer(2)
    buffer.append(event(1))
    buffer.last().clear()
    assert len(buffer) == 1


@given(st.integers(max_value=0))
def test_a_buffer_holds_at_least_one(size: int) -> None:
    with pytest.raises(ValueError, match=f'at least 1, not {size}'):
        TraceBuffer(size)
