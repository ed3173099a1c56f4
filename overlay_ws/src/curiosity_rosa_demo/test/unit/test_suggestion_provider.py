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
from curiosity_rosa_demo.agent.policy.suggestion_provider import (
    LLMPolicyProvider,
    MAX_ABANDONED_CALLS,
    MAX_SITUATIONS,
    TtlCache,
)
from curiosity_rosa_demo.infra.config_loader import load_config
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule, RuleBasedStateMachine
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


def test_calls_that_hang_for_a_day_leave_few_threads_behind() -> None:
    model = Model(immediate=False)
    day(model, NOON)
    assert len(model.calls) == MAX_ABANDONED_CALLS
    assert 'hang' in no_answer(model.poll(at=NOON + DAY + HOUR)).reason
    model.calls[3]()
    assert model.poll(at=NOON + DAY + HOUR) == PendingSuggestion()
    assert len(model.calls) == MAX_ABANDONED_CALLS + 1


def test_a_clock_that_goes_back_asks_nobody_again() -> None:
    model = Model()
    model.poll(at=NOON)
    for at in (NOON - 900, NOON - DAY, 0.0):
        assert isinstance(model.poll(BASE, at), NoSuggestion)
    assert len(model.asked) == 1


def test_its_memory_is_bounded() -> None:
    model = Model(cache_s=DAY, window_s=1.0)
    for number in range(2 * MAX_SITUATIONS):
        model.poll(replace(FIELD, place=f'p{number}'), NOON + number)
    last = replace(FIELD, place=f'p{2 * MAX_SITUATIONS - 1}')
    assert model.poll(last, NOON + HOUR).cached
    assert not model.poll(replace(FIELD, place='p0'), NOON + HOUR).cached


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


@given(st.text(max_size=2000) | st.text(st.sampled_from('a \x1b\n\u2028\u202e\ud83d\ude00')))
def test_what_is_kept_of_words_can_be_shown(text: str) -> None:
    kept = cleaned_text(text)
    assert len(kept) <= MAX_TEXT_CHARS
    assert kept.isprintable()
    kept.encode()


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


# --- whatever a model, a clock and a world do, its limits hold ---------------------------------

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
GOOD = [action for action in ACTIONS if action.type != 'fly']
REPLIES = [
    *ACTIONS,
    *GOOD,
    SuggestionFailed('no'),
    OSError(),
    SystemExit(),
    None,
    'rest',
    float('nan'),
]


class Call:
    """One request as the machine knows it."""

    def __init__(
        self, run: Callable[[], None], situation: PromptSituation, at: float, begun: float
    ):
        self.run, self.situation, self.at, self.begun = run, situation, at, begun
        self.ended: float | None = None
        self.reply: Any = None


class Provider(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.at, self.steady = NOON, 0.0
        self.polled = SITUATIONS[0]
        self.reply: Any = None
        self.waited_for: Call | None = None
        self.hanging: list[Call] = []
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
        self.settings = SETTINGS.model_copy(update=changes)
        self.provider = LLMPolicyProvider(
            self._ask, self.settings, start=self._start, steady=lambda: self.steady
        )

    def _ask(self, situation: PromptSituation, _: str) -> PolicyAction:
        if isinstance(self.reply, BaseException):
            raise self.reply
        return self.reply

    def _start(self, run: Callable[[], None]) -> None:
        assert self.waited_for is None, 'two requests in flight'
        self.last_window = self.at // self.settings.window_s
        self.waited_for = Call(run, self.polled, self.at, self.steady)
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
        if len(self.hanging) >= MAX_ABANDONED_CALLS:
            return 'calls hang'
        return '' if self.polled.options else 'nothing is possible'

    def _fresh(self, refused_at: float) -> bool:
        return self.at - refused_at < self.settings.rejected_s

    @rule(
        step=st.sampled_from([0.0, 1.0, 60.0, 600.0, 1800.0, 1e8]),
        steady=st.sampled_from([0.0, 1.0, 29.0, 31.0]),
    )
    def time_passes(self, step: float, steady: float) -> None:
        self.at += step
        self.steady += steady

    @rule()
    def the_next_window_begins(self) -> None:
        self.at = max(self.at, (self.last_window + 1) * self.settings.window_s)

    @rule(reply=st.sampled_from(REPLIES))
    def the_model_answers(self, reply: Any) -> None:
        call = self.waited_for
        if call and call.ended is None:
            self.reply, call.reply, call.ended = reply, reply, self.steady
            call.run()

    @rule(reply=st.sampled_from(REPLIES))
    def a_call_that_was_given_up_answers(self, reply: Any) -> None:
        if self.hanging:
            self.reply = reply
            self.hanging.pop(0).run()

    @rule(
        situation=st.sampled_from(SITUATIONS[:4]),
        reply=st.sampled_from(GOOD),
        refuse=st.booleans(),
    )
    def all_goes_well(self, situation: PromptSituation, reply: Any, refuse: bool) -> None:
        self.at += self.settings.breaker_open_s
        self.poll(situation, False)
        self.the_model_answers(reply)
        self.poll(situation, refuse)
        self.at += 60.0
        self.poll(situation, refuse)

    @rule(situation=st.sampled_from(SITUATIONS[:4]))
    def it_hangs(self, situation: PromptSituation) -> None:
        self.at += self.settings.breaker_open_s
        self.poll(situation, False)
        self.steady += 2 * self.settings.timeout_s
        self.poll(situation, False)

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
        closed = self.provider.unavailable_reason(situation, self.at)
        reply = self.provider.poll(situation, self.at)
        assert self.started == (before is None and not shut), f'asked: {self.started}, but {shut}'
        assert (closed == '') == (self.started or before is not None or cached is not None)
        self._look_at(reply, before, cached)
        if refuse and isinstance(reply, Suggestion):
            self._refuse(situation, reply.action)

    def _cached(self, key: Any) -> PolicyAction | None:
        action, at = self.good.get(key, (None, 0.0))
        return action if self.at - at < self.settings.cache_s else None

    def _look_at(self, reply: object, before: Call | None, cached: PolicyAction | None) -> None:
        if isinstance(reply, Suggestion):
            key = (self.polled.key, reply.action.type, reply.action.preemptive)
            assert not self._fresh(self.refusals.get(key, float('-inf'))), 'refused lately'
            assert reply.cached == (before is None)
            if reply.cached:
                assert reply.action == cached
        if before is None:
            assert isinstance(reply, PendingSuggestion) == self.started
            return
        ended = self.steady if before.ended is None else before.ended
        late = ended - before.begun > self.settings.timeout_s
        if before.ended is None and not late:
            assert isinstance(reply, PendingSuggestion)
            return
        assert not isinstance(reply, PendingSuggestion)
        self.waited_for = None
        if before.ended is None:
            self.hanging.append(before)
        self._count(before, late)
        if late or not isinstance(before.reply, PolicyAction):
            assert isinstance(reply, NoSuggestion)
        elif isinstance(reply, Suggestion):
            assert reply.action == before.reply
            assert self.polled.key == before.situation.key

    def _count(self, call: Call, late: bool) -> None:
        action = call.reply
        legal = isinstance(action, PolicyAction) and action.type in call.situation.options
        if late or not legal:
            self.row, self.opened_at = self.row + 1, self.at
            return
        self.row = 0
        refused = self.refusals.get((call.situation.key, action.type, action.preemptive))
        if refused is None or not self._fresh(refused):
            self.good[call.situation.key] = (action, call.at)

    @invariant()
    def few_calls_are_left_behind(self) -> None:
        assert len(self.hanging) <= MAX_ABANDONED_CALLS


Provider.TestCase.settings = settings(max_examples=examples(150), stateful_step_count=40)
TestProvider = Provider.TestCase
