# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Polls a model for suggestions, with a rate limit, a cache and a circuit breaker. Never blocks.

Everything but the call itself runs in the policy's thread. "at" is the policy's time in seconds
since the epoch.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass
import threading
from typing import Generic, TypeVar

from curiosity_rosa_demo.agent.llm.errors import CircuitBreaker
from curiosity_rosa_demo.agent.llm.usage import UsageLedger
from curiosity_rosa_demo.agent.policy.world import (
    Ask,
    cleaned_text,
    Key,
    PolicyAction,
    PromptSituation,
    Suggestion,
    suggestion_text,
    SuggestionFailed,
)
from curiosity_rosa_demo.infra.config.agent import PolicyConfig
from curiosity_rosa_demo.infra.config.topics import Config

MAX_SITUATIONS = 256  # situations in each of the two caches: answers and refusals
MAX_REFUSALS = 8  # cached refusals of one situation
MAX_REFUSALS_SENT = 5  # refusals in the prompt

K = TypeVar('K', bound=Hashable)
V = TypeVar('V')


class TtlCache(Generic[K, V]):
    """Holds the newest MAX_SITUATIONS values, each for ``keep_s`` seconds; 0 holds none."""

    def __init__(self, keep_s: float) -> None:
        self._keep_s = keep_s
        self._values: dict[K, tuple[float, V]] = {}

    def put(self, key: K, value: V, at: float) -> None:
        self.discard(key)  # a dict keeps insertion order
        self._values[key] = at, value
        if len(self._values) > MAX_SITUATIONS:
            del self._values[next(iter(self._values))]

    def fresh(self, at: float) -> dict[K, V]:
        """All values that have not expired, in insertion order."""
        return {
            key: value
            for key, (put_at, value) in self._values.items()
            if at - put_at < self._keep_s
        }

    def discard(self, key: K) -> None:
        self._values.pop(key, None)


@dataclass
class _Call:
    """One call. Its own thread sets ``result``, once."""

    situation: PromptSituation
    at: float
    result: PolicyAction | BaseException | None = None


def run_in_daemon_thread(job: Callable[[], None]) -> None:
    threading.Thread(target=job, name='policy-model-call', daemon=True).start()


class LLMPolicyProvider:
    """Asks the model at most once in each ``window_s``, and caches its answers.

    ``start`` runs ``ask`` in another thread. ``ask`` gets the situation and the recent refusals as
    text; it ends within ``timeout_s``, and raises SuggestionFailed. ``on_answer`` is called in
    that thread after ``ask`` ends.
    """

    def __init__(
        self,
        ask: Ask,
        settings: PolicyConfig,
        *,
        start: Callable[[Callable[[], None]], None] = run_in_daemon_thread,
        on_answer: Callable[[], None] = lambda: None,
    ) -> None:
        self._ask, self._settings = ask, settings
        self._start_thread, self._on_answer = start, on_answer
        self._window = float('-inf')  # number of the last window with a call
        self._call: _Call | None = None
        self._breaker = CircuitBreaker(settings.breaker_failures, settings.breaker_open_s)
        self._answers: TtlCache[Key, PolicyAction] = TtlCache(settings.cache_s)
        # By the type of an action and whether it is preemptive: why it was refused.
        self._refused: TtlCache[Key, dict[tuple[str, bool], str]] = TtlCache(settings.rejected_s)

    def resting_reason(self, at: float) -> str:
        """Why no call may start now, whatever the situation; '' while one runs or may start."""
        settings = self._settings
        if self._call is not None:
            return ''
        if at // settings.window_s <= self._window:
            window = f'{settings.window_s:g} s (policy.window_s)'
            return f'it was asked already in this window of {window}'
        if self._breaker.allows(at):
            return ''
        pause = f'{settings.breaker_open_s:g} s (policy.breaker_open_s)'
        times = f'{settings.breaker_failures} times in a row'
        return f'it failed {times} and is left alone for {pause}'

    def poll(self, situation: PromptSituation, at: float) -> Suggestion | None:
        """The model's answer to this situation; None while it has not answered. Starts a call
        where one is allowed; never waits, never raises. Each answer or failure is returned once;
        an answer is returned again from the cache until it expires.
        """
        if self._call is None:
            known = self._answers.fresh(at).get(situation.key)
            if known is not None:
                return Suggestion(known, suggestion_text(known, known.rationale), cached=True)
            if reason := self._unavailable_reason(situation, at):
                return Suggestion(None, reason=reason)
            self._call = self._started_call(situation, at)
        call, result = self._call, self._call.result
        if result is None:
            return None
        self._call = None
        if isinstance(result, PolicyAction):
            return self._suggestion(call, result, situation, at)
        self._breaker.record_failure(at)
        if isinstance(result, SuggestionFailed):
            return Suggestion(None, result.answer_text, result.reason)
        return Suggestion(None, reason=f'The model failed ({type(result).__name__}).')

    def record_refusal(
        self, situation: PromptSituation, action: PolicyAction, reason: str, at: float
    ) -> None:
        """Remember that ``action`` was refused in ``situation``, and drop the cached answer."""
        name = action.type, action.preemptive
        refusals = self._refused.fresh(at).get(situation.key, {})
        kept = [(each, why) for each, why in refusals.items() if each != name]
        kept.append((name, cleaned_text(suggestion_text(action, reason))))
        self._refused.put(situation.key, dict(kept[-MAX_REFUSALS:]), at)
        self._answers.discard(situation.key)

    def _unavailable_reason(self, situation: PromptSituation, at: float) -> str:
        """Why no call may start now; '' when one may."""
        if not situation.options:
            return 'there is nothing that it could suggest'
        if reason := self.resting_reason(at):
            return reason
        if refused := self._refused.fresh(at).get(situation.key):
            return f'its idea was refused lately: {list(refused.values())[-1]}'
        return ''

    def _started_call(self, situation: PromptSituation, at: float) -> _Call:
        self._window = at // self._settings.window_s
        self._breaker.record_start()
        call = _Call(situation, at)
        recent = [why for each in self._refused.fresh(at).values() for why in each.values()]

        def run() -> None:
            try:
                call.result = self._ask(situation, '\n'.join(recent[-MAX_REFUSALS_SENT:]))
            except BaseException as error:  # also SystemExit: poll() must get a result
                call.result = error
            with suppress(RuntimeError):  # on_answer's event loop has closed
                self._on_answer()

        try:
            self._start_thread(run)
        except Exception as error:  # such as: can't start new thread
            call.result = error
        return call

    def _suggestion(
        self, call: _Call, action: PolicyAction, situation: PromptSituation, at: float
    ) -> Suggestion:
        name, words = (action.type, action.preemptive), suggestion_text(action, action.rationale)
        refused = self._refused.fresh(at).get(call.situation.key, {})
        if action.type not in call.situation.options:
            self._breaker.record_failure(at)  # the safety filter gives the reason
        else:
            self._breaker.record_success()
            if name not in refused:
                self._answers.put(call.situation.key, action, call.at)
        if call.situation.key != situation.key:
            why = 'its answer came when the situation had changed'
        elif name in refused:
            why = f'its idea was refused lately: {refused[name]}'
        elif at - call.at > max(self._settings.cache_s, self._settings.window_s):
            why = 'its answer was looked at too late'
        else:
            return Suggestion(action, words)
        return Suggestion(None, words, why)


def make_provider(
    config: Config,
    imported: Callable[[], None],
    on_answer: Callable[[], None],
    usage: UsageLedger | None = None,
) -> LLMPolicyProvider | None:
    """None when the rules decide alone. ``imported`` blocks until the agent has imported its own
    model: two threads that import parts of LangChain can deadlock. ``usage`` counts the calls.
    """
    settings, llm = config.agent.policy, config.agent.llm
    if 'routine' in (settings.provider, llm.provider):
        return None
    making = threading.Lock()
    made: list[Ask] = []

    def ask(situation: PromptSituation, refusals: str) -> PolicyAction:
        """The model is made at the first call, in the thread of that call."""
        imported()
        with making:  # an abandoned call may still run in another thread
            if not made:
                from curiosity_rosa_demo.agent.policy.chat_policy import make_ask

                made.append(make_ask(config, usage))
        return made[0](situation, refusals)

    return LLMPolicyProvider(ask, settings, on_answer=on_answer)


def missing_model_note(config: Config) -> str:
    """A note for an operator whose policy.provider has no effect; '' otherwise."""
    if config.agent.policy.provider == 'routine' or config.agent.llm.provider != 'routine':
        return ''
    return (
        'policy.provider is llm, but llm.provider is routine: no model is asked. '
        'Set llm.provider and llm.model in agent.yaml.'
    )
