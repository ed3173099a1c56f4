# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""One call to a model: tries, time limit, cancellation, usable answers."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextvars import copy_context
import json
import re
import threading
from typing import Any

from curiosity_rosa_demo.agent.llm.errors import asked_wait_s, explain, may_pass
from curiosity_rosa_demo.agent.llm.wire import REFUSAL
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.text import clip, printable, valid_unicode
from curiosity_rosa_demo.infra.config.agent import LlmConfig
from curiosity_rosa_demo.infra.spans import span
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.exceptions import OutputParserException
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall
from tenacity import (
    retry_if_exception,
    RetryCallState,
    Retrying,
    stop_after_attempt,
    stop_after_delay,
    wait_random_exponential,
)

MAX_RETRY_WAIT_S = 8.0  # the longest pause between two attempts that the server does not ask for
CANCEL_GRACE_S = 1.0
MEANWHILE_S = 0.05
MAX_CALLS = 16  # at once, with those that still run after their time limit
ENDING_KEYS = ('finish_reason', 'stop_reason', 'done_reason')  # by provider
_calls = threading.BoundedSemaphore(MAX_CALLS)
_PAUSE = wait_random_exponential(multiplier=1.0, max=MAX_RETRY_WAIT_S)


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
    """The time limit of one decision with all its attempts, in seconds.

    The client's own time-out restarts with every byte, so it does not limit a server that sends
    its answer slowly.
    """
    return (
        llm.timeout_s * (llm.max_retries + 1) + MAX_RETRY_WAIT_S * llm.max_retries + CANCEL_GRACE_S
    )


def decide(
    agent: Any,
    inputs: Any,
    llm: LlmConfig,
    cancellation: Cancellation,
    *listeners: BaseCallbackHandler,
    meanwhile: Callable[[], None] = lambda: None,
) -> Any:
    """What ``agent``, a Runnable around the model, makes of ``inputs``. Raises ModelCallFailed, of
    which UnusableAnswer is one kind, and TurnCancelled.

    Each attempt is a call of its own for the usage. ``listeners`` receive the text as it arrives.
    ``meanwhile`` is called once the model has thought for MEANWHILE_S.
    A call that hangs is abandoned in its thread, so that a stop never waits for it; after
    MAX_CALLS of them no other is made.
    """
    limit_s, ended, outcome = call_timeout_s(llm), threading.Event(), list[Any]()
    attempts = Retrying(
        stop=stop_after_attempt(llm.max_retries + 1) | stop_after_delay(limit_s),
        retry=retry_if_exception(lambda error: may_pass(error, llm)),
        wait=_pause_s,
        sleep=cancellation.sleep,
        reraise=True,
    )

    def call() -> None:
        try:
            outcome.append(attempts(agent.invoke, inputs, {'callbacks': list(listeners)}))
        except BaseException as error:  # also SystemExit: an outcome is waited for
            outcome.append(error)
        finally:
            _calls.release()
            ended.set()

    cancellation.check()
    if not _calls.acquire(blocking=False):
        why = f'{MAX_CALLS} calls of it hang; restart its server, or the agent'
        raise ModelCallFailed(f'The model is not asked: {why}.')
    name = llm.model or llm.provider
    with span(f'chat {name}', {'gen_ai.operation.name': 'chat'}, is_client=True):
        context = copy_context()  # the call counts for its turn and task, and knows its span
        threading.Thread(target=context.run, args=(call,), name='model-call', daemon=True).start()
        with cancellation.call_when_pressed(ended.set):
            if not ended.wait(MEANWHILE_S):
                meanwhile()
                ended.wait(limit_s)
        cancellation.check()
        if not outcome:
            raise ModelCallFailed(f'The model did not answer within {limit_s:g} s.')
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


def _pause_s(state: RetryCallState) -> float:
    """As long as the server asks to wait, or longer from attempt to attempt."""
    error = None if state.outcome is None else state.outcome.exception()
    return (error and asked_wait_s(error)) or _PAUSE(state)


def call_attributes(message: BaseMessage) -> dict[str, Any]:
    """What the span of a call says of its answer, by OpenTelemetry's conventions for generative
    AI: names and counts as far as the provider says them, never a prompt or an answer.
    """
    usage, said = getattr(message, 'usage_metadata', None) or {}, message.response_metadata
    found: dict[str, Any] = {}
    for kind in ('input_tokens', 'output_tokens'):
        if type(usage.get(kind)) is int:
            found[f'gen_ai.usage.{kind}'] = usage[kind]
    for key in ENDING_KEYS:
        if isinstance(said.get(key), str):
            found['gen_ai.response.finish_reasons'] = [said[key][:50]]
    for key in ('model_name', 'model'):
        if isinstance(said.get(key), str):
            found['gen_ai.response.model'] = said[key]
    return found


# --- What is wrong with a model's answer before any goal is considered. Pure -------------------

FILTERED_TEXT = "The server withheld the model's answer (content_filter)."
CUT_TEXT = "The model's answer was cut at its limit of tokens (llm.max_tokens of agent.yaml)."
CALL_AS_TEXT = 'The model wrote a tool call as text, so nothing was called.'
NO_TEXT = '(no text)'  # some servers refuse an empty message
MAX_SAID_CHARS = 2000  # characters of a rejected answer that the model reads again
HOW = (
    'Call one tool now, with its arguments as a JSON object, or call decide with ABORT and the '
    'reason. Answer in text only if the task is done.'
)
_THINKING = re.compile(r'\A.*?</think>\s*', re.DOTALL)  # some templates omit the opening tag
_MARKS = re.compile(
    r'</?tool_calls?>|<function[=_(>]|<[|｜]tool[_▁]|<\|python_tag\|>|\[TOOL_CALLS\]',
    re.IGNORECASE,
)
_NAME = re.compile(r"""["'](?:name|tool|tool_name|function|action)["']\s*:\s*["']([^"']*)["']""")
_ARGUMENTS = re.compile(r"""["'](?:arguments|parameters|args)["']\s*:""")
_BARE_CALL = re.compile(r'\W*(\w+)\s*\(.*\)\W*', re.DOTALL)


def usable_answer(message: AIMessage, offered: Collection[str]) -> AIMessage:
    """``message`` with readable actions, and without the thoughts that a server left in its text.
    ``offered``: the names of the tools. Raises UnusableAnswer for what is neither a call nor an
    answer in text, and OutputParserException.
    """
    message = readable_actions(message)
    if isinstance(message.content, str):
        message = message.model_copy(update={'content': _THINKING.sub('', message.content)})
    metadata, text = message.response_metadata, message.text().strip()
    ending = ' '.join(str(metadata.get(key)) for key in ENDING_KEYS).lower()
    problem = ''
    if 'content_filter' in ending:
        problem = FILTERED_TEXT
    elif 'length' in ending or 'max_tokens' in ending:  # also a call: see readable_actions
        problem = CUT_TEXT
    elif message.tool_calls:
        return message
    elif REFUSAL in ending:
        problem = f'The model refused: {clip(printable(text))}'
    elif holds_tool_call(text, offered):
        problem = CALL_AS_TEXT
    if problem:
        raise UnusableAnswer(problem, text)
    return message


def holds_tool_call(text: str, offered: Collection[str]) -> bool:
    """Whether ``text`` has a tool call in it, in the form of JSON, of tags or of code."""
    bare, names = _BARE_CALL.fullmatch(text), _NAME.findall(text)
    return bool(
        _MARKS.search(text)
        or (bare and bare.group(1) in offered)
        or any(name in offered for name in names)
        or (names and _ARGUMENTS.search(text))
    )


def readable_actions(message: AIMessage) -> AIMessage:
    """``message`` with valid Unicode and whole tool calls. Raises OutputParserException.

    LangChain drops an invalid call if the message has a valid call or text as well. In a stream
    it completes truncated JSON: ``{"duration_s": 1``, cut from ``15``, would drive for one second.
    """
    for raw in message.additional_kwargs.get('tool_calls') or ():
        try:
            is_object = isinstance(json.loads(raw['function']['arguments'] or '{}'), dict)
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise OutputParserException('a tool call with torn arguments') from error
        if not is_object:
            raise OutputParserException('a tool call whose arguments are no JSON object')
    if any((invalid['args'] or '').strip() for invalid in message.invalid_tool_calls):
        raise OutputParserException('a tool call whose arguments are no JSON object')
    # Some servers send an empty string for no arguments, and some no ID; the parser needs one.
    calls = [
        ToolCall(
            name='_'.join((each['name'] or '').split()),
            args=each['args'] if isinstance(each['args'], dict) else {},
            id=each['id'] or '',
        )
        for each in (*message.tool_calls, *message.invalid_tool_calls)
    ]
    return message.model_copy(
        update={
            'content': valid_unicode(message.content),
            'additional_kwargs': valid_unicode(message.additional_kwargs),
            'tool_calls': valid_unicode(calls),
            'invalid_tool_calls': [],
        }
    )


def rejected_answer(said: str, why: str) -> list[BaseMessage]:
    """The messages that show a model its own answer and why it is asked again."""
    return [AIMessage(clip(said.strip(), MAX_SAID_CHARS) or NO_TEXT), HumanMessage(f'{why} {HOW}')]
