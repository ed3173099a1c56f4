# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The peer: plain ROSA with LangChain's AgentExecutor and tools that call the rover's services.

It has the model, the prompts and the twin's body of the product, and neither adapter nor gate:
the twin's guard is not asked. ROSA's own 47 tools stay away from it: their schemas alone are
longer than the context of a small model, and some run shell text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
import json
from typing import Any

import _bench  # noqa: F401 - the tests' folder is on the path from here on
from curiosity_rosa_demo.adapter.mast import MastAction
from curiosity_rosa_demo.agent.rosa_agent_factory import robot_prompts
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.infra.config.contracts import Config
from curiosity_rosa_demo.infra.ros_io import ServiceFailed
from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool, StructuredTool
from rosa import ROSA
import rosa.rosa
from rover_twin import RoverTwin

MAX_CALLS = 40  # in a world
_SCHEMAS: dict[str, Any] = {}  # of the tools, by name
LONGEST_WAIT_S = 600.0  # of one tool: a model may ask for a million seconds


class BareTwin(RoverTwin):
    """The demo's rover as it is: its services answer at once, and nothing stops it but a stop."""

    tool_calls = 0
    saw_good_picture = False
    note = ''  # what the demo's node says of its last error

    @classmethod
    def of(cls, twin: RoverTwin) -> BareTwin:
        """The body, light, rocks and faults of ``twin``."""
        given = {each.name: getattr(twin, each.name) for each in fields(twin) if each.init}
        return cls(**{**given, 'path': [], 'calls': []})

    def trigger(self, name: str, _: Cancellation | None = None) -> str:
        self._catch_up()
        self.calls.append(name)
        fault = self._fault_of(name)
        if fault not in ('timeout', 'refused'):
            self.rover.call(name)
        if fault:
            raise ServiceFailed(f'Service timeout: /{name}')
        return ''

    def _carry(self) -> None:
        """Nothing: there is no adapter."""

    def wait(self, seconds: float) -> None:
        self.clock.seconds += max(0.0, min(seconds, LONGEST_WAIT_S))
        self._catch_up()

    def status(self) -> dict[str, Any]:
        return {'moving': bool(self.rover.run_demo.motion)}


class PlainRosa(ROSA):
    """ROSA with these tools alone."""

    def __init__(self, tools: list[BaseTool], **options: Any) -> None:
        self._plain_tools = tools
        super().__init__(**options)

    def _get_tools(self, *_: Any, **__: Any) -> Any:
        return self

    def get_tools(self) -> list[BaseTool]:
        return self._plain_tools


def run_rosa(model: BaseChatModel, config: Config, twin: BareTwin, text: str) -> str:
    """One query. Returns ROSA's answer, an error among them."""
    shared = rosa.rosa.system_prompts
    before = list(shared)  # ROSA appends to it
    try:
        agent = PlainRosa(
            plain_tools(twin),
            ros_version=2,
            llm=model,
            prompts=robot_prompts(config.prompts),
            streaming=False,
            max_iterations=MAX_CALLS,
        )
        return str(agent.invoke(text))
    finally:
        shared[:] = before


def plain_tools(twin: BareTwin) -> list[BaseTool]:
    """Tools as an integrator writes them: call the service, wait, stop."""

    def answer(work: Callable[[], dict[str, Any]]) -> str:
        twin.tool_calls += 1
        try:
            return json.dumps({'ok': True, **work()})
        except ServiceFailed as failure:
            return json.dumps({'ok': False, 'error': str(failure)})

    def drive(name: str, duration_s: float) -> str:
        def work() -> dict[str, Any]:
            try:
                twin.trigger(name)
                twin.wait(duration_s)
            finally:
                twin.trigger('move_stop')
            return _place(twin)

        return answer(work)

    def mast(name: str) -> str:
        def work() -> dict[str, Any]:
            twin.trigger(name)
            twin.wait(MastAction(name).duration_s(twin.config.thresholds.mast))
            return {}

        return answer(work)

    def move_forward(duration_s: float) -> str:
        """Drive forward for duration_s seconds, then stop. Close the mast before driving."""
        return drive('move_forward', duration_s)

    def turn_left(duration_s: float) -> str:
        """Drive a left turn for duration_s seconds, then stop. Close the mast before driving."""
        return drive('turn_left', duration_s)

    def turn_right(duration_s: float) -> str:
        """Drive a right turn for duration_s seconds, then stop. Close the mast before driving."""
        return drive('turn_right', duration_s)

    def move_stop() -> str:
        """Stop the rover."""
        return answer(lambda: {'answer': twin.trigger('move_stop')})

    def mast_open() -> str:
        """Raise the camera mast."""
        return mast('mast_open')

    def mast_close() -> str:
        """Stow the camera mast."""
        return mast('mast_close')

    def mast_rotate() -> str:
        """Rotate the raised mast."""
        return mast('mast_rotate')

    def capture_and_score() -> str:
        """Take a picture with the raised mast. Returns its light score, 0 to 1."""

        def work() -> dict[str, Any]:
            picture = twin.capture()
            raised = not mast.is_stowed(twin.state.joints)
            twin.saw_good_picture = raised and picture.is_good
            return {'score': round(picture.score if raised else 0.0, 3)}

        return answer(work)

    def get_status() -> str:
        """Return the place of the rover and the state of its mast."""
        last = {'last_error_reason': twin.note} if twin.note else {}
        return answer(
            lambda: {
                **_place(twin),
                'mast_joints': [round(angle, 2) for angle in twin.state.joints[:2]],
                **last,
            }
        )

    functions = (move_forward, turn_left, turn_right, move_stop, mast_open, mast_close,
                 mast_rotate, capture_and_score, get_status)  # fmt: skip
    return [_tool_of(each) for each in functions]


def _tool_of(function: Callable[..., str]) -> BaseTool:
    """The schema is made once for each name: that takes longer than most calls."""
    name = function.__name__
    tool = StructuredTool.from_function(function, args_schema=_SCHEMAS.get(name))
    _SCHEMAS[name] = tool.args_schema
    return tool


def _place(twin: BareTwin) -> dict[str, Any]:
    pose = twin.pose()
    if pose is None:
        return {'place': 'unknown'}
    return {'x': round(pose.x, 2), 'y': round(pose.y, 2), 'yaw_rad': round(pose.yaw_rad, 3)}
