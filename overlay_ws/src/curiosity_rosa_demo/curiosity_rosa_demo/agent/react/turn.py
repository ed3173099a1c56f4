# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A turn as one object; what it uses, what it was asked for, and how it ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
import time
from typing import Any, Literal, TYPE_CHECKING

from curiosity_rosa_demo.agent.language.understand import understand, Utterance
from curiosity_rosa_demo.agent.react.ask import ApprovalQueue
from curiosity_rosa_demo.agent.react.plan import ENDED_STATUSES, open_step
from curiosity_rosa_demo.agent.react.situation import Limits, Situation, situation_of_facts
from curiosity_rosa_demo.agent.react.world import RoverWorld
from curiosity_rosa_demo.agent.rule_model.orders import SEARCH, SOURCE
from curiosity_rosa_demo.agent.skills.executor import SkillExecutor, SkillMonitor
from curiosity_rosa_demo.agent.skills.registry import SkillRegistry
from curiosity_rosa_demo.agent.tasks.origin import Approval
from curiosity_rosa_demo.domain.brain_state import DecisionType, Json, ProposedOps, ReactState
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.domain.operation import Exchange, Operation
from curiosity_rosa_demo.domain.plan import Plan, PlanStep
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.trace.reporter import TraceFunction
from pydantic import ConfigDict, Field

if TYPE_CHECKING:
    from curiosity_rosa_demo.agent.llm.errors import FallbackModel
    from curiosity_rosa_demo.agent.llm.usage import UsageLedger
    from langchain_core.messages import BaseMessage

ASK_TO_CONTINUE = 'go on'  # stop_reason of an exhausted turn that asks to continue
ROUTINE = 'routine'  # marks the decisions and calls of the rule model, beside a language model
NOTHING_SAID = understand('')


class Turn(ReactState):
    """All of a turn that is saved. ``exchanges``: its calls. ``call_id``: of the call that is
    decided on; '' for none. ``op`` is checked, and carried out next; ``approval``: the operator's
    yes to it. ``was_rejected``: the operator's last answer was a no. ``plan_is_given``: by a
    client, so its end ends the turn; a model proposes its own, and an order becomes one.
    ``wasted``: the cost of the model's detours in a search.
    """

    model_config = ConfigDict(frozen=False)

    version: Literal[1] = 1
    plan: Plan | None = None  # type: ignore[assignment]  # ReactState shows it as JSON
    plan_is_given: bool = False
    exchanges: list[Exchange] = Field(default_factory=list)
    call_id: str = ''
    op: Operation | None = None
    approval: Approval | None = None
    was_rejected: bool = False
    wasted: float = 0.0

    def shown(self) -> ReactState:
        """The turn as the agent shows it."""
        same = {name: getattr(self, name) for name in ReactState.model_fields}
        ops = [] if self.op is None else [self.op]
        proposed = ProposedOps(to_dispatch=ops, need_approval=self.question is not None)
        plan = None if self.plan is None else self.plan.to_dict()
        return ReactState.model_construct(**{**same, 'plan': plan, 'proposed_ops': proposed})

    def spend(self, **more: float) -> None:
        """Add to the used budget."""
        spent = {name: getattr(self.spent, name) + value for name, value in more.items()}
        self.spent = self.spent.model_copy(update=spent)

    def exchange(self, call_id: str) -> Exchange:
        return next(each for each in self.exchanges if each.call_id == call_id)

    def change(self, call_id: str, **changes: Any) -> None:
        """Change the fields of an exchange."""
        self.exchanges = [
            each.model_copy(update=changes) if each.call_id == call_id else each
            for each in self.exchanges
        ]

    def answer_call(self, call_id: str, result: ToolResult, **more: Any) -> None:
        """Record the result of a call."""
        self.change(call_id, result=result, at=time.time(), **more)

    @property
    def last_op(self) -> Exchange | None:
        """The last call that was carried out; declined calls of the same answer follow it."""
        return next((each for each in reversed(self.exchanges) if each.op), None)

    @property
    def last_failed(self) -> Exchange | None:
        """The last call with a failure of its own."""
        failed = (each for each in reversed(self.exchanges) if each.result and not each.ok)
        return next((each for each in failed if not each.declined), None)

    @property
    def last_reason(self) -> str:
        failed = self.last_failed
        return '' if failed is None or failed.result is None else failed.result.error_reason

    @property
    def new_goal(self) -> str:
        """Of a SWITCH_TASK; '' for any other end."""
        return self.answer if self.stop_reason == DecisionType.SWITCH_TASK.value else ''

    @property
    def plan_is_open(self) -> bool:
        return self.plan is not None and self.plan.status not in ENDED_STATUSES

    @property
    def search(self) -> PlanStep | None:
        """The open step of an order's plan, if it is a search, which the rules carry out."""
        plan = self.plan
        step = open_step(plan) if plan is not None and plan.source == SOURCE else None
        return step if step is not None and step.action == SEARCH else None


@dataclass
class TurnRequest:
    """One turn for the goal ``said``. An interrupted turn resumes under its ``thread_id``; '': it
    never does. ``on_start`` gets the number of calls that the turn made before.
    """

    said: Utterance
    cancellation: Cancellation
    thread_id: str = ''
    plan: Json | None = None
    on_start: Callable[[int], None] = lambda calls: None


@dataclass
class TurnEnvironment:
    """What turns use, and of the running one what is not saved: ``said`` is its goal, understood
    once, ``history`` the talk before it, ``recalled`` the memory at its start. ``can_see``: the
    model gets the pictures of the turn. ``fallback``: the rule model stands in for the model;
    None: a turn whose model fails ends. ``settle``: syncs what is saved of the turn.
    """

    registry: SkillRegistry
    world: RoverWorld
    approval_queue: ApprovalQueue
    checkpoints: Path | str  # file of resumable turns; ':memory:' for none
    trace: TraceFunction
    recall: Callable[[], str]
    on_react_state: Callable[[ReactState], None]
    monitor: SkillMonitor = field(default_factory=SkillMonitor)
    usage: UsageLedger | None = None  # None: the model's calls are not counted
    can_see: bool = False
    fallback: FallbackModel | None = None
    settle: Callable[[], None] = lambda: None
    said: Utterance = NOTHING_SAID
    cancellation: Cancellation = field(default_factory=Cancellation)
    history: Sequence[BaseMessage] = ()
    recalled: str = ''

    @property
    def config(self) -> Config:
        return self.world.config

    @cached_property
    def limits(self) -> Limits:
        return Limits.of(self.config)

    @cached_property
    def skill_executor(self) -> SkillExecutor:
        return SkillExecutor(self.registry, self.world, monitor=self.monitor)

    def hear(self, goal: Utterance) -> None:
        """Take the goal of the turn that begins, or goes on; the skills' own words order, too."""
        words = (
            (phrase, skill.definition.name)
            for skill in self.registry.for_model()
            for phrase in skill.settings.phrases
        )
        self.said = replace(goal, skill_words=tuple(words))

    def situation(self, turn: Turn) -> Situation:
        """Of the gate's rules, by the turn's last observation."""
        return situation_of_facts(
            turn.observation,
            spent=turn.spent,
            running=self.skill_executor.monitor.competing(),
            refused=turn.refused,
        )
