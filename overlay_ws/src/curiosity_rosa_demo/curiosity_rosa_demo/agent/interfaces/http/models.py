# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The bodies of the API: requests, and the answers that no type of the agent gives as it is."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
import json
from typing import Annotated, Any, Literal

from curiosity_rosa_demo.agent.tasks import LifecycleState, Task
from curiosity_rosa_demo.agent.tasks.origin import asked_by
from curiosity_rosa_demo.agent.tasks.task import Priority, Retries
from curiosity_rosa_demo.agent.tasks.texts import task_summary
from curiosity_rosa_demo.domain.adapter_status import NodeStatus
from curiosity_rosa_demo.domain.brain_state import BrainState, Json, Question
from curiosity_rosa_demo.domain.ground import ground_figures, GroundAnalysis
from curiosity_rosa_demo.domain.models import RoverPose
from curiosity_rosa_demo.domain.pictures import AnalyzedGround, Capture
from curiosity_rosa_demo.domain.rehearsal import Rehearsal
from curiosity_rosa_demo.domain.text import clip, memory_size, visible
from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field

MAX_METADATA_MEMORY = 1_000_000  # bytes; 256 kB of empty lists would take 11 MB, in each task
MAX_SUMMARY_CHARS = 2000
EXAMPLE_ID = '5f0c6a52-8e4b-4a25-9a57-0f7f5d0c3b11'


def _small(metadata: Json) -> Json:
    size = memory_size(metadata)
    if size > MAX_METADATA_MEMORY:
        raise ValueError(
            f'takes {size} bytes of memory, at most {MAX_METADATA_MEMORY}; shorten it'
        )
    return metadata


Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r'\S')]
LineText = Annotated[str, Field(min_length=1, max_length=4000, pattern=r'\S')]
Metadata = Annotated[Json, AfterValidator(_small)]
Deadline = Annotated[float, Field(gt=0.0, le=1e9)]
Flag = Annotated[bool, Field(strict=True)]
Visible = Annotated[str, AfterValidator(visible)]


def _examples(*examples: Json) -> ConfigDict:
    return ConfigDict(json_schema_extra={'examples': [*examples]})


# --- Requests ----------------------------------------------------------------------------------


class Body(BaseModel):
    """A request body. Unknown fields are refused."""

    model_config = ConfigDict(extra='forbid', allow_inf_nan=False)


class NewTask(Body):
    """``metadata`` of the agent's own skills: ``{"arguments": {...}}``, or the arguments alone."""

    model_config = _examples(
        {'name': 'react', 'metadata': {'text': 'go to the light'}},
        {'name': 'move_forward', 'priority': 5, 'metadata': {'duration_s': 2.0}},
    )

    name: Name
    priority: Priority = 3
    metadata: Metadata = Field(default_factory=dict)
    blocked_by: tuple[Name, ...] = Field(default=(), max_length=100)
    deadline_s: Deadline | None = None
    not_before: AwareDatetime | None = None
    max_retries: Retries = 0
    needs_approval: Flag = False


class Interruption(Body):
    """A task that starts at once. Running tasks with the same resources are paused."""

    model_config = _examples({'name': 'mast_close', 'priority': 10})

    name: Name
    priority: Priority = 10
    metadata: Metadata = Field(default_factory=dict)
    deadline_s: Deadline | None = None
    max_retries: Retries = 0


class NewPriority(Body):
    model_config = _examples({'priority': 7})

    priority: Priority


class Line(Body):
    """A sentence or a command, as at the console. ``client``: a name of the caller's own choice;
    the agent asks back, and hears a yes, by client. ``token``: its name of this line, by which a
    page knows it again. ``unless_stop``: unless it is a stop, it is
    refused with these words.
    """

    model_config = _examples({'text': 'go to the light'})

    text: LineText
    client: Annotated[str, Field(max_length=20, pattern=r'^[a-z0-9-]*$')] = ''
    token: Annotated[str, Field(max_length=40)] = ''
    unless_stop: Annotated[str, Field(max_length=200)] = ''


class NewAnswer(Body):
    """``arguments``: for an edit, they replace the operation's arguments."""

    model_config = _examples(
        {'action': 'approve'},
        {'action': 'edit', 'arguments': {'duration_s': 1.0}},
        {'action': 'reject', 'why': 'there is a cliff'},
    )

    action: Literal['approve', 'edit', 'reject']
    arguments: Json | None = None
    why: Annotated[str, Field(max_length=1000)] = ''


class Switch(Body):
    model_config = _examples({'on': False})

    on: Flag


# --- Answers -----------------------------------------------------------------------------------


class TaskView(BaseModel):
    """A task. ``reason``: why it is in its state; ``deadline_s`` and ``used_s``: seconds;
    ``held``: it does not run until it is resumed. ``seq``: the order of submission. ``summary``:
    the task in a few words. ``asked_by``: a person's name if it is known, else the door.
    """

    id: str
    name: str
    state: LifecycleState
    priority: int
    metadata: dict[str, Any]
    reason: str
    held: bool
    urgent: bool
    blocked_by: list[str]
    deadline_s: float | None
    used_s: float
    not_before: datetime | None
    max_retries: int
    attempts: int
    needs_approval: bool
    created_at: datetime
    updated_at: datetime
    seq: int
    summary: str
    asked_by: str

    @classmethod
    def of(cls, task: Task) -> TaskView:
        """A copy of ``task``, which may change meanwhile, in whole steps."""
        fields = dict(vars(task))
        # A skill may have stored values that JSON cannot hold; the store has not refused them yet.
        # It may store another value right now: the copy of the dictionary is one step.
        known = dict(fields['metadata'])
        text = json.dumps(known, ensure_ascii=False, default=str, skipkeys=True)
        fields['metadata'] = json.loads(text.encode('utf-8', 'replace'))
        fields['blocked_by'] = list(task.blocked_by)
        fields['summary'] = clip(task_summary(task), MAX_SUMMARY_CHARS, ending='…')
        return cls.model_construct(**fields, asked_by=asked_by(task))


class CancelledTaskView(TaskView):
    """The answer to a cancellation."""

    cancelled: Literal[True] = True


class HealthView(BaseModel):
    """``active_task``: the first of the running tasks."""

    status: Literal['ok', 'degraded']
    detail: str
    active_task: TaskView | None
    active_tasks: list[TaskView]


class StatusView(BaseModel):
    status: Literal['ok']


class OutcomeView(BaseModel):
    ok: bool
    answer: str


class LineResultView(BaseModel):
    """The result of a line: a task, or words. ``ok`` false: the line was refused, and ``words``
    give the reason.
    """

    ok: bool
    words: str
    task: TaskView | None


class QuestionView(BaseModel):
    """An open question, whole; ``text`` and ``reasons`` with invisible characters escaped.
    ``until``: time of automatic rejection, in seconds since the epoch. ``rehearsal``: what a yes
    is expected to lead to; null: nothing that drives.
    """

    id: str
    text: Visible
    op: dict[str, Any] | None
    reasons: list[Visible]
    asked_at: float
    until: float | None
    rehearsal: Rehearsal | None

    @classmethod
    def of(cls, question: Question, until: float | None) -> QuestionView:
        op = question.op
        shown = None if op is None else {'skill': op.skill, 'arguments': op.arguments}
        return cls(**{**vars(question), 'op': shown, 'until': until})


class PlanView(BaseModel):
    """The goal of the running or last turn. ``plan``: its steps and their states. ``rehearsal``:
    what the plan was expected to do, and, in ``real``, what it did.
    """

    goal: str
    plan: dict[str, Any] | None
    answer: str
    ok: bool
    rehearsal: Rehearsal | None


class StateView(BaseModel):
    """The kernel's state (``brain_state``), the pose in the world frame (metres, radians; null:
    unknown), the health of each node, and the tokens and cost of the model's calls (``usage``).
    ``ready``: why no task can run yet. ``replay``: which recording is played. ``sources``: those
    that were heard so far. ``way_ahead``: what the scan shows of the rover's way. ``warnings``:
    who else publishes the rover's topics. Each text is empty where there is nothing to say.
    """

    brain_state: BrainState
    pose: RoverPose | None
    nodes: list[NodeStatus]
    ready: str
    auto: str
    auto_on: bool
    usage: dict[str, Any]
    usage_text: str
    replay: str
    sources: list[str]
    way_ahead: str
    warnings: list[str]


class CaptureView(BaseModel):
    """A scored picture. ``at``: seconds since the epoch; ``event_id``: its trace event; ``pose``:
    of the rover in the world frame (metres, radians; null: unknown).
    """

    event_id: str
    at: float
    score: float
    is_good: bool
    pose: RoverPose | None

    @classmethod
    def of(cls, capture: Capture) -> CaptureView:
        return cls.model_construct(**vars(capture), at=capture.picture.at)


class GroundView(BaseModel):
    """An analysis of the ground. ``at``: seconds since the epoch; ``event_id``: its trace event.
    The units are in the names of the fields. ``figures``: the same in words. ``has_picture``:
    whether its picture has arrived.
    """

    event_id: str
    at: float
    analysis: GroundAnalysis
    figures: list[dict[str, str]]
    has_picture: bool

    @classmethod
    def of(cls, ground: AnalyzedGround) -> GroundView:
        figures = [each._asdict() for each in ground_figures(ground.analysis)]
        shown = ground.picture is not None
        return cls.model_construct(**vars(ground), figures=figures, has_picture=shown)


class FieldErrorView(BaseModel):
    field: str
    value: str
    rule: str


class ProblemView(BaseModel):
    """Problem details (RFC 9457). ``errors`` lists the invalid fields of a request."""

    type: str = Field(examples=['about:blank'])
    title: str
    status: int
    detail: str
    instance: str
    errors: list[FieldErrorView] | None = None


def newest_as_json(newest_first: Iterable[str], max_bytes: int) -> str:
    """The texts, each some JSON, as a list, the oldest first: as many of the newest as fit, but at
    least one.
    """
    kept: list[str] = []
    size = 0
    for text in newest_first:
        size += len(text.encode('utf-8', 'replace'))
        if size > max_bytes and kept:
            break
        kept.append(text)
    return f'[{",".join(reversed(kept))}]'
