# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""BrainState: the complete state of the kernel and the agent loop, as one value.

Every node of the kernel takes a BrainState and returns one. Construction by position depends on
the order of the fields, so a new field goes to the end of its model. Times named ``*_s`` are
seconds of the steady clock unless noted otherwise. Lengths are metres and angles radians, in the
world frame.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
import math
from typing import Annotated, Any

from curiosity_rosa_demo.domain.models import Json as Json
from curiosity_rosa_demo.domain.models import Model
from curiosity_rosa_demo.domain.operation import Operation
from curiosity_rosa_demo.domain.rehearsal import Rehearsal
from curiosity_rosa_demo.domain.serde import from_json, to_json
from pydantic import Field

Whole = Annotated[int, Field(ge=-(2**63), lt=2**63)]


class Mode(str, Enum):
    SAFE = 'SAFE'  # everything is stopped and held
    CHARGE = 'CHARGE'  # only charging runs
    EXEC = 'EXEC'
    IDLE = 'IDLE'


class DecisionType(str, Enum):
    CONTINUE = 'CONTINUE'
    REPLAN = 'REPLAN'
    RETRY = 'RETRY'
    SWITCH_TASK = 'SWITCH_TASK'
    ASK_HUMAN = 'ASK_HUMAN'
    FINISH = 'FINISH'
    ABORT = 'ABORT'


class UserInterruptType(str, Enum):
    NONE = 'NONE'
    PAUSE = 'PAUSE'
    RESUME = 'RESUME'
    STOP = 'STOP'
    NEW_GOAL = 'NEW_GOAL'
    CLEAR = 'CLEAR'  # the operator releases the safety latch
    APPROVAL = 'APPROVAL'  # an answer to a question of the agent
    NORMAL = 'NORMAL'  # a question of the user: it is answered, and nothing else happens


class ApprovalAction(str, Enum):
    APPROVE = 'APPROVE'
    EDIT = 'EDIT'
    REJECT = 'REJECT'


class BatteryLevel(str, Enum):
    UNKNOWN = 'UNKNOWN'  # no battery message so far
    FULL = 'FULL'
    OK = 'OK'
    LOW = 'LOW'  # at or below the low threshold; stays LOW up to the high one


class Doubt(Model):
    """A sentence that is an order or a question; the agent has asked which. ``by`` names the
    speaker. ``asked_s``: the time of the kernel's question. ``priority``: as an order.
    """

    text: str
    by: str = ''
    asked_s: float = 0.0
    priority: Whole = 0


class HCIState(Model):
    """The input of the operator in this tick. ``doubt`` lasts until the next message."""

    user_utterance: str = ''
    user_interrupt: UserInterruptType = UserInterruptType.NONE
    interrupt_payload: Json = Field(default_factory=dict)
    approval_response: Json | None = None
    doubt: Doubt | None = None


class WorldState(Model):
    summary: str = ''  # for the model
    zones: list[str] = Field(default_factory=list)  # names of the zones the rover is in
    obstacles: list[Json] = Field(default_factory=list)  # distance_m, bearing_rad


class Pose(Model):
    x: float = 0.0
    y: float = 0.0
    z: float = 0.0
    orientation_w: float = 1.0
    orientation_z: float = 0.0

    @property
    def yaw_rad(self) -> float:
        """From -pi to pi, about +Z."""
        return math.remainder(2.0 * math.atan2(self.orientation_z, self.orientation_w), math.tau)


class Twist(Model):
    """Velocity in the body frame: m/s and rad/s."""

    linear_x: float = 0.0
    angular_z: float = 0.0


class Reading(Model):
    """The last message of a source, and its receive time."""

    value: Json = Field(default_factory=dict)
    received_s: float


class Telemetry(Model):
    """Raw input of a tick: the time, and the last reading of each source (odometry, battery,
    adapter, scan, estop), not validated.
    """

    now_s: float = 0.0
    readings: dict[str, Reading] = Field(default_factory=dict)


STOWED_MAST = ('closed', 'none')  # none: there is no mast


def unstowed_part(mast: str, appendages: Mapping[str, str]) -> str:
    """The first part that forbids a drive, with its state; '' if none does."""
    if mast not in STOWED_MAST:
        return f'mast {mast}'
    out = (f'{name} {posture}' for name, posture in appendages.items() if posture != 'stowed')
    return next(out, '')


class RobotState(Model):
    """The measured state of the robot. The values of a source in ``silent`` are the last known.
    ``heard`` holds the last usable reading of each source. ``refused`` names the sources whose
    newest reading is not usable.
    """

    pose: Pose = Field(default_factory=Pose)
    twist: Twist = Field(default_factory=Twist)
    battery_pct: float = 100.0
    battery_state: BatteryLevel = BatteryLevel.UNKNOWN
    resources: dict[str, bool] = Field(
        default_factory=lambda: {'base_busy': False, 'mast_busy': False, 'camera_busy': False}
    )
    distance_to_target: float = 0.0  # metres along X to the bright zone, 0.0 inside
    heard: dict[str, Reading] = Field(default_factory=dict)
    refused: list[str] = Field(default_factory=list)
    mast: str = 'unknown'  # closed, opening, open, closing, unknown; none: there is no mast
    # by name, of the robot's profile: stowed, moving, deployed, unknown
    appendages: dict[str, str] = Field(default_factory=dict)
    moving: bool = False
    scan_min_m: float | None = None  # free metres to an obstacle in the direction of motion
    exposed_since_s: float | None = None  # start of a motion with a part that is not stowed
    estop: bool = False  # pressed now
    violation: str = ''  # of a safety rule, by a skill since the last tick or by the adapter now
    safety_latch: str = ''  # the reason of the latch, as text; empty: no latch
    ages_s: dict[str, float] = Field(default_factory=dict)  # of the last reading of each source
    silent: list[str] = Field(default_factory=list)  # sources that stopped sending
    events: list[str] = Field(default_factory=list)  # events of this tick, as text


class QueuedTask(Model):
    """A task as the kernel sees it; ``agent/tasks`` owns it."""

    task_id: str
    goal: str
    priority: Whole = 0
    deadline: float | None = None  # remaining seconds
    resources_required: list[str] = Field(default_factory=list)
    preemptible: bool = True
    status: str = 'PENDING'  # name of its LifecycleState
    skill: str = ''
    held: bool = False  # does not run until an operator resumes it


Task = QueuedTask  # the published name


class TasksState(Model):
    inbox: list[Any] = Field(default_factory=list)  # of a tick; agent/kernel/hear.py
    queue: list[QueuedTask] = Field(default_factory=list)
    active_task_id: str | None = None
    mode: Mode = Mode.IDLE
    preempt_flag: bool = False
    preempt_reason: str = ''
    mode_reason: str = ''  # the reason of the mode, as text


class SkillDef(Model):
    """A named capability. ``error_map``: error code to DecisionType."""

    name: str
    interface_type: str  # ros2_action, ros2_service or internal
    args_schema: Json = Field(default_factory=dict)
    resources_required: list[str] = Field(default_factory=list)
    preemptible: bool = True
    cancel_supported: bool = True
    timeout_s: float = Field(default=60.0, gt=0.0)
    error_map: dict[str, str] = Field(default_factory=dict)


class RunningSkill(Model):
    """``start_time`` is in seconds of the steady clock. ``task_id`` names the task that the skill
    runs for; it equals ``goal_id`` for a skill that is itself a task, and is empty without a task.
    """

    goal_id: str
    skill_name: str
    start_time: float
    timeout_s: float
    resources_occupied: list[str] = Field(default_factory=list)
    task_id: str = ''
    progress: Json = Field(default_factory=dict)  # its last report; agent/skills/skill.py


class SkillStatus(str, Enum):
    SUCCESS = 'SUCCESS'
    FAILED = 'FAILED'
    CANCELLED = 'CANCELLED'
    TIMED_OUT = 'TIMED_OUT'  # it took longer than its timeout_s and was stopped
    UNKNOWN = 'UNKNOWN'  # effect unknown: the agent died, or the skill ignored its stop


class SkillResult(Model):
    status: SkillStatus
    error_code: str = ''
    error_msg: str = ''
    metrics: Json = Field(default_factory=dict)


class SkillsState(Model):
    registry: dict[str, SkillDef] = Field(default_factory=dict)
    running: list[RunningSkill] = Field(default_factory=list)
    last_result: SkillResult | None = None


class Decision(Model):
    """``ops``: at most one. ``by``: the rule model's mark, when it proposes the operation."""

    type: DecisionType = DecisionType.CONTINUE
    reason: str = ''
    plan_patch: Json | None = None
    ops: list[Operation] = Field(default_factory=list)
    by: str = ''


class ProposedOps(Model):
    to_cancel: list[str] = Field(default_factory=list)
    to_dispatch: list[Operation] = Field(default_factory=list)
    to_speak: list[str] = Field(default_factory=list)
    need_approval: bool = False
    approval_payload: Json = Field(default_factory=dict)


class Spent(Model):
    """The part of its budget that a turn has used."""

    steps: Whole = 0
    cost: float = 0.0
    metres: float = 0.0
    seconds: float = 0.0  # without waits for a person


class Question(Model):
    """A question to a person. ``op``: the operation that waits for the answer. ``leaves_fence``:
    whether one of ``reasons`` is that it may leave the fence. ``task_id``: the task that waits.
    """

    id: str
    text: str
    op: Operation | None = None  # None: a plain question, no operation waits for it
    reasons: list[str] = Field(default_factory=list)
    asked_at: float = 0.0  # seconds since the epoch: the time-out continues across a restart
    rehearsal: Rehearsal | None = None  # what a yes is expected to lead to
    leaves_fence: bool = False
    task_id: str = ''


class ReactState(Model):
    """The state of one turn, as agent/react/turn.py shows it."""

    iter: Whole = 0
    observation: Json = Field(default_factory=dict)
    decision: Decision | None = None
    proposed_ops: ProposedOps | None = None
    stop_reason: str = ''
    goal: str = ''
    expects: str = 'answer'  # as in prompts.yaml
    plan: Json | None = None  # Plan.to_dict()
    refused: dict[str, Whole] = Field(default_factory=dict)  # call as text: number of refusals
    refused_in_a_row: Whole = 0
    failures_in_a_row: Whole = 0
    same_in_a_row: Whole = 0  # the same operation with the same result
    takeovers: Whole = 0  # how often the rule model stepped in because of the model's answers
    spent: Spent = Field(default_factory=Spent)
    question: Question | None = None
    score: float | None = None  # of the last capture
    is_good: bool = False
    ok: bool = False
    internal_error: bool = False  # a fault of our own has ended the turn
    answer: str = ''  # the outcome of the turn, as text
    rehearsal: Rehearsal | None = None  # of the plan


class TraceState(Model):
    log: list[str] = Field(default_factory=list)
    metrics: Json = Field(default_factory=dict)


class BrainState(Model):
    messages: list[Json] = Field(default_factory=list)
    hci: HCIState = Field(default_factory=HCIState)
    world: WorldState = Field(default_factory=WorldState)
    robot: RobotState = Field(default_factory=RobotState)
    tasks: TasksState = Field(default_factory=TasksState)
    skills: SkillsState = Field(default_factory=SkillsState)
    react: ReactState = Field(default_factory=ReactState)
    trace: TraceState = Field(default_factory=TraceState)
    telemetry: Telemetry = Field(default_factory=Telemetry)

    def serialize(self) -> str:
        """One line of JSON."""
        return to_json(self)

    @classmethod
    def deserialize(cls, data: str) -> BrainState:
        """The state that ``data`` holds. Raises SerdeError."""
        return from_json(cls, data)
