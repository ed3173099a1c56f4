# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the HTTP API and the page ask of an agent. ``agent/runtime/robot_service.py`` answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.agent.tasks.errors import TaskError
from curiosity_rosa_demo.domain.brain_state import ApprovalAction, BrainState, Json, Question
from curiosity_rosa_demo.domain.health import NodeStatus
from curiosity_rosa_demo.domain.models import RoverPose, TraceEvent
from curiosity_rosa_demo.domain.outcome import Outcome
from curiosity_rosa_demo.domain.pictures import Capture, Picture

T = TypeVar('T')


class RobotBusy(TaskError):
    """The agent is too busy to answer in time; the request may be tried again."""


@dataclass(frozen=True)
class LineResult:
    """What came of a line: a task that was made of it, or words."""

    ok: bool
    text: str = ''
    task: Task | None = None


class Robot(Protocol):
    """Every method may be called from any thread and returns at once, unless it says otherwise;
    what is awaited is awaited in the caller's own loop.
    """

    def call(self, work: Coroutine[Any, Any, T]) -> Awaitable[T]:
        """Run ``work`` in the loop to which the SkillRunner belongs. Raises what it raises, and
        RobotBusy when there is none in time.
        """

    def make_task(self, name: str, arguments: dict[str, Any]) -> Task:
        """A task for the skill ``name``, checked against its schema. Raises BadTask."""

    async def submit(self, task: Task) -> Task:
        """Hand a task to the kernel; the task once it is stored. Raises TaskError, such as when
        a stop overtook it.
        """

    async def stop(self, by: str) -> Outcome:
        """Stop the rover, what runs and what waits. Returns once the rover has been told; the
        words say how that went.
        """

    async def say(self, text: str) -> LineResult:
        """A sentence or a command, as at the console. Returns once it is known what it means."""

    async def answer(
        self, question_id: str, action: ApprovalAction, arguments: Json | None, why: str
    ) -> Outcome:
        """Answer an open question. Raises QuestionNotFound."""

    def questions(self) -> Sequence[Question]:
        """Open now, the oldest first."""

    def approval_deadline(self, question: Question) -> float | None:
        """When it counts as a no, seconds since the epoch; None: never."""

    def state(self) -> BrainState:
        """As the kernel saw it last; ``react`` is the turn that runs, or the last one."""

    def pose(self) -> RoverPose | None:
        """By TF, in the world frame; None: unknown."""

    def trail(self) -> Sequence[tuple[float, float]]:
        """Where it was, metres in the world frame, the oldest first; bounded."""

    def captures(self) -> Sequence[Capture]:
        """The last captures, the oldest first; bounded."""

    def events(self, count: int | None = None) -> Sequence[TraceEvent]:
        """The last trace events, the oldest first."""

    def subscribe(self, listener: Callable[[TraceEvent], None]) -> Callable[[], None]:
        """``listener`` is called for every event from now on, from any thread, and must be
        quick; the result ends it.
        """

    def picture(self) -> Picture | None:
        """The newest frame of the camera. Asking makes the camera wanted for a few seconds."""

    def node_statuses(self) -> Sequence[NodeStatus]:
        """Adapter, simulator, visualizer, kernel, tasks."""

    def not_ready_reason(self) -> str:
        """Why nothing can run yet, in words; '': it can."""

    def autonomy_status(self) -> str:
        """What is done unasked, in words."""
