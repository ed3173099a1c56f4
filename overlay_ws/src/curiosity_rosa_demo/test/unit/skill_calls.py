# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What skills reach, without a robot: a SkillWorld that answers what the test says, and skills
that end how the test says.
"""

from __future__ import annotations

from collections.abc import Callable
import threading
from typing import Any

from curiosity_rosa_demo.agent.llm.vision import SeenPictures
from curiosity_rosa_demo.agent.skills.plugins import skill_of
from curiosity_rosa_demo.agent.skills.registry import SkillRegistry
from curiosity_rosa_demo.agent.skills.skill import Skill, SkillCall
from curiosity_rosa_demo.domain.brain_state import Json
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.models import RoverPose, ToolResult
from curiosity_rosa_demo.domain.refusal import Refusal
from curiosity_rosa_demo.infra.config.guardrails import SkillSettings
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.config_loader import load_config

SHIPPED = load_config()
NINE = (
    'capture_and_score',
    'mast_open',
    'mast_close',
    'mast_rotate',
    'move_forward',
    'turn_left',
    'turn_right',
    'move_stop',
    'get_status',
)
LONG_S = 20.0  # bound of every wait: reached only by what hangs


class StillWorld:
    """Nothing moves; what was asked of it is kept."""

    def __init__(self, config: Config = SHIPPED, facts: Json | None = None) -> None:
        self.config = config
        self.known: Json = facts or {}
        self.said: list[str] = []
        self.tools: list[tuple[str, dict[str, Any]]] = []
        self.pictures = SeenPictures()
        self.refuses: Refusal | None = None  # why no motion may begin

    def tool(self, name: str, cancellation: Cancellation, **arguments: Any) -> ToolResult:
        cancellation.check()
        self.tools.append((name, arguments))
        return ToolResult.success(tool=name)

    def pose(self) -> RoverPose | None:
        return None

    def facts(self) -> Json:
        return self.known

    def say(self, text: str) -> None:
        self.said.append(text)

    def may_drive(self, name: str, duration_s: float) -> str:
        refused = self.drive_refusal(name, duration_s)
        return refused.reason if refused else ''

    def drive_refusal(self, name: str, duration_s: float) -> Refusal | None:
        return self.refuses


def call_of(world: Any, cancellation: Cancellation | None = None, heard: Any = None) -> SkillCall:
    """``heard`` collects the reports of progress."""
    report = heard.append if heard is not None else lambda report: None
    return SkillCall(world, cancellation or Cancellation(), report)


def settings_of(**changes: Any) -> SkillSettings:
    usual: dict[str, Any] = {
        'interface_type': 'internal',
        'resources_required': [],
        'preemptible': True,
        'cancel_supported': True,
        'timeout_s': LONG_S,
        'risk': 'low',
        'error_map': {},
    }
    return SkillSettings.model_validate({**usual, **changes})


def skill_named(name: str, run: Callable[..., ToolResult], **settings: Any) -> Skill:
    """A skill without arguments."""

    def work(call: SkillCall) -> ToolResult:
        """For a test."""
        return run(call)

    work.__name__ = name
    return skill_of(work, settings_of(**settings))


def registry_of(*skills: Skill) -> SkillRegistry:
    registry = SkillRegistry()
    for skill in skills:
        registry.register(skill)
    return registry


class Actor:
    """A skill that begins, then ends how it is told: see ``ENDS``. Obedient, it ends when it is
    stopped; else only when it is told.
    """

    ENDS = ('ok', 'refusal', 'error', 'exit', 'nothing')

    def __init__(self, *, obedient: bool = True) -> None:
        self.obedient = obedient
        self.begun, self.ended = threading.Event(), threading.Event()
        self.saw_stop = False  # when it ended
        self.button = Cancellation()  # its own, once it has begun
        self._told = threading.Event()
        self._end = 'ok'

    def finish(self, end: str = 'ok') -> None:
        self._end = end
        self._told.set()

    def __call__(self, call: SkillCall) -> ToolResult:
        self.button = call.cancellation
        self.begun.set()
        try:
            if self.obedient:
                with call.cancellation.call_when_pressed(self._told.set):
                    assert self._told.wait(LONG_S)
                call.cancellation.check()
            else:
                assert self._told.wait(LONG_S)
            return self._act()
        finally:
            self.saw_stop = call.cancellation.requested
            self.ended.set()

    def _act(self) -> Any:
        if self._end == 'error':
            raise ValueError('it broke')
        if self._end == 'exit':
            raise SystemExit(3)
        if self._end == 'nothing':
            return None
        if self._end == 'refusal':
            return ToolResult.failure('No image received: 5 s', half=1)
        return ToolResult.success(done=1)
