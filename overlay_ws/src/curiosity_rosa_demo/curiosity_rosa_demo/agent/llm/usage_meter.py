# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""Asks the ledger before each call of a chat model, and tells it what the call has used."""

from __future__ import annotations

import logging
import threading
from typing import Any
from uuid import UUID

from curiosity_rosa_demo.agent.llm.budget import BudgetRefusal
from curiosity_rosa_demo.agent.llm.call import ModelCallFailed
from curiosity_rosa_demo.agent.llm.usage import (
    answer_tokens,
    reported_tokens,
    request_tokens,
    Tokens,
)
from curiosity_rosa_demo.agent.llm.usage_ledger import CallEntry, UsageLedger
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage
from langchain_core.outputs import LLMResult

_callback_log = logging.getLogger('langchain_core.callbacks.manager')
_NOT_SENT = ('ConnectError', 'ConnectTimeout', 'LocalModelFailed', 'UnsupportedProtocol')


class BudgetReached(ModelCallFailed):
    """The call was not made: a limit of llm.budget is reached."""

    def __init__(self, refusal: BudgetRefusal) -> None:
        super().__init__(refusal.text())
        self.refusal = refusal


# LangChain logs what a callback raises; this is no fault, and the turn says it.
_callback_log.addFilter(lambda record: BudgetReached.__name__ not in record.getMessage())


class UsageMeter(BaseCallbackHandler):
    """A callback of the model itself, so that no call of it goes uncounted. Raises BudgetReached
    in place of a call.

    The client retries by itself. ``record_attempt`` and ``record_response`` count its attempts in
    the thread of the call: one that was never answered may be billed, one with an error is not.
    """

    raise_error = True  # else LangChain would swallow BudgetReached

    def __init__(self, ledger: UsageLedger) -> None:
        self._ledger = ledger
        self._calls: dict[UUID, tuple[CallEntry, int]] = {}
        self._attempts = threading.local()

    def on_chat_model_start(
        self,
        serialized: dict[str, Any],
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        **kwargs: Any,
    ) -> None:
        tools = (kwargs.get('invocation_params') or {}).get('tools') or ()
        needed = sum(request_tokens(each) for each in messages) + request_tokens((), tools)
        entry = self._ledger.admit(needed)
        if isinstance(entry, BudgetRefusal):
            raise BudgetReached(entry)
        self._calls[run_id] = entry, needed
        self._attempts.unanswered, self._attempts.accepted = 0, False

    def record_attempt(self) -> None:
        self._attempts.unanswered = self._unanswered() + 1

    def record_response(self, ok: bool) -> None:
        self._attempts.unanswered = max(0, self._unanswered() - 1)
        self._attempts.accepted = ok

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: Any) -> None:
        entry, needed = self._calls.pop(run_id, (None, 0))
        if entry is None:
            return
        message = getattr(response.generations[0][0], 'message', None)
        tokens = reported_tokens(message)
        if tokens is None:
            made = 0 if message is None else answer_tokens(message)
            tokens = Tokens(needed, made, estimated=True)
        self._ledger.settle(entry, _with_lost(tokens, self._unanswered(), needed))

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        entry, needed = self._calls.pop(run_id, (None, 0))
        if entry is None:
            return
        names = {type(each).__name__ for each in _chain(error)}
        refused = any(getattr(each, 'status_code', None) for each in _chain(error))
        lost = self._unanswered() + getattr(self._attempts, 'accepted', False)
        if names & set(_NOT_SENT) or (refused and not lost):
            lost = 0
        elif not refused:
            lost = max(lost, 1)  # also for a client whose attempts are not seen
        self._ledger.settle(entry, _with_lost(Tokens(), lost, needed))

    def _unanswered(self) -> int:
        return int(getattr(self._attempts, 'unanswered', 0))


def _with_lost(tokens: Tokens, lost: int, needed: int) -> Tokens:
    """``tokens`` with the estimated input of the attempts whose answer never came."""
    if not lost:
        return tokens
    return Tokens(
        tokens.input + lost * needed, tokens.output, tokens.cached, tokens.reasoning, True
    )


def _chain(error: BaseException) -> list[BaseException]:
    chain: list[BaseException] = []
    each: BaseException | None = error
    while each is not None and each not in chain:
        chain.append(each)
        each = each.__cause__ or each.__context__
    return chain
