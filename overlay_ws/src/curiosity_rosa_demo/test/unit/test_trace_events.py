# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The typed events and their public form, which is exact in both directions."""

from __future__ import annotations

from typing import Any

from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.trace.events import (
    BudgetLimitReached,
    CaptureTaken,
    ModelCalled,
    NodeStarted,
    QuestionAsked,
    SkillProgressed,
    TurnAnswered,
    TurnStarted,
)
from curiosity_rosa_demo.trace.trace_codec import decode, encode, new_event
from hypothesis import given
from hypothesis import strategies as st
import pytest
from strategies import events, finite, fraction, json_objects, names, text

TYPES = (
    TurnStarted,
    TurnAnswered,
    QuestionAsked,
    SkillProgressed,
    NodeStarted,
    CaptureTaken,
    ModelCalled,
    BudgetLimitReached,
)
counts = st.integers(0, 10**12)
typed_events = st.one_of(
    st.builds(TurnStarted, st.integers(0, 10**6), text),
    st.builds(TurnAnswered, st.none() | st.booleans(), st.none() | finite),
    st.builds(QuestionAsked, text, text),
    text.map(lambda task_id: QuestionAsked(task_id, '', task_id)),
    st.builds(SkillProgressed, names, text, json_objects, st.none() | fraction),
    st.builds(NodeStarted, text),
    st.builds(
        ModelCalled,
        *(text, text, counts, counts, counts, counts, st.booleans()),
        *(st.none() | finite, text, text),
    ),
    st.builds(BudgetLimitReached, text, text, finite, st.none() | finite, finite),
    st.builds(
        CaptureTaken,
        st.none() | st.booleans(),
        st.none() | finite,
        st.none() | text,
        st.none() | json_objects,
    ),
)


def read(event: TraceEvent) -> list[object]:
    return [found for found in (kind.of(event) for kind in TYPES) if found is not None]


@given(typed_events, text)
def test_a_typed_event_comes_back_from_the_topic_as_it_was(typed: Any, message: str) -> None:
    event = decode(encode(new_event(**typed.trace_fields(message))))
    assert read(event) == [typed]
    assert event.message == message
    assert event == event.model_copy(update=typed.trace_fields(message))


@given(events)
def test_any_other_event_is_none_of_them_and_never_raises(event: TraceEvent) -> None:
    for typed in read(event):
        again = TraceEvent(event_id='a', ts=0.0, **typed.trace_fields(event.message))
        assert type(typed).of(again) == typed


@pytest.mark.parametrize(
    ('typed', 'data'),
    [
        (TurnStarted(0), {'turn_calls': 0}),
        (TurnStarted(3, 'http'), {'turn_calls': 3, 'origin': 'http'}),
        (QuestionAsked('q1'), {'question': 'q1'}),
        (QuestionAsked('t1', '', 't1'), {'question': 't1', 'in_task': 't1'}),
        (
            SkillProgressed('drive', 't1', {'legs': 2}, 0.5),
            {'progress': {'legs': 2}, 'fraction': 0.5, 'task_id': 't1'},
        ),
        (NodeStarted('adapter'), {'node': 'adapter', 'started': True}),
        (CaptureTaken(True, 0.9, None, {'is_good': True}), {'is_good': True}),
    ],
)
def test_their_json_is_that_of_the_reference(typed: Any, data: dict[str, Any]) -> None:
    assert typed.trace_fields('')['data'] == data


@pytest.mark.parametrize('message', ['User: look', 'Asking: drive?', 'adapter started'])
@pytest.mark.parametrize('kind', [each for each in TraceKind if each is not TraceKind.RESULT])
def test_a_message_makes_no_typed_event(kind: TraceKind, message: str) -> None:
    assert read(new_event(kind, message)) == []


@given(st.none() | finite, finite, st.none() | st.booleans() | text)
def test_the_simulators_judgement_counts_before_the_threshold(
    score: float | None, threshold: float, judged: object
) -> None:
    taken = CaptureTaken(True, score, None, {'is_good': judged})
    reached = score is not None and score >= threshold
    assert taken.is_good(threshold) == (judged if isinstance(judged, bool) else reached)
