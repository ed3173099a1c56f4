# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The stage ``think``: measures the facts, lets a decider choose, and checks what it proposes.

What passes waits in ``turn.op`` for the stage ``act``; what a person must allow first, in
``turn.question``. It may run twice: it moves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
import json
import time
from typing import Literal, Protocol

from curiosity_rosa_demo.agent.react.ask import put
from curiosity_rosa_demo.agent.react.gate import order_verdict, proposal_of, traced_check
from curiosity_rosa_demo.agent.react.guardrails import NOTHING
from curiosity_rosa_demo.agent.react.plan import (
    check_plan,
    keep_done,
    left_out_text,
)
from curiosity_rosa_demo.agent.react.rehearse import begin_plan, rehearse_op
from curiosity_rosa_demo.agent.react.turn import Turn, TurnEnvironment
from curiosity_rosa_demo.agent.skills.registry import arguments_as_json, arguments_error_text
from curiosity_rosa_demo.agent.skills.skill import BadArguments
from curiosity_rosa_demo.agent.tasks.origin import current_order, Order
from curiosity_rosa_demo.domain.brain_state import Decision, DecisionType, Json
from curiosity_rosa_demo.domain.models import ToolResult, TraceKind
from curiosity_rosa_demo.domain.operation import DECIDE_TOOL, Exchange, Operation
from curiosity_rosa_demo.domain.plan import PlanError, PlanStatus
from curiosity_rosa_demo.domain.plan_reader import create_plan_from_llm_response, LEFT_OUT
from curiosity_rosa_demo.domain.refusal import Refusal, RefusalCode
from curiosity_rosa_demo.domain.text import clip
from curiosity_rosa_demo.trace.reporter import result_summary
from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator, ValidationError

MAX_OBSERVATION_CHARS = 6000  # characters of the whole observation as JSON
MAX_RESULTS = 5
MAX_ZONES = 20
ASK_WHETHER_TO_GO_ON = 'The agent asks whether to go on.'


@dataclass(frozen=True)
class Choice:
    """What a decider wants. The first of ``calls`` is carried out, the others are declined.
    ``question``: to the operator, before that call, or alone.
    """

    type: DecisionType = DecisionType.CONTINUE
    reason: str = ''
    calls: tuple[Exchange, ...] = ()
    by: str = ''
    question: str = ''


class Decider(Protocol):
    def decide(self, turn: Turn) -> Choice | None:
        """What to do next; None passes to the next decider. Raises TurnCancelled."""


def think(turn: Turn, env: TurnEnvironment, deciders: Sequence[Decider]) -> None:
    """Raises TurnCancelled."""
    observe(turn, env)
    propose(turn, env, *take(turn, env, choose(turn, env, deciders)))


def choose(turn: Turn, env: TurnEnvironment, deciders: Sequence[Decider]) -> Choice:
    env.cancellation.check()
    choices = (decider.decide(turn) for decider in deciders)
    return next(choice for choice in choices if choice is not None)


# --- The observation ---------------------------------------------------------------------------


def observe(turn: Turn, env: TurnEnvironment) -> None:
    """Flat facts, then ``budget``, ``plan``, ``results`` and ``memory``; at most
    MAX_OBSERVATION_CHARS as JSON. Each list loses its first items when space runs out.
    """
    spent, budget = turn.spent, env.config.guardrails.budget
    observation: Json = {
        **_within_size(env.world.facts()),
        'score': turn.score,
        'is_good': turn.is_good,
        'budget': {
            'steps': env.config.agent.turn.max_steps - spent.steps,
            'cost': round(budget.max_cost - spent.cost, 1),
            'metres': round(budget.max_metres - spent.metres, 1),
            'seconds': round(budget.max_seconds - spent.seconds, 1),
        },
    }
    mapped = env.registry.decision_on(turn.exchanges[-1] if turn.exchanges else None)
    if mapped is not None:  # REPLAN: find another way; RETRY: it may work now
        observation['error_map'] = mapped.value
    if turn.plan is not None:
        head: Json = {'goal': clip(turn.plan.goal), 'status': turn.plan.status.value}
        steps: list[JsonValue] = [
            f'{step.step_id} {clip(step.action)}: {step.status.value}' for step in turn.plan.steps
        ]
        _add(observation, 'plan', steps, lambda left: {**head, 'steps': left})
    _add(observation, 'results', list(_results(turn)), lambda left: left)
    memory: list[JsonValue] = [*env.recalled.splitlines()]
    _add(observation, 'memory', memory, lambda left: '\n'.join(map(str, left)))
    turn.observation, turn.iter = observation, turn.iter + 1


def _results(turn: Turn) -> Iterable[JsonValue]:
    now = time.time()
    for each in turn.exchanges[-MAX_RESULTS:]:
        if each.result is not None:
            age_s = round(max(0.0, now - each.at), 1)
            told = clip(result_summary(each.result))
            yield {'call': clip(each.tool), 'result': told, 'age_s': age_s}


def _within_size(facts: Json) -> Json:
    """Clip the zones and the latch, which come from outside, so that all facts fit."""
    zones, latch = facts.get('zones'), facts.get('safety_latch')
    names = zones if isinstance(zones, list) else []
    return {
        **facts,
        'zones': [clip(str(name)) for name in names[:MAX_ZONES]],
        'safety_latch': clip(latch) if isinstance(latch, str) else latch,
    }


def _add(
    observation: Json,
    name: str,
    items: list[JsonValue],
    form: Callable[[list[JsonValue]], JsonValue],
) -> None:
    """Add as many of the last ``items`` as fit, formatted by ``form``."""
    left = MAX_OBSERVATION_CHARS - len(json.dumps(observation))
    for start in range(len(items)):
        value = form(items[start:])
        if len(json.dumps({name: value})) <= left:
            observation[name] = value
            return


# --- What is chosen ----------------------------------------------------------------------------


class BadCall(Exception):
    """An invalid call; the message gives the reason to the model and the user. ``code``: of the
    error map; '' for none.
    """

    def __init__(self, why: str, code: str = '') -> None:
        super().__init__(why)
        self.code = code


def take(
    turn: Turn, env: TurnEnvironment, choice: Choice
) -> tuple[Operation | None, tuple[str, ...]]:
    """Record the choice and its calls. The operation of the first, if it is one that fits a
    skill, and what to ask before it.
    """
    turn.decision = Decision(type=choice.type, reason=choice.reason, by=choice.by)
    turn.call_id = ''
    for call in choice.calls:
        turn.exchanges = [*turn.exchanges, call.model_copy(update={'call_id': _id(turn, call)})]
    if not choice.calls:
        if choice.question:
            put_question(turn, env, choice.question)
        return None, ()
    call = turn.exchanges[-len(choice.calls)]
    turn.call_id = call.call_id
    marked = ', by the rule model' if choice.by else ''
    again = ', again (error_map: RETRY)' if call.retry_of else marked
    data: Json | None = {'by': choice.by} if choice.by and not call.retry_of else None
    text = f'{call.text}{again}'
    env.trace(TraceKind.DECIDE, text, tool_name=clip(call.tool), data=data)
    try:
        if call.tool == DECIDE_TOOL and call.plan_step is None:
            _change_course(turn, env, call)
            return None, ()
        op = checked_operation(call, env)
    except BadCall as problem:
        refuse(turn, env, str(problem), problem.code)
        return None, ()
    return op, (choice.question,) if choice.question else ()


def _id(turn: Turn, call: Exchange) -> str:
    """Its ID. A missing or used one is replaced: some models restart their numbering in each
    answer. Mistral accepts nine letters and digits only.
    """
    used = {each.call_id for each in turn.exchanges}
    call_id, number = call.call_id, len(used)
    while not call_id or call_id in used:
        call_id, number = f'rosa{number:05d}', number + 1
    return call_id


def checked_operation(call: Exchange, env: TurnEnvironment) -> Operation:
    """The operation of the call, with validated arguments. Raises BadCall."""
    skills = {skill.definition.name: skill for skill in env.registry.for_model()}
    if call.tool not in skills:
        why = f"Unknown tool '{clip(call.tool)}'; there are: {', '.join(skills)}"
        raise BadCall(why, RefusalCode.SKILL_NOT_FOUND)
    try:
        validated = arguments_as_json(skills[call.tool], call.arguments)
    except BadArguments as error:
        raise BadCall(f'Wrong arguments for {error}', RefusalCode.PARAM_INVALID) from None
    return Operation(call.tool, validated, call.call_id, call.plan_step)


def refuse(turn: Turn, env: TurnEnvironment, why: str, code: str = '') -> None:
    """Record the refusal as the result of the call that is decided on, for the model."""
    call = turn.exchange(turn.call_id)
    data: Json | None = {'code': code} if code else None
    failed = {'ok': False, 'error_reason': why, 'data': data}
    env.trace(TraceKind.ERROR, why, tool_name=clip(call.tool), **failed)
    _count_refusal(turn, call.text)
    turn.answer_call(call.call_id, ToolResult.failure(why, code))


def _count_refusal(turn: Turn, text: str) -> None:
    turn.op = None
    turn.refused = {**turn.refused, text: turn.refused.get(text, 0) + 1}
    turn.refused_in_a_row += 1


# --- The gate, and a question first ------------------------------------------------------------


def propose(
    turn: Turn, env: TurnEnvironment, op: Operation | None, reasons: Sequence[str] = ()
) -> None:
    """Keep the operation for the stage ``act`` if it passes the gate, and ask before it where the
    gate, or one of ``reasons``, wants it. None: there is none.
    """
    if op is None:
        return
    asked, leaves_fence = check(turn, env, op)
    if turn.op is not None and (reasons or asked):
        put_question(turn, env, op.full_text, [*reasons, *asked], op, leaves_fence=leaves_fence)


def check(turn: Turn, env: TurnEnvironment, op: Operation) -> tuple[tuple[str, ...], bool]:
    """Set ``turn.op`` if the gate lets it pass. The reasons to ask first, and whether it may leave
    the fence. A refusal is traced, and is the call's result.
    """
    proposal, order = proposal_of(op, env.registry, env.config), Order(current_order().origin)
    situation = env.situation(turn)
    verdict = traced_check(op.skill, lambda: order_verdict(proposal, situation, env.limits, order))
    if isinstance(verdict, Refusal):
        text, failed = f'{op.skill}: {verdict.reason}', {'error_reason': verdict.reason}
        data = verdict.to_json()
        env.trace(TraceKind.ERROR, text, tool_name=op.skill, ok=False, data=data, **failed)
        _count_refusal(turn, op.text)
        turn.answer_call(op.call_id, verdict.result())
        return (), False
    ask = verdict or NOTHING
    turn.op, turn.refused_in_a_row = op, 0
    return ask.reasons, bool(ask.fence)


def put_question(
    turn: Turn,
    env: TurnEnvironment,
    text: str,
    reasons: Sequence[str] = (),
    op: Operation | None = None,
    *,
    leaves_fence: bool = False,
) -> None:
    """Ask the operator in the stage ``ask``. ``op`` waits for the answer."""
    plan = turn.plan
    if plan is not None and plan.status is PlanStatus.WAIT_CONFIRMATION:
        rehearsal = turn.rehearsal  # of the whole plan, which the question is about
    else:
        rehearsal = None if op is None else rehearse_op(turn, env, op)
    turn.question = put(env.trace, text, reasons, op, rehearsal, leaves_fence=leaves_fence)


# --- ``decide``: the one tool that is no skill. With it a model changes course -----------------


class PlanPatch(BaseModel):
    """A plan: goal, risk_level (low, medium, high), steps; each step: action (a tool's name),
    parameters, and if need be tool_call_type, preconditions, fallback, requires_confirmation.
    """

    model_config = ConfigDict(extra='forbid')
    action: Literal['propose', 'revise', 'drop']
    plan: dict[str, object] | str | None = None


class DecideArguments(BaseModel):
    model_config = ConfigDict(extra='forbid')
    type: DecisionType
    reason: str = Field(default='', max_length=4000)
    plan_patch: PlanPatch | None = None

    @model_validator(mode='after')
    def _require_goal(self) -> DecideArguments:
        if self.type is DecisionType.SWITCH_TASK and not self.reason.strip():
            raise ValueError('SWITCH_TASK needs the other goal as reason')
        return self


def _change_course(turn: Turn, env: TurnEnvironment, call: Exchange) -> None:
    """Do as the arguments of ``decide`` say: patch the plan, ask, or end. Raises BadCall."""
    try:
        change = DecideArguments.model_validate(call.arguments)
    except ValidationError as error:
        why = arguments_error_text(error, DecideArguments)
        raise BadCall(f'Wrong arguments for {DECIDE_TOOL}: {why}') from None
    by = '' if turn.decision is None else turn.decision.by
    turn.decision = Decision(type=change.type, reason=change.reason, by=by)
    patch = change.plan_patch
    data = {} if patch is None else _patch_plan(turn, env, patch)
    if change.type is DecisionType.ASK_HUMAN:
        question = change.reason or ASK_WHETHER_TO_GO_ON
        if patch is None or turn.plan is None:
            put_question(turn, env, question)
            return
        turn.plan.requires_confirmation, turn.plan.confirmation_message = True, question
    turn.answer_call(call.call_id, ToolResult.success(decision=change.type.value, **data))


def _patch_plan(turn: Turn, env: TurnEnvironment, patch: PlanPatch) -> dict[str, str]:
    """Propose, revise or drop the plan; the texts go into the call's result. Raises BadCall."""
    if patch.action == 'drop':
        turn.plan = None
        return {}
    try:
        plan = create_plan_from_llm_response(patch.plan or {})
    except PlanError as error:
        raise BadCall(f'That is no plan: {error}') from None
    problems = check_plan(plan, [skill.definition.name for skill in env.registry.for_model()])
    if problems:
        raise BadCall(f'The plan cannot be carried out: {"; ".join(problems[:5])}')
    if patch.action == 'revise' and turn.plan is not None:
        keep_done(turn.plan, plan)
    if why := begin_plan(turn, env, plan):
        raise BadCall(f'{why}. The plan is not taken.')
    return {'left_out': left_out_text(plan)} if plan.metadata.get(LEFT_OUT) else {}
