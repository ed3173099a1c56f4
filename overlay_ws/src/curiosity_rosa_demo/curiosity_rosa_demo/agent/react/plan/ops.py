# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The operation and the question of a plan's step. Pure."""

from __future__ import annotations

from curiosity_rosa_demo.domain.brain_state import Json
from curiosity_rosa_demo.domain.operation import call_text
from curiosity_rosa_demo.domain.plan.plan import (
    Plan,
    PlanStatus,
    PlanStep,
    RiskLevel,
    ToolCallType,
)
from curiosity_rosa_demo.domain.text import clip, count_text, without_controls

MAX_LINE_CHARS = 500  # characters of a model's text on the console
FALLBACK_PARAMETERS = 'fallback_parameters'  # in a step's metadata
SPEECH_KEYS = ('text', 'message', 'content')
QUERY_KEYS = ('query', 'question', 'text')
PROMPT_KEYS = ('prompt', 'message', 'question')


class NoOperation(ValueError):
    """The step lacks an argument that its skill needs; the message names it."""


def step_operation(step: PlanStep, *, fallback: bool = False) -> tuple[str, Json]:
    """The skill and its arguments; skill '' for a step without operation. Raises NoOperation."""
    if fallback and step.fallback:
        parameters = step.metadata.get(FALLBACK_PARAMETERS, {})
        if not isinstance(parameters, dict):
            raise NoOperation(f'metadata.{FALLBACK_PARAMETERS} must be an object')
        return step.fallback, parameters
    kind = step.tool_call_type
    if kind is ToolCallType.EXECUTE:
        return step.action, step.parameters
    if kind is ToolCallType.SPEAK:
        return 'speak', {'text': _needed(step, SPEECH_KEYS)}
    if kind is ToolCallType.QUERY_WORLD:
        return 'query_world', {'query': _text(step, QUERY_KEYS)}
    if kind is ToolCallType.QUERY_KNOWLEDGE:
        return 'query_knowledge', {'query': _needed(step, QUERY_KEYS)}
    return '', {}


def step_question(step: PlanStep, *, fallback: bool = False) -> str:
    """The question to the operator about this step; '' for none. Raises NoOperation."""
    if fallback and step.fallback:
        call = call_text(*step_operation(step, fallback=True))
        ask = f'Step {step.step_id} failed. Try {clipped_line(call)} instead?'
        return ask if step.requires_confirmation else ''
    if step.tool_call_type is ToolCallType.ASK_USER:
        return clipped_line(
            step.confirmation_message or _text(step, PROMPT_KEYS) or step_title(step)
        )
    if not step.requires_confirmation:
        return ''
    return clipped_line(step.confirmation_message or f'Step {step.step_id}: {step_title(step)}?')


def plan_needs_confirmation(plan: Plan) -> bool:
    """Whether the operator has yet to approve the whole plan."""
    risky = plan.requires_confirmation or plan.risk_level is RiskLevel.HIGH
    if plan.status is PlanStatus.CREATED:
        return risky
    return plan.status is PlanStatus.WAIT_CONFIRMATION


def plan_question(plan: Plan) -> str:
    """The question about the whole plan, always with its steps: the message may hide them."""
    message = clipped_line(plan.confirmation_message or 'Carry out this plan?')
    steps = clipped_line(', '.join(step.action for step in plan.steps))
    risk = plan.risk_level.value
    count = count_text(len(plan.steps), 'step')
    return f'{message} {clipped_line(plan.goal)} (risk {risk}, {count}: {steps})'


def step_title(step: PlanStep) -> str:
    return clipped_line(step.description or call_text(step.action, step.parameters))


def clipped_line(text: str) -> str:
    """``text`` for a console: clipped, without control characters that move the cursor."""
    return clip(without_controls(text), MAX_LINE_CHARS)


def _text(step: PlanStep, names: tuple[str, ...]) -> str:
    parameters: Json = step.parameters
    for name in names:
        value = parameters.get(name)
        if isinstance(value, str) and value.strip():
            return value
    return ''


def _needed(step: PlanStep, names: tuple[str, ...]) -> str:
    text = _text(step, names)
    if not text:
        raise NoOperation(f'{step.action} needs a text in parameters: {" or ".join(names)}')
    return text
