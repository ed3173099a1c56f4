# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Asks the ledger before each call of a chat model, and tells it what the call has used."""

from __future__ import annotations

from collections.abc import Mapping
import logging
from typing import Any
from uuid import UUID

from curiosity_rosa_demo.agent.llm.budget import BudgetRefusal, Tokens
from curiosity_rosa_demo.agent.llm.call import ModelCallFailed
from curiosity_rosa_demo.agent.llm.errors import may_be_billed
from curiosity_rosa_demo.agent.llm.messages import estimated_tokens, message_tokens
from curiosity_rosa_demo.agent.llm.usage import Entry, UsageLedger
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage
from langchain_core.outputs import LLMResult

MAX_TOKENS = 10**9  # of one call, whatever a server says
_callback_log = logging.getLogger('langchain_core.callbacks.manager')


class BudgetReached(ModelCallFailed):
    """The call was not made: a limit of llm.budget is reached."""

    def __init__(self, refusal: BudgetRefusal) -> None:
        super().__init__(refusal.text())
        self.refusal = refusal


# LangChain logs what a callback raises; this is no fault, and the turn says it.
_callback_log.addFilter(lambda record: BudgetReached.__name__ not in record.getMessage())


class UsageMeter(BaseCallbackHandler):
    """A callback of the model itself, so that no call of it goes uncounted. Raises BudgetReached
    in place of a call. A call that was never answered may be billed, one that was refused is not.
    """

    raise_error = True  # else LangChain would swallow BudgetReached

    def __init__(self, ledger: UsageLedger) -> None:
        self._ledger = ledger
        self._calls: dict[UUID, tuple[Entry, int]] = {}

    def on_chat_model_start(
        self,
        serialized: dict[str, Any],
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        **kwargs: Any,
    ) -> None:
        tools = (kwargs.get('invocation_params') or {}).get('tools') or ()
        needed = estimated_tokens(messages[0], tools, self._ledger.llm.image_px)
        entry = self._ledger.admit(needed)
        if isinstance(entry, BudgetRefusal):
            raise BudgetReached(entry)
        self._calls[run_id] = entry, needed

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: Any) -> None:
        message: Any = getattr(response.generations[0][0], 'message', None)
        self._settle(run_id, _reported_tokens(message), message_tokens(message))

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        self._settle(run_id, None if may_be_billed(error) else Tokens())

    def _settle(self, run_id: UUID, tokens: Tokens | None, made: int = 0) -> None:
        """``tokens`` None: not reported. ``made``: an estimate of the output."""
        if run_id in self._calls:  # not one that was refused
            entry, needed = self._calls.pop(run_id)
            self._ledger.settle(entry, tokens or Tokens(needed, made, estimated=True))


def _reported_tokens(message: BaseMessage) -> Tokens | None:
    """The tokens in LangChain's ``usage_metadata``; None: the provider reported none."""
    usage = getattr(message, 'usage_metadata', None)
    given, made = _count(usage, 'input_tokens'), _count(usage, 'output_tokens')
    if not given and not made:
        return None
    cached = _count((usage or {}).get('input_token_details'), 'cache_read')
    reasoning = _count((usage or {}).get('output_token_details'), 'reasoning')
    return Tokens(given, made, min(cached, given), min(reasoning, made))


def _count(holder: object, name: str) -> int:
    value = holder.get(name) if isinstance(holder, Mapping) else None
    return min(value, MAX_TOKENS) if type(value) is int and value > 0 else 0
