"""One turn: the model proposes, one tool is carried out, its result goes back, until it answers.

This is ROSA's executor. Every call is traced as DECIDE, ACT, RESULT or ERROR; the model's free
text as HYPOTHESIZE, or as OBSERVE once it has a result to speak of.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.exceptions import OutputParserException
from langchain_core.messages import BaseMessage, SystemMessage
from langchain_core.tools import BaseTool
from pydantic import BaseModel, ValidationError

from curiosity_rosa_demo.agent.cancellation import Cancellation
from curiosity_rosa_demo.agent.model_errors import explain
from curiosity_rosa_demo.agent.reporting import Trace, number, trace_result
from curiosity_rosa_demo.domain.models import ToolResult, TraceKind
from curiosity_rosa_demo.domain.serde import to_json
from curiosity_rosa_demo.infra.config_models import LlmConfig

ONE_AT_A_TIME = 'One tool call at a time: this one was not carried out'
MAX_REFUSED_IN_A_ROW = 3  # calls that are no calls: unknown tools, wrong arguments
RETRY_SLACK_S = 10.0  # for the provider's waits between its tries


class TurnFailed(Exception):
    """The turn cannot go on; the message is for the user."""


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
        self.last: TurnResult | None = None

    def invoke(self, inputs: dict[str, Any], *_: Any, **__: Any) -> dict[str, str]:
        """Run one turn; ``last`` tells how it ended. Raises TurnCancelled."""
        progress = _Progress()
        try:
            answer, ok = self._loop(inputs, progress), True
            self._trace(TraceKind.RESULT, answer, ok=True, score=progress.score)
        except TurnFailed as failure:
            answer, ok = str(failure), False
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
        while True:
            decision = self._decide(
                {
                    'input': inputs['input'],
                    'chat_history': history,
                    'intermediate_steps': progress.steps,
                }
            )
            if isinstance(decision, AgentFinish):
                answer = _text_of(decision.return_values.get('output', '')).strip()
                if not answer:
                    raise TurnFailed('The model answered nothing.')
                return answer
            actions = list(decision) if isinstance(decision, list) else [decision]
            self._think(actions[0], progress)
            for number, action in enumerate(actions):
                if len(progress.steps) >= self._max_steps:
                    raise TurnFailed(
                        f'Stopped after {self._max_steps} steps without an answer '
                        '(turn.max_steps of agent.yaml).'
                    )
                result = self._act(action, progress) if number == 0 else self._decline(action)
                progress.steps.append((action, to_json(result)))

    # --- the model --------------------------------------------------------------------------

    def _decide(self, inputs: dict[str, Any]) -> Any:
        """One decision. A call that hangs is left behind in its thread: a stop waits for
        nobody."""
        outcome: list[Any] = []
        done = threading.Event()

        def ask() -> None:
            try:
                outcome.append(self._agent.invoke(inputs))
            except Exception as error:
                outcome.append(error)
            done.set()

        self.cancellation.check()
        threading.Thread(target=ask, name='model-call', daemon=True).start()
        patience = self._llm.timeout_s * (self._llm.max_retries + 1) + RETRY_SLACK_S
        waited = 0.0
        while not done.wait(0.05):
            self.cancellation.check()
            waited += 0.05
            if waited > patience:
                raise TurnFailed(f'The model did not answer within {patience:g} s.')
        self.cancellation.check()
        if isinstance(outcome[0], OutputParserException):
            raise TurnFailed('The model wrote a tool call that cannot be read.') from outcome[0]
        if isinstance(outcome[0], Exception):
            raise TurnFailed(explain(outcome[0], self._llm)) from outcome[0]
        return outcome[0]

    def _think(self, action: AgentAction, progress: _Progress) -> None:
        for message in getattr(action, 'message_log', []):
            text = _text_of(message.content).strip()
            if text:
                kind = TraceKind.OBSERVE if progress.steps else TraceKind.HYPOTHESIZE
                self._trace(kind, text)

    # --- its tools --------------------------------------------------------------------------

    def _act(self, action: AgentAction, progress: _Progress) -> ToolResult:
        arguments = action.tool_input if isinstance(action.tool_input, dict) else {}
        call = f'{action.tool}({_arguments_text(arguments)})'
        self._trace(TraceKind.DECIDE, call, tool_name=action.tool)
        problem = self._problem(action)
        if problem:
            progress.refused_in_a_row += 1
            self._trace(
                TraceKind.ERROR, problem, tool_name=action.tool, ok=False, error_reason=problem
            )
            if progress.refused_in_a_row >= MAX_REFUSED_IN_A_ROW:
                raise TurnFailed(
                    f'The model proposed {MAX_REFUSED_IN_A_ROW} calls in a row that are none; '
                    f'the last: {problem}'
                )
            return ToolResult.failure(problem)
        progress.refused_in_a_row = 0
        self._trace(TraceKind.ACT, call, tool_name=action.tool, data={'arguments': arguments})
        result: ToolResult = self._tools[action.tool].func(**arguments)  # type: ignore[attr-defined]
        if action.tool == 'capture_and_score':
            progress.score = number(result.data.get('score'))
            progress.is_good = result.ok and result.data.get('is_good') is True
        trace_result(self._trace, action.tool, result)
        return result

    def _decline(self, action: AgentAction) -> ToolResult:
        self._trace(
            TraceKind.ERROR,
            f'{action.tool}: {ONE_AT_A_TIME}',
            tool_name=action.tool,
            ok=False,
            error_reason=ONE_AT_A_TIME,
        )
        return ToolResult.failure(ONE_AT_A_TIME)

    def _problem(self, action: AgentAction) -> str:
        """Why this call cannot be carried out, or nothing."""
        tool = self._tools.get(action.tool)
        if tool is None:
            return f"Unknown tool '{action.tool[:80]}'; there are: {', '.join(self._tools)}"
        schema = tool.args_schema
        try:
            if isinstance(schema, type) and issubclass(schema, BaseModel):
                schema.model_validate(action.tool_input)
        except ValidationError as error:
            first = error.errors()[0]
            where = '.'.join(str(part) for part in first['loc']) or 'arguments'
            return f'Wrong arguments for {action.tool}: {where}: {first["msg"]}'
        return ''


def _arguments_text(arguments: dict[str, Any]) -> str:
    text = ', '.join(f'{key}={json.dumps(value)}' for key, value in arguments.items())
    return text if len(text) <= 200 else text[:197] + '...'


def _text_of(content: Any) -> str:
    """A message's content as text: a string, or the text parts of a list of blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = (part.get('text', '') if isinstance(part, dict) else part for part in content)
        return ''.join(str(part) for part in parts)
    return ''
