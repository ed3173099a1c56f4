# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Runs the operation. A checkpoint with the operation was committed before."""

from __future__ import annotations

from curiosity_rosa_demo.agent.react.guardrails.gate import (
    Approval,
    current_order,
    Order,
    under_order,
)
from curiosity_rosa_demo.agent.react.nodes.guardrails_check import FENCE_KEY
from curiosity_rosa_demo.agent.react.nodes.rehearse import trace_op_compared
from curiosity_rosa_demo.agent.react.turn.context import TurnContext
from curiosity_rosa_demo.domain.brain_state import BrainState, ProposedOps
from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.domain.operation import Operation
from curiosity_rosa_demo.domain.rehearsal import Rehearsal
from curiosity_rosa_demo.trace.reporter import finite_float

# In the approval_payload of an approved operation: the reasons that were told, and the forecast.
APPROVED_KEY, REHEARSED_KEY = 'approved', 'rehearsed'


async def dispatch_skills(state: BrainState, turn: TurnContext) -> BrainState:
    """Set ``skills.last_result``; None when there is no operation. Raises TurnCancelled."""
    proposed = state.react.proposed_ops
    result = None
    if proposed is not None and proposed.to_dispatch:
        op = proposed.to_dispatch[0]
        turn.cancellation.check()
        turn.trace(TraceKind.ACT, op.text, tool_name=op.skill, data={'arguments': op.arguments})
        approval = _approval_of(op, proposed)
        with under_order(Order(current_order().origin, op, approval)):
            result = turn.skill_executor.result_of(op.skill, op.arguments, turn.cancellation)
        if approval is not None and approval.rehearsal is not None:
            metres = finite_float(result.metrics.get('distance_m'))
            trace_op_compared(approval.rehearsal, turn, metres)
    skills = state.skills.model_copy(update={'last_result': result})
    return state.model_copy(update={'skills': skills})


def _approval_of(op: Operation, proposed: ProposedOps) -> Approval | None:
    """The operator's yes to this operation; None when nobody had to be asked."""
    payload = proposed.approval_payload
    if APPROVED_KEY not in payload:
        return None
    rehearsed = payload.get(REHEARSED_KEY)
    rehearsal = None if rehearsed is None else Rehearsal.model_validate(rehearsed)
    return Approval(op, payload.get(FENCE_KEY) is True, rehearsal)
