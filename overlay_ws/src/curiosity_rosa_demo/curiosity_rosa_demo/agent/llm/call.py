# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""One call to the model for its next decision, with a time limit and cancellation."""

from __future__ import annotations

from contextvars import copy_context
import json
import threading
import time
from typing import Any

from curiosity_rosa_demo.agent.llm.errors import explain
from curiosity_rosa_demo.agent.llm.model_span import model_span, span_listeners
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.text import valid_unicode
from curiosity_rosa_demo.infra.config.agent import LlmConfig
from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.exceptions import OutputParserException
from langchain_core.messages import AIMessage, BaseMessage, ToolCall

# -----------------------------------------------------------------------------------------------
# A circuit breaker for calls to a model. Pure: the caller passes the time in seconds (``at``).


class CircuitBreaker:
    """After ``failures`` consecutive failures the breaker opens for ``open_s`` seconds. It then
    allows one trial call (half open), which closes it or opens it again.
    """

    def __init__(self, failures: int, open_s: float) -> None:
        if failures < 1 or not open_s > 0.0:
            raise ValueError(f'failures {failures} must be at least 1, open_s {open_s} above 0')
        self._limit = failures
        self._open_s = open_s
        self._failures = 0
        self._open_until = 0.0
        self._probing = False

    @property
    def state(self) -> str:
        """``closed``, ``open`` or ``half open``. The breaker stays ``open`` until the trial call
        starts, also after ``open_s``.
        """
        if self._failures < self._limit:
            return 'closed'
        return 'half open' if self._probing else 'open'

    def allows(self, at: float) -> bool:
        """Whether a call may start. Changes no state: call ``record_start`` at the start."""
        if self._failures < self._limit:
            return True
        return not self._probing and at >= self._open_until

    def record_start(self) -> None:
        self._probing = True

    def record_success(self) -> None:
        self._probing = False
        self._failures = 0

    def record_failure(self, at: float) -> None:
        self._probing = False
        self._failures += 1
        if self._failures >= self._limit:
            self._open_until = at + self._open_s


MAX_RETRY_WAIT_S = 8.0  # the longest pause of a provider's client between two attempts
CANCEL_GRACE_S = 1.0
POLL_PERIOD_S = 0.05


class ModelCallFailed(Exception):
    """The model call failed, which ends the turn. The message is for the user."""


class UnusableAnswer(ModelCallFailed):
    """The model answered, but not with a call or an answer of which something can be made.
    ``said``: its text.
    """

    def __init__(self, why: str, said: str = '') -> None:
        super().__init__(why)
        self.said = said


def call_timeout_s(llm: LlmConfig) -> float:
    """The time limit of one decision with all its retries, in seconds.

    The client's own time-out restarts with every byte, so it does not limit a server that sends
    its answer slowly.
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
    """The model's next actions or its final answer. Raises ModelCallFailed, of which
    UnusableAnswer is one kind, and TurnCancelled.

    ``listeners`` receive the text as it arrives. A call that hangs is abandoned in its thread, so
    that a stop never waits for it.
    """
    with model_span(llm) as call:
        return _decide(agent, inputs, llm, cancellation, *listeners, *span_listeners(call))


def _decide(
    agent: Any,
    inputs: dict[str, Any],
    llm: LlmConfig,
    cancellation: Cancellation,
    *listeners: BaseCallbackHandler,
) -> AgentFinish | list[AgentAction]:
    outcome: list[Any] = []
    done = threading.Event()

    def invoke() -> None:
        try:
            outcome.append(agent.invoke(inputs, {'callbacks': list(listeners)}))
        except BaseException as error:  # also SystemExit: the loop below waits for an outcome
            outcome.append(error)
        finally:
            done.set()

    cancellation.check()
    context = copy_context()  # the call counts for its turn and task
    threading.Thread(target=lambda: context.run(invoke), name='model-call', daemon=True).start()
    limit_s = call_timeout_s(llm)
    deadline = time.monotonic() + limit_s
    while not done.wait(POLL_PERIOD_S):
        cancellation.check()
        if time.monotonic() > deadline:
            raise ModelCallFailed(f'The model did not answer within {limit_s:g} s.')
    cancellation.check()
    decision = outcome[0]
    if isinstance(decision, ModelCallFailed):
        raise decision
    if isinstance(decision, OutputParserException):
        raise UnusableAnswer('The model wrote a tool call that cannot be read.') from decision
    if isinstance(decision, Exception):
        raise ModelCallFailed(explain(decision, llm)) from decision
    if isinstance(decision, BaseException):
        raise ModelCallFailed(f'The model failed ({type(decision).__name__}).') from decision
    return decision


def readable_actions(message: BaseMessage) -> BaseMessage:
    """``message`` with valid Unicode and whole tool calls. Raises OutputParserException.

    LangChain drops an invalid call if the message has a valid call or text as well. In a stream
    it completes truncated JSON: ``{"duration_s": 1``, cut from ``15``, would drive for one second.
    """
    if not isinstance(message, AIMessage):
        return message
    for raw in message.additional_kwargs.get('tool_calls') or ():
        _check_arguments(raw)
    calls = list(message.tool_calls)
    for invalid in message.invalid_tool_calls:
        if (invalid['args'] or '').strip():
            raise OutputParserException('a tool call whose arguments are no JSON object')
        # Some servers send an empty string for no arguments.
        calls.append(ToolCall(name=invalid['name'] or '', args={}, id=invalid['id']))
    # Some servers send no ID; the parser requires one.
    calls = [
        ToolCall(name='_'.join(each['name'].split()), args=each['args'], id=each['id'] or '')
        for each in calls
    ]
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
