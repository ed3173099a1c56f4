# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The port through which HTTP, page, action and MCP use the agent.

``agent/runtime/robot_service.py`` implements it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from curiosity_rosa_demo.agent.skills.skill import Skill
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.agent.tasks.task import TaskError
from curiosity_rosa_demo.domain.adapter_status import NodeStatus, TriggerStatus
from curiosity_rosa_demo.domain.brain_state import ApprovalAction, BrainState, Json, Question
from curiosity_rosa_demo.domain.models import RoverPose, TraceEvent
from curiosity_rosa_demo.domain.origin import Origin
from curiosity_rosa_demo.domain.pictures import AnalyzedGround, Capture, Picture
from curiosity_rosa_demo.domain.rehearsal import Rehearsal
from curiosity_rosa_demo.domain.skills import Outcome
from curiosity_rosa_demo.trace.trace_buffer import EventBus

T = TypeVar('T')


class RobotBusy(TaskError):
    """The agent did not answer in time. The client may retry the request."""


@dataclass(frozen=True)
class LineResult:
    """The result of a line: a task, or a text."""

    ok: bool
    text: str = ''
    task: Task | None = None


class Robot(Protocol):
    """Every method is thread-safe and returns at once, unless its docstring says otherwise.
    Coroutines run in the caller's own loop.
    """

    def call(self, work: Coroutine[Any, Any, T]) -> Awaitable[T]:
        """Run ``work`` in the loop of the SkillRunner. Raises the exceptions of ``work``, and
        RobotBusy after a time-out.
        """

    def make_task(self, name: str, arguments: dict[str, Any]) -> Task:
        """A task for the skill ``name``, checked against its schema. Raises BadTask."""

    async def rehearse(self, task: Task) -> Rehearsal | None:
        """What ``task`` is expected to do, by the state now; nothing moves. None: it does not
        drive, or rehearsals are off.
        """

    def skills(self) -> Sequence[Skill]:
        """The skills that a model may call."""

    @property
    def stop_count(self) -> int:
        """The stops requested so far."""

    async def submit(self, task: Task, *, stops: int | None = None, by: str = '') -> Task:
        """Submit a task to the kernel and return it once it is stored. Raises TaskError, for
        example when a stop came first: one since ``stops`` was read, by default since the call.
        ``by`` names the caller, for people, here and below; '': unknown.
        """

    def order_refusal(self, skill: str) -> str:
        """Why an order for ``skill`` is refused now, in SAFE; '' when it is taken. An empty
        ``skill`` stands for any order that could move the rover.
        """

    def begin_stop(self, by: str) -> Future[Outcome]:
        """Stop the rover, end all tasks and drop the queued lines. Waits for no loop. The future
        gets the rover's answer, in another thread. ``by`` names the caller.
        """

    async def stop(self, by: str) -> Outcome:
        """As ``begin_stop``. Returns after the rover's answer, which the outcome reports."""

    async def say(
        self, text: str, origin: Origin = Origin.HTTP, client: str = '', operator: str = ''
    ) -> LineResult:
        """Run a sentence or a command, as at the console. Returns its task or its text.
        ``origin``: the door of a command that orders a skill. ``client``: a name that tells the
        clients of a door apart; the agent asks back, and hears a yes, by client. ``operator``:
        the name of the person.
        """

    async def answer(
        self,
        question_id: str,
        action: ApprovalAction,
        arguments: Json | None,
        why: str,
        *,
        by: str = '',
    ) -> Outcome:
        """Answer an open question. Raises QuestionNotFound, and BadTask for ``arguments`` that the
        skill does not take; the question then stays open.
        """

    def questions(self) -> Sequence[Question]:
        """The open questions, the oldest first."""

    def approval_deadline(self, question: Question) -> float | None:
        """The time of automatic rejection, in seconds since the epoch; None: never."""

    def state(self) -> BrainState:
        """The kernel's last state. ``react`` is the running turn, or the last one."""

    def pose(self) -> RoverPose | None:
        """The rover's pose by TF in the world frame; None: unknown."""

    def trail(self) -> Sequence[tuple[float, float]]:
        """Past positions (x, y) in metres in the world frame, the oldest first; bounded."""

    def captures(self) -> Sequence[Capture]:
        """The last captures, the oldest first; bounded."""

    def ground(self) -> AnalyzedGround | None:
        """The newest analysis of the ground; None: there has been none."""

    @property
    def event_bus(self) -> EventBus:
        """The trace events of all nodes and the events of the tasks."""

    @property
    def console_texts(self) -> EventBus:
        """All that the agent's console prints, as ConsoleText; bounded."""

    def console_status(self) -> str:
        """The status line of a console: the open question, or what runs and for how many seconds;
        '': neither.
        """

    def earlier_events(self) -> Sequence[TraceEvent]:
        """The newest trace events of the agent that ran before this one, the oldest first."""

    def picture(self) -> Picture | None:
        """The newest frame of the camera. The call keeps the camera on for a few seconds."""

    def node_statuses(self) -> Sequence[NodeStatus]:
        """The status of adapter, simulator, visualizer, kernel and tasks."""

    def not_ready_reason(self) -> str:
        """The reason why no task can run yet; empty: tasks can run."""

    def triggers(self) -> Sequence[TriggerStatus]:
        """The triggers, in the order of triggers.yaml."""

    def switch_trigger(self, name: str, on: bool, *, by: str = '') -> TriggerStatus:
        """Switch a trigger on or off, until the agent ends. Raises UnknownTrigger."""

    def replay_text(self) -> str:
        """File, position and speed of a recording that is played back; empty: none is."""

    def autonomy_status(self) -> str:
        """A text about the autonomy: whether it is on, and its activity."""

    def autonomy_is_on(self) -> bool:
        """Whether the agent acts on its own."""

    def usage(self) -> Json:
        """What the model's calls have used: ``turn``, ``task`` and ``day``, with their limits."""

    def usage_text(self) -> str:
        """The same in one line; '' for the routine."""
