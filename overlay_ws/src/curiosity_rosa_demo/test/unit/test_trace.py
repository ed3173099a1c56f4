# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""Trace events and the spans of a turn: bus, codec, IDs, export; nothing is sent unasked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
import json
import math
from pathlib import Path
import subprocess
import sys
import threading
from types import SimpleNamespace
from typing import Any

from chat_server import call, Say
from curiosity_rosa_demo.agent.interfaces.action_server.server import GoalArguments, parse_goal
from curiosity_rosa_demo.agent.llm.call import call_attributes
from curiosity_rosa_demo.agent.react.ask import ApprovalAnswer
from curiosity_rosa_demo.agent.runtime.task_spans import TaskSpans
from curiosity_rosa_demo.agent.tasks import Event, EventType, LifecycleState, Task
from curiosity_rosa_demo.domain.brain_state import ApprovalAction
from curiosity_rosa_demo.domain.geometry import Place
from curiosity_rosa_demo.domain.models import (
    LightScore,
    MAX_DEPTH,
    Model,
    RoverPose,
    Stamp,
    ToolResult,
    TraceEvent,
    TraceKind,
)
from curiosity_rosa_demo.domain.plan import ExecutionResult, Plan, PlanStep
from curiosity_rosa_demo.domain.rehearsal import Comparison, Rehearsal
from curiosity_rosa_demo.domain.serde import from_json, SerdeError, to_json
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.infra.event_thread import EventThread
from curiosity_rosa_demo.infra.spans import (
    EVENT_ID,
    NO_SPAN,
    read_spans,
    span,
    TASK_ID,
    TRACEPARENT,
    tree_lines,
    TreeSpan,
)
from curiosity_rosa_demo.infra.tracing import make_task_tracer, otlp_lines, SpanQueue, TaskTracer
from curiosity_rosa_demo.trace.events import (
    BudgetLimitReached,
    CaptureTaken,
    ModelCalled,
    NodeStarted,
    PlanMade,
    PlanStepEnded,
    QuestionAnswered,
    QuestionAsked,
    RehearsalCompared,
    RehearsalMade,
    SkillProgressed,
    TriggerChanged,
    TurnAnswered,
    TurnStarted,
)
from curiosity_rosa_demo.trace.trace_buffer import EventBus, EventsLost, Published, Subscription
from curiosity_rosa_demo.trace.trace_codec import (
    bounded_event,
    decode,
    encode,
    MAX_EVENT_BYTES,
    new_event,
    UNREADABLE,
)
from examples import examples
from http_world import alone
from hypothesis import example, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from pydantic import ValidationError
import pytest
from runtime_world import AgentWorld
from skill_world import in_loop
from strategies import events, finite, fraction, json_objects, json_values, models, names, text
from turn_world import asking

# --- the bus -------------------------------------------------------------------------------------


WAIT_S = 20.0


@dataclass(frozen=True)
class Note:
    """An event that is no trace event."""

    text: str


def event(text: str) -> TraceEvent:
    return new_event(TraceKind.OBSERVE, text)


def listen(bus: EventBus, heard: list[Any], **options: Any) -> Callable[[], None]:
    return bus.listen('a', heard.append, TraceEvent, **options)


def test_a_listener_gets_what_it_wants_until_it_leaves() -> None:
    bus, own, every, notes = EventBus(), list[Any](), list[Any](), list[Any]()
    bus.publish(event('before'))
    leave = listen(bus, own, own_only=True)
    listen(bus, every)
    bus.listen('notes', notes.append, Note)
    ours, theirs, note = event('ours'), event('theirs'), Note('x')
    bus.publish(ours)
    bus.publish(ours.model_copy(), own=False)  # as it comes back from the topic
    bus.publish(theirs, own=False)
    bus.publish(note)
    leave()
    leave()
    after = event('after')
    bus.publish(after)
    assert (own, every, notes) == ([ours], [ours, theirs, after], [note])
    assert [each.message for each in bus.trace_events()] == ['before', 'ours', 'theirs', 'after']
    assert bus.trace_events(1) == [after]
    assert bus.trace_events(0) == []


@given(st.lists(st.booleans(), max_size=6), st.booleans())
def test_a_listener_that_fails_hurts_no_other_and_stays_and_is_reported_by_name(
    broken: list[bool], report_fails: bool
) -> None:
    heard, failed = list[tuple[int, TraceEvent]](), list[str]()

    def report(name: str, error: Exception) -> None:
        failed.append(f'{name}: {error}')
        if report_fails:
            raise BrokenPipeError

    def subscribe(number: int, raises: bool) -> None:
        def listener(each: TraceEvent) -> None:
            if raises:
                raise OSError('disk full')
            heard.append((number, each))

        bus.listen(str(number), listener, TraceEvent)

    bus = EventBus(report)
    for number, raises in enumerate(broken):
        subscribe(number, raises)
    events = [event(str(number)) for number in range(2)]
    for each in events:
        bus.publish(each)
    well = [number for number, raises in enumerate(broken) if not raises]
    assert heard == [(number, each) for each in events for number in well]
    assert failed == [f'{number}: disk full' for number, raises in enumerate(broken) if raises] * 2
    assert bus.trace_events() == events


def test_what_a_listener_publishes_follows_for_all_of_them() -> None:
    bus, heard = EventBus(), list[str]()

    def first(each: TraceEvent) -> None:
        if each.message == '1':
            bus.publish(event('2'))
            leave()  # it may also leave while it is called

    leave = bus.listen('first', first, TraceEvent)
    bus.listen('second', lambda each: heard.append(each.message), TraceEvent)
    bus.publish(event('1'))
    assert heard == ['1', '2'] == [each.message for each in bus.trace_events()]


@settings(deadline=None, max_examples=examples(20))
@given(st.integers(1, 8), st.integers(1, 40))
def test_all_hear_one_order_between_threads_and_nothing_is_lost(threads: int, each: int) -> None:
    bus, heard, threaded = EventBus(), list[Any](), list[Any]()
    listen(bus, heard)
    thread = EventThread(bus, 'thread', threaded.append)
    place = Subscription(bus, 'reader', TraceEvent)

    def publish() -> None:
        for _ in range(each):
            bus.publish(event('x'))

    working = [threading.Thread(target=publish) for _ in range(threads)]
    for worker in working:
        worker.start()
    for worker in working:
        worker.join()
    thread.close(WAIT_S)
    read = place.read()
    assert heard == bus.trace_events() == threaded == [one.event for one in read.events]
    assert [one.number for one in read.events] == list(range(1, threads * each + 1))


@given(
    st.integers(1, 8),
    st.lists(st.integers(0, 6) | st.sampled_from(['note', 'foreign']), max_size=40),
    st.integers(-1, 12),
)
def test_a_reader_gets_every_event_or_a_count_of_those_that_are_gone(
    kept: int, steps: list[int | str], start: int
) -> None:
    """A number reads so many events at most; 0 reads all."""
    bus, model = EventBus(max_events=kept), list[Published[Any]]()
    place = Subscription(bus, 'a', TraceEvent, after=start, own_only=True)
    after, lost = start, 0
    for step in steps:
        if isinstance(step, str):
            own = step != 'foreign'
            one: object = Note('x') if step == 'note' else event('x')
            bus.publish(one, own=own)
            model.append(Published(len(model) + 1, one, own))
            bus.publish(event(f'own {len(model)}'))
            model.append(Published(len(model) + 1, bus.trace_events()[-1], True))
            assert bus.last_number == len(model)
            continue
        ring = model[-kept:]
        oldest = ring[0].number if ring else 1
        lost += max(0, oldest - 1 - after)
        wanted = [
            each
            for each in ring
            if each.number > after and each.own and isinstance(each.event, TraceEvent)
        ]
        expected = wanted[:step] if step else wanted
        batch = place.read(step or None)
        assert batch.events == expected
        assert place.lost == lost
        is_limited = step and len(expected) == step
        after = expected[-1].number if is_limited else max(after, len(model))


def test_a_slow_subscriber_delays_no_publisher_and_is_marked_when_it_loses_events() -> None:
    failed: list[tuple[str, Exception]] = []
    bus = EventBus(lambda name, error: failed.append((name, error)), max_events=10)
    waiting, released, heard = threading.Event(), threading.Event(), list[str]()

    def slow(each: TraceEvent) -> None:
        waiting.set()
        assert released.wait(WAIT_S)
        heard.append(each.message)
        if each.message == '25':
            raise OSError('disk full')

    thread = EventThread(bus, 'disk', slow)
    bus.publish(event('0'))
    assert waiting.wait(WAIT_S)
    for number in range(1, 31):
        bus.publish(event(str(number)))
    bus.publish(event('theirs'), own=False)
    released.set()
    thread.close(WAIT_S)
    bus.publish(event('too late'))
    assert heard == ['0', *(str(number) for number in range(22, 31))]
    (lost, full) = failed
    assert lost[0] == full[0] == 'disk'
    assert isinstance(lost[1], EventsLost)
    assert lost[1].count == 21
    assert str(full[1]) == 'disk full'


# --- the buffer ----------------------------------------------------------------------------------


@given(st.integers(1, 20), st.lists(st.integers(0, 60)), st.integers(-3, 30))
def test_a_buffer_keeps_the_last_n_and_takes_none_again(
    size: int, numbers: list[int], count: int
) -> None:
    buffer, model = EventBus(max_events=size), list[TraceEvent]()
    for number in numbers:
        each = event('m').model_copy(update={'event_id': str(number), 'ts': float(number)})
        new = each not in model[-size:]
        assert buffer.publish(each) is new
        model += [each] if new else []
    buffer.trace_events().clear()  # a copy
    assert (kept := buffer.trace_events()) == model[-size:]
    assert buffer.trace_events(count) == kept[len(kept) - min(max(count, 0), len(kept)) :]


# --- the codec -----------------------------------------------------------------------------------


# From none to far too long, in characters that take one to six bytes.
letters = st.sampled_from(['a', '"', 'é', '火', '🚀', '\x00', '\n'])
long_text = st.builds(str.__mul__, letters, st.integers(0, 5000) | st.just(40_000))
long_events = st.builds(
    TraceEvent,
    event_id=long_text.filter(bool),
    ts=finite.map(abs),
    kind=st.sampled_from(TraceKind),
    message=long_text,
    tool_name=st.none() | long_text,
    ok=st.none() | st.booleans(),
    error_reason=st.none() | long_text,
    score=st.none() | finite,
    data=st.none() | st.dictionaries(long_text, long_text | st.integers(), max_size=3),
)


worst = '\x00' * 20_000  # six bytes each in JSON
WORST = TraceEvent(event_id=worst, ts=1.79e308, kind=TraceKind.HYPOTHESIZE, message=worst)
FIELDS = {'tool_name': worst, 'ok': False, 'error_reason': worst, 'score': -2.22e-308}
WORST = WORST.model_copy(update={**FIELDS, 'data': {worst: worst}})


@given(events | long_events)
@example(WORST)
def test_no_text_is_larger_than_the_limit(event: TraceEvent) -> None:
    text = encode(bounded_event(event))
    if len(to_json(event).encode()) <= MAX_EVENT_BYTES:
        assert decode(text) == event
    assert len(text.encode()) <= MAX_EVENT_BYTES
    assert '\n' not in text
    json.loads(text)
    again = decode(text)
    for name in ('ts', 'kind', 'ok', 'score', 'event_id', 'message', 'tool_name', 'error_reason'):
        before, after = getattr(event, name), getattr(again, name)
        assert after == before or before.startswith(after.removesuffix('...'))
    if again.message != event.message:  # data gives way first
        assert not event.data or 'dropped' in (again.data or {})


@given(st.text() | json_values.map(json.dumps))
@example('')
@example('null')
@example('\ud800')
@example('\x00' * 100)
@example('[' * 1_000_000)
@example('{"event_id":"a","ts":NaN,"kind":"ACT","message":"m"}')
@example('{"event_id":"a","ts":1,"kind":"ACT","message":"m","data":{"a":1e999}}')
@example('x' * 5_000_000)
def test_decoding_never_raises(text: str) -> None:
    event = decode(text)
    assert event.kind is TraceKind.ERROR
    assert event.ok is False
    assert event.error_reason
    assert (event.type, event.message[:24]) == (UNREADABLE, 'Unreadable trace event: ')
    assert len(encode(event).encode()) < 4000


# --- typed events --------------------------------------------------------------------------------


TYPES: list[Any] = [TurnStarted, TurnAnswered, QuestionAsked, QuestionAnswered, SkillProgressed]
TYPES += [NodeStarted, CaptureTaken, ModelCalled, BudgetLimitReached, TriggerChanged]
TYPES += [PlanMade, PlanStepEnded, RehearsalMade, RehearsalCompared]
counts = st.integers(0, 10**12)
comparisons = st.builds(
    Comparison,
    **dict.fromkeys(('predicted_m', 'metres', 'distance_gap_m', 'place_gap_m'), finite),
    **dict.fromkeys(('heading_gap_rad', 'limit_m'), finite),
    end=st.builds(Place, x=finite, y=finite, yaw_rad=finite),
    exceeded=st.lists(st.sampled_from(['distance', 'place', 'heading']), max_size=1),
)
step_results = st.builds(
    lambda make, number, message: make('p1', number, message),
    st.sampled_from([ExecutionResult.success_result, ExecutionResult.failure_result]),
    counts,
    names,
)


def made(kind: Any, *fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.tuples(*fields).map(lambda values: kind(*values))


typed_events = st.one_of(
    made(TurnStarted, st.integers(0, 10**6), text),
    made(TurnAnswered, st.none() | st.booleans(), st.none() | finite),
    made(QuestionAsked, text, text),
    text.map(lambda task_id: QuestionAsked(task_id, '', task_id)),
    made(SkillProgressed, names, text, json_objects, st.none() | fraction),
    made(NodeStarted, text, st.just(True)),
    made(
        ModelCalled,
        *(text, text, counts, counts, counts, counts, st.booleans()),
        *(st.none() | finite, text, text),
    ),
    made(BudgetLimitReached, text, text, finite, st.none() | finite, finite),
    made(
        CaptureTaken,
        st.none() | st.booleans(),
        st.none() | finite,
        st.none() | text,
        st.none() | finite.filter(bool),
        st.none() | st.booleans(),
    ),
    made(QuestionAnswered, text, text, text, text, text),
    made(TriggerChanged, text, st.sampled_from(['armed', 'fired', 'suppressed'])),
    made(PlanMade, st.just(Plan('p1', 'look', steps=[PlanStep(1, 'go')]))),
    made(PlanStepEnded, step_results),
    made(RehearsalMade, st.builds(Rehearsal, text=text)),
    made(RehearsalCompared, st.builds(Rehearsal, text=text, real=comparisons)),
)


def read(event: TraceEvent) -> list[object]:
    return [found for found in (kind.of(event) for kind in TYPES) if found is not None]


@given(typed_events, text)
def test_a_typed_event_comes_back_from_the_topic_as_it_was(typed: Any, message: str) -> None:
    event = decode(encode(new_event(**typed.trace_fields(message))))
    assert read(event) == [typed]
    assert event.message == message or typed.text()
    assert event == event.model_copy(update=typed.trace_fields(message))
    assert read(event.model_copy(update={'type': ''})) == [typed]  # as recorded before the types
    rest = typed.of(event.model_copy(update={'data': {'dropped': ''}}))
    # Of a capture the score is left, by which it is judged.
    assert rest in (None, typed) or (rest.ok, rest.score) == (typed.ok, typed.score)


# --- the models ----------------------------------------------------------------------------------


def made_event(**fields: object) -> TraceEvent:
    return TraceEvent(
        **{'event_id': 'e', 'ts': 1.0, 'kind': TraceKind.ACT, 'message': '', **fields}
    )


def nested(levels: int) -> dict:
    """An object with ``levels`` lists and objects inside one another, itself included."""
    value: object = 'core'
    for _ in range(levels - 1):
        value = [value]
    return {'key': value}


BAD_VALUES = {
    'no number': [math.nan, math.inf, -math.inf],
    'no unicode': [chr(0xD800), f'a{chr(0xDFFF)}b'],
    'no json': [(1, 2), {1, 2}, b'raw', object(), {1: 'a'}, 1j],
    'no reason': ['', ' \t', '\n\r'],
    'no fraction': [-0.1, 1.1],
}
MAKERS: list[tuple[str, str, Callable[[Any], object]]] = [
    ('no number', 'x', lambda bad: RoverPose(x=bad, frame_id='odom')),
    ('no number', 'y', lambda bad: RoverPose(x=0.0, y=bad, frame_id='odom')),
    ('no number', 'yaw_rad', lambda bad: RoverPose(x=0.0, yaw_rad=bad, frame_id='odom')),
    ('no fraction', 'score', lambda bad: LightScore(score=bad, is_good=False)),
    ('no number', 'ts', lambda bad: made_event(ts=bad)),
    ('no number', 'score', lambda bad: made_event(score=bad)),
    ('no unicode', 'message', lambda bad: made_event(message=bad)),
    ('no reason', 'must say why', lambda bad: ToolResult.failure(bad)),
    *(
        (kind, 'data', make)
        for kind in ('no number', 'no unicode', 'no json')
        for make in (
            lambda bad: made_event(data={'a': bad}),
            lambda bad: made_event(data={'a': [{'b': bad}]}),
            lambda bad: ToolResult.success(a=bad),
            lambda bad: ToolResult.failure('no', a=[{'b': bad}]),
        )
    ),
    ('no unicode', 'data', lambda bad: made_event(data={bad: 1})),
]


def test_what_json_cannot_carry_is_refused() -> None:
    for kind, field, make in MAKERS:
        for bad in BAD_VALUES[kind]:
            with pytest.raises(ValidationError, match=field):
                make(bad)


@given(
    st.text().filter(str.strip),
    st.dictionaries(names.filter(lambda name: name != 'reason'), st.integers(-9, 9)),
)
def test_a_failure_has_a_reason_and_a_success_has_none(reason: str, data: dict[str, int]) -> None:
    assert ToolResult.success(**data) == ToolResult(ok=True, data=data)
    failure = ToolResult.failure(reason, **data)
    assert (failure.ok, failure.error_reason, failure.data) == (False, reason, data)
    with pytest.raises(ValidationError, match='must be empty'):
        ToolResult(ok=True, error_reason=reason)


@given(st.integers(), st.integers())
def test_a_stamp_is_that_of_ros(sec: int, nanosec: int) -> None:
    fits = -(2**31) <= sec < 2**31 and 0 <= nanosec < 10**9
    try:
        stamp = Stamp(sec=sec, nanosec=nanosec)
    except ValidationError:
        assert not fits
    else:
        assert fits
        assert (stamp.sec, stamp.nanosec) == (sec, nanosec)


# --- as JSON ---------------------------------------------------------------------------------


@given(models)
@example(ToolResult.success(a=[-0.0, 5e-324, 1.7976931348623157e308, 2**53 + 1, '\x00\u2028😀']))
def test_every_model_comes_back_as_it_was(model: Model) -> None:
    text = to_json(model)
    again = from_json(type(model), text)
    assert again == model
    assert to_json(again) == text  # -0.0 == 0.0 and True == 1, but their texts differ
    assert from_json(type(model), text.encode()) == model


@given(st.text() | st.binary() | json_values.map(json.dumps))
@example('[' * 100_000)
@example('{"a":' * 100_000)
@example('NaN')
@example('{"ok": true, "data": {"a": NaN}}')
@example('{"ok": true, "data": {"a": 1e999}}')
@example('{"ok": true, "data": {"a": -Infinity}}')
@example('1' * 10_000)
@example('"\\ud800"')
@example('\ud800')
def test_other_text_is_a_serde_error(text: str | bytes) -> None:
    for cls in (RoverPose, TraceEvent, ToolResult):
        with pytest.raises(SerdeError, match=f'^{cls.__name__}: '):
            from_json(cls, text)


def test_the_error_says_where_and_why() -> None:
    with pytest.raises(SerdeError, match=r'^RoverPose: stamp\.nanosec: .*less than 1000000000'):
        from_json(RoverPose, '{"x": 1, "frame_id": "odom", "stamp": {"nanosec": 1000000000}}')
    assert made_event(data=nested(MAX_DEPTH)).data == nested(MAX_DEPTH)
    for levels in (MAX_DEPTH + 1, 100_000):
        with pytest.raises(ValidationError):
            made_event(data=nested(levels))


KEY, PROMPT, ANSWER = 'sk-nobodys-key', 'open the mast, then drive', 'Stowed away, nothing driven.'
CALLER = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
TASK = 'a9bc7787-f45d-4a87-9af6-d09e891433a0'
SCRIPT = (call('mast_open'), call('move_forward', duration_s=2.0), Say(ANSWER))


class Spans(SpanProcessor):
    """Ended spans in memory, and the IDs of their events."""

    def __init__(self) -> None:
        self.ended: list[TreeSpan] = []
        self.events: set[Any] = set()

    def on_end(self, span: ReadableSpan) -> None:
        self.ended += read_spans(otlp_lines([span]))
        self.events |= {(each.attributes or {})[EVENT_ID] for each in span.events}

    def named(self, begin: str) -> list[TreeSpan]:
        return [each for each in self.ended if each.name.startswith(begin)]


def finished(tracer: Any, *, traceparent: Any = '', work: Any = lambda: None) -> None:
    """A task whose skill does ``work``, from its submission to its end."""
    bus, task = EventBus(), Task('react', id=TASK, metadata={TRACEPARENT: traceparent})
    spans = TaskSpans(tracer)
    spans.follow(bus, lambda task_id: task)
    bus.publish(Event(EventType.TASK_SUBMIT, task.id))
    with spans.active(task.id):
        work()
    task.state = LifecycleState.COMPLETED
    bus.publish(Event(EventType.TASK_COMPLETE, task.id))


def turn_with_a_model_call() -> None:
    with span('turn'), span('chat scripted', is_client=True) as chat:
        chat.set({'gen_ai.usage.input_tokens': 7, 'gen_ai.response.finish_reasons': ['stop']})
        chat.add_event('OBSERVE', 'e1')
        chat.fail('UnusableAnswer')


def test_the_spans_of_a_turn_are_one_tree_with_the_ids_of_task_and_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
    found = Spans()
    with AgentWorld(
        tmp_path, *SCRIPT, config=asking('mast_open'), spans=TaskSpans(TaskTracer(found))
    ) as world:
        task = world.submit('react', text=PROMPT)
        queue = world.session.approval_queue
        world.until(lambda: queue.questions, 'the question')
        queue.answer(ApprovalAnswer(ApprovalAction.APPROVE))
        world.until(lambda: found.named('task'), 'the end of the task')
        published = {event.event_id for event in world.events}
    (root,), (turn,), steps = found.named('task'), found.named('turn'), found.named('step')
    assert [root.parent, turn.parent] == ['', root.id]
    assert {each.trace for each in found.ended} == {task.id.replace('-', '')}
    assert {each.attributes[TASK_ID] for each in found.ended} == {task.id}
    assert {each.parent for each in steps} == {turn.id}
    by_id = {each.id: each for each in found.ended}
    steps_of: dict[str, list[str]] = {each.name: [] for each in steps}
    for each in found.ended:
        parent = by_id.get(each.parent)
        if parent is not None:
            assert parent.start_ns <= each.start_ns <= each.end_ns <= parent.end_ns
            if parent in steps:
                steps_of[parent.name].append(each.name)
    assert steps_of['step 1'][:4] == [
        'chat scripted',
        'guard mast_open',
        'approval',
        'guard mast_open',
    ]
    assert steps_of['step 1'][-1] == 'execute_tool mast_open'
    verdicts = [each.attributes['curiosity.guard.verdict'] for each in found.named('guard')]
    assert verdicts[0] == 'ask'
    (refused,) = (each for each in found.named('guard move_forward') if each.failure)
    assert refused.attributes['curiosity.guard.code'] == refused.failure == 'MAST_NOT_CLOSED'
    assert found.named('approval')[0].attributes['curiosity.approval.answer'] == 'APPROVE'
    chat = found.named('chat')[0].attributes
    assert chat['gen_ai.operation.name'] == 'chat'
    assert (chat['gen_ai.provider.name'], chat['gen_ai.request.model']) == ('openai', 'scripted')
    assert found.events
    assert found.events <= published
    exported = repr(found.ended)
    assert not any(secret in exported for secret in (KEY, PROMPT, ANSWER))


def test_what_is_not_traced_has_no_span_and_what_is_lost_is_counted() -> None:
    def full(spans: Any) -> None:
        raise OSError('no space left')

    seen: list[Any] = []

    def work() -> None:
        with span('guard') as within:
            seen.append(within)

    work()  # outside of a task
    finished(None, work=work)
    finished(TaskTracer(Spans()), work=work, traceparent=CALLER[:-2] + '00')  # does not record
    assert seen == [NO_SPAN] * 3
    lost: list[int] = []
    queue = SpanQueue(full, lambda count, error: lost.append(count))
    finished(TaskTracer(queue), work=turn_with_a_model_call)
    queue.shutdown()
    assert sum(lost) == 3


def test_a_task_belongs_to_the_trace_of_its_caller() -> None:
    theirs = '0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'
    ours = TASK.replace('-', ''), ''
    callers: dict[object, tuple[str, str]] = {
        **dict.fromkeys(('', 'none', 7, '00-x-y-01'), ours),
        CALLER: theirs,
        CALLER.replace('00-', '01-', 1) + '-more': theirs,
        CALLER + '-more': ours,
        CALLER.replace('00-', 'ff-', 1): ours,
        CALLER.upper(): ours,
        f'00-{"0" * 32}-b7ad6b7169203331-01': ours,
        None: ours,
    }
    roots = {}
    for caller in callers:
        found = Spans()
        finished(TaskTracer(found), traceparent=caller)
        (roots[caller],) = found.ended
    assert {caller: (root.trace, root.parent) for caller, root in roots.items()} == callers
    assert {root.id for root in roots.values()} == {TASK.replace('-', '')[16:]}


def exported_by(exporter: str, path: Path, say: Any, *, endpoint: str = '', **task: str) -> None:
    changed = {'exporter': exporter, 'max_file_mb': 1, 'max_files': 2, 'endpoint': endpoint}
    tracer = make_task_tracer(
        load_config().agent.tracing.model_copy(update=changed),
        file=path,
        node='agent',
        namespace='/',
        write=say,
        failed=lambda count, error: pytest.fail(str(error)),
    )
    finished(tracer, work=turn_with_a_model_call, **task)
    assert tracer.flush(20.0)
    tracer.close()


def test_a_file_holds_the_tree_and_the_console_prints_it(tmp_path: Path) -> None:
    path, said = tmp_path / 'spans.jsonl', list[str]()
    exported_by('file', path, print, traceparent=CALLER)
    with path.open() as file:
        lines = [line.split(' ms  ')[1].rstrip() for line in tree_lines(read_spans(file))]
    trace = CALLER.split('-')[1]
    task = 'task react skill=react origin=unknown state=completed'
    chat = 'chat scripted input_tokens=7 finish_reasons=stop ! UnusableAnswer'
    assert lines == [f'{task} task={TASK} trace={trace}', '└─ turn', f'   └─ {chat}']
    first = json.loads(path.read_text().splitlines()[0])
    (event,) = first['resourceSpans'][0]['scopeSpans'][0]['spans'][0]['events']
    assert event['attributes'] == [{'key': EVENT_ID, 'value': {'stringValue': 'e1'}}]
    exported_by('console', Path('unused'), said.append)
    assert [line.split()[2] for line in said] == ['task', '└─', '└─']


def test_a_model_call_says_its_tokens_and_how_it_finished() -> None:
    usage: Any = {'input_tokens': 3, 'output_tokens': 5, 'total_tokens': 8}
    for one, other in (('finish_reason', 'model_name'), ('stop_reason', 'model')):
        answer = AIMessage('x', usage_metadata=usage, response_metadata={one: 'end', other: 'm'})
        assert call_attributes(answer) == {
            'gen_ai.usage.input_tokens': 3,
            'gen_ai.usage.output_tokens': 5,
            'gen_ai.response.finish_reasons': ['end'],
            'gen_ai.response.model': 'm',
        }
    assert call_attributes(AIMessage('x')) == {}


def test_a_collector_gets_the_same_spans_by_otlp() -> None:
    bodies: list[bytes] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == '/v1/traces'
            bodies.append(self.rfile.read(int(self.headers['Content-Length'])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    server = HTTPServer(('127.0.0.1', 0), Collector)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    endpoint = f'http://127.0.0.1:{server.server_port}'
    exported_by('otlp', Path('unused'), print, endpoint=endpoint)
    server.shutdown()
    server.server_close()
    (body,) = bodies
    for part in (bytes.fromhex(TASK.replace('-', '')), b'chat scripted', b'turn', b'task react'):
        assert part in body


def test_the_agent_imports_nothing_of_opentelemetry_before_it_traces() -> None:
    modules = 'curiosity_rosa_demo.agent.agent_node, curiosity_rosa_demo.infra.spans'
    program = f'import sys, {modules}; print([n for n in sys.modules if "opentelemetry" in n])'
    done = subprocess.run([sys.executable, '-c', program], capture_output=True, timeout=60)
    assert done.stdout == b'[]\n', done.stderr


@in_loop
async def test_a_posted_task_and_a_goal_of_run_task_carry_the_traceparent() -> None:
    headers = {TRACEPARENT: CALLER}
    async with alone() as http:
        sent = await http.post('/tasks', json={'name': 'job'}, headers=headers)
        wrong = await http.post('/tasks', json={'name': 'job'}, headers={TRACEPARENT: 'none'})
    assert (sent.json()['metadata'], wrong.json()['metadata']) == (headers, {})
    arguments = json.dumps({'duration_s': 2.0, TRACEPARENT: CALLER})
    goal = SimpleNamespace(text='', skill='move_forward', arguments_json=arguments)
    assert parse_goal(goal) == GoalArguments('', 'move_forward', {'duration_s': 2.0}, CALLER)
