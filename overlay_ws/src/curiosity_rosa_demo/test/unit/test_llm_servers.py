# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""Servers that speak OpenAI's protocol in their own way: each answer is a right step, the
routine's step or one clear line; nothing is lost.
"""

from __future__ import annotations

import json
from typing import Any

from chat_server import Cut, Fault, Reply, Say, Slow, Wire
from curiosity_rosa_demo.agent.llm.answers import CUT_TEXT, FILTERED_TEXT
from curiosity_rosa_demo.agent.llm.wire import (
    repaired_body,
    repaired_stream,
    retry_after_s,
    StreamCut,
)
from curiosity_rosa_demo.agent.react.nodes.react_decide import NO_ANSWER_TEXT
from hypothesis import given
from hypothesis import strategies as st
import pytest
from turn_world import BY_ROUTINE, check_story, KEY, parts_of_the_key, World

WHO = "The model 'scripted' of openai"
CUT = f'{WHO} closed the connection before its answer was complete.'
FAILED = f'{WHO} failed (APIError): out of memory.'
REFUSED = 'The model refused: I cannot.'
UNREADABLE = f'{WHO} sent an answer that cannot be read'
LAST = Say('Sand, \u5149.')
GOAL, QUESTION = 'Open the mast.', 'Who are you?'


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', KEY)


def tool(name: str = 'mast_open', arguments: Any = '{}', **more: Any) -> dict[str, Any]:
    return {'type': 'function', 'function': {'name': name, 'arguments': arguments}, **more}


def whole(message: dict[str, Any], finish: str | None = 'stop', **more: Any) -> bytes:
    choice = {'index': 0, 'message': {'role': 'assistant', **message}, 'finish_reason': finish}
    return json.dumps(
        {'id': 'x', 'object': 'chat.completion', 'choices': [choice], **more}
    ).encode()


def events(*deltas: dict[str, Any], finish: str | None = 'stop', done: bool = True) -> bytes:
    """A stream of these parts, without usage, model and time."""
    parts: list[tuple[dict[str, Any], str | None]] = [(delta, None) for delta in deltas]
    if finish is not None:
        parts.append(({}, finish))
    lines = [
        json.dumps({'choices': [{'index': 0, 'delta': delta, 'finish_reason': finish}]})
        for delta, finish in parts
    ]
    return ''.join(
        f'data: {line}\n\n' for line in [*lines, *(['[DONE]'] if done else [])]
    ).encode()


def calls(*made: dict[str, Any]) -> dict[str, Any]:
    return {'content': None, 'tool_calls': list(made)}


def cases(table: dict[str, Any]) -> list[Any]:
    """The cases of a table, each as a stream, as a whole answer, or as both."""
    return [
        pytest.param(streaming, *rest, id=f'{name}-{"stream" if streaming else "whole"}')
        for name, (asked, *rest) in table.items()
        for streaming in asked
    ]


# --- answers that are a right step ------------------------------------------------------------

BOTH, STREAM, WHOLE = (True, False), (True,), (False,)
OPENS: dict[str, tuple[tuple[bool, ...], bytes]] = {
    'arguments as an object': (WHOLE, whole(calls(tool(arguments={}, id='a')))),
    'an object, in a stream': (STREAM, events(calls(tool(arguments={}, id='a', index=0)))),
    'arguments as null': (WHOLE, whole(calls(tool(arguments=None, id='a')))),
    'arguments as an empty text': (BOTH, whole(calls(tool(arguments='', id='a')))),
    'one JSON body instead of a stream': (STREAM, whole(calls(tool(id='a')), 'tool_calls')),
    'no ID': (BOTH, whole(calls(tool()))),
    'no ID, in a stream': (STREAM, events(calls(tool(index=0)))),
    'no index': (STREAM, events(calls(tool(id='a')))),
    'blanks around the name': (BOTH, whole(calls(tool(' mast_open ', id='a')))),
    'a blank in the name': (BOTH, whole(calls(tool('mast open', id='a')))),
    'the name in every part': (
        STREAM,
        events(calls(tool(arguments='{', index=0, id='a')), calls(tool(arguments='}', index=0))),
    ),
    'two calls with one index': (
        STREAM,
        events(calls(tool(index=0, id='a')), calls(tool('mast_close', index=0, id='b'))),
    ),
    'thoughts apart': (BOTH, whole({**calls(tool(id='a')), 'reasoning_content': 'Hm.'})),
    'content as parts beside the call': (
        BOTH, whole({**calls(tool(id='a')), 'content': [{'type': 'text', 'text': 'Up.'}]})
    ),
    'no finish_reason but an end': (STREAM, events(calls(tool(index=0, id='a')), finish=None)),
    'lines with carriage returns': (
        STREAM, events(calls(tool(index=0, id='a'))).replace(b'\n', b'\r\n')
    ),
}  # fmt: skip


@pytest.mark.parametrize(('streaming', 'body'), cases(OPENS))
def test_a_call_in_another_form_is_carried_out(streaming: bool, body: bytes) -> None:
    with World(Wire(body, 'application/json'), LAST, streaming=streaming) as world:
        last = world.turn(GOAL)
        assert (last.ok, last.answer) == (True, LAST.text)
        assert world.calls == ['mast_open']
        assert not [e for e in world.events if e.message.startswith(BY_ROUTINE)]
        check_story(world.events)


ANSWERS: dict[str, tuple[tuple[bool, ...], Reply]] = {
    'content as parts': (WHOLE, Wire(whole({'content': [{'type': 'text', 'text': LAST.text}]}))),
    'content as parts, in a stream': (
        STREAM, Wire(events({'content': [{'type': 'text', 'text': LAST.text}]}))
    ),
    'thoughts in the text': (BOTH, Wire(whole({'content': f'<think>Hm.</think>\n{LAST.text}'}))),
    'thoughts without a beginning': (BOTH, Wire(whole({'content': f'Hm.</think>{LAST.text}'}))),
    'one JSON body': (STREAM, Wire(whole({'content': LAST.text}), 'application/json')),
    'a slow beginning': (BOTH, Slow(LAST, 0.5)),
    'bytes one at a time': (BOTH, Say(LAST.text, piece=1)),
}  # fmt: skip


@pytest.mark.parametrize(('streaming', 'reply'), cases(ANSWERS))
def test_an_answer_in_another_form_is_read(streaming: bool, reply: Reply) -> None:
    with World(reply, streaming=streaming) as world:
        last = world.turn(QUESTION)
        assert (last.ok, last.answer) == (True, LAST.text)
        assert len(world.requests) == 1


# --- answers that are none --------------------------------------------------------------------

LONG = events({'content': 'Sand, \u5149 and more.'}, finish=None, done=False)
TORN = events(calls(tool(arguments='{"duration', index=0, id='a')), finish=None, done=False)
BEGUN = events({'content': 'x'}, finish=None, done=False)
NO_ANSWER: dict[str, tuple[tuple[bool, ...], Reply, str]] = {
    'a refusal': (BOTH, Wire(whole({'content': None, 'refusal': 'I cannot.'})), REFUSED),
    'in parts': (STREAM, Wire(events({'refusal': 'I '}, {'refusal': 'cannot.'})), REFUSED),
    'filtered': (BOTH, Wire(whole({'content': None}, 'content_filter')), FILTERED_TEXT),
    'cut at its length': (BOTH, Wire(whole({'content': 'Sand and'}, 'length')), CUT_TEXT),
    'thoughts alone': (BOTH, Wire(whole({'reasoning_content': 'Hm.'})), NO_ANSWER_TEXT),
    'no choices': (BOTH, Wire(b'{"choices": []}'), ''),
    'no choices, in a stream': (STREAM, Wire(b'data: {"choices": []}\n\ndata: [DONE]\n\n'), ''),
    'no message': (BOTH, Wire(b'{"choices": [{"index": 0}]}'), ''),
    'no end': (STREAM, Wire(LONG), CUT),
    'cut in a character': (STREAM, Wire(LONG[: LONG.index(b'u5149') - 1]), ''),
    'cut in a raw character': (STREAM, Wire(BEGUN + 'data: {"\u5149'.encode()[:-1]), ''),
    'cut between the parts of a call': (STREAM, Wire(TORN), CUT),
    'broken off': (BOTH, Cut(Say('Sand, and so on.')), CUT),
    'an error in the stream': (
        STREAM, Wire(b'data: {"error": {"message": "out of memory", "code": 500}}\n\n'), FAILED
    ),
    'too many requests': (BOTH, Fault(429), f'{WHO} is over its rate limit or quota (429)'),
    'overloaded': (BOTH, Fault(529), f'{WHO} has an internal error (529)'),
    'a wait': (BOTH, Fault(429, wait='30'), f'{WHO} is busy (429): the server asks to wait 30 s.'),
    'a gateway': (BOTH, Wire(b'<html>Bad gateway</html>', 'text/html'), UNREADABLE),
}  # fmt: skip


@pytest.mark.parametrize(('streaming', 'reply', 'told'), cases(NO_ANSWER))
def test_what_is_no_answer_is_one_line_and_the_routine_takes_the_step(
    streaming: bool, reply: Reply, told: str
) -> None:
    with World(reply, streaming=streaming, max_retries=1) as world:
        last = world.turn(QUESTION)
        assert not last.ok
        assert last.answer.startswith(told)
        assert last.answer.isprintable()
        assert set(world.errors()) == {last.answer}
        assert 'Traceback' not in ''.join(world.texts())
        assert not parts_of_the_key(''.join(world.texts()))
        assert world.turn(GOAL).ok, 'by the routine'
        assert world.calls == ['mast_open']


# --- the wait of a server ---------------------------------------------------------------------


def test_a_wait_within_the_time_limit_is_kept_and_a_longer_one_is_told() -> None:
    with World(Fault(429, wait='0.2'), LAST, max_retries=1) as world:
        assert world.turn(QUESTION).answer == LAST.text
    with World(Fault(503, wait='6'), LAST, max_retries=1, timeout_s=5.0) as world:
        assert world.turn(QUESTION).answer == f'{WHO} is busy (503): the server asks to wait 6 s.'
        assert len(world.requests) == 1


@pytest.mark.parametrize(
    ('text', 'wait_s'),
    [
        ('7', 7.0),
        ('0.5', 0.5),
        ('Thu, 01 Jan 1970 00:01:40 GMT', 90.0),
        ('', None),
        ('soon', None),
        ('-1', None),
        ('nan', None),
        ('inf', None),
    ],
)
def test_the_wait_is_read_from_seconds_or_a_date(text: str, wait_s: float | None) -> None:
    assert retry_after_s({'retry-after': text}, 10.0) == wait_s


# --- the settings -----------------------------------------------------------------------------


def test_the_settings_of_agent_yaml_are_sent() -> None:
    extra = {'top_k': 3, 'parallel_tool_calls': None}
    with World(LAST, max_tokens=99, tool_choice='required', extra_body=extra) as world:
        world.turn(QUESTION)
        body = world.requests[0].body
    assert (body.get('max_tokens') or body['max_completion_tokens']) == 99
    assert (body['tool_choice'], body['top_k']) == ('required', 3)
    assert 'parallel_tool_calls' not in body


def test_the_shipped_settings_leave_all_but_one_to_the_server() -> None:
    with World(LAST) as world:
        world.turn(QUESTION)
        body = world.requests[0].body
    assert not {'max_tokens', 'max_completion_tokens', 'tool_choice', 'top_k'} & set(body)
    assert body['parallel_tool_calls'] is False


def test_only_good_turns_are_examples_for_the_next() -> None:
    with World(Fault(500), Say('I am Curiosity.'), LAST) as world:
        world.turn('One?')
        world.turn('Two?')
        world.turn('Three?')
        assert world.requests[-1].texts('user') == ['Two?', 'Three?']
        assert world.requests[-1].texts('assistant') == ['I am Curiosity.']


# --- whatever comes ---------------------------------------------------------------------------

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    'choices',
                    'delta',
                    'message',
                    'tool_calls',
                    'function',
                    'arguments',
                    'index',
                    'name',
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_no_answer_breaks_the_repair(answer: Any) -> None:
    body = json.dumps(answer).encode()
    repaired = repaired_body(body)
    assert repaired_body(repaired) == repaired
    assert isinstance(answer, dict) or repaired == body


@given(st.text(max_size=30), st.lists(st.integers(1, 40), max_size=8))
def test_a_stream_is_the_same_however_it_is_cut_into_pieces(text: str, sizes: list[int]) -> None:
    body = events({'content': text}, calls(tool(index=0, id='a')))
    pieces, start = [], 0
    for size in sizes:
        pieces.append(body[start : start + size])
        start += size
    pieces.append(body[start:])
    assert b''.join(repaired_stream(pieces)) == b''.join(repaired_stream([body]))


@given(st.integers(0, 400))
def test_a_stream_that_stops_in_its_answer_is_cut(length: int) -> None:
    body = events({'content': 'One.'}, {'content': 'Two.'}, finish='stop', done=False)
    begun, ended = body.index(b'\n'), body.index(b'"stop"')
    try:
        list(repaired_stream([body[:length]]))
    except StreamCut:
        assert begun <= length + 2
        assert length <= ended + 12
    else:
        assert length < begun or length > ended
