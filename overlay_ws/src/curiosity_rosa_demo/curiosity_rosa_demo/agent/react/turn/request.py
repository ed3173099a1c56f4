# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The request, environment and result of a turn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from curiosity_rosa_demo.agent.llm.usage import UsageLedger
from curiosity_rosa_demo.agent.react.turn.approval_queue import ApprovalQueue
from curiosity_rosa_demo.agent.react.turn.rover_world import RoverWorld
from curiosity_rosa_demo.agent.skills.monitor import SkillMonitor
from curiosity_rosa_demo.agent.skills.registry import SkillRegistry
from curiosity_rosa_demo.domain.brain_state import Json, ReactState
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.trace.reporter import TraceFunction


@dataclass
class TurnRequest:
    """One turn. An interrupted turn resumes under its ``thread_id``; '' for a turn that never
    resumes. ``on_start`` gets the number of calls that the turn made before.
    """

    text: str
    cancellation: Cancellation
    thread_id: str = ''
    plan: Json | None = None
    on_start: Callable[[int], None] = lambda calls: None


@dataclass(frozen=True)
class TurnEnvironment:
    """The objects that a turn uses."""

    registry: SkillRegistry
    world: RoverWorld
    approval_queue: ApprovalQueue
    checkpoints: Path | str  # file of resumable turns; ':memory:' for none
    trace: TraceFunction
    recall: Callable[[], str]
    on_react_state: Callable[[ReactState], None]
    monitor: SkillMonitor = field(default_factory=SkillMonitor)
    usage: UsageLedger | None = None  # None: the model's calls are not counted


@dataclass
class TurnResult:
    """How a turn ended. ``score`` and ``is_good`` are those of its last capture."""

    ok: bool
    answer: str
    score: float | None = None
    is_good: bool = False
    steps: int = 0
    goal: str = ''  # of a SWITCH_TASK: the new goal
    internal_error: bool = False  # a fault of our own has ended it; ok is False
