# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Turns of the agent without ROS, for the benchmarks: a model and a world without latency."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import _bench  # noqa: F401 - the tests' folder is on the path from here on
from curiosity_rosa_demo.agent.llm.pictures import SeenPictures
from curiosity_rosa_demo.agent.react.checkpointer import TurnCheckpointer
from curiosity_rosa_demo.agent.react.turn.approval_queue import ApprovalQueue
from curiosity_rosa_demo.agent.react.turn.request import TurnEnvironment, TurnRequest
from curiosity_rosa_demo.agent.rosa_agent_factory import CuriosityRosa
from curiosity_rosa_demo.agent.skills.registry import make_registry
from curiosity_rosa_demo.domain.brain_state import Json
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.models import RoverPose, ToolResult
from curiosity_rosa_demo.domain.refusal import Refusal
from curiosity_rosa_demo.infra.config.contracts import Config
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable

__all__ = ['TOOL', 'InstantModel', 'InstantWorld', 'instant_rosa', 'turn_of']

TOOL = 'get_status'


class InstantModel(BaseChatModel):
    """Calls a tool without arguments ``steps`` times, then answers in text."""

    steps: int = 20

    @property
    def _llm_type(self) -> str:
        return 'instant'

    def bind_tools(self, tools: Any, **_: Any) -> Runnable[Any, Any]:
        return self.bind()

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **_: Any,
    ) -> ChatResult:
        done = sum(isinstance(each, ToolMessage) for each in messages)
        message = AIMessage('')
        if done < self.steps:
            call: Any = {'name': TOOL, 'args': {}, 'id': f'call_{done}'}
            message = AIMessage(content='', tool_calls=[call])
        else:
            message = AIMessage('done')
        return ChatResult(generations=[ChatGeneration(message=message)])


class InstantWorld:
    """A SkillWorld with constant facts and tools without latency. No two results are equal, or a
    turn would end for lack of progress. ``seen`` is called within each tool.
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        self.pictures = SeenPictures()
        self.count = 0
        self.seen: Callable[[str], None] = lambda name: None

    def tool(self, name: str, cancellation: Cancellation, **_: Any) -> ToolResult:
        self.count += 1
        self.seen(name)
        return ToolResult.success(count=self.count, mast_is_open=False, moving=False, cost=1.0)

    def pose(self) -> RoverPose:
        return RoverPose(x=1.0, y=2.0, yaw_rad=0.5, frame_id='odom')

    def facts(self) -> Json:
        return {
            'x': 1.0,
            'y': 2.0,
            'yaw_rad': 0.5,
            'mast': 'closed',
            'moving': False,
            'battery_pct': 80.0,
            'battery_state': 'OK',
            'mode': 'EXEC',
            'zones': [],
            'safety_latch': '',
            'distance_to_target': 3.0,
        }

    def say(self, text: str) -> None: ...

    def may_drive(self, name: str, duration_s: float) -> str:
        return ''

    def drive_refusal(self, name: str, duration_s: float) -> Refusal | None:
        return None


def instant_rosa(
    model: BaseChatModel, world: InstantWorld, checkpoints: Path | str
) -> tuple[CuriosityRosa, TurnCheckpointer]:
    """CuriosityRosa without an operator and without a trace."""
    approval_queue = ApprovalQueue(timeout_s=1.0)
    approval_queue.is_attended = False
    environment = TurnEnvironment(
        registry=make_registry(world.config),
        world=world,
        approval_queue=approval_queue,
        checkpoints=checkpoints,
        trace=lambda *_, **__: None,
        recall=lambda: '',
        on_react_state=lambda react: None,
    )
    saver = TurnCheckpointer(checkpoints)
    return CuriosityRosa(model, environment, saver), saver


def turn_of(rosa: CuriosityRosa, thread: str) -> None:
    """Run one turn with this thread ID. Raises AssertionError unless it ends with its answer."""
    rosa.clear_chat()
    rosa.turn_executor.request = TurnRequest('Go on.', Cancellation(), thread)
    answer = rosa.invoke('Go on.')
    assert answer == 'done', answer
