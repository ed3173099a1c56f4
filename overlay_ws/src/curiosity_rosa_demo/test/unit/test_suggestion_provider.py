# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The model is asked seldom, waited for by nobody and left alone when it fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
import threading
from typing import Any

from curiosity_rosa_demo.agent.policy import suggestion_provider as module
from curiosity_rosa_demo.agent.policy.action import PolicyAction
from curiosity_rosa_demo.agent.policy.suggestion import (
    cleaned_text,
    MAX_TEXT_CHARS,
    NoSuggestion,
    PendingSuggestion,
    PromptSituation,
    Suggestion,
    SuggestionFailed,
)
from curiosity_rosa_demo.agent.policy.suggestion_provider import LLMPolicyProvider
from curiosity_rosa_demo.agent.policy.ttl_cache import TtlCache
from curiosity_rosa_demo.infra.config_loader import load_config
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest

SETTINGS = load_config().agent.policy.model_copy(
    update={
        'window_s': 900.0,
        'timeout_s': 30.0,
        'cache_s': 3600.0,
        'rejected_s': 7200.0,
        'breaker_failures': 3,
        'breaker_open_s': 1800.0,
    }
)
MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0
NOON = 20_000 * DAY
FIELD = PromptSituation('field', '', 0.85, ('rest', 'survey'), 'It is noon.')
BASE = PromptSituation('base', '', 0.85, ('rest', 'charge'), 'It is noon.')
REST = PolicyAction(type='rest', rationale='It is hot.')
WAIT_S = 10.0


class Model:
    """Does what it was last told, and keeps what it was asked. Its calls run when a test says so,
    or at once; the time they take is that of ``steady``.
    """

    def __init__(self, reply: Any = REST, *, immediate: bool = True, **changes: Any) -> None:
        self.reply = reply
        self.immediate = immediate
        self.steady = 0.0
        self.asked: list[tuple[PromptSituation, str]] = []
        self.calls: list[Callable[[], None]] = []
        self.heard = 0
        self.provider = LLMPolicyProvider(
            self._ask,
            SETTINGS.model_copy(update=changes),
            start=self._start,
            steady=lambda: self.steady,
            on_answer=self._hear,
        )

    def _ask(self, situation: PromptSituation, refusals: str) -> PolicyAction:
        self.asked.append((situation, refusals))
        if isinstance(self.reply, BaseException):
            raise self.reply
        return self.reply

    def _start(self, call: Callable[[], None]) -> None:
        self.calls.append(call)
        if self.immediate:
            call()

    def _hear(self) -> None:
        self.heard += 1

    def poll(self, situation: PromptSituation = FIELD, at: float = NOON) -> Any:
        return self.provider.poll(situation, at)


def no_answer(reply: Any) -> NoSuggestion:
    assert isinstance(reply, NoSuggestion)
    return reply


def test_an_answer_comes_with_the_words_of_the_model() -> None:
    assert Model().poll() == Suggestion(REST, 'rest: It is hot.', cached=False)
    bold = PolicyAction(type='rest', preemptive=True)
    assert Model(bold).poll() == Suggestion(bold, 'rest (preemptive)', cached=False)


def test_the_rationale_can_be_shown() -> None:
    answer = Model(PolicyAction(type='rest', rationale='It is\x1b[2J\nhot.')).poll()
    assert answer.action.rationale == 'It is [2J hot.'
    assert answer.answer_text == 'rest: It is [2J hot.'


@pytest.mark.parametrize(
    'change',
    [{'place': 'x'}, {'activity': 'x'}, {'energy': 0.79}, {'options': ('rest',)}],
    ids=lambda change: next(iter(change)),
)
def test_another_situation_is_asked_about_in_the_next_window(change: dict[str, Any]) -> None:
    model = Model()
    model.poll()
    other = replace(FIELD, **change)
    assert 'policy.window_s' in no_answer(model.poll(other, NOON + 899)).reason
    assert 'policy.window_s' in model.provider.unavailable_reason(other, NOON + 899)
    assert model.poll(other, NOON + 900).cached is False


def test_an_answer_to_what_is_over_is_not_acted_on() -> None:
    model = Model(immediate=False)
    model.poll()
    model.calls[0]()
    gone = no_answer(model.poll(BASE, NOON + 20))
    assert 'changed' in gone.reason
    assert gone.answer_text == 'rest: It is hot.'
    assert model.poll(FIELD, NOON + 30) == Suggestion(REST, gone.answer_text, cached=True)


def test_an_answer_that_nobody_looked_at_for_hours_is_not_acted_on() -> None:
    model = Model(immediate=False)
    model.poll()
    model.calls[0]()
    assert 'too late' in no_answer(model.poll(at=NOON + 9 * HOUR)).reason
    model.immediate = True
    assert isinstance(model.poll(at=NOON + 9 * HOUR), Suggestion)
    assert len(model.asked) == 2


def test_the_model_hears_what_was_refused_and_why() -> None:
    model = Model()
    for hour, name in enumerate(['a', 'b', 'c', 'd', 'e', 'f', 'g']):
        where = replace(FIELD, place=name)
        bold = PolicyAction(type=name, preemptive=True)
        model.provider.record_refusal(where, bold, 'no\x1b\n\ud800 way', NOON + hour * HOUR / 6)
    model.poll(at=NOON + HOUR)
    assert model.asked[0][1].splitlines() == [f'{name} (preemptive): no way' for name in 'cdefg']
    model.poll(BASE, at=NOON + 9 * HOUR)
    assert model.asked[1][1] == ''


FAILURES = {
    'in words': (SuggestionFailed('No key.', 'said\n\x07so'), NoSuggestion('No key.', 'said so')),
    'an error': (RuntimeError('sk-secret'), NoSuggestion('The model failed (RuntimeError).')),
    'an exit': (SystemExit(3), NoSuggestion('The model failed (SystemExit).')),
    'nothing': (None, NoSuggestion('The model named no activity.', 'None')),
    'another type': (
        {'type': 'rest'},
        NoSuggestion('The model named no activity.', str({'type': 'rest'})),
    ),
    'unreadable': (
        PolicyAction(type='re\x1b[2Jst'),
        NoSuggestion('The model named an activity that nobody can read.', 're [2Jst'),
    ),
}


@pytest.mark.parametrize(('reply', 'told'), FAILURES.values(), ids=FAILURES)
def test_what_the_model_does_wrong_becomes_words_and_counts(
    reply: Any, told: NoSuggestion
) -> None:
    model = Model(reply)
    assert model.poll() == told
    assert model.poll(at=NOON + 900) == told
    assert model.poll(at=NOON + 1800) == told
    assert 'policy.breaker_open_s' in no_answer(model.poll(at=NOON + 2700)).reason
    assert len(model.asked) == 3


def test_a_thread_that_cannot_begin_counts_as_a_failure() -> None:
    def start(_: Callable[[], None]) -> None:
        raise RuntimeError("can't start new thread")

    provider = LLMPolicyProvider(lambda *_: REST, SETTINGS, start=start)
    assert 'RuntimeError' in no_answer(provider.poll(FIELD, NOON)).reason


def day(model: Model, begin: float) -> None:
    """A day of minute ticks, an hour here and an hour there."""
    for minute in range(1440):
        at = begin + minute * MINUTE
        where = FIELD if int(at // HOUR) % 2 else BASE
        model.poll(where, at)
        model.steady += MINUTE


@pytest.mark.parametrize('reply', [OSError(), PolicyAction(type='fly')], ids=str)
def test_a_model_unavailable_for_a_day_costs_a_bounded_number_of_requests(reply: Any) -> None:
    bound = SETTINGS.breaker_failures + DAY / SETTINGS.breaker_open_s
    model = Model(reply)
    day(model, NOON)
    assert 40 <= len(model.asked) <= bound
    model.reply = REST
    answers = [model.poll(BASE, NOON + DAY + minute * MINUTE) for minute in range(46)]
    assert isinstance(answers[-1], Suggestion)


def test_where_nothing_is_possible_nobody_is_asked() -> None:
    model = Model()
    nothing = replace(FIELD, options=())
    assert (
        no_answer(model.poll(nothing)).reason
        == model.provider.unavailable_reason(nothing, NOON)
        != ''
    )
    assert model.asked == []


def test_an_idea_refused_while_the_model_thought_of_it_is_not_returned() -> None:
    model = Model(immediate=False)
    model.poll()
    model.provider.record_refusal(FIELD, REST, 'no', NOON + 1)
    model.provider.record_refusal(FIELD, PolicyAction(type='survey'), 'no', NOON + 2)
    model.calls[0]()
    assert 'refused' in no_answer(model.poll(at=NOON + 3)).reason
    assert isinstance(model.poll(at=NOON + 4), NoSuggestion)


def test_an_answer_after_the_time_limit_is_a_failure() -> None:
    model = Model(immediate=False)
    model.poll()
    model.steady = 31.0
    model.calls[0]()
    assert 'policy.timeout_s' in no_answer(model.poll(at=NOON + 60)).reason


def test_calls_that_hang_for_a_day_leave_few_threads_behind() -> None:
    model = Model(immediate=False)
    day(model, NOON)
    assert len(model.calls) == module.MAX_ABANDONED_CALLS
    assert 'hang' in no_answer(model.poll(at=NOON + DAY + HOUR)).reason
    model.calls[3]()
    assert model.poll(at=NOON + DAY + HOUR) == PendingSuggestion()
    assert len(model.calls) == module.MAX_ABANDONED_CALLS + 1


def test_a_clock_that_goes_back_asks_nobody_again() -> None:
    model = Model()
    model.poll(at=NOON)
    for at in (NOON - 900, NOON - DAY, 0.0):
        assert isinstance(model.poll(BASE, at), NoSuggestion)
    assert len(model.asked) == 1


def test_its_memory_is_bounded() -> None:
    model = Model(cache_s=DAY, rejected_s=DAY, window_s=1.0)
    for number in range(2 * module.MAX_SITUATIONS):
        at = NOON + number
        model.poll(replace(FIELD, place=f'p{number}'), at)
        other = replace(BASE, place=f'p{number}')
        model.provider.record_refusal(other, REST, 'no ' * 1000, at)
        model.provider.record_refusal(BASE, PolicyAction(type=f't{number}'), 'no', at)
    kept = model.provider
    assert len(kept._answers) == len(kept._refused) == module.MAX_SITUATIONS
    assert len(kept._refused.get(BASE.key, NOON) or ()) == module.MAX_REFUSALS
    assert all(
        len(text) <= MAX_TEXT_CHARS
        for ideas in kept._refused.values(NOON)
        for text in ideas.values()
    )
    assert model.poll(replace(FIELD, place='p511'), NOON + 600).cached


class Thinking:
    """A model that answers in its own thread when it is let."""

    def __init__(self, on_answer: Callable[[], None] = lambda: None) -> None:
        self.may = threading.Event()
        self.thread = threading.current_thread()
        self.told = threading.Event()
        self._heard = on_answer
        self.provider = LLMPolicyProvider(self._ask, SETTINGS, on_answer=self._hear)

    def _ask(self, *_: Any) -> PolicyAction:
        self.thread = threading.current_thread()
        assert self.may.wait(WAIT_S), 'the test never let the model answer'
        return REST

    def _hear(self) -> None:
        assert threading.current_thread() is self.thread
        self.told.set()
        self._heard()


def test_a_call_runs_in_a_daemon_thread_that_says_when_it_is_done() -> None:
    model = Thinking()
    assert model.provider.poll(FIELD, NOON) == PendingSuggestion()
    assert model.provider.poll(FIELD, NOON) == PendingSuggestion()
    model.may.set()
    assert model.told.wait(WAIT_S), 'nobody was told of the answer'
    assert isinstance(model.provider.poll(FIELD, NOON), Suggestion)
    assert model.thread is not threading.current_thread()
    assert model.thread.daemon


def test_an_answer_after_the_loop_has_closed_ends_quietly(monkeypatch: pytest.MonkeyPatch) -> None:
    uncaught: list[Any] = []
    monkeypatch.setattr(threading, 'excepthook', uncaught.append)

    def closed_loop() -> None:
        raise RuntimeError('Event loop is closed')

    model = Thinking(closed_loop)
    model.provider.poll(FIELD, NOON)
    model.may.set()
    assert model.told.wait(WAIT_S), 'nobody was told of the answer'
    model.thread.join(WAIT_S)
    assert not model.thread.is_alive()
    assert uncaught == []


@settings(deadline=None)
@given(st.text(max_size=2000) | st.text(st.sampled_from('a \x1b\n\u2028\u202e\ud83d\ude00')))
def test_what_is_kept_of_words_can_be_shown(text: str) -> None:
    kept = cleaned_text(text)
    assert len(kept) <= MAX_TEXT_CHARS
    assert kept.isprintable()
    kept.encode()


@settings(deadline=None)
@given(
    st.floats(0.0, 50.0),
    st.integers(1, 4),
    st.lists(
        st.tuples(st.sampled_from(['put', 'get', 'drop']), st.integers(0, 4), st.floats(0, 9)),
        min_size=5,
        max_size=40,
    ),
)
def test_recent_holds_the_last_ones_for_their_time(
    keep_s: float, most: int, course: list[tuple[str, int, float]]
) -> None:
    recent: TtlCache[int, int] = TtlCache(keep_s, most)
    puts: dict[int, tuple[int, float]] = {}
    at = 0.0
    for number, (what, key, step) in enumerate(course):
        at += step
        gone = at - puts.get(key, (0, at))[1] >= keep_s
        if what == 'put':
            recent.put(key, number, at)
        elif what == 'drop':
            recent.discard(key)
        else:
            assert recent.get(key, at) == (None if gone else puts.get(key, (None, at))[0])
        if what != 'get' or gone:
            puts.pop(key, None)
        if what == 'put':
            puts = dict([*puts.items(), (key, (number, at))][-most:])
        assert recent.values(at) == [value for value, then in puts.values() if at - then < keep_s]
        assert len(recent) == len(puts)
