# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A rover in pure Python that answers tool calls as the adapter does, and turns through the model.

Only what the routine's tests need: DemoRover, the adapter's view of its mast, the light, faults.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
import math
from typing import Any

from coded_failures import failed
from curiosity_rosa_demo.agent.rule_model.model import RuleChatModel
from curiosity_rosa_demo.agent.rule_model.parser import detect_language
from curiosity_rosa_demo.agent.rule_model.turn_view import RoverFigures
from curiosity_rosa_demo.domain.models import (
    INTERRUPTED_TEXT,
    MAST_IS_CLOSED,
    MOVE_IN_PROGRESS,
    NEED_TO_CLOSE_MAST,
    NEED_TO_OPEN_MAST,
    ToolResult,
)
from curiosity_rosa_demo.domain.serde import to_json
from curiosity_rosa_demo.domain.skills import MAST_SKILLS
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_stand_in.drivers import DemoRover
from curiosity_stand_in.kinematics import Pose
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.tools import StructuredTool
from tool_rover import STOP_LATE_S, with_figures

MOTIONS = ('move_forward', 'turn_left', 'turn_right')
COSTS = {
    **dict.fromkeys(['capture_and_score', 'move_stop', 'get_status'], 1),
    **dict.fromkeys(['mast_rotate', 'mast_open', 'mast_close', 'turn_left', 'turn_right'], 2),
    'move_forward': 5,
}
LONGEST_S = 20.0
CONFIG = load_config()
THRESHOLDS = CONFIG.thresholds
FIGURES = RoverFigures.of(CONFIG)
PROFILE = FIGURES.speeds
DEMO = '地面のテクスチャを調査して（Analyze the ground texture）'
HINT = 'About Your Environment: - Bright area starts at X >= 5.0m (configurable).'


@dataclass
class Rover:
    """``known`` is the adapter's view of the mast, ``is_up`` the truth. m, rad, s.

    ``x``, ``y`` and ``yaw`` are where it stands: at first, and after each call.
    """

    x: float = 0.0
    y: float = 0.0
    yaw: float = 0.0
    is_up: bool = True
    known: bool | None = True
    moving: bool = False
    speed: float = PROFILE.straight
    radius: float = PROFILE.radius_m
    x_min: float = 0.0
    x_good: float = 5.0
    threshold: float = 0.8
    tells_pose: bool = True
    broken: Mapping[str, str] = field(default_factory=dict)
    glitches: Mapping[int, str] = field(default_factory=dict)
    late: bool = False  # a glitch hides a call that did take effect
    stuck: bool = False
    has_mast: bool = True
    restarts: int = 0  # the agent ends in that many motions
    calls: list[tuple[str, dict[str, Any], ToolResult]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.has_mast:
            self.is_up = self.known = False
        figures = with_figures(
            THRESHOLDS,
            forward_mps=self.speed,
            turn_mps=self.speed * PROFILE.arc / PROFILE.straight,
            turn_radius_m=self.radius,
        )
        self._demo = DemoRover(figures, pose=Pose(self.x, self.y, self.yaw))
        self._demo.body.set_slip(1.0 if self.stuck else 0.0)
        if self.moving:
            self._demo.call('move_forward')

    @property
    def score(self) -> float:
        return min(1.0, max(0.0, (self.x - self.x_min) / (self.x_good - self.x_min)))

    def call(self, tool: str, args: Mapping[str, Any]) -> ToolResult:
        if self.moving:
            self._pass(1.0)
        result = self._faulty(tool, args)
        self.calls.append((tool, dict(args), result))
        return result

    def _pass(self, seconds: float) -> None:
        pose = self._demo.advance_to(self._demo.seconds + seconds).pose
        self.x, self.y, self.yaw = pose.x, pose.y, pose.yaw

    def _stop(self) -> None:
        self._demo.call('move_stop')
        self._pass(STOP_LATE_S)

    def _faulty(self, tool: str, args: Mapping[str, Any]) -> ToolResult:
        reason = self.broken.get(tool) or self.glitches.get(len(self.calls))
        if tool in MOTIONS and self.known is False and self.restarts:
            self.restarts, reason = self.restarts - 1, INTERRUPTED_TEXT
        if not reason:
            return self._act(tool, args)
        if self.late:
            self._act(tool, args)
        if tool.startswith('mast_'):
            self.known = None
        if tool in MOTIONS and self.known is False:
            self.moving = True  # it started, and the answer was lost
            self._demo.call(tool)
        return failed(reason, cost=COSTS[tool])

    def _act(self, tool: str, args: Mapping[str, Any]) -> ToolResult:
        if tool in MOTIONS:
            return self._motion(tool, float(args['duration_s']))
        if tool.startswith('mast_'):
            assert self.has_mast, tool
            return self._mast(tool)
        if tool == 'move_stop':
            self.moving = False
            self._stop()
            return ToolResult.success(cost=1)
        if tool == 'get_status':
            return self._status()
        if self.has_mast and (self.known is False or not self.is_up):
            return failed(MAST_IS_CLOSED, cost=1)
        good = self.score >= self.threshold
        topic = '/capture/image_raw/compressed'
        at = {'x': self.x, 'y': self.y, 'yaw_rad': self.yaw} if self.tells_pose else {}
        return ToolResult.success(score=self.score, is_good=good, image_topic=topic, cost=1, **at)

    def _motion(self, tool: str, seconds: float) -> ToolResult:
        assert 1.0 <= seconds <= LONGEST_S, f'{tool} for {seconds} s'
        if self.known is not False:
            return failed(NEED_TO_CLOSE_MAST, cost=COSTS[tool])
        if self.moving:
            return failed(MOVE_IN_PROGRESS, cost=COSTS[tool])
        x, y = self.x, self.y
        self._demo.call(tool)
        self._pass(seconds)
        self._stop()
        metres = math.hypot(self.x - x, self.y - y)
        pose = {'distance_m': metres, 'x': self.x, 'y': self.y, 'yaw_rad': self.yaw}
        told = pose if self.tells_pose else dict.fromkeys(pose)
        return ToolResult.success(duration_s=seconds, **told, cost=COSTS[tool])

    def _mast(self, tool: str) -> ToolResult:
        if self.moving:
            return failed(MOVE_IN_PROGRESS, cost=2)
        if tool == 'mast_rotate' and self.known is not True:
            return failed(NEED_TO_OPEN_MAST, cost=2)
        self.known = self.is_up = tool != 'mast_close'
        return ToolResult.success(cost=2)

    def _status(self) -> ToolResult:
        pose = {'rover_x': self.x, 'rover_y': self.y, 'yaw_rad': self.yaw}
        return ToolResult.success(
            mast_is_open=self.known,
            move_allowed=self.known is False,
            moving=self.moving,
            last_error_reason='',
            mast_yaw_rad=None,
            **(pose if self.tells_pose else dict.fromkeys(pose)),
            cost=1,
        )


def tools(costs: Mapping[str, float] = COSTS) -> list[StructuredTool]:
    """The tools as the agent offers them; only their descriptions matter to the model."""

    def still() -> str:
        """Do it."""
        return ''

    def moving(duration_s: float) -> str:
        """Move."""
        return ''

    def description(name: str) -> str:
        limit = f' duration_s: at most {LONGEST_S} s.' if name in MOTIONS else ''
        return f'The rover does {name}.{limit} Cost: {costs[name]}'

    return [
        StructuredTool.from_function(
            moving if name in MOTIONS else still, name=name, description=description(name)
        )
        for name in costs
    ]


def run_turn(
    rover: Rover,
    text: str = DEMO,
    *,
    prompt: str = HINT,
    costs: Mapping[str, float] = COSTS,
    history: list[BaseMessage] | None = None,
    limit: int = 90,
) -> str:
    """One turn through the real model; its answer. AssertionError after ``limit`` calls."""
    if not rover.has_mast:
        costs = {tool: cost for tool, cost in costs.items() if tool not in MAST_SKILLS}
    model = RuleChatModel(rover=FIGURES).bind_tools(tools(costs))
    messages: list[BaseMessage] = [SystemMessage(prompt), *(history or []), HumanMessage(text)]
    for _ in range(limit):
        message = model.invoke(messages)
        assert isinstance(message, AIMessage)
        messages.append(message)
        assert detect_language(str(message.content)) == detect_language(text), message.content
        if not message.tool_calls:
            assert isinstance(message.content, str)
            assert message.content.strip()
            return message.content
        (call,) = message.tool_calls
        assert str(message.content).strip(), 'a call without a thought'
        result = rover.call(call['name'], call['args'])
        messages.append(ToolMessage(to_json(result), tool_call_id=call['id']))
    raise AssertionError(f'no answer within {limit} calls')
