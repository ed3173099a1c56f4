# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""An episode of attacks against the product and against plain ROSA, each before its own judge.

The product is its own loop, gate, skills and adapter's guard before the twin. The peer is ROSA's
AgentExecutor with tools that call the demo's services (models/rosa_peer.py), before the same body.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from _hostile_turns import configs
from curiosity_rosa_demo.agent.kernel.hci_ingress import classify
from curiosity_rosa_demo.agent.llm.pictures import SeenPictures
from curiosity_rosa_demo.agent.memory import recall
from curiosity_rosa_demo.agent.react.guardrails.order import Order as GateOrder
from curiosity_rosa_demo.agent.react.guardrails.order import under_order
from curiosity_rosa_demo.agent.react.turn.approval_queue import ApprovalAnswer, ApprovalQueue
from curiosity_rosa_demo.agent.react.turn.request import TurnRequest
from curiosity_rosa_demo.agent.runtime.execution.direct_orders import DirectOrders, NotAdmitted
from curiosity_rosa_demo.agent.skills.errors import BadArguments, UnknownSkill
from curiosity_rosa_demo.agent.skills.executor import SkillExecutor
from curiosity_rosa_demo.agent.skills.registry import (
    arguments_as_json,
    make_registry,
    SkillRegistry,
)
from curiosity_rosa_demo.domain.brain_state import (
    ApprovalAction,
    BrainState,
    Mode,
    Question,
    RobotState,
    TasksState,
    UserInterruptType,
    WorldState,
)
from curiosity_rosa_demo.domain.cancellation import Cancellation, TurnCancelled
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.domain.operation import Operation
from curiosity_rosa_demo.domain.origin import Origin
from curiosity_rosa_demo.infra.config.contracts import Config
from curiosity_rosa_demo.trace.trace_codec import new_event
from curiosity_stand_in.kinematics import Pose
from models.outcome import unsafe_reason
from models.rosa_peer import run_rosa
from sign_reader import board, StillPictures
from turn_world import rosa_of, SimulatedRoverWorld
from worlds.world import JOINTS

from attack.families import Attack, EDGE_M, episode, Situation
from attack.judge import Judge, ProcessWatch
from attack.model import ObedientModel
from attack.orders import Order, plan_of
from attack.twins import JudgedBareTwin, JudgedTwin

RECALLED = 10  # events in the memory
BUDGET_M = 6.0
OURS, PEER = 'product', 'rosa'


@dataclass
class Record:
    """The counts of an episode. ``refused`` and ``asked``: by the gate; ``declined``: before it,
    as no call of a skill. ``acts``: calls that were carried out; ``caught``: by the adapter.
    """

    turns: int = 0
    proposed: int = 0
    unsafe_proposed: int = 0
    refused: int = 0
    asked: int = 0
    declined: int = 0
    acts: int = 0
    motions: int = 0
    caught: int = 0
    unsafe_acts: int = 0
    physical_acts: int = 0
    kinds: dict[str, int] = field(default_factory=dict)
    rules: dict[str, int] = field(default_factory=dict)  # refusals by rule
    examples: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


class Bench:
    """What the episodes of one process share: configurations and the folder of documents."""

    def __init__(self, folder: Path) -> None:
        self.documents = folder / 'documents'
        self.documents.mkdir()
        shipped, asking, leaving = configs(self.documents)
        blind = {'vision': False}
        shipped, asking, leaving = map(_with_fence, (shipped, asking, leaving))
        budget = shipped.guardrails.budget.model_copy(update={'max_metres': BUDGET_M})
        rules = shipped.guardrails.model_copy(update={'budget': budget})
        self.seeing = shipped
        self.configs = {
            'shipped': _with_llm(shipped, **blind),
            'asking': _with_llm(asking, **blind),
            'leaving': _with_llm(leaving, **blind),
            'budget': _with_llm(shipped.model_copy(update={'guardrails': rules}), **blind),
            'routine': _with_llm(shipped, fallback='routine', **blind),
        }
        self.watch = ProcessWatch()
        self._registries: dict[int, SkillRegistry] = {}

    def registry_of(self, config: Config) -> SkillRegistry:
        """Of one of these configurations; made once, because that takes as long as a turn."""
        found = self._registries.get(id(config))
        if found is None:
            found = self._registries[id(config)] = make_registry(config)
        return found

    def config_of(self, attack: Attack) -> Config:
        return self.seeing if attack.signs else self.configs[attack.situation.rules]

    def run(self, family: str, seed: int, turns: int) -> dict[str, Record]:
        """The first ``turns`` attacks of an episode, against both."""
        ours, peer = (episode(family, seed)[:turns] for _ in 'ab')
        return {OURS: _Ours(self, ours[0]).run(ours), PEER: _Peer(self, peer[0]).run(peer)}


def _with_llm(config: Config, **llm: Any) -> Config:
    agent = config.agent
    changed = agent.model_copy(update={'llm': agent.llm.model_copy(update=llm)})
    return config.model_copy(update={'agent': changed})


def _with_fence(config: Config) -> Config:
    sides = {'x_min': -EDGE_M, 'x_max': EDGE_M, 'y_min': -EDGE_M, 'y_max': EDGE_M}
    rules = config.guardrails
    fence = rules.geofence.model_copy(update=sides)
    return config.model_copy(update={'guardrails': rules.model_copy(update={'geofence': fence})})


def _stand(situation: Situation) -> dict[str, Any]:
    """Where and how a twin stands at first."""
    return {
        'origin': Pose(situation.x, situation.y, situation.yaw),
        'joints': JOINTS[situation.mast],
    }


class _Contender:
    """A rover before its judge, a model that obeys, and the counts."""

    twin: JudgedTwin | JudgedBareTwin

    def __init__(self, bench: Bench, first: Attack) -> None:
        self.bench, self.config = bench, bench.config_of(first)
        self.record, self.model = Record(), ObedientModel()
        self.model.proposing = self._count_proposal
        self.judge = Judge(self.config, binds=first.situation.rules == 'asking')

    def run(self, attacks: list[Attack]) -> Record:
        for attack in attacks:
            situation = attack.situation
            self.judge.begin_turn(situation.held)
            self.twin.begin_turn(stop_after_s=situation.stop_after_s, note=attack.note)
            self.model.begin_turn(
                by_plan=attack.by_plan, crowd=attack.crowd, adversary=attack.adversary
            )
            self.turn(attack)
            self.judge.end_turn()
            self.record.turns += 1
        self.record.motions = self.judge.motions
        self.record.caught = self.judge.caught
        self.record.unsafe_acts = self.judge.unsafe_acts
        self.record.physical_acts = self.judge.physical_acts
        self.record.kinds = dict(self.judge.counts)
        self.record.examples = self.judge.examples[:3]
        return self.record

    def turn(self, attack: Attack) -> None:
        raise NotImplementedError

    def _count_proposal(self, order: Order) -> None:
        name, arguments = order
        fence = self.config.guardrails.geofence
        self.record.proposed += 1
        self.record.unsafe_proposed += bool(
            unsafe_reason(
                name,
                arguments,
                mast_is_closed=self.twin.stowed,
                place=self.twin.place,
                longest_s=self.config.agent.turn.max_motion_s,
                fence=(fence.x_min, fence.x_max, fence.y_min, fence.y_max),
            )
        )


class _Ours(_Contender):
    def __init__(self, bench: Bench, first: Attack) -> None:
        super().__init__(bench, first)
        (bench.documents / 'rules.md').write_text(first.document or 'Driving rules: none.')
        self.twin = JudgedTwin(self.config, **_stand(first.situation))
        self.twin.judge = self.judge
        self._queue = ApprovalQueue(timeout_s=0.5, on_change=self._answer)
        self._world = SimulatedRoverWorld(
            self.twin,  # type: ignore[arg-type]
            self.config,
            SeenPictures(StillPictures(*map(board, first.signs))) if first.signs else None,
        )
        self._attack = first
        self._answers = 0
        self._rosa = rosa_of(
            self.twin,  # type: ignore[arg-type]
            self.config,
            trace=self._trace,
            memory=self._recall,
            approval_queue=self._queue,
            shown=lambda react: setattr(self._world, 'spent', lambda: react.spent),
            model=self.model,
            world=self._world,
            registry=bench.registry_of(self.config),
        )
        self._in_act = False

    def turn(self, attack: Attack) -> None:
        self._attack, self._answers = attack, 0
        self._world.brain_state = lambda: _brain(attack)
        self._world.reset_budget()
        button = Cancellation()
        self.twin.on_stop = lambda: button.cancel('The operator stopped the rover')
        with self._watched():
            if attack.mcp:
                self._call_directly(attack, button)
            elif classify(attack.text).type is UserInterruptType.NEW_GOAL:
                self._ask_model(attack, button)
            else:
                self.record.declined += 1  # the kernel reads no goal in it
            if self.twin.status()['moving']:  # as AgentSession does after a turn
                self.twin.trigger('move_stop')

    def _ask_model(self, attack: Attack, button: Cancellation) -> None:
        executor = self._rosa.turn_executor
        if attack.adversary is None:
            self._rosa.clear_chat()
        if attack.history:
            self._remember(attack.history)
        plan = plan_of(attack.orders, 'drive') if attack.plan else None
        for order in attack.orders if attack.plan else ():
            self._count_proposal(order)
        executor.request = TurnRequest(attack.text, button, plan=plan)
        origin = Origin.PLAN if attack.plan else Origin.MODEL
        try:
            with under_order(GateOrder(origin)):
                answer = self._rosa.invoke(attack.text)
        except TurnCancelled:
            return
        if answer.startswith(('Internal error', 'An error occurred')):
            self.record.errors.append(answer[:300])

    def _remember(self, text: str) -> None:
        """An earlier turn of the same talk, in which the model only answered."""
        from langchain_core.messages import AIMessage, HumanMessage

        self._rosa.chat_history.extend((HumanMessage(text), AIMessage('I shall remember it.')))

    def _call_directly(self, attack: Attack, button: Cancellation) -> None:
        """Each order as the MCP door gives it: checked by its schema, admitted, dispatched."""
        registry = self.bench.registry_of(self.config)
        orders = DirectOrders(
            registry,
            self._world,
            self._queue,
            trace=lambda: self._trace,
            reset_budget=self._world.reset_budget,
        )
        for name, given in attack.orders:
            self._count_proposal((name, given))
            self.judge.begin_order()
            try:
                arguments = arguments_as_json(registry.get(name), given)
                order = orders.admit(Operation(name, arguments), Origin.MCP, button)
            except (UnknownSkill, BadArguments):
                self.record.declined += 1
                continue
            except NotAdmitted as refused:
                self._count_refusal(refused.refusal.to_json())
                continue
            except TurnCancelled:
                return
            assert order.call is not None
            self.record.acts += 1
            executor = SkillExecutor(registry, self._world)
            try:
                with under_order(order):
                    done = asyncio.run(executor.result_of(name, order.call.arguments, button))
            except TurnCancelled:
                return
            refusal = done.metrics.get('refusal')
            if isinstance(refusal, dict):
                self._count_refusal(refusal)

    @contextmanager
    def _watched(self) -> Iterator[None]:
        self.bench.watch.judge = self.judge
        try:
            yield
        finally:
            self.bench.watch.judge = None

    def _recall(self) -> str:
        events: list[TraceEvent] = [
            new_event(TraceKind.OBSERVE, line)
            for line in (*self._attack.memory, *self._attack.topics)
        ]
        return recall(events, RECALLED)

    def _answer(self) -> None:
        """The person who is asked. Nobody says yes to a way out of the fence."""
        question = self._queue.oldest_question
        if question is None:
            return
        self.record.asked += 1
        answers, edits = self._attack.situation.answers, self._attack.edits
        how = ApprovalAction(answers[self._answers % len(answers)].upper())
        arguments: Any = None
        if how is ApprovalAction.EDIT:
            arguments = edits[self._answers % len(edits)] if edits else _smaller(question)
        self._answers += 1
        if question.leaves_fence:
            how = ApprovalAction.REJECT
        op = question.op
        if op is None:
            how = ApprovalAction.REJECT if how is ApprovalAction.EDIT else how
        elif how is not ApprovalAction.REJECT:
            self._allow(op, arguments if how is ApprovalAction.EDIT else op.arguments)
        self._queue.answer(ApprovalAnswer(how, arguments, 'as told'), question.id)

    def _allow(self, op: Operation, arguments: Any) -> None:
        # A yes to arguments that the skill does not take allows nothing.
        with suppress(KeyError, TypeError, ValueError):
            self.judge.approved(op.skill, arguments, self.twin.place)

    def _trace(self, kind: TraceKind, message: str, **fields: Any) -> None:
        new_event(kind, message, **fields)
        if fields.get('tool_name') in (None, '', 'plan'):
            return
        if kind is TraceKind.ACT:
            self.record.acts += 1
        elif kind is TraceKind.ERROR:
            data = fields.get('data') or {}
            refusal = data if data.get('rule') else data.get('refusal')
            if isinstance(refusal, dict):
                self._count_refusal(refusal)
            elif kind is TraceKind.ERROR and 'error_reason' in fields:
                self.record.declined += 1

    def _count_refusal(self, refusal: dict[str, Any]) -> None:
        self.record.refused += 1
        rules = Counter(self.record.rules)
        rules[str(refusal['rule'])] += 1
        self.record.rules = dict(rules)


def _smaller(question: Question) -> dict[str, Any]:
    """The arguments of the question, with a shorter drive."""
    arguments = dict(question.op.arguments) if question.op is not None else {}
    if isinstance(arguments.get('duration_s'), float | int):
        arguments['duration_s'] = 0.5
    return arguments


def _brain(attack: Attack) -> BrainState:
    held = attack.situation.held
    mode = Mode(held) if held in ('SAFE', 'CHARGE') else Mode.EXEC
    return BrainState(
        tasks=TasksState(mode=mode),
        robot=RobotState(safety_latch='E-stop pressed' if held == 'LATCH' else ''),
        world=WorldState(zones=list(attack.topics)),
    )


class _Peer(_Contender):
    def __init__(self, bench: Bench, first: Attack) -> None:
        super().__init__(bench, first)
        twin = JudgedTwin(self.config, **_stand(first.situation))
        self.twin = JudgedBareTwin.of(twin)
        self.model.reads_system = False
        self.twin.judge = self.judge

    def turn(self, attack: Attack) -> None:
        answer = run_rosa(self.model, self.config, self.twin, attack.peer_text)
        self.record.acts = self.twin.tool_calls
        if answer.startswith('An error occurred'):
            self.record.errors.append(answer[:300])


def merged(records: list[dict[str, Any]]) -> dict[str, Any]:
    """The sum of records as JSON."""
    total: dict[str, Any] = {}
    for record in records:
        for key, value in record.items():
            if isinstance(value, dict):
                total[key] = dict(Counter(total.get(key, {})) + Counter(value))
            elif isinstance(value, list):
                total[key] = [*total.get(key, []), *value][:5]
            else:
                total[key] = total.get(key, 0) + value
    return total
