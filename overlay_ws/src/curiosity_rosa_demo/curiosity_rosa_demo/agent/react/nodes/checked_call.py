# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The guardrails as a node of a turn; each refusal is traced."""

from __future__ import annotations

from curiosity_rosa_demo.agent.react.guardrails.order import current_order
from curiosity_rosa_demo.agent.react.nodes.guardrails_check import apply_guardrails
from curiosity_rosa_demo.agent.react.turn.context import TurnContext
from curiosity_rosa_demo.domain.brain_state import BrainState
from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.domain.operation import Operation
from curiosity_rosa_demo.domain.plan.plan import RiskLevel
from curiosity_rosa_demo.domain.refusal import Refusal


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
