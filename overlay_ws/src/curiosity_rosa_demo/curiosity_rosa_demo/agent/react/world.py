# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The SkillWorld of the rover: tools, pose, facts, speech and drive checks for skills."""

from __future__ import annotations

from collections.abc import Callable
import time
from typing import Any

from curiosity_rosa_demo.agent.llm.vision import SeenPictures
from curiosity_rosa_demo.agent.react.forecast import MeasuredSpeeds, Surroundings
from curiosity_rosa_demo.agent.react.gate import (
    call_refusal,
    GateDecision,
    order_verdict,
    traced_check,
)
from curiosity_rosa_demo.agent.react.guardrails import Ask, CALL_RULES, drive_refusal
from curiosity_rosa_demo.agent.react.situation import (
    Limits,
    Proposal,
    situation_of_facts,
)
from curiosity_rosa_demo.agent.tasks.origin import current_order, Order
from curiosity_rosa_demo.domain.brain_state import BrainState, Json, Spent
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.geometry import DIRECTIONS, finite_float
from curiosity_rosa_demo.domain.graph import GraphQuery
from curiosity_rosa_demo.domain.models import ToolBroke, ToolResult
from curiosity_rosa_demo.domain.operation import Operation
from curiosity_rosa_demo.domain.plan import RiskLevel
from curiosity_rosa_demo.domain.refusal import Refusal, RefusalCode
from curiosity_rosa_demo.domain.skills import MAST_SKILLS, MOTIONS
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.ros_io import ServiceFailed
from curiosity_rosa_demo.tools.rover_client import RoverClient
from curiosity_rosa_demo.tools.tool_impl import ToolRun


class _DrivenLegs:
    """Path and time of the running skill; the turn counts them only when the skill ends."""

    def __init__(self) -> None:
        self._counted_from: Spent | None = None
        self._metres = self._since_s = 0.0

    def add_leg(self, spent: Spent, metres: float) -> None:
        self._reset_if_new_step(spent)
        self._metres += metres

    def metres(self, spent: Spent) -> float:
        self._reset_if_new_step(spent)
        return self._metres

    def total_spent(self, spent: Spent) -> Spent:
        metres = spent.metres + self.metres(spent)
        seconds = spent.seconds + time.monotonic() - self._since_s
        return spent.model_copy(update={'metres': metres, 'seconds': seconds})

    def _reset_if_new_step(self, spent: Spent) -> None:
        if spent != self._counted_from:  # a new step
            self._counted_from, self._metres, self._since_s = spent, 0.0, time.monotonic()


GraphReader = Callable[[GraphQuery, str, Cancellation], ToolResult]


def no_graph(query: GraphQuery, language: str, cancellation: Cancellation) -> ToolResult:
    """The GraphReader of a world without ROS."""
    return ToolResult.failure('There is no ROS graph here.')


class RoverWorld:
    """A SkillWorld. ``brain_state`` returns the kernel's state, ``spent`` the turn's used budget,
    ``say`` prints, traces and publishes a text, ``on_violation`` is told the reason of each call
    that broke a safety rule, whatever its skill answers; ``graph`` reads the ROS graph.
    ``on_decision`` gets what the gate decides at the dispatch of a call; it must not block.
    """

    def __init__(
        self,
        client: RoverClient,
        config: Config,
        ros_clock: Any,
        *,
        brain_state: Callable[[], BrainState] = BrainState,
        spent: Callable[[], Spent] = Spent,
        say: Callable[[str], None] = lambda text: None,
        on_violation: Callable[[str], None] = lambda reason: None,
        graph: GraphReader = no_graph,
        pictures: SeenPictures | None = None,
    ) -> None:
        self._client, self.config, self._ros_clock = client, config, ros_clock
        self._limits = Limits.of(config)
        self._legs = _DrivenLegs()
        self._speeds = MeasuredSpeeds(config.thresholds.speeds, config.thresholds.body.start_s)
        self.home: tuple[float, float] | None = None  # where the pose was known first
        # By task, why its last motion ended early; '': it did not.
        self._faults = dict[str, str]()
        self.brain_state, self.spent, self.say = brain_state, spent, say
        self.pose, self.graph = client.pose, graph
        self.on_decision: Callable[[GateDecision], None] = lambda decision: None
        self._on_violation = on_violation
        self.pictures = pictures or SeenPictures()

    def tool(self, name: str, cancellation: Cancellation, **arguments: Any) -> ToolResult:
        """Call one of the ten tools. Raises TurnCancelled and ToolBroke.

        Every door leads here, so the gate is asked at the dispatch of each motion of base and
        mast, on a fresh status. A refusal or a silent adapter is a failure, and nothing is called.
        """
        cancellation.check()
        before: Json = {}
        if name in MOTIONS or name in MAST_SKILLS:
            refused = traced_check(name, lambda: self._call_refusal(name, arguments, before))
            if isinstance(refused, Refusal):
                return refused.result()
        run = ToolRun(self._client, self.config, self._ros_clock, name, cancellation)
        try:
            result = run.result(**arguments)
        finally:  # a stop ends it without a result
            metres = run.driven_m(self.config.guardrails.geofence.max_speed_mps)
            self._legs.add_leg(self.spent(), metres)
        if name in MOTIONS and 'duration_s' in result.data:  # it has begun
            self._faults[current_order().task_id] = result.error_reason
        if name in DIRECTIONS:
            self._speeds.learn(name, before, result)
        if result.error_code == RefusalCode.SAFETY_VIOLATION:
            self._on_violation(result.error_reason)
        if result.error_code == RefusalCode.INTERNAL_ERROR:
            raise ToolBroke(result)
        return result

    def take_fault(self, task_id: str) -> str:
        """Why the task's last motion ended although nobody asked for its end; '': it did not. It
        is told once, and no more after a later motion without a fault.
        """
        return self._faults.pop(task_id, '')

    def _call_refusal(self, name: str, arguments: dict[str, Any], before: Json) -> Refusal | None:
        """``before`` takes the facts on which the gate decides."""
        try:
            facts = self.facts_of(self._client.status())
        except ServiceFailed as failure:
            return _silent(failure, name)
        before.update(facts)
        settings = self.config.skills.skills.get(name)
        risk = RiskLevel.HIGH if settings is None else settings.risk
        spent, order = self._legs.total_spent(self.spent()), current_order()
        asked = GateDecision.asked(Operation(name, arguments), facts, spent, risk, order)
        refused = call_refusal(name, arguments, facts, spent, self._limits, order, risk)
        self.on_decision(asked.told(refused))
        return refused

    def order_verdict(self, proposal: Proposal, order: Order) -> Refusal | Ask | None:
        """What the gate says to a skill that no turn has checked; None: it may run."""

        def verdict() -> Refusal | Ask | None:
            facts: Json = {}
            if self._limits.may_move_base(proposal) or proposal.moves_mast:
                try:
                    facts = self.facts_of(self._client.status())
                except ServiceFailed as failure:
                    return _silent(failure, proposal.op.text)
            situation = situation_of_facts(facts, spent=self._legs.total_spent(self.spent()))
            return order_verdict(proposal, situation, self._limits, order, CALL_RULES)

        return traced_check(proposal.op.skill, verdict)

    def reset_budget(self) -> None:
        """Call before a turn, and before a skill that an operator requested directly."""
        self._legs = _DrivenLegs()

    @property
    def driven_m(self) -> float:
        """The metres of the running step's legs so far: measured, else the most they may be."""
        return self._legs.metres(self.spent())

    def facts(self) -> Json:
        """Flat facts. Pose, mast and motion are the adapter's, newer than the kernel's."""
        try:
            status = self._client.status()
        except ServiceFailed:
            status = {}
        return self.facts_of(status)

    def facts_of(self, status: dict[str, Any]) -> Json:
        """The facts with this status of the adapter. Calls nobody and does not block."""
        state = self.brain_state()
        moving = status.get('moving')
        x, y = finite_float(status.get('rover_x')), finite_float(status.get('rover_y'))
        if self.home is None and x is not None and y is not None:
            self.home = (x, y)
        return {
            'x': x,
            'y': y,
            'yaw_rad': finite_float(status.get('yaw_rad')),
            'mast': _mast_state(status),
            'moving': moving if isinstance(moving, bool) else None,
            'battery_pct': state.robot.battery_pct
            if state.robot.battery_state.value != 'UNKNOWN'
            else None,
            'battery_state': state.robot.battery_state.value,
            'mode': state.tasks.mode.value,
            'zones': list(state.world.zones),
            'safety_latch': state.robot.safety_latch,
            'home_x': self.home[0] if self.home else None,
            'home_y': self.home[1] if self.home else None,
            'distance_to_target': state.robot.distance_to_target,
        }

    def surroundings(self) -> Surroundings:
        """What a rehearsal knows besides the facts. Calls nobody and does not block."""
        state = self.brain_state()
        robot, seen = state.robot, None
        scan = robot.heard.get('scan')
        if scan is not None and 'scan' not in robot.silent and scan.value.get('view'):
            places = ((each['distance_m'], each['bearing_rad']) for each in state.world.obstacles)
            seen = tuple((float(str(far)), float(str(at))) for far, at in places)
        stale = not {'odometry', 'adapter'}.isdisjoint(robot.silent)
        return Surroundings(self._speeds.now(), seen, stale)

    def may_drive(self, name: str, duration_s: float) -> str:
        spent = self._legs.total_spent(self.spent())
        refused = drive_refusal(name, duration_s, self.facts(), spent, self._limits)
        return refused.reason if refused else ''


def _silent(failure: ServiceFailed, asked: str) -> Refusal:
    allowed, way_out = 'an order while the adapter answers', 'wait until the adapter answers'
    return Refusal(
        RefusalCode.ROVER_SILENT, str(failure), allowed, way_out, rule='status', asked=asked
    )


def _mast_state(status: dict[str, Any]) -> str:
    """Unknown is unsafe: closed only when the adapter says so."""
    mast = status.get('mast')
    if isinstance(mast, str):
        return mast
    is_open: Any = status.get('mast_is_open')
    return {True: 'open', False: 'closed'}.get(is_open, 'unknown')
