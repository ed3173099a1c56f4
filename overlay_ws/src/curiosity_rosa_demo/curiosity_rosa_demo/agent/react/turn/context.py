# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The objects that one turn's nodes use besides the state. They are not saved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from curiosity_rosa_demo.agent.llm.fallback import FallbackModel
from curiosity_rosa_demo.agent.react.guardrails.situation import Limits
from curiosity_rosa_demo.agent.react.turn.messages import StepCache
from curiosity_rosa_demo.agent.react.turn.rover_world import RoverWorld
from curiosity_rosa_demo.agent.react.turn.texts import StepSpans
from curiosity_rosa_demo.agent.skills.executor import SkillExecutor
from curiosity_rosa_demo.agent.skills.registry import SkillRegistry
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.trace.reporter import TraceFunction
from langchain_core.messages import BaseMessage


@dataclass
class TurnContext:
    """``agent`` is ROSA's agent: one decision per call. ``fallback`` decides when the agent fails;
    with None the turn ends then.
    """

    config: Config
    limits: Limits
    registry: SkillRegistry
    skill_executor: SkillExecutor
    world: RoverWorld
    agent: Any
    trace: TraceFunction
    fallback: FallbackModel | None = None
    can_see: bool = False  # the agent gets the pictures of the turn
    cancellation: Cancellation = field(default_factory=Cancellation)
    text: str = ''
    history: Sequence[BaseMessage] = ()
    memory: Callable[[], str] = lambda: ''
    recalled: str = ''  # the memory at the start of the turn
    steps: StepCache = field(default_factory=StepCache)
    step_spans: StepSpans = field(default_factory=StepSpans)
