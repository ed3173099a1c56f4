# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Polls a model for suggestions, with a rate limit, a cache and a circuit breaker. Never blocks.

Everything but the call itself runs in the policy's thread. "at" is the policy's time in seconds
since the epoch; the duration of a call is measured by a monotonic clock.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import suppress
import threading
import time
from typing import Generic, TypeVar

from curiosity_rosa_demo.agent.llm.call import CircuitBreaker
from curiosity_rosa_demo.agent.policy.action import PolicyAction
from curiosity_rosa_demo.agent.policy.suggestion import (
    checked_action,
    cleaned_text,
    Key,
    NoSuggestion,
    PendingSuggestion,
    PromptSituation,
    Suggestion,
    suggestion_text,
    SuggestionFailed,
)
from curiosity_rosa_demo.infra.config.agent import PolicyConfig

# --- A cache whose values expire and whose size is limited. Pure -------------------------------


K = TypeVar('K', bound=Hashable)
V = TypeVar('V')


class TtlCache(Generic[K, V]):
    """Holds the newest ``most`` values, each for ``keep_s`` seconds; 0 holds none."""

    def __init__(self, keep_s: float, most: int) -> None:
        self._ttl_s = keep_s
        self._max_size = most
        self._values: dict[K, tuple[float, V]] = {}

    def __len__(self) -> int:
        return len(self._values)

    def put(self, key: K, value: V, at: float) -> None:
        self._values.pop(key, None)  # a dict keeps insertion order
        self._values[key] = (at, value)
        if len(self._values) > self._max_size:
            del self._values[next(iter(self._values))]

    def get(self, key: K, at: float) -> V | None:
        found = self._values.get(key)
        if found is None:
            return None
        if at - found[0] >= self._ttl_s:
            del self._values[key]
            return None
        return found[1]

    def discard(self, key: K) -> None:
        self._values.pop(key, None)

    def values(self, at: float) -> list[V]:
        """All values that have not expired, in insertion order."""
        return [value for put_at, value in self._values.values() if at - put_at < self._ttl_s]


MAX_SITUATIONS = 256  # situations in each of the two caches: answers and refusals
MAX_REFUSALS = 8  # cached refusals of one situation
MAX_REFUSALS_SENT = 5  # refusals in the prompt
MAX_ABANDONED_CALLS = 8  # calls that still run after their time limit

Ask = Callable[[PromptSituation, str], PolicyAction]
ActionKey = tuple[str, bool]  # the type of an action, and whether it is preemptive


class _Request:
    """One call. Its own thread sets ``ended``, then ``result``, once."""

    def __init__(self, situation: PromptSituation, at: float, begun: float) -> None:
        self.situation = situation
        self.at = at
        self.begun = begun
        self.ended = begun
        self.result: PolicyAction | BaseException | None = None

    def run(self, ask: Ask, refusals: str, steady: Callable[[], float]) -> None:
        result: PolicyAction | BaseException
        try:
            result = checked_action(ask(self.situation, refusals))
        except BaseException as error:  # also SystemExit: poll() must get a result
            result = error
        self.ended = steady()
        self.result = result


def run_in_daemon_thread(job: Callable[[], None]) -> None:
    threading.Thread(target=job, name='policy-model-call', daemon=True).start()


class LLMPolicyProvider:
    """Asks the model at most once in each ``window_s``, and caches its answers.

    ``start`` runs ``ask`` in another thread. ``ask`` gets the situation and the recent refusals as
    text; it raises SuggestionFailed. ``on_answer`` is called in that thread after ``ask`` ends.
    """

    def __init__(
        self,
        ask: Ask,
        settings: PolicyConfig,
        *,
        start: Callable[[Callable[[], None]], None] = run_in_daemon_thread,
        steady: Callable[[], float] = time.monotonic,
        on_answer: Callable[[], None] = lambda: None,
    ) -> None:
        self._ask = ask
        self._settings = settings
        self._start_thread = start
        self._clock = steady
        self._on_answer = on_answer
        self._window = float('-inf')  # number of the last window with a call
        self._request: _Request | None = None
        self._abandoned_calls: list[_Request] = []
        self._breaker = CircuitBreaker(settings.breaker_failures, settings.breaker_open_s)
        window = f'{settings.window_s:g} s (policy.window_s)'
        self._asked_already_text = f'it was asked already in this window of {window}'
        pause = f'{settings.breaker_open_s:g} s (policy.breaker_open_s)'
        times = f'{settings.breaker_failures} times in a row'
        self._resting_text = f'it failed {times} and is left alone for {pause}'
        self._answers: TtlCache[Key, PolicyAction] = TtlCache(settings.cache_s, MAX_SITUATIONS)
        self._refused: TtlCache[Key, dict[ActionKey, str]] = TtlCache(
            settings.rejected_s, MAX_SITUATIONS
        )

    def unavailable_reason(self, situation: PromptSituation, at: float) -> str:
        """Why a poll cannot yield an answer now: none is cached or under way, and no call may
        start. '' when it can. The situation needs no text.
        """
        if self._request is not None or self._answers.get(situation.key, at) is not None:
            return ''
        if not situation.options:
            return 'there is nothing that it could suggest'
        if reason := self.resting_reason(at):
            return reason
        if refused := self._refused.get(situation.key, at):
            return f'its idea was refused lately: {list(refused.values())[-1]}'
        self._abandoned_calls = [each for each in self._abandoned_calls if each.result is None]
        if len(self._abandoned_calls) >= MAX_ABANDONED_CALLS:
            return f'{MAX_ABANDONED_CALLS} calls to it hang; restart its server, or the agent'
        return ''

    def resting_reason(self, at: float) -> str:
        """Why no call may start now, whatever the situation; '' while one runs or may start."""
        if self._request is not None:
            return ''
        if at // self._settings.window_s <= self._window:
            return self._asked_already_text
        return '' if self._breaker.allows(at) else self._resting_text

    def poll(
        self, situation: PromptSituation, at: float
    ) -> Suggestion | NoSuggestion | PendingSuggestion:
        """The model's answer to this situation. Starts a call where one is allowed; never waits,
        never raises. Each answer or failure is returned once; an answer is returned again from
        the cache until it expires.
        """
        if self._request is None:
            known = self._answers.get(situation.key, at)
            if known is not None:
                return Suggestion(known, suggestion_text(known, known.rationale), cached=True)
            if reason := self.unavailable_reason(situation, at):
                return NoSuggestion(reason)
            self._start_request(situation, at)
        return self._poll_request(situation, at)

    def record_refusal(
        self, situation: PromptSituation, action: PolicyAction, reason: str, at: float
    ) -> None:
        """Remember that ``action`` was refused in ``situation``, and drop the cached answer."""
        action_key = (action.type, action.preemptive)
        refusals = dict(self._refused.get(situation.key, at) or {})
        refusals.pop(action_key, None)
        refusals[action_key] = cleaned_text(suggestion_text(action, reason))
        self._refused.put(situation.key, dict(list(refusals.items())[-MAX_REFUSALS:]), at)
        self._answers.discard(situation.key)

    def _start_request(self, situation: PromptSituation, at: float) -> None:
        self._window = at // self._settings.window_s
        self._breaker.record_start()
        request = self._request = _Request(situation, at, self._clock())
        recent = [text for refused in self._refused.values(at) for text in refused.values()]
        refusals = '\n'.join(recent[-MAX_REFUSALS_SENT:])

        def call() -> None:
            request.run(self._ask, refusals, self._clock)
            with suppress(RuntimeError):  # on_answer's event loop has closed
                self._on_answer()

        try:
            self._start_thread(call)
        except Exception as error:  # such as: can't start new thread
            request.result = error

    def _poll_request(
        self, situation: PromptSituation, at: float
    ) -> Suggestion | NoSuggestion | PendingSuggestion:
        request = self._request
        assert request is not None
        result = request.result
        ended = self._clock() if result is None else request.ended
        if ended - request.begun > self._settings.timeout_s:
            if result is None:
                self._abandoned_calls.append(request)
            limit = f'{self._settings.timeout_s:g} s (policy.timeout_s)'
            result = SuggestionFailed(f'The model did not answer within {limit}.')
        if result is None:
            return PendingSuggestion()
        self._request = None
        if isinstance(result, PolicyAction):
            return self._record_answer(request, result, situation, at)
        self._breaker.record_failure(at)
        if isinstance(result, SuggestionFailed):
            return NoSuggestion(result.reason, result.answer_text)
        return NoSuggestion(f'The model failed ({type(result).__name__}).')

    def _record_answer(
        self, request: _Request, action: PolicyAction, situation: PromptSituation, at: float
    ) -> Suggestion | NoSuggestion:
        words = suggestion_text(action, action.rationale)
        asked = request.situation
        refused = self._refused.get(asked.key, at) or {}
        if action.type not in asked.options:
            self._breaker.record_failure(at)  # the safety filter gives the reason
        else:
            self._breaker.record_success()
            if (action.type, action.preemptive) not in refused:
                self._answers.put(asked.key, action, request.at)
        if asked.key != situation.key:
            return NoSuggestion('its answer came when the situation had changed', words)
        if why := refused.get((action.type, action.preemptive)):
            return NoSuggestion(f'its idea was refused lately: {why}', words)
        if at - request.at > max(self._settings.cache_s, self._settings.window_s):
            return NoSuggestion('its answer was looked at too late', words)
        return Suggestion(action, words, cached=False)
