# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The gate: every order that could move the rover or its mast passes it. Pure.

The rules bind every origin. The table ``origins`` of guardrails.yaml says what an order meets that
``approval`` names: it asks a person, is refused, or passes. A motion that may leave the fence with
``geofence.leaving: ask`` asks for every origin that may ask. A stop passes always.

The gate is asked twice: for the skill that is ordered, before a question (``order_verdict``), and
for each call of the rover at its dispatch (``call_refusal``), where nobody can be asked any more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from curiosity_rosa_demo.agent.react.fence import geofence_refusal
from curiosity_rosa_demo.agent.react.guardrails import (
    Ask,
    CALL_RULES,
    first_refusal,
    LEG_RULES,
    NOTHING,
    Rule,
    RULES,
    what_to_ask,
)
from curiosity_rosa_demo.agent.react.situation import (
    Limits,
    Proposal,
    Situation,
    situation_of_facts,
)
from curiosity_rosa_demo.agent.skills.registry import SkillRegistry
from curiosity_rosa_demo.agent.tasks.origin import Approval, Order
from curiosity_rosa_demo.domain.brain_state import Spent
from curiosity_rosa_demo.domain.models import Json, Model
from curiosity_rosa_demo.domain.operation import Operation
from curiosity_rosa_demo.domain.origin import Origin
from curiosity_rosa_demo.domain.plan import RiskLevel
from curiosity_rosa_demo.domain.refusal import Refusal, RefusalCode
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.spans import span

Verdict = Refusal | Ask | None


def traced_check(skill: str, check: Callable[[], Verdict]) -> Verdict:
    """The verdict of ``check``, which runs in a span with its rule and code."""
    with span(f'guard {skill}', {'curiosity.skill': skill}) as guard:
        verdict = check()
        if isinstance(verdict, Refusal):
            told = {'verdict': 'refuse', 'rule': verdict.rule, 'code': verdict.code.value}
            guard.fail(verdict.code.value)
        else:
            told = {'verdict': 'pass' if verdict is None else 'ask'}
        guard.set({f'curiosity.guard.{key}': value for key, value in told.items()})
        return verdict


def proposal_of(op: Operation, registry: SkillRegistry, config: Config) -> Proposal:
    """``op`` with what its skill needs, risks and costs. Raises UnknownSkill."""
    skill = registry.get(op.skill)
    resources = frozenset(skill.definition.resources_required)
    return Proposal(op, resources, skill.settings.risk, config.tool_costs.of(op.skill))


APPROVAL_RULE = 'approval'  # the name of the rule in a refusal
ASK_AGAIN_TEXT = 'order it again and answer the question'
ALLOWED_TEXT = 'the call that an operator has approved'


def order_verdict(
    proposal: Proposal,
    situation: Situation,
    limits: Limits,
    order: Order,
    rules: tuple[Rule, ...] = RULES,
) -> Refusal | Ask | None:
    """Whether the ordered skill may run: None when it may. ``order.approval`` answers every reason
    to ask except a fence that the question did not name.
    """
    refused = first_refusal(rules, proposal, situation, limits)
    if refused is not None:
        return refused
    ask = what_to_ask(proposal, situation, limits)
    binding = limits.origins.binding(order.origin)
    approval = order.approval
    if approval is not None and approval.covers(proposal.op):
        ask = ask if ask.fence and not approval.leaves_fence else NOTHING
    elif binding == 'pass':
        ask = Ask((ask.fence,), ask.fence) if ask.fence else NOTHING
    if not ask.reasons:
        return None
    if binding != 'refuse':
        return ask
    if ask.fence:
        return first_refusal((geofence_refusal,), proposal, situation, limits)
    return not_approved(proposal.op, ask.reasons, _way_out(order.origin))


def call_refusal(
    name: str,
    arguments: Mapping[str, Any],
    facts: Mapping[str, object],
    spent: Spent,
    limits: Limits,
    order: Order,
    risk: RiskLevel = RiskLevel.LOW,
) -> Refusal | None:
    """Why the rover's tool ``name`` must not be called now for ``order``; None when it may.

    A call within a longer skill never leaves the fence: nobody can be asked on the way. It uses
    the approval of its skill. Any other call uses its approval up.
    """
    op = Operation(name, dict(arguments))
    resources = frozenset({'base'} if name in limits.motions else ())
    proposal = Proposal(op, resources, risk, 0.0)
    situation = situation_of_facts(facts, spent=spent)
    if order.is_within(op):
        refused = first_refusal(LEG_RULES, proposal, situation, limits)
        reasons = what_to_ask(proposal, situation, limits).reasons
        binding = limits.origins.binding(order.origin)
        if refused is not None or order.approval is not None or binding == 'pass' or not reasons:
            return refused
        assert order.call is not None
        return not_approved(op, reasons, f'list {order.call.skill} in approval.skills to be asked')
    verdict = order_verdict(proposal, situation, limits, order, CALL_RULES)
    if order.approval is not None:
        order.approval.used = True
    if isinstance(verdict, Ask):
        return not_approved(op, verdict.reasons, ASK_AGAIN_TEXT)
    return verdict


def _way_out(origin: Origin) -> str:
    if origin is Origin.CHARGE:
        return 'charging only stops and stows'
    return f'a person must order it, or allow it in origins.{origin.value} of guardrails.yaml'


def not_approved(op: Operation, reasons: tuple[str, ...], way_out: str) -> Refusal:
    why = reasons[0] if len(reasons) == 1 else f'{reasons[0]}, and {len(reasons) - 1} more'
    return Refusal(
        RefusalCode.NOT_APPROVED, why, ALLOWED_TEXT, way_out, rule=APPROVAL_RULE, asked=op.text
    )


# --- A decision with its facts, to be decided again ---------------------------------------------


PASSES = 'passes'


class GateDecision(Model):
    """Whether one call of the rover passed at its dispatch, and on which facts: a recording holds
    it, and agent/check.py decides ``again``. ``within``: the call of the skill to
    which it belongs; None: its own. ``approved``: the call that a person approved, and the yes
    was unused. ``verdict``: the rule that refused with its code, or PASSES.
    """

    kind: Literal['gate'] = 'gate'
    op: Operation
    facts: Json
    spent: Spent
    risk: RiskLevel
    origin: Origin
    within: Operation | None
    approved: Operation | None
    leaves_fence: bool
    verdict: str = PASSES

    @classmethod
    def asked(
        cls, op: Operation, facts: Json, spent: Spent, risk: RiskLevel, order: Order
    ) -> GateDecision:
        """Before the gate decides, which may use up the approval of ``order``."""
        approval = order.approval
        is_yes = approval is not None and (order.is_within(op) or approval.covers(op))
        return cls.model_construct(  # not validated: the gate must not depend on it
            op=op,
            facts=facts,
            spent=spent,
            risk=risk,
            origin=order.origin,
            within=order.call,
            approved=approval.op if approval is not None and is_yes else None,
            leaves_fence=approval is not None and approval.leaves_fence,
        )

    def told(self, refused: Refusal | None) -> GateDecision:
        return self.model_copy(update={'verdict': _verdict_text(refused)})

    @property
    def name(self) -> str:
        return f'gate: {self.op.skill}'

    @property
    def inputs(self) -> str:
        return f'{self.op.text} by {self.origin.value} with {self.facts}'

    def again(self, config: Config) -> str:
        approval = None if self.approved is None else Approval(self.approved, self.leaves_fence)
        order = Order(self.origin, self.within, approval)
        skill, arguments, limits = self.op.skill, self.op.arguments, Limits.of(config)
        refused = call_refusal(skill, arguments, self.facts, self.spent, limits, order, self.risk)
        return _verdict_text(refused)


def _verdict_text(refused: Refusal | None) -> str:
    return PASSES if refused is None else f'{refused.rule}: {refused.code.value}'
