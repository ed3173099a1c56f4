# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Whatever a model, a clock and a world do to the provider, its limits hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from curiosity_rosa_demo.agent.policy.action import PolicyAction
from curiosity_rosa_demo.agent.policy.suggestion import (
    NoSuggestion,
    PendingSuggestion,
    PromptSituation,
    Suggestion,
    SuggestionFailed,
)
from curiosity_rosa_demo.agent.policy.suggestion_provider import (
    LLMPolicyProvider,
    MAX_ABANDONED_CALLS,
)
from curiosity_rosa_demo.infra.config_loader import load_config
from examples import examples
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule, RuleBasedStateMachine

SETTINGS = load_config().agent.policy.model_copy(
    update={'window_s': 900.0, 'timeout_s': 30.0, 'breaker_failures': 2, 'breaker_open_s': 1800.0}
)
NOON = 20_000 * 86400.0

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
        self.settings = SETTINGS.model_copy(update={'cache_s': cache_s, 'rejected_s': rejected_s})
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


Provider.TestCase.settings = settings(
    max_examples=examples(150), stateful_step_count=40, deadline=None
)
TestProvider = Provider.TestCase
