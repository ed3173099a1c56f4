# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""The language model over HTTP: what servers answer, what becomes of it, when it is left alone."""

from __future__ import annotations

import re
from typing import Any

from chat_server import Fault, Say
from curiosity_rosa_demo.agent.llm.call import (
    call_timeout_s,
    CircuitBreaker,
    decide,
    ModelCallFailed,
)
from curiosity_rosa_demo.agent.llm.errors import explain
from curiosity_rosa_demo.agent.llm.wire import (
    retry_after_s,
)
from curiosity_rosa_demo.agent.react.turn.messages import call_entry
from curiosity_rosa_demo.domain.cancellation import Cancellation
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain.agents.output_parsers.tools import ToolAgentAction
import pytest
from turn_world import (
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


def test_a_made_up_id_is_one_that_every_server_takes_and_the_servers_own_is_kept() -> None:
    made: set[str] = set()
    for number, own in enumerate(['', 'call_x', 'call_x', '', 'rosa00004', '']):
        call_id = str(call_entry(action_with(own), '', made)['call_id'])
        assert call_id == own or re.fullmatch('[A-Za-z0-9]{9}', call_id)
        assert (call_id == own) is (bool(own) and own not in made)
        made.add(call_id)
        assert len(made) == number + 1


WHO = "The model 'scripted' of openai"


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


LAST = Say('Sand.')


def test_the_wait_is_read_from_seconds_or_a_date() -> None:
    waits = {'7': 7.0, '0.5': 0.5, 'Thu, 01 Jan 1970 00:01:40 GMT': 90.0}
    for text in (*waits, '', 'soon', '-1', 'nan', 'inf'):
        assert retry_after_s({'retry-after': text}, 10.0) == waits.get(text)


def test_the_settings_of_agent_yaml_are_sent_and_the_shipped_ones_leave_all_but_one() -> None:
    extra = {'top_k': 3, 'parallel_tool_calls': None}
    with World(LAST, max_tokens=99, tool_choice='required', extra_body=extra) as world:
        world.turn()
        body = world.requests[0].body
    assert (body.get('max_tokens') or body['max_completion_tokens']) == 99
    assert (body['tool_choice'], body['top_k']) == ('required', 3)
    assert 'parallel_tool_calls' not in body
    with World(LAST) as world:
        world.turn()
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
