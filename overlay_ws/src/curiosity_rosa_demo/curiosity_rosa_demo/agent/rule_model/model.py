# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The default model: a LangChain chat model without weights or network, driven by rules.

The model reads the conversation (prompts, tool descriptions, tool results) and makes one tool call
at a time. The module ``rules`` makes the decisions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import json
import re
from typing import Any
import uuid

from curiosity_rosa_demo.agent.rule_model.decision import ToolCall
from curiosity_rosa_demo.agent.rule_model.rules import decide
from curiosity_rosa_demo.agent.rule_model.turn_view import RoverFigures, ToolStep, TurnView
from curiosity_rosa_demo.domain.brain_state import DecisionType
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.domain.operation import DECIDE_TOOL
from curiosity_rosa_demo.domain.serde import from_json, SerdeError
from curiosity_rosa_demo.domain.skills import MOTIONS
from curiosity_rosa_demo.trace.reporter import finite_float
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

MAX_REASON_CHARS = 300  # kept from an unreadable result, as its reason
_COST = re.compile(r'Cost:\s*(\d+(?:\.\d+)?)')
_LONGEST = re.compile(r'at most\s+(\d+(?:\.\d+)?)\s*s')
_SAID_AS = re.compile(r'Said as: ((?:"[^"]+"(?:, )?)+)')  # see registry.py
_STOWS = 'Needed before any drive.'  # see registry.py
_BRIGHT = re.compile(r'\bX\s*(?:>=|≥)\s*([-+]?\d+(?:\.\d+)?)')


class RuleChatModel(BaseChatModel):
    """The chat model of provider ``routine``. Bind tools, then invoke it with the conversation."""

    rover: RoverFigures

    @property
    def _llm_type(self) -> str:
        return 'routine'

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, BaseMessage]:
        """Bind ``tools`` to this model; ``tool_choice`` is ignored."""
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        tools = kwargs.get('tools') or []
        view = read_view(self.rover, messages, tools)
        decision = decide(view, skill_words(tools))
        if isinstance(decision, ToolCall):
            message = _with_call(decision.thought, decision.tool, decision.args)
        elif decision.ok or DECIDE_TOOL not in view.tools:
            message = AIMessage(content=decision.text)
        else:  # a text alone would count as a success
            abort = {'type': DecisionType.ABORT.value, 'reason': decision.text}
            message = _with_call('', DECIDE_TOOL, abort)
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        # A decision takes about a millisecond: less than the thread of the default implementation.
        return self._generate(messages, stop, None, **kwargs)


def _with_call(thought: str, tool: str, arguments: Mapping[str, Any]) -> AIMessage:
    call_id = f'call_{uuid.uuid4().hex}'
    call = {'name': tool, 'args': dict(arguments), 'id': call_id, 'type': 'tool_call'}
    return AIMessage(content=thought, tool_calls=[call])


def read_view(
    rover: RoverFigures, messages: Sequence[BaseMessage], tools: Sequence[Mapping[str, Any]] = ()
) -> TurnView:
    """The view of this turn, from the last human message, the steps after it, the system prompts
    and the tools.
    """
    goal_index = max(
        (i for i, m in enumerate(messages) if isinstance(m, HumanMessage)), default=-1
    )
    functions = [tool.get('function', tool) for tool in tools]
    system = '\n'.join(m.text() for m in messages if isinstance(m, SystemMessage))
    bright = _BRIGHT.search(system)
    return TurnView(
        rover,
        text=messages[goal_index].text() if goal_index >= 0 else '',
        steps=tuple(_read_steps(messages[goal_index + 1 :])),
        tools=frozenset(function['name'] for function in functions),
        costs=_numbers_in_descriptions(functions, _COST),
        bright_x=float(bright.group(1)) if bright else None,
        longest_s=min(
            (
                s
                for name, s in _numbers_in_descriptions(functions, _LONGEST).items()
                if name in MOTIONS and s > 0
            ),
            default=TurnView.longest_s,
        ),
        stows=tuple(
            function['name']
            for function in functions
            if _STOWS in str(function.get('description', ''))
        ),
    )


def skill_words(tools: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, str], ...]:
    """The phrases that the descriptions of ``tools`` name, each with its tool."""
    functions = [tool.get('function', tool) for tool in tools]
    return tuple(
        (phrase, function['name'])
        for function in functions
        if (said := _SAID_AS.search(function.get('description') or '')) is not None
        for phrase in re.findall('"([^"]+)"', said[1])
    )


def _numbers_in_descriptions(
    functions: Sequence[Mapping[str, Any]], what: re.Pattern[str]
) -> dict[str, float]:
    """For each function whose schema matches ``what``: the number of the first match."""
    texts = {f['name']: json.dumps(f, ensure_ascii=False) for f in functions}
    matches = {name: what.search(text) for name, text in texts.items()}
    return {name: float(match.group(1)) for name, match in matches.items() if match}


def _read_steps(messages: Sequence[BaseMessage]) -> list[ToolStep]:
    results = {m.tool_call_id: m for m in messages if isinstance(m, ToolMessage)}
    steps = []
    for message in messages:
        if isinstance(message, AIMessage):
            for call in message.tool_calls:
                answer = results.get(call['id'] or '')
                # A call without a result has an unknown effect: treat it as a failure.
                result = (
                    read_result(call['name'], answer.text())
                    if answer
                    else ToolResult.failure('No result was recorded')
                )
                steps.append(ToolStep(call['name'], call['args'], result))
    return steps


def read_result(tool: str, content: str) -> ToolResult:
    """Parse a tool result. Unreadable content becomes a failure with that text as its reason."""
    try:
        result = from_json(ToolResult, content)
    except SerdeError:
        return ToolResult.failure(content.strip()[:MAX_REASON_CHARS] or 'Empty result')
    if (
        tool == 'capture_and_score'
        and result.ok
        and finite_float(result.data.get('score')) is None
    ):
        return ToolResult.failure('capture_and_score gave no score')
    return result
