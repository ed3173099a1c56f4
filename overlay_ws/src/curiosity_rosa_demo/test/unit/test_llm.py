# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""The language model over HTTP: what servers answer, what becomes of it, when it is left alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
import json
import logging
import re
from typing import Any

from chat_server import Call, Cut, Fault, Hang, Reply, Say, Slow, Trickle, Wire
from curiosity_rosa_demo.agent.llm.call import (
    call_timeout_s,
    CircuitBreaker,
    decide,
    ModelCallFailed,
    readable_actions,
)
from curiosity_rosa_demo.agent.llm.chat_model import CUT_TEXT, FILTERED_TEXT
from curiosity_rosa_demo.agent.llm.errors import explain
from curiosity_rosa_demo.agent.llm.wire import (
    repaired_body,
    repaired_stream,
    retry_after_s,
    StreamCut,
)
from curiosity_rosa_demo.agent.react.nodes.react_decide import NO_ANSWER_TEXT
from curiosity_rosa_demo.agent.react.turn.messages import call_entry
from curiosity_rosa_demo.domain.cancellation import Cancellation
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain.agents.output_parsers.tools import ToolAgentAction
from langchain_core.messages import AIMessage, ToolCall
import pytest
from turn_world import (
    BY_ROUTINE,
    check_story,
    config_of,
    KEY,
    LLM,
    parts_of_the_key,
    SHIPPED,
    World,
)


def action_with(call_id: str) -> ToolAgentAction:
    return ToolAgentAction(
        tool='get_status', tool_input={}, log='', tool_call_id=call_id, message_log=[]
    )


class Raising:
    def __init__(self, error: BaseException) -> None:
        self._error = error

    def invoke(self, *_: Any) -> Any:
        raise self._error


@pytest.mark.parametrize('error', [SystemExit(3), KeyboardInterrupt(), GeneratorExit(), OSError()])
def test_a_model_that_fails_ends_the_turn_in_words(error: BaseException) -> None:
    with pytest.raises(ModelCallFailed, match=type(error).__name__):
        decide(Raising(error), {}, SHIPPED.agent.llm, Cancellation())


def test_a_call_without_an_id_is_a_call() -> None:
    message = AIMessage(content='', tool_calls=[ToolCall(name='mast_open', args={}, id=None)])
    read = readable_actions(message)
    assert isinstance(read, AIMessage)
    assert read.tool_calls[0]['id'] == ''


@pytest.mark.parametrize(
    'call',
    [
        Call('wait_until', '{"condition": {"x_above": 18446744073709551616}, "timeout_s": 0.1}'),
        Call(
            'decide',
            '{"type": "REPLAN", "plan_patch": {"action": "propose", "plan": {"goal": "g", '
            '"steps": [{"action": "speak", "parameters": {"text": "x"}, '
            '"metadata": {"n": 18446744073709551616}}]}}}',
        ),
    ],
    ids=['argument', 'plan'],
)
def test_an_integer_of_more_than_64_bits_can_be_kept(
    monkeypatch: pytest.MonkeyPatch, call: Call
) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
    with World(Say('', (call,)), Say('Done.')) as world:
        assert world.turn().answer == 'Done.'


def test_a_made_up_id_is_one_that_every_server_takes_and_the_servers_own_is_kept() -> None:
    made: set[str] = set()
    for number, own in enumerate(['', 'call_x', 'call_x', '', 'rosa00004', '']):
        call_id = str(call_entry(action_with(own), '', made)['call_id'])
        assert call_id == own or re.fullmatch('[A-Za-z0-9]{9}', call_id)
        assert (call_id == own) is (bool(own) and own not in made)
        made.add(call_id)
        assert len(made) == number + 1


def test_the_routines_calls_have_such_ids_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
    with World(Fault(500), Say('A picture.')) as world:
        world.turn('Take a picture.')
        messages = world.requests[-1].messages('assistant')
        sent = [c['id'] for m in messages for c in m.get('tool_calls') or ()]
    assert sent
    assert all(re.fullmatch('[A-Za-z0-9]{9}', each) for each in sent)


DONE = Say('Done.')
ANSWER = Say('The ground is bright here.')
WHO = "The model 'scripted' of openai"
Make = Callable[..., World]


@pytest.fixture(params=[True, False], ids=['streaming', 'whole'])
def make(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> Iterator[Make]:
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
    caplog.set_level(logging.DEBUG)
    worlds: list[World] = []

    def make_world(*script: Any, **options: Any) -> World:
        worlds.append(World(*script, streaming=request.param, **options))
        return worlds[-1]

    yield make_world
    for world in worlds:
        world.server.close()
        for text in (*world.texts(), caplog.text, *capfd.readouterr()):
            assert not parts_of_the_key(text), 'the key got out'


def fails(world: World) -> str:
    """A turn that must fail, leave a rover that was not moved, and let the next one work."""
    last = world.turn('Go.')
    assert not last.ok
    assert set(world.errors()) == {last.answer}
    assert check_story(world.events) == 0
    assert world.calls == []
    requests = list(world.requests)
    world.server.says(DONE)
    world.renew_button()
    assert world.turn('Again.').ok
    world.requests[:] = requests
    return last.answer


STATUS = {
    400: f'{WHO} refused the request (400): Incorrect: [hidden].',
    401: f'{WHO} refused the key (401): check the key in the environment.',
    403: f'{WHO} denied access (403): this key may not use it.',
    404: f'{WHO} does not exist there (404): check llm.model and llm.base_url in agent.yaml.',
    429: f'{WHO} is over its rate limit or quota (429), also after 2 retries.',
    500: f'{WHO} has an internal error (500), also after 2 retries.',
    503: f'{WHO} has an internal error (503), also after 2 retries.',
}


@pytest.mark.parametrize('status', STATUS)
def test_each_status_is_one_sentence_after_the_right_number_of_tries(
    make: Make, status: int
) -> None:
    world = make(Fault(status, quote_key=True), max_retries=2)
    assert fails(world) == STATUS[status]
    assert len(world.requests) == (3 if status in (429, 500, 503) else 1)
    assert {request.authorization for request in world.requests} == {f'Bearer {KEY}'}


@pytest.mark.parametrize('fault', [Fault(429), Fault(500), Hang()], ids=['429', '500', 'hangs'])
def test_a_fault_that_passes_is_not_noticed(make: Make, fault: Reply) -> None:
    world = make(fault, fault, ANSWER, timeout_s=0.3, max_retries=2)
    assert world.turn().answer == ANSWER.text
    assert world.errors() == []
    assert len(world.requests) == 3


CLOSED = f'{WHO} closed the connection before its answer was complete.'
TORN_DRIVE = Say('', (Call('move_forward', {'duration_s': 19.5}),), piece=1)


@pytest.mark.parametrize(
    ('reply', 'timeout_s', 'told'),
    [
        (Hang(), 0.3, f'{WHO} did not answer within 0.3 s (llm.timeout_s of agent.yaml).'),
        (Trickle(), 0.5, 'The model did not answer within 1.5 s.'),  # no more than the others
        (Cut(ANSWER), 5.0, CLOSED),
        (Cut(TORN_DRIVE), 5.0, CLOSED),
    ],
    ids=['hangs', 'trickles', 'breaks off', 'breaks off in a call'],
)
def test_a_reply_that_never_ends_is_told(
    make: Make, reply: Reply, timeout_s: float, told: str
) -> None:
    assert fails(make(reply, timeout_s=timeout_s)) == told


def test_nobody_listens(make: Make) -> None:
    world = make(DONE)
    world.server.close()
    last = world.turn()
    where = world.server.url
    assert last.answer == f'{WHO} cannot be reached at {where}: check llm.base_url in agent.yaml.'
    assert world.errors() == [last.answer]


def test_a_base_url_with_a_login_is_shown_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    llm = config_of(llm={**LLM, 'base_url': f'http://me:{KEY}@127.0.0.1:9/v1?key={KEY}'}).agent.llm
    text = explain(ConnectionError(), llm)
    assert 'http://127.0.0.1:9/v1:' in text
    assert not parts_of_the_key(text)


def error_of(status: int | None, text: str, depth: int) -> Exception:
    class Odd(Exception):
        status_code: int | None = None

    error: Exception = Odd(text)
    error.status_code = status  # type: ignore[attr-defined]
    for _ in range(depth):
        outer = RuntimeError(text)
        outer.__cause__ = error
        error = outer
    return error


@given(
    status=st.none() | st.integers(100, 599),
    text=st.text() | st.just(KEY),
    depth=st.integers(0, 3),
    base_url=st.sampled_from(
        ['', 'nonsense', 'http://[', 'http://a:b@[::1]:x', f'http://{KEY}@h']
    ),
)
def test_any_error_is_one_line_without_a_word_of_its_own(
    status: int | None, text: str, depth: int, base_url: str
) -> None:
    llm = config_of(llm={**LLM, 'base_url': base_url}).agent.llm
    sentence = explain(error_of(status, text, depth), llm)
    assert sentence.startswith(WHO)
    assert sentence.endswith('.')
    assert '\n' not in sentence
    assert not parts_of_the_key(sentence)
    if status is not None and status >= 400:
        assert f'({status})' in sentence


def refusal(body: Any) -> Exception:
    error = error_of(400, KEY, 0)
    error.body = body  # type: ignore[attr-defined]
    return error


SYSTEM = 'System message must be at the beginning.'
UNTOLD = 'check llm.model and llm.temperature in agent.yaml; or the talk has grown too long for it'


@pytest.mark.parametrize(
    ('body', 'told'),
    [
        ({'message': SYSTEM, 'type': 'BadRequestError'}, SYSTEM[:-1]),
        ({'object': 'error', 'message': SYSTEM}, SYSTEM[:-1]),
        ({'error': {'message': SYSTEM, 'code': 400}}, SYSTEM[:-1]),
        ({'error': 'no tools\n\x1b[2Jhere'}, 'no tools [2Jhere'),
        ({'detail': [{'loc': ['body'], 'msg': 'Extra inputs'}]}, 'Extra inputs'),
        ('<html>Bad gateway</html>', '<html>Bad gateway</html>'),
        ({'message': 'x ' * 5000}, f'{"x " * 5000:.197}..'),
        ({'message': 'Authorization: Bearer abcdefgh123'}, 'Authorization: [hidden]'),
        ({'message': f'key={KEY}, not sk-0123456789'}, 'key=[hidden] not [hidden]'),
        (None, UNTOLD),
        ({'message': ''}, UNTOLD),
        ({'message': {'a': 1}}, UNTOLD),
    ],
    ids=range(12),
)  # fmt: skip
def test_a_refused_request_quotes_the_servers_own_sentence(
    monkeypatch: pytest.MonkeyPatch, body: Any, told: str
) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
    sentence = explain(refusal(body), config_of(llm=LLM).agent.llm)
    assert sentence == f'{WHO} refused the request (400): {told}.'


@given(before=st.text(), after=st.text(), cut=st.integers(0, 12))
def test_no_quoted_sentence_holds_a_part_of_the_key(before: str, after: str, cut: int) -> None:
    body = {'message': f'{before}{KEY[cut:]}{after}{KEY[: 20 - cut]}'}
    llm = config_of(llm={**LLM, 'base_url': f'http://u:{KEY}@h/v1'}).agent.llm
    sentence = explain(refusal(body), llm)
    assert not parts_of_the_key(sentence)
    assert sentence.isprintable()


def test_errors_that_cause_each_other_in_a_ring_end() -> None:
    first, second = ValueError('a'), TypeError('b')
    first.__context__, second.__context__ = second, first
    llm = config_of(llm=LLM).agent.llm
    assert explain(first, llm) == f'{WHO} sent an answer that cannot be read (ValueError).'


@given(timeout_s=st.floats(0.1, 3600.0), retries=st.integers(0, 10))
def test_patience_covers_every_try_and_ends(timeout_s: float, retries: int) -> None:
    llm = config_of(llm={**LLM, 'timeout_s': timeout_s, 'max_retries': retries}).agent.llm
    assert timeout_s * (retries + 1) < call_timeout_s(llm) <= (timeout_s + 9.0) * (retries + 1)


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
    **{
        text: (WHOLE, Wire(text.encode()), '')
        for text in ('[]', '{}', '{"choices": null}', 'null', '""', '{"choices": [{"in')
    },
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
