"""The guardrails as a node of this turn: what they refuse is traced."""

from __future__ import annotations

from curiosity_rosa_demo.agent.react.guardrails import Refusal
from curiosity_rosa_demo.agent.react.guardrails_check import guardrails_check as judged
from curiosity_rosa_demo.agent.react.op import Op
from curiosity_rosa_demo.agent.react.turn import Turn
from curiosity_rosa_demo.domain.brain import BrainState
from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.domain.plan import RiskLevel


async def guardrails_check(state: BrainState, turn: Turn) -> BrainState:
    def facts(name: str) -> tuple[frozenset[str], RiskLevel, float]:
        skill = turn.registry.get(name)
        resources = frozenset(skill.definition.resources_required)
        return resources, skill.risk, turn.config.tool_costs.of(name)

    def told(op: Op, refusal: Refusal) -> None:
        turn.trace(
            TraceKind.ERROR,
            f'{op.skill}: {refusal.reason}',
            tool_name=op.skill,
            ok=False,
            error_reason=refusal.reason,
            data={'rule': refusal.rule},
        )

    return await judged(state, turn.limits, facts, told)
