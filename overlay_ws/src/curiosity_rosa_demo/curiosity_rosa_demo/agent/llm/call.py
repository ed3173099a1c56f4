# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""One question to the model and its decision, within a time limit and with a way out."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

from curiosity_rosa_demo.agent.llm.errors import explain
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.text import valid_unicode
from curiosity_rosa_demo.infra.config.agent import LlmConfig
from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.exceptions import OutputParserException
from langchain_core.messages import AIMessage, BaseMessage, ToolCall

MAX_RETRY_WAIT_S = 8.0  # the longest that a provider's client waits by itself between two tries
CANCEL_GRACE_S = 1.0
POLL_PERIOD_S = 0.05


class ModelCallFailed(Exception):
    """The turn cannot go on; the message is for the user."""


def call_timeout_s(llm: LlmConfig) -> float:
    """How long one decision may take with all its retries, in seconds.

    The client's own time-out starts anew with every byte, so it alone does not hold against a
    server that trickles.
    """
    return (
        llm.timeout_s * (llm.max_retries + 1) + MAX_RETRY_WAIT_S * llm.max_retries + CANCEL_GRACE_S
    )


def decide(
    agent: Any,
    inputs: dict[str, Any],
    llm: LlmConfig,
    cancellation: Cancellation,
    *listeners: BaseCallbackHandler,
) -> AgentFinish | list[AgentAction]:
    """What the model wants next. Raises ModelCallFailed and TurnCancelled.

    ``listeners`` hear the text as it arrives. A call that hangs is left behind in its thread: a
    stop waits for nobody.
    """
    outcome: list[Any] = []
    done = threading.Event()

    def ask() -> None:
        try:
            outcome.append(agent.invoke(inputs, {'callbacks': list(listeners)}))
        except BaseException as error:  # also a SystemExit: somebody waits for the outcome
            outcome.append(error)
        finally:
            done.set()

    cancellation.check()
    threading.Thread(target=ask, name='model-call', daemon=True).start()
    patience = call_timeout_s(llm)
    deadline = time.monotonic() + patience
    while not done.wait(POLL_PERIOD_S):
        cancellation.check()
        if time.monotonic() > deadline:
            raise ModelCallFailed(f'The model did not answer within {patience:g} s.')
    cancellation.check()
    decision = outcome[0]
    if isinstance(decision, OutputParserException):
        raise ModelCallFailed('The model wrote a tool call that cannot be read.') from decision
    if isinstance(decision, Exception):
        raise ModelCallFailed(explain(decision, llm)) from decision
    if isinstance(decision, BaseException):
        raise ModelCallFailed(f'The model failed ({type(decision).__name__}).') from decision
    return decision


def readable_actions(message: BaseMessage) -> BaseMessage:
    """``message`` with valid Unicode and whole tool calls. Raises OutputParserException.

    LangChain drops a call that it cannot read when another can be, or when there is text beside
    it, and from a stream it completes a torn one: ``{"duration_s": 1`` of ``15`` would drive for
    one second.
    """
    if not isinstance(message, AIMessage):
        return message
    for raw in message.additional_kwargs.get('tool_calls') or ():
        _check_arguments(raw)
    calls = list(message.tool_calls)
    for invalid in message.invalid_tool_calls:
        if (invalid['args'] or '').strip():
            raise OutputParserException('a tool call whose arguments are no JSON object')
        # Some servers send nothing for no arguments.
        calls.append(ToolCall(name=invalid['name'] or '', args={}, id=invalid['id']))
    # Some name no ID; the parser wants one.
    calls = [ToolCall(name=each['name'], args=each['args'], id=each['id'] or '') for each in calls]
    return message.model_copy(
        update={
            'content': valid_unicode(message.content),
            'additional_kwargs': valid_unicode(message.additional_kwargs),
            'tool_calls': valid_unicode(calls),
            'invalid_tool_calls': [],
        }
    )


def _check_arguments(call: Any) -> None:
    try:
        text = call['function']['arguments'] or '{}'
        is_object = isinstance(json.loads(text), dict)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise OutputParserException('a tool call with torn arguments') from error
    if not is_object:
        raise OutputParserException('a tool call whose arguments are no JSON object')
