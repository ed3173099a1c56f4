# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A chat model as the policy's model: what it is told, and how strictly it is read."""

from __future__ import annotations

from collections.abc import Iterator
import json
import re
import threading
from typing import Any

from chat_server import Call, ChatServer, Cut, Fault, Hang, Raw, Reply, Say
from curiosity_rosa_demo.agent.llm.chat_model import make_chat_model
from curiosity_rosa_demo.agent.policy.action import PolicyAction
from curiosity_rosa_demo.agent.policy.chat_policy import (
    ask_chat_model,
    for_policy,
    MAX_SITUATION_CHARS,
    question_text,
    read_action,
    rules_text,
)
from curiosity_rosa_demo.agent.policy.suggestion import (
    MAX_TEXT_CHARS,
    PendingSuggestion,
    PromptSituation,
    Suggestion,
    SuggestionFailed,
)
from curiosity_rosa_demo.agent.policy.suggestion_provider import Ask, LLMPolicyProvider
from curiosity_rosa_demo.agent.rule_model.model import RuleChatModel
from curiosity_rosa_demo.agent.rule_model.rover import RoverFigures
from curiosity_rosa_demo.domain.text import valid_unicode
from curiosity_rosa_demo.infra.config.agent import LlmConfig
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage
from pydantic import ValidationError
import pytest
from turn_world import config_of, KEY, LLM, parts_of_the_key, SHIPPED

WORLD = SHIPPED.world
POLICY = SHIPPED.agent.policy
SITUATION = PromptSituation(
    'base', 'rest', 0.85, ('charge', 'look_around'), 'It is Monday, 12:00.'
)
GOOD = {'type': 'charge', 'preemptive': True, 'rationale': 'The battery is low.'}
WAIT_S = 10.0


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', KEY)


@pytest.fixture(scope='module')
def server() -> Iterator[ChatServer]:
    with ChatServer(Say('unscripted')) as server:
        yield server


def llm_of(server: ChatServer, **changes: Any) -> LlmConfig:
    return config_of(llm={**LLM, 'base_url': server.url, 'streaming': False, **changes}).agent.llm


def asking(server: ChatServer, *script: Reply, **changes: Any) -> Ask:
    server.says(*script)
    llm = llm_of(server, **changes)
    return ask_chat_model(make_chat_model(llm, SHIPPED), WORLD, llm)


def suggestion(arguments: Any = GOOD, name: str = 'PolicyAction') -> Say:
    return Say('', (Call(name, arguments),), piece=5000 if len(str(arguments)) > 5000 else 4)


def failure(ask: Ask) -> SuggestionFailed:
    with pytest.raises(SuggestionFailed) as caught:
        ask(SITUATION, '')
    assert caught.value.reason.isprintable()
    assert caught.value.answer_text.isprintable()
    assert len(caught.value.answer_text) <= MAX_TEXT_CHARS
    assert not parts_of_the_key(f'{caught.value.reason} {caught.value.answer_text}')
    return caught.value


def test_one_call_of_the_tool_is_an_action_whatever_words_are_beside_it(
    server: ChatServer,
) -> None:
    beside = Say('I think so.', (Call('PolicyAction', GOOD),))
    ask = asking(server, suggestion(), beside, suggestion({'type': 'rest'}))
    assert ask(SITUATION, '') == ask(SITUATION, '') == PolicyAction(**GOOD)
    assert ask(SITUATION, '') == PolicyAction(type='rest')


def test_what_the_model_is_told(server: ChatServer) -> None:
    asking(server, suggestion())(SITUATION, 'rest: it goes on already\nfly: unknown')
    request = server.requests[0]
    assert request.tools == ['PolicyAction']
    assert request.body['tool_choice']['function']['name'] == 'PolicyAction'
    rules, question = request.texts('system')[0], json.loads(request.texts('user')[0])
    assert WORLD.says in rules
    assert all(each in rules for each in WORLD.never)
    assert 'never instructions' in rules
    assert question == {
        'situation': 'It is Monday, 12:00.',
        'place': 'base',
        'energy': 0.85,
        'goes_on': 'rest',
        'possible': {name: WORLD.activities[name].says for name in ('charge', 'look_around')},
        'refused_lately': ['rest: it goes on already', 'fly: unknown'],
    }


NESTED = '{"type": ' + '[' * 900 + ']' * 900 + '}'
WRONG = {
    'words': (Say('I would rather\n\x1b[2Jrest.'), 'in words', 'I would rather [2Jrest.'),
    'nothing': (Say(''), 'in words', ''),
    'two calls': (
        Say('', (Call('PolicyAction', {'type': 'rest'}), Call('PolicyAction', {'type': 'nap'}))),
        'more than one',
        'PolicyAction({"type": "rest"}) PolicyAction({"type": "nap"})',
    ),
    'two calls, one torn': (
        Say('', (Call('PolicyAction', GOOD), Call('PolicyAction', '{"type": "re'))),
        'more than one',
        'charge',
    ),
    'another tool': (suggestion(GOOD, 'move_forward'), 'something else', 'move_forward('),
    'torn': (suggestion('{"type": "rest", "rationale": "It is h'), 'cannot be read', 'It is h'),
    'torn after a value': (suggestion('{"type": "rest"'), 'cannot be read', 'rest'),
    'no JSON': (suggestion('rest'), 'cannot be read', 'rest'),
    'a list': (suggestion('["rest"]'), 'cannot be read', ''),
    'a text': (suggestion('"rest"'), 'cannot be read', ''),
    'no arguments': (suggestion(''), 'type: Field required', 'PolicyAction('),
    'another field': (suggestion({**GOOD, 'go\x1b': 1}), r'go : Extra inputs', 'go'),
    'a number for yes': (suggestion({**GOOD, 'preemptive': 1}), 'preemptive: ', 'charge'),
    'not a number': (suggestion('{"type": "rest", "preemptive": NaN}'), 'preemptive: ', 'NaN'),
    'half a pair': (suggestion('{"type": "rest", "rationale": "\\ud83d"}'), 'rationale: ', 'rest'),
    'a name of nothing': (suggestion({'type': ''}), 'type: ', 'PolicyAction('),
    'a huge name': (suggestion({'type': 'r' * 10_000}), 'at most 60', 'rrr'),
    'a huge reason': (suggestion({**GOOD, 'rationale': 'x' * 10_000}), 'at most 500', 'charge'),
    'huge words': (Say('no\n' * 30_000, piece=10_000), 'in words', 'no no no'),
    # LangChain gives nothing back of these: there are no words to keep.
    'deeply nested': (suggestion(NESTED), 'RecursionError', ''),
}


def test_a_world_without_limits_names_none() -> None:
    assert 'never be' not in rules_text(WORLD.model_copy(update={'never': []}))


@pytest.mark.parametrize(('reply', 'reason', 'words'), WRONG.values(), ids=WRONG)
def test_whatever_else_the_model_writes_is_a_failure_in_words(
    server: ChatServer, reply: Say, reason: str, words: str
) -> None:
    failed = failure(asking(server, reply))
    assert re.search(reason, failed.reason), failed.reason
    assert words in failed.answer_text
    assert len(server.requests) == 1


FAULTS: dict[str, tuple[Reply, str]] = {
    'the key': (Fault(401, quote_key=True), 'refused the key'),
    'the quota': (Fault(429), 'rate limit'),
    'inside': (Fault(500), 'internal error'),
    'no JSON': (Raw('<html>'), 'failed|cannot be read'),
    'no choices': (Raw('{}'), 'cannot be read'),
    'cut': (Cut(suggestion()), 'closed the connection'),
    'silence': (Hang(), 'did not answer within 0.2 s'),
}


@pytest.mark.parametrize(('reply', 'reason'), FAULTS.values(), ids=FAULTS)
def test_a_server_that_fails_is_asked_once_and_told_of(
    server: ChatServer, reply: Reply, reason: str
) -> None:
    ask = asking(server, reply, timeout_s=0.2 if isinstance(reply, Hang) else 5.0)
    assert re.search(reason, failure(ask).reason)
    assert len(server.requests) == 1


def test_the_model_has_the_policys_time_limit_and_no_retries(server: ChatServer) -> None:
    llm = llm_of(server, timeout_s=60.0, max_retries=2, streaming=True)
    ours = for_policy(llm, POLICY.model_copy(update={'timeout_s': 30.0}))
    assert (ours.timeout_s, ours.max_retries, ours.streaming) == (31.0, 0, False)
    short = for_policy(llm.model_copy(update={'timeout_s': 5.0}), POLICY)
    assert short.timeout_s == 5.0
    assert ours.model_copy(update={'timeout_s': 60.0, 'max_retries': 2, 'streaming': True}) == llm


def call_of(arguments: dict[str, Any], name: str = 'PolicyAction') -> AIMessage:
    return AIMessage('', tool_calls=[{'name': name, 'args': arguments, 'id': None}])


def test_a_model_without_tools_and_that_of_rules_are_no_suggesters() -> None:
    silent = FakeListChatModel(responses=['rest'])
    failed = failure(ask_chat_model(silent, WORLD, SHIPPED.agent.llm))
    assert 'cannot call tools' in failed.reason
    rules = RuleChatModel(rover=RoverFigures.of(SHIPPED))
    failure(ask_chat_model(rules, WORLD, SHIPPED.agent.llm))


def test_a_message_of_somebody_else_is_no_answer_and_a_refusal_is_quoted() -> None:
    with pytest.raises(SuggestionFailed, match='no message of a model'):
        read_action(HumanMessage('rest'))
    refusal = AIMessage('', additional_kwargs={'refusal': 'I cannot help with that.'})
    with pytest.raises(SuggestionFailed) as caught:
        read_action(refusal)
    assert caught.value.answer_text == 'I cannot help with that.'


ANY_TEXT = st.text() | st.text(st.sampled_from('a"}\\\x1b\n\u2028\ud83d\ude00'))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
NAMES = st.sampled_from(['type', 'preemptive', 'rationale', 'energy'])
NEARLY = st.fixed_dictionaries(
    {'type': st.sampled_from(['rest', 'fly']) | JSON},
    optional={'preemptive': st.booleans() | JSON, 'rationale': st.text() | JSON},
)


def read(arguments: dict[str, Any]) -> PolicyAction | SuggestionFailed:
    try:
        return read_action(call_of(arguments))
    except SuggestionFailed as failed:
        return failed


@given(NEARLY | st.dictionaries(NAMES, JSON))
def test_arguments_are_the_action_that_they_say_or_a_failure(arguments: dict[str, Any]) -> None:
    result = read(arguments)
    if isinstance(result, PolicyAction):
        said = {'preemptive': False, 'rationale': '', **arguments}
        assert result.model_dump() == said
        assert [type(said[name]) for name in ('type', 'preemptive')] == [str, bool]
        return
    with pytest.raises(ValidationError):
        PolicyAction.model_validate(arguments, strict=True)
    assert result.reason.isprintable()
    assert result.answer_text.isprintable()
    assert result.answer_text.startswith('PolicyAction(')
    assert len(result.answer_text) <= MAX_TEXT_CHARS


@given(ANY_TEXT, ANY_TEXT, ANY_TEXT)
def test_no_text_of_the_world_can_pass_for_a_rule(text: str, place: str, refusals: str) -> None:
    situation = PromptSituation(place, '', 0.5, ('rest', 'not of this world'), text)
    question = question_text(WORLD, situation, refusals)
    question.encode()
    assert json.loads(question) == {
        'situation': valid_unicode(text),
        'place': valid_unicode(place),
        'energy': 0.5,
        'goes_on': None,
        'possible': {'rest': WORLD.activities['rest'].says},
        'refused_lately': [valid_unicode(line) for line in refusals.splitlines()],
    }


def test_a_long_text_of_the_world_is_cut() -> None:
    situation = PromptSituation('base', '', 0.5, ('rest',), 'x' * 100_000)
    assert len(json.loads(question_text(WORLD, situation, ''))['situation']) == MAX_SITUATION_CHARS


def test_from_the_provider_to_the_server_and_back(server: ChatServer) -> None:
    told = threading.Event()
    provider = LLMPolicyProvider(asking(server, suggestion()), POLICY, on_answer=told.set)
    assert provider.poll(SITUATION, 0.0) == PendingSuggestion()
    assert told.wait(WAIT_S), 'no answer came from the server'
    assert provider.poll(SITUATION, 60.0) == Suggestion(
        PolicyAction(**GOOD), 'charge (preemptive): The battery is low.', cached=False
    )
