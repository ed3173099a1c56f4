# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A node of the loop: dispatches, refuses or asks for approval of the proposed operation."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from curiosity_rosa_demo.agent.react.guardrails.gate import (
    current_order,
    Order,
    order_verdict,
    traced_check,
)
from curiosity_rosa_demo.agent.react.guardrails.rules import Ask, NOTHING
from curiosity_rosa_demo.agent.react.guardrails.situation import Limits, Proposal, situation_of
from curiosity_rosa_demo.agent.react.turn.context import TurnContext
from curiosity_rosa_demo.agent.react.turn.messages import with_react_fields, with_result
from curiosity_rosa_demo.domain.brain_state import BrainState, Json, ProposedOps
from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.domain.operation import Operation
from curiosity_rosa_demo.domain.origin import Origin
from curiosity_rosa_demo.domain.plan import RiskLevel
from curiosity_rosa_demo.domain.refusal import Refusal

FENCE_KEY = 'leaves_fence'  # in the approval_payload: whether the fence is a reason to ask
SkillFacts = Callable[[str], tuple[frozenset[str], RiskLevel, float]]


def _ignore(op: Operation, refused: Refusal) -> None:
    """The default callback."""


async def apply_guardrails(
    state: BrainState,
    limits: Limits,
    skills: SkillFacts,
    on_refusal: Callable[[Operation, Refusal], None] = _ignore,
    origin: Origin = Origin.MODEL,
) -> BrainState:
    """``skills`` returns the resources, risk and cost of a skill. ``on_refusal`` is called for
    each refusal. ``origin``: of the turn's orders.
    """
    proposed = state.react.proposed_ops
    if proposed is None:
        return state
    for op in proposed.to_dispatch:
        proposal = Proposal(op, *skills(op.skill))
        situation = situation_of(state)
        check = partial(order_verdict, proposal, situation, limits, Order(origin))
        verdict = traced_check(op.skill, check)
        if isinstance(verdict, Refusal):
            on_refusal(op, verdict)
            state = _refused_state(state, op, verdict)
        else:
            state = _passed_state(state, verdict or NOTHING)
    return state


def _passed_state(state: BrainState, ask: Ask) -> BrainState:
    proposed = _proposed_op(state)
    if ask.reasons or proposed.need_approval:
        payload: Json = {**proposed.approval_payload}
        before = payload.get('reasons')
        payload['reasons'] = [*(before if isinstance(before, list) else []), *ask.reasons]
        if ask.fence:
            payload[FENCE_KEY] = True
        proposed = proposed.model_copy(update={'need_approval': True, 'approval_payload': payload})
    return with_react_fields(state, proposed_ops=proposed, refused_in_a_row=0)


def _refused_state(state: BrainState, op: Operation, refusal: Refusal) -> BrainState:
    """Record the refusal as the call's result, for the model, and drop its question."""
    react, proposed = state.react, _proposed_op(state)
    update = {
        'to_dispatch': [each for each in proposed.to_dispatch if each != op],
        'need_approval': False,
        'approval_payload': {},
    }
    refused = {**react.refused, op.text: react.refused.get(op.text, 0) + 1}
    messages = with_result(state.messages, op.call_id, refusal.result())
    state = with_react_fields(
        state,
        proposed_ops=proposed.model_copy(update=update),
        refused=refused,
        refused_in_a_row=react.refused_in_a_row + 1,
    )
    return state.model_copy(update={'messages': messages})


def _proposed_op(state: BrainState) -> ProposedOps:
    return state.react.proposed_ops or ProposedOps()


# --- The guardrails as a node of a turn; each refusal is traced --------------------------------


async def guardrails_check(state: BrainState, turn: TurnContext) -> BrainState:
    """Check the proposed operation. Sets ``skills.running``: the skills outside this turn."""

    def skill_facts(name: str) -> tuple[frozenset[str], RiskLevel, float]:
        skill = turn.registry.get(name)
        resources = frozenset(skill.definition.resources_required)
        return resources, skill.risk, turn.config.tool_costs.of(name)

    def trace_refusal(op: Operation, refusal: Refusal) -> None:
        turn.trace(
            TraceKind.ERROR,
            f'{op.skill}: {refusal.reason}',
            tool_name=op.skill,
            ok=False,
            error_reason=refusal.reason,
            data=refusal.to_json(),
        )

    running = turn.skill_executor.monitor.competing()
    if running != state.skills.running:
        skills = state.skills.model_copy(update={'running': running})
        state = state.model_copy(update={'skills': skills})
    origin = current_order().origin
    return await apply_guardrails(state, turn.limits, skill_facts, trace_refusal, origin)
