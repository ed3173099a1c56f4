# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Data models that the packages exchange: poses, scores, tool results, trace events.

Pure data: validated, frozen, exact in JSON. Values without an exact JSON form are rejected: NaN,
infinity, lone surrogates, data nested more than MAX_DEPTH levels.
"""

from __future__ import annotations

from enum import Enum
import json
from typing import Annotated, Any

from curiosity_rosa_demo.domain.geometry import Place
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, model_validator

# The first words of reasons; RefusalCode of domain/refusal.py has those that decide something.
STOPPED_FOR = 'Stopped: '  # by the adapter, for a broken safety rule
STOPPED_UNASKED = f'{STOPPED_FOR}the rover moved unasked'
NEED_TO_CLOSE_MAST = 'Need to close mast'
NEED_TO_OPEN_MAST = 'Need to open mast'
MAST_IS_CLOSED = 'Mast is closed'
MAST_IS_NOT_RAISED = 'Mast is not raised: mast_open raises it'
MOVE_IN_PROGRESS = 'Move in progress'
E_STOP_PRESSED = 'E-stop pressed'
NO_IMAGE_RECEIVED = 'No image received'
TF_UNAVAILABLE = 'TF unavailable'
AGENT_IS_SILENT = 'The agent is silent'
AGENT_IS_GONE = 'The agent is gone'
AGENT_FELL_SILENT = 'The agent fell silent'
DRIVER_FELL_SILENT = 'The driver fell silent'
AGENT_IS_SAFE = 'The agent is in SAFE'
TWO_AGENTS = 'Two agents publish the heartbeat'
OTHER_ADAPTER = 'Another adapter commands this rover'
STOP_NOT_CONFIRMED = 'sent and not confirmed'
OBSTACLE_AHEAD = 'Obstacle ahead'
VIEW_LOST = 'The view ahead was lost'
STUCK = 'Stuck'
SLIPPING = 'Slip'
TILTED = 'Tilt'
ODOMETRY_SILENT = 'No odometry'
INTERRUPTED_TEXT = 'Interrupted: what this call did is not known'  # the agent ended meanwhile

MAX_DEPTH = 100  # nesting levels; JSON parsers fail near 200
MAX_LOST_LEGS = 2  # of a motion that goes on although the adapter has missed the agent


def agent_is_safe(reason: str) -> str:
    return f'{AGENT_IS_SAFE} ({reason}); :clear ends it once the cause is gone'


class Model(BaseModel):
    """Base of all domain models: frozen, no extra fields, no NaN, valid Unicode.

    Arguments may be positional, in the order of the fields, as in a dataclass.
    """

    # pydantic checks the Unicode of a text only where it has a limit.
    model_config = ConfigDict(frozen=True, extra='forbid', allow_inf_nan=False, str_min_length=0)

    def __init__(self, *positional: Any, **named: Any) -> None:
        """Raises ValidationError, and TypeError for surplus or repeated positional arguments."""
        cls, fields = type(self).__name__, type(self).model_fields
        if len(positional) > len(fields):
            raise TypeError(f'{cls} takes at most {len(fields)} arguments, not {len(positional)}')
        super().__init__(**dict(zip(fields, positional, strict=False)), **named)

    # With this flag pydantic-core builds nested models and JSON without calling this method.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]


class Stamp(Model):
    """builtin_interfaces/Time: seconds and nanoseconds of some clock."""

    sec: int = Field(default=0, ge=-(2**31), lt=2**31)
    nanosec: int = Field(default=0, ge=0, lt=1_000_000_000)


class RoverPose(Model):
    """Pose of the base frame in the world frame, metres and radians (yaw about +Z, REP 103)."""

    x: float
    frame_id: str
    stamp: Stamp = Stamp()
    y: float = 0.0
    yaw_rad: float = 0.0

    @property
    def place(self) -> Place:
        return Place(self.x, self.y, self.yaw_rad)


class LightScore(Model):
    """Brightness at the rover's position, 0.0 to 1.0, and whether it reaches the threshold."""

    score: float = Field(ge=0.0, le=1.0)
    is_good: bool


def json_object(value: dict[str, JsonValue], levels: int = MAX_DEPTH) -> dict[str, JsonValue]:
    """Return ``value`` if it has an exact JSON form. Raises ValueError."""
    if _nested_deeper(value, levels):
        raise ValueError(f'must not be nested more than {levels} levels')
    # Both calls raise ValueError, which pydantic reports with the field's name.
    json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    return value


def read_json_object(text: str) -> dict[str, JsonValue]:
    """The JSON object that ``text`` is. Raises ValueError."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError('it is nested too deep') from None
    if not isinstance(value, dict):
        raise ValueError(f'{text[:40]!r} is not a JSON object')
    return json_object(value)


def _nested_deeper(value: object, levels: int) -> bool:
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list):
        return False
    return levels == 0 or any(_nested_deeper(item, levels - 1) for item in value)


Json = Annotated[dict[str, JsonValue], AfterValidator(json_object)]


class ToolResult(Model):
    """The result of every tool. ``error_reason`` is for people and models; ``error_code``, of
    domain/refusal.py, is what code decides by; '' for a failure that no code is decided by.

    Raises ValidationError for a failure without a reason, and for a success with one.
    """

    ok: bool
    error_reason: str = ''
    data: Json = Field(default_factory=dict)
    error_code: str = Field('', exclude_if=lambda code: code == '')

    @model_validator(mode='after')
    def _reason_fits(self) -> ToolResult:
        if self.ok == bool(self.error_reason.strip()):
            raise ValueError(
                'error_reason must be empty when ok is true'
                if self.ok
                else 'error_reason must say why when ok is false'
            )
        return self

    @classmethod
    def success(cls, **data: Any) -> ToolResult:
        return cls(ok=True, data=data)

    @classmethod
    def failure(cls, reason: str, error_code: str = '', **data: Any) -> ToolResult:
        return cls(ok=False, error_reason=reason, error_code=error_code, data=data)


class ToolBroke(Exception):
    """A tool failed by a fault of our own. A skill does not handle it; ``result`` tells it."""

    def __init__(self, result: ToolResult) -> None:
        super().__init__(result.error_reason)
        self.result = result


class ServiceCall(Model):
    """A service call of the agent. ``answer``: the response as text, or why it failed. ``at_s``:
    when it was made, for a reader.
    """

    model_config = ConfigDict(frozen=False, extra='ignore')  # of an older recording

    service: str
    ok: bool = False
    answer: str = 'cancelled'
    duration_s: float = Field(default=0.0, ge=0.0, le=1e9)  # a file may hold any
    at_s: float = Field(default=0.0, exclude=True)


class TraceKind(str, Enum):
    OBSERVE = 'OBSERVE'
    HYPOTHESIZE = 'HYPOTHESIZE'
    DECIDE = 'DECIDE'
    ACT = 'ACT'
    RESULT = 'RESULT'
    ERROR = 'ERROR'


class TraceEvent(Model):
    """One thought or act. ``ts`` is Unix time in seconds. An event never holds a picture.
    ``type``: as in trace/events.py; '' for none.
    """

    event_id: str = Field(min_length=1)
    ts: float = Field(ge=0.0)
    kind: TraceKind
    message: str
    tool_name: str | None = None
    ok: bool | None = None
    error_reason: str | None = None
    score: float | None = None
    data: Json | None = None
    type: str = Field('', max_length=40, exclude_if=lambda name: name == '')
