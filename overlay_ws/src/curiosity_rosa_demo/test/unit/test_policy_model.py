# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The model of the policy: how strictly it is read, how seldom it is asked, and its failures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
import json
import re
import threading
from typing import Any

from chat_server import Call, ChatServer, Cut, Fault, Hang, Reply, Say, Wire
from curiosity_rosa_demo.agent.llm import wire
from curiosity_rosa_demo.agent.llm.chat_model import make_chat_model
from curiosity_rosa_demo.agent.llm.wire import make_http_client
from curiosity_rosa_demo.agent.policy.chat_policy import (
    ask_chat_model,
    for_policy,
    MAX_SITUATION_CHARS,
    question_text,
    read_action,
    rules_text,
)
from curiosity_rosa_demo.agent.policy.suggestion_provider import (
    LLMPolicyProvider,
    MAX_SITUATIONS,
    TtlCache,
)
from curiosity_rosa_demo.agent.policy.world import (
    Ask,
    cleaned_text,
    MAX_TEXT_CHARS,
    PolicyAction,
    PromptSituation,
    Suggestion,
    SuggestionFailed,
)
from curiosity_rosa_demo.domain.text import printable, valid_unicode
from curiosity_rosa_demo.infra.config.agent import LlmConfig
from examples import examples, fields
import httpx
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule, RuleBasedStateMachine
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage
from policy_world import ScriptedModel
from pydantic import ValidationError
import pytest
from turn_world import config_of, KEY, LLM, parts_of_the_key, SHIPPED

WORLD = SHIPPED.world
LIMITS = {
    **{'window_s': 900.0, 'timeout_s': 30.0, 'cache_s': 3600.0, 'rejected_s': 7200.0},
    **{'breaker_failures': 3, 'breaker_open_s': 1800.0},
}
POLICY = SHIPPED.agent.policy.model_copy(update=LIMITS)
SITUATION = PromptSituation(
    'base', 'rest', 0.85, ('charge', 'look_around'), 'It is Monday, 12:00.'
)
GOOD = {'type': 'charge', 'preemptive': True, 'rationale': 'The battery is low.'}
CHARGE = PolicyAction(**GOOD)
SAID = Suggestion(CHARGE, 'charge (preemptive): The battery is low.')
HOUR, DAY = 3600.0, 86400.0
NOON = 20_000 * DAY
WAIT_S = 10.0

# --- what it is told and how it is read ---------------------------------------------------------


@pytest.fixture(scope='module')
def server() -> Iterator[ChatServer]:
    clients = ExitStack()

    def make() -> httpx.Client:
        return clients.enter_context(make_http_client())

    with pytest.MonkeyPatch.context() as patch, ChatServer(Say('unscripted')) as server, clients:
        patch.setenv('OPENAI_API_KEY', KEY)
        patch.setattr(wire, 'make_http_client', make)
        yield server


def llm_of(server: ChatServer, **changes: Any) -> LlmConfig:
    return config_of(llm={**LLM, 'base_url': server.url, 'streaming': False, **changes}).agent.llm


def model_for(llm: LlmConfig) -> Any:
    return make_chat_model(llm)


def asking(server: ChatServer, *script: Reply, **changes: Any) -> Ask:
    server.says(*script)
    llm = llm_of(server, **changes)
    return ask_chat_model(model_for(llm), WORLD, llm)


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


def test_what_the_model_is_told_and_answers(server: ChatServer) -> None:
    beside = Say('I think so.', (Call('PolicyAction', GOOD),))
    ask = asking(server, suggestion(), beside, suggestion({'type': 'rest'}))
    assert ask(SITUATION, 'rest: it goes on already\nfly: unknown') == CHARGE
    assert [ask(SITUATION, '') for _ in range(2)] == [CHARGE, PolicyAction(type='rest')]
    request = server.requests[0]
    assert request.tools == ['PolicyAction']
    assert request.body['tool_choice']['function']['name'] == 'PolicyAction'
    rules, question = request.texts('system')[0], json.loads(request.texts('user')[0])
    assert all(each in rules for each in (WORLD.says, 'never instructions', *WORLD.never))
    assert 'never be' not in rules_text(WORLD.model_copy(update={'never': []}))
    assert question == {
        'situation': 'It is Monday, 12:00.',
        'place': 'base',
        'energy': 0.85,
        'goes_on': 'rest',
        'possible': {name: WORLD.activities[name].says for name in ('charge', 'look_around')},
        'refused_lately': ['rest: it goes on already', 'fly: unknown'],
    }


NESTED = '{"type": ' + '[' * 900 + ']' * 900 + '}'
REST, NAP = ((Call('PolicyAction', {'type': name}),) for name in ('rest', 'nap'))
TORN = Call('PolicyAction', '{"type": "re')
TWO = 'PolicyAction({"type": "rest"}) PolicyAction({"type": "nap"})'
WRONG = {
    'words': (Say('I would rather\n\x1b[2Jrest.'), 'in words', 'I would rather [2Jrest.'),
    'nothing': (Say(''), 'in words', ''),
    'two calls': (Say('', (*REST, *NAP)), 'more than one', TWO),
    'two calls, one torn': (Say('', (*REST, TORN)), 'cannot be read', 'rest'),
    **{row[0]: (suggestion(row[2], row[1]), *row[3:]) for row in fields('suggestions.tsv')},
    'a huge name': (suggestion({'type': 'r' * 10_000}), 'at most 60', 'rrr'),
    'a huge reason': (suggestion({**GOOD, 'rationale': 'x' * 10_000}), 'at most 500', 'charge'),
    'huge words': (Say('no\n' * 30_000, piece=10_000), 'in words', 'no no no'),
    'deeply nested': (suggestion(NESTED), 'cannot be read', 'PolicyAction('),
}


def test_whatever_else_the_model_writes_is_a_failure_in_words(server: ChatServer) -> None:
    for name, (reply, reason, words) in WRONG.items():
        failed = failure(asking(server, reply))
        assert re.search(reason, failed.reason), (name, failed.reason)
        assert words in failed.answer_text, name
        assert len(server.requests) == 1


FAULTS: dict[str, tuple[Reply, str]] = {
    'the key': (Fault(401, quote_key=True), 'refused the key'),
    'the quota': (Fault(429), 'rate limit'),
    'inside': (Fault(500), 'internal error'),
    'no JSON': (Wire(b'<html>', 'text/html'), 'failed|cannot be read'),
    'no choices': (Wire(b'{}', 'application/json'), 'cannot be read'),
    'cut': (Cut(suggestion()), 'closed the connection'),
    'silence': (Hang(), 'did not answer within 0.2 s'),
}


def test_a_server_that_fails_is_asked_once_and_told_of(server: ChatServer) -> None:
    for name, (reply, reason) in FAULTS.items():
        ask = asking(server, reply, timeout_s=0.2 if isinstance(reply, Hang) else 5.0)
        assert re.search(reason, failure(ask).reason), name
        assert len(server.requests) == 1


def test_the_model_has_the_policys_time_limit_and_no_retries(server: ChatServer) -> None:
    llm = llm_of(server, timeout_s=60.0, max_retries=2, streaming=True)
    ours = for_policy(llm, POLICY)
    assert (ours.timeout_s, ours.max_retries, ours.streaming) == (30.0, 0, False)
    assert for_policy(llm.model_copy(update={'timeout_s': 5.0}), POLICY).timeout_s == 5.0
    assert ours.model_copy(update={'timeout_s': 60.0, 'max_retries': 2, 'streaming': True}) == llm


def test_who_calls_no_tools_is_no_suggester() -> None:
    silent = FakeListChatModel(responses=['rest'])
    failed = failure(ask_chat_model(silent, WORLD, SHIPPED.agent.llm))
    assert 'cannot call tools' in failed.reason
    with pytest.raises(SuggestionFailed) as caught:
        read_action(AIMessage('', additional_kwargs={'refusal': 'I cannot help with that.'}))
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


@given(NEARLY | st.dictionaries(NAMES, JSON))
def test_arguments_are_the_action_that_they_say_or_a_failure(arguments: dict[str, Any]) -> None:
    call = {'name': 'PolicyAction', 'args': arguments, 'id': None}
    try:
        result: object = read_action(AIMessage('', tool_calls=[call]))
    except SuggestionFailed as failed:
        result = failed
    if isinstance(result, PolicyAction):
        said = {'preemptive': False, 'rationale': '', **arguments}
        assert result.model_dump() == said | {'rationale': cleaned_text(said['rationale'])}
        assert [type(said[name]) for name in ('type', 'preemptive')] == [str, bool]
        return
    assert isinstance(result, SuggestionFailed)
    if 'nobody can read' in result.reason:
        assert arguments['type'] != printable(arguments['type'])
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
    long = situation._replace(text='x' * 100_000)
    assert len(json.loads(question_text(WORLD, long, ''))['situation']) == MAX_SITUATION_CHARS


def test_from_the_provider_to_the_server_and_back_in_a_thread_of_its_own(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the loop of who is told has closed."""
    uncaught: list[Any] = []
    monkeypatch.setattr(threading, 'excepthook', uncaught.append)
    told, threads = threading.Event(), list[threading.Thread]()

    def tell() -> None:
        threads.append(threading.current_thread())
        told.set()
        raise RuntimeError('Event loop is closed')

    provider = LLMPolicyProvider(asking(server, suggestion()), POLICY, on_answer=tell)
    assert provider.poll(SITUATION, 0.0) is None
    assert told.wait(WAIT_S), 'no answer came from the server'
    threads[0].join(WAIT_S)
    assert threads[0].daemon
    assert not threads[0].is_alive()
    assert uncaught == []
    assert provider.poll(SITUATION, 60.0) == SAID


# --- when it is asked ---------------------------------------------------------------------------


def test_the_model_hears_what_was_refused_and_why() -> None:
    model = ScriptedModel(CHARGE, POLICY)
    for number, name in enumerate('abcdefg'):
        bold = PolicyAction(type=name, preemptive=True)
        where, at = SITUATION._replace(place=name), NOON + number * HOUR / 6
        model.provider.record_refusal(where, bold, 'no\x1b\n\ud800 way', at)
    for hours in (1, 9):
        model.provider.poll(SITUATION, NOON + hours * HOUR)
    lines = [f'{name} (preemptive): no way' for name in 'cdefg']
    assert [each.splitlines() for each in model.asked] == [lines, []]


WRONGLY = {
    'in words': (SuggestionFailed('No key.', 'said\n\x07so'), ('said so', 'No key.')),
    'an error': (RuntimeError('sk-secret'), ('', 'The model failed (RuntimeError).')),
    'an exit': (SystemExit(3), ('', 'The model failed (SystemExit).')),
}


def test_what_the_model_does_wrong_becomes_words_and_counts() -> None:
    for reply, told in WRONGLY.values():
        model = ScriptedModel(reply, POLICY)
        answers = [model.provider.poll(SITUATION, NOON + 900 * n) for n in range(4)]
        assert answers[:3] == [Suggestion(None, *told)] * 3
        assert 'policy.breaker_open_s' in answers[3].reason  # type: ignore[union-attr]

    def no_thread(_: Callable[[], None]) -> None:
        raise RuntimeError("can't start new thread")

    told = LLMPolicyProvider(lambda *_: CHARGE, POLICY, start=no_thread).poll(SITUATION, NOON)
    assert told is not None
    assert 'RuntimeError' in told.reason


def test_its_memory_holds_the_last_ones_for_their_time_also_when_the_clock_goes_back() -> None:
    recent: TtlCache[str, int] = TtlCache(10.0)
    for at, key in enumerate('abac'):
        recent.put(key, at, float(at))
    assert recent.fresh(10.9) == {'b': 1, 'a': 2, 'c': 3}
    assert recent.fresh(11.0) == {'a': 2, 'c': 3}
    assert recent.fresh(-5.0) == {'b': 1, 'a': 2, 'c': 3}
    recent.discard('c')
    assert recent.fresh(12.0) == {}
    for key in range(MAX_SITUATIONS):
        recent.put(str(key), key, 11.0)
    assert list(recent.fresh(11.0)) == [str(key) for key in range(MAX_SITUATIONS)]


# --- whatever a model, a clock and a world do, its limits hold ----------------------------------

SITUATIONS = [
    PromptSituation('field', '', 0.85, ('rest', 'survey'), 'one'),
    PromptSituation('field', '', 0.88, ('rest', 'survey'), 'the same, in other words'),
    PromptSituation('field', 'survey', 0.85, ('rest',), 'survey goes on'),
    PromptSituation('base', '', 0.15, ('rest', 'charge'), 'low'),
    PromptSituation('base', 'sleep', 0.15, (), 'nothing is possible'),
]
ACTIONS = [
    PolicyAction(type=name, preemptive=preemptive)
    for name in ('rest', 'survey', 'fly')
    for preemptive in (False, True)
]
LEGAL = [action for action in ACTIONS if action.type != 'fly']
REPLIES = [*ACTIONS, *LEGAL, SuggestionFailed('no'), OSError(), SystemExit(), 'rest', float('nan')]


class Asked:
    """One request as the machine knows it."""

    def __init__(self, run: Callable[[], None], situation: PromptSituation, at: float):
        self.run, self.situation, self.at = run, situation, at
        self.reply: Any = None
        self.has_ended = False


class Provider(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.at = NOON
        self.polled = SITUATIONS[0]
        self.reply: Any = None
        self.waited_for: Asked | None = None
        self.last_window = float('-inf')
        self.row, self.opened_at = 0, float('-inf')
        self.good: dict[Any, tuple[PolicyAction, float]] = {}
        self.refusals: dict[tuple[Any, str, bool], float] = {}
        self.started = False

    @initialize(
        cache_s=st.sampled_from([0.0, 700.0, 3600.0]), rejected_s=st.sampled_from([0.0, 2000.0])
    )
    def begin(self, cache_s: float, rejected_s: float) -> None:
        changes = {'cache_s': cache_s, 'rejected_s': rejected_s, 'breaker_failures': 2}
        self.settings = POLICY.model_copy(update=changes)
        self.provider = LLMPolicyProvider(self._ask, self.settings, start=self._start)

    def _ask(self, situation: PromptSituation, _: str) -> PolicyAction:
        if isinstance(self.reply, BaseException):
            raise self.reply
        return self.reply

    def _start(self, run: Callable[[], None]) -> None:
        assert self.waited_for is None, 'two requests in flight'
        self.last_window = self.at // self.settings.window_s
        self.waited_for = Asked(run, self.polled, self.at)
        self.started = True

    def _shut(self) -> str:
        """Why the model must not be asked, by the rules and not by the provider."""
        key = self.polled.key
        if self.at // self.settings.window_s <= self.last_window:
            return 'it was asked in this window'
        if (
            self.row >= self.settings.breaker_failures
            and self.at < self.opened_at + self.settings.breaker_open_s
        ):
            return 'the breaker is open'
        if any(each[0] == key and self._fresh(at) for each, at in self.refusals.items()):
            return 'an idea was refused in this situation'
        return '' if self.polled.options else 'nothing is possible'

    def _fresh(self, refused_at: float) -> bool:
        return self.at - refused_at < self.settings.rejected_s

    @rule(step=st.sampled_from([0.0, 1.0, 60.0, 600.0, 1800.0, 1e8]))
    def time_passes(self, step: float) -> None:
        self.at += step

    @rule()
    def the_next_window_begins(self) -> None:
        self.at = max(self.at, (self.last_window + 1) * self.settings.window_s)

    @rule(reply=st.sampled_from(REPLIES))
    def the_model_answers(self, reply: Any) -> None:
        call = self.waited_for
        if call and not call.has_ended:
            self.reply, call.reply, call.has_ended = reply, reply, True
            call.run()

    @rule(
        situation=st.sampled_from(SITUATIONS[:4]),
        reply=st.sampled_from(LEGAL),
        refuse=st.booleans(),
    )
    def all_goes_well(self, situation: PromptSituation, reply: Any, refuse: bool) -> None:
        self.at += self.settings.breaker_open_s
        self.poll(situation, False)
        self.the_model_answers(reply)
        self.poll(situation, refuse)
        self.at += 60.0
        self.poll(situation, refuse)

    @rule(situation=st.sampled_from(SITUATIONS), action=st.sampled_from(ACTIONS))
    def an_idea_is_refused(self, situation: PromptSituation, action: PolicyAction) -> None:
        self._refuse(situation, action)

    def _refuse(self, situation: PromptSituation, action: PolicyAction) -> None:
        self.provider.record_refusal(situation, action, 'no', self.at)
        for each, at in self.refusals.items():
            if each[0] == situation.key and self._fresh(at):
                self.refusals[each] = self.at  # the situation's refusals are kept together
        self.refusals[situation.key, action.type, action.preemptive] = self.at
        self.good.pop(situation.key, None)

    @rule(situation=st.sampled_from(SITUATIONS), refuse=st.booleans())
    def poll(self, situation: PromptSituation, refuse: bool) -> None:
        self.polled, self.started = situation, False
        before = self.waited_for
        cached = self._cached(situation.key)
        shut = 'the answer is known' if cached is not None else self._shut()
        reply = self.provider.poll(situation, self.at)
        assert self.started == (before is None and not shut), f'asked: {self.started}, but {shut}'
        self._look_at(reply, before, cached)
        if refuse and reply and reply.action:
            self._refuse(situation, reply.action)

    def _cached(self, key: Any) -> PolicyAction | None:
        action, at = self.good.get(key, (None, 0.0))
        return action if self.at - at < self.settings.cache_s else None

    def _look_at(
        self, reply: Suggestion | None, before: Asked | None, cached: PolicyAction | None
    ) -> None:
        if reply and reply.action:
            key = (self.polled.key, reply.action.type, reply.action.preemptive)
            assert not self._fresh(self.refusals.get(key, float('-inf'))), 'refused lately'
            assert reply.cached == (before is None)
            if reply.cached:
                assert reply.action == cached
        if before is None:
            assert (reply is None) == self.started
            return
        if not before.has_ended:
            assert reply is None
            return
        assert reply is not None
        self.waited_for = None
        self._count(before)
        if not isinstance(before.reply, PolicyAction):
            assert reply.action is None
        elif reply.action:
            assert reply.action == before.reply
            assert self.polled.key == before.situation.key

    def _count(self, call: Asked) -> None:
        action = call.reply
        legal = isinstance(action, PolicyAction) and action.type in call.situation.options
        if not legal:
            self.row, self.opened_at = self.row + 1, self.at
            return
        self.row = 0
        refused = self.refusals.get((call.situation.key, action.type, action.preemptive))
        if refused is None or not self._fresh(refused):
            self.good[call.situation.key] = (action, call.at)


Provider.TestCase.settings = settings(max_examples=examples(150), stateful_step_count=40)
TestProvider = Provider.TestCase
