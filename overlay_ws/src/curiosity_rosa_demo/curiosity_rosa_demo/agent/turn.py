"""One turn: the model proposes, one tool is carried out, its result goes back, until it answers.

This is ROSA's executor. Every call is traced as DECIDE, ACT, RESULT or ERROR; the model's free
text as HYPOTHESIZE, or as OBSERVE once it has a result to speak of.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain.agents.output_parsers.tools import ToolAgentAction
from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langchain_core.tools import BaseTool
from pydantic import ValidationError

from curiosity_rosa_demo.agent.cancellation import Cancellation
from curiosity_rosa_demo.agent.journal import Journal
from curiosity_rosa_demo.agent.model_call import TurnFailed, decide
from curiosity_rosa_demo.agent.reporting import Trace, number, trace_result
from curiosity_rosa_demo.domain.models import ToolResult, TraceKind
from curiosity_rosa_demo.domain.serde import from_json, to_json
from curiosity_rosa_demo.infra.config_models import LlmConfig
from curiosity_rosa_demo.tools.arguments import in_words, shown

ONE_AT_A_TIME = 'One tool call at a time: this one was not carried out'
MAX_REFUSED_IN_A_ROW = 3  # calls that are no calls: unknown tools, wrong arguments


class BadCall(Exception):
    """A call that cannot be carried out; the message says why, for the model and the user."""


@dataclass
class TurnResult:
    """How a turn ended. ``score`` and ``is_good`` are those of its last capture."""

    ok: bool
    answer: str
    score: float | None = None
    is_good: bool = False
    steps: int = 0


@dataclass
class _Progress:
    cancellation: Cancellation
    journal: Journal
    steps: list[tuple[AgentAction, str]] = field(default_factory=list)
    refused_in_a_row: int = 0
    score: float | None = None
    is_good: bool = False


class TurnExecutor:
    """Stands where ROSA has its AgentExecutor; ROSA.invoke calls ``invoke``."""

    def __init__(
        self,
        agent: Any,
        tools: Sequence[BaseTool],
        *,
        llm: LlmConfig,
        max_steps: int,
        trace: Trace,
        memory: Callable[[], str],
    ) -> None:
        self._agent, self._llm, self._max_steps = agent, llm, max_steps
        self._tools = {tool.name: tool for tool in tools}
        self._trace, self._memory = trace, memory
        self.cancellation = Cancellation()
        self.journal = Journal([], lambda: None)
        self.last: TurnResult | None = None

    def invoke(self, inputs: dict[str, Any], *_: Any, **__: Any) -> dict[str, str]:
        """Run one turn; ``last`` tells how it ended. Raises TurnCancelled.

        ``cancellation`` and ``journal`` are those of the turn that begins next.
        """
        progress = _Progress(self.cancellation, self.journal)
        self.journal = Journal([], lambda: None)
        try:
            answer, ok = self._loop(inputs, progress), True
            self._trace(TraceKind.RESULT, answer, ok=True, score=progress.score)
        except Exception as failure:  # ROSA would make an answer of it, without an event
            known = isinstance(failure, TurnFailed)
            answer, ok = str(failure) if known else f'Internal error: {failure!r}', False
            self._trace(TraceKind.ERROR, answer, ok=False, error_reason=answer)
        self.last = TurnResult(
            ok=ok,
            answer=answer,
            score=progress.score,
            is_good=progress.is_good,
            steps=len(progress.steps),
        )
        return {'output': answer}

    def _loop(self, inputs: dict[str, Any], progress: _Progress) -> str:
        memory = self._memory()
        history: list[BaseMessage] = [SystemMessage(memory)] if memory else []
        history += inputs.get('chat_history', [])
        self._go_on(progress)
        while True:
            question = {
                'input': inputs['input'],
                'chat_history': history,
                'intermediate_steps': progress.steps,
            }
            decision = decide(self._agent, question, self._llm, progress.cancellation)
            if isinstance(decision, AgentFinish):
                answer = _text_of(decision.return_values.get('output', '')).strip()
                if not answer:
                    raise TurnFailed('The model answered nothing.')
                return answer
            thought = self._think(decision[0], progress)
            for place, action in enumerate(decision):
                if len(progress.steps) >= self._max_steps:
                    raise TurnFailed(
                        f'Stopped after {self._max_steps} steps without an answer '
                        '(turn.max_steps of agent.yaml).'
                    )
                progress.journal.begin(action, thought if place == 0 else '')
                result = self._act(action, progress) if place == 0 else self._decline(action)
                progress.steps.append((action, to_json(result)))
                progress.journal.end(progress.steps[-1][1])

    def _go_on(self, progress: _Progress) -> None:
        """Take over what an interrupted turn has done, and look where that has led."""
        for action, result in progress.journal.steps():
            progress.steps.append((action, result))
            self._note(progress, action.tool, from_json(ToolResult, result))
        if not progress.steps:
            return
        call_id = f'resumed-{len(progress.steps)}'
        call = {'name': 'get_status', 'args': {}, 'id': call_id}
        look = ToolAgentAction(
            tool='get_status',
            tool_input={},
            log='',
            tool_call_id=call_id,
            message_log=[AIMessage(content='', tool_calls=[call])],
        )
        progress.journal.begin(look, '')
        progress.steps.append((look, to_json(self._act(look, progress))))
        progress.journal.end(progress.steps[-1][1])

    def _think(self, action: AgentAction, progress: _Progress) -> str:
        thought = ''
        for message in getattr(action, 'message_log', []):
            text = _text_of(message.content).strip()
            if text:
                kind = TraceKind.OBSERVE if progress.steps else TraceKind.HYPOTHESIZE
                self._trace(kind, text)
                thought = text
        return thought

    # --- its tools --------------------------------------------------------------------------

    def _act(self, action: AgentAction, progress: _Progress) -> ToolResult:
        name, call = shown(action.tool), shown(_call_text(action.tool, action.tool_input))
        self._trace(TraceKind.DECIDE, call, tool_name=name)
        try:
            arguments = self._checked(action)
        except BadCall as problem:
            return self._refuse(name, str(problem), progress)
        progress.refused_in_a_row = 0
        self._trace(
            TraceKind.ACT,
            _call_text(name, arguments),
            tool_name=name,
            data={'arguments': arguments},
        )
        progress.cancellation.check()
        result: ToolResult = self._tools[name].func(**arguments)  # type: ignore[attr-defined]
        self._note(progress, name, result)
        trace_result(self._trace, name, result)
        return result

    def _note(self, progress: _Progress, name: str, result: ToolResult) -> None:
        if name == 'capture_and_score':
            progress.score = number(result.data.get('score'))
            progress.is_good = result.ok and result.data.get('is_good') is True

    def _checked(self, action: AgentAction) -> dict[str, Any]:
        """The arguments as the tool takes them. Raises BadCall."""
        tool = self._tools.get(action.tool)
        if tool is None:
            there_are = ', '.join(self._tools)
            raise BadCall(f"Unknown tool '{shown(action.tool)}'; there are: {there_are}")
        schema = tool.get_input_schema()
        try:
            return schema.model_validate(action.tool_input).model_dump()
        except ValidationError as error:
            why = in_words(error, schema)
            raise BadCall(f'Wrong arguments for {action.tool}: {why}') from None

    def _refuse(self, name: str, problem: str, progress: _Progress) -> ToolResult:
        progress.refused_in_a_row += 1
        self._trace(TraceKind.ERROR, problem, tool_name=name, ok=False, error_reason=problem)
        if progress.refused_in_a_row >= MAX_REFUSED_IN_A_ROW:
            raise TurnFailed(
                f'The model proposed {MAX_REFUSED_IN_A_ROW} calls in a row that are none; '
                f'the last: {problem}'
            )
        return ToolResult.failure(problem)

    def _decline(self, action: AgentAction) -> ToolResult:
        name = shown(action.tool)
        self._trace(
            TraceKind.ERROR,
            f'{name}: {ONE_AT_A_TIME}',
            tool_name=name,
            ok=False,
            error_reason=ONE_AT_A_TIME,
        )
        return ToolResult.failure(ONE_AT_A_TIME)


def _call_text(name: str, arguments: Any) -> str:
    if not isinstance(arguments, dict):
        return f'{name}({json.dumps(arguments)})'
    return f'{name}({", ".join(f"{key}={json.dumps(value)}" for key, value in arguments.items())})'


def _text_of(content: Any) -> str:
    """A message's content as text: a string, or the text parts of a list of blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = (part.get('text', '') if isinstance(part, dict) else part for part in content)
        return ''.join(str(part) for part in parts)
    return ''
