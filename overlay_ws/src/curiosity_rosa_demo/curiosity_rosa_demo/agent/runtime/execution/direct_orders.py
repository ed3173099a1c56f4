# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Direct orders at the gate: checked, and approved by a person where the gate asks for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
import time
import uuid

from curiosity_rosa_demo.agent.react.ask import ApprovalQueue
from curiosity_rosa_demo.agent.react.forecast import Call, rehearse, stage_of
from curiosity_rosa_demo.agent.react.gate import Approval, not_approved, Order
from curiosity_rosa_demo.agent.react.rules import Ask
from curiosity_rosa_demo.agent.react.situation import Proposal
from curiosity_rosa_demo.agent.react.world import RoverWorld
from curiosity_rosa_demo.agent.skills.monitor import current_task
from curiosity_rosa_demo.agent.skills.registry import arguments_as_json, SkillRegistry
from curiosity_rosa_demo.agent.skills.skill import BadArguments
from curiosity_rosa_demo.domain.brain_state import ApprovalAction, Json, Question
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.operation import Operation
from curiosity_rosa_demo.domain.origin import Origin
from curiosity_rosa_demo.domain.refusal import Refusal
from curiosity_rosa_demo.domain.rehearsal import Rehearsal
from curiosity_rosa_demo.domain.text import visible
from curiosity_rosa_demo.trace.events import QuestionAnswered, QuestionAsked
from curiosity_rosa_demo.trace.reporter import TraceFunction


class NotAdmitted(Exception):
    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.reason)
        self.refusal = refusal


class DirectOrders:
    """Thread-safe. ``world`` knows the limits and the rover's status. ``reset_budget`` is called
    before each check: neither the time since the last order nor a wait for a person counts.
    """

    def __init__(
        self,
        registry: SkillRegistry,
        world: RoverWorld,
        approval_queue: ApprovalQueue,
        *,
        trace: Callable[[], TraceFunction],
        reset_budget: Callable[[], None],
    ) -> None:
        self._registry, self._world, self._queue = registry, world, approval_queue
        self._trace, self._reset_budget = trace, reset_budget

    def admit(self, op: Operation, origin: Origin, cancellation: Cancellation) -> Order:
        """The order that may be dispatched, with the operator's yes where the gate asks for one.
        Blocks until the answer. The operator may have changed the arguments. Raises NotAdmitted
        and TurnCancelled.
        """
        order = Order(origin, op)
        while True:
            self._reset_budget()
            verdict = self.verdict(order)
            if isinstance(verdict, Refusal):
                raise NotAdmitted(verdict)
            if verdict is None:
                return order
            # After a yes the gate is asked again: an answer takes time.
            order = self._approved_order(order, verdict, cancellation)

    def verdict(self, order: Order) -> Refusal | Ask | None:
        """What the gate says to the order's skill now; None: it may run."""
        assert order.call is not None
        skill = self._registry.get(order.call.skill)
        resources = frozenset(skill.definition.resources_required)
        cost = self._world.config.tool_costs.of(order.call.skill)
        return self._world.order_verdict(Proposal(order.call, resources, skill.risk, cost), order)

    def _approved_order(self, order: Order, ask: Ask, cancellation: Cancellation) -> Order:
        op, reasons = order.call, ask.reasons
        assert op is not None
        question = Question(
            id=f'q{uuid.uuid4().hex[:8]}',
            text=op.full_text,
            op=op,
            reasons=list(map(visible, reasons)),
            asked_at=time.time(),
            rehearsal=self.rehearsal(op, order.origin, self._world.facts()),
            leaves_fence=bool(ask.fence),
            task_id=current_task(),
        )
        trace, text = self._trace(), f'Asking: {op.text} ({"; ".join(reasons)})'
        rehearsed = '' if question.rehearsal is None else question.rehearsal.text
        trace(**QuestionAsked(question.id, rehearsed).trace_fields(text))
        answer = self._queue.ask(question, cancellation)
        answered = QuestionAnswered(
            question.id, answer.action.value.lower(), answer.why, answer.by
        )
        trace(**answered.trace_fields())
        if answer.action is ApprovalAction.REJECT:
            raise NotAdmitted(_rejected(op, answer.why))
        if answer.action is ApprovalAction.EDIT:
            op = self._edited(op, answer.arguments)
            # What the operator's own arguments do is checked again, and rehearsed again.
        rehearsal = self.rehearsal(op, order.origin, self._world.facts())
        return replace(order, call=op, approval=Approval(op, bool(ask.fence), rehearsal))

    def rehearsal(self, op: Operation, origin: Origin, facts: Json) -> Rehearsal | None:
        """What the call would do; None: it does not drive."""
        config, language = self._world.config, self._world.config.prompts.default_language
        surroundings = self._world.surroundings()
        stage = stage_of(config, self._registry, surroundings, origin, language)
        return rehearse([Call(op)], facts, stage)

    def _edited(self, op: Operation, arguments: Json | None) -> Operation:
        try:
            checked = arguments_as_json(self._registry.get(op.skill), arguments or {})
        except BadArguments as error:
            refusal = _rejected(op, f'the changed arguments are wrong: {error}')
            raise NotAdmitted(refusal) from None
        return Operation(op.skill, checked)


def _rejected(op: Operation, why: str) -> Refusal:
    answer = f'rejected by the operator: {why}' if why else 'rejected by the operator'
    return not_approved(op, (answer,), 'order something else, or ask the operator')
