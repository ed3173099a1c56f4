# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What a replay into the rules needs of a recording, read in one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
import json
import math
from pathlib import Path
from typing import Any

from curiosity_rosa_demo.adapter.drive_watch import Pose, tilt_of
from curiosity_rosa_demo.adapter.steps import decode_batch, LogBatch
from curiosity_rosa_demo.domain.adapter_status import Status
from curiosity_rosa_demo.domain.geometry import yaw_of
from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.infra.config.limits import Guardrails, Thresholds
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.recording.mcap.file import GUARDRAILS, THRESHOLDS
from curiosity_rosa_demo.recording.mcap.reader import Decoder, Entry, RunReader
from curiosity_rosa_demo.trace.trace_codec import decode
from pydantic import BaseModel, ValidationError

MAX_DURATION_S = 30 * 86400.0  # of a file; a later time is damaged
MAX_SILENCE_S = 60.0  # no rule waits for longer


@dataclass(frozen=True)
class OdometryReading:
    """Metres, radians, m/s and rad/s, as the adapter takes them from a message."""

    pose: Pose | None
    speed: float
    turn_rate: float
    tilt_rad: float | None


@dataclass
class Recording:
    """Each list holds the time of receipt, in seconds since the first message, and the content, in
    the order of the file. ``first_s``: that message, in seconds since the epoch.
    """

    config: Config
    first_s: float = 0.0
    last_s: float = 0.0
    batches: list[tuple[float, LogBatch]] = field(default_factory=list)
    statuses: list[tuple[float, Status]] = field(default_factory=list)
    events: list[tuple[float, TraceEvent]] = field(default_factory=list)
    odometry: list[tuple[float, OdometryReading]] = field(default_factory=list)
    battery: list[tuple[float, float]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def duration_s(self) -> float:
        return self.last_s - self.first_s


def read_recording(file: Path, config: Config, *, own_limits: bool = True) -> Recording:
    """``own_limits``: replay by the limits that the file holds, not by those of ``config``.
    Raises NotARecording, OSError.
    """
    reader, recording = RunReader(file), Recording(config)
    receivers, decoder = _receivers(recording), Decoder()
    first_ns: int | None = None
    unreadable = 0
    for entry in reader:
        if first_ns is None:
            first_ns, recording.first_s = entry.at_ns, entry.at_ns * 1e-9
        at_s = (entry.at_ns - first_ns) * 1e-9
        if not 0.0 <= at_s <= MAX_DURATION_S:
            unreadable += 1
            continue
        recording.last_s = max(recording.last_s, entry.at_ns * 1e-9)
        receive = receivers.get(_role(entry, config))
        if receive is None:
            continue
        try:
            receive(at_s, _content(entry, decoder))
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
            unreadable += 1
    if first_ns is None:
        recording.notes.append('the file holds no messages')
    if unreadable:
        recording.notes.append(f'{unreadable} messages are unreadable')
    if reader.end_problem:
        recording.notes.append(
            f'the file is torn: the whole part is replayed ({reader.end_problem})'
        )
    dropped = (reader.end or {}).get('dropped', '0')
    if dropped != '0':
        recording.notes.append(f'the recorder dropped {dropped} messages')
    if own_limits:
        recording.config = _with_limits(config, reader.info, recording.notes)
    return recording


def times_between(times: Iterable[float], period_s: float) -> Iterator[float]:
    """Each ``period_s`` after each of the rising ``times``, up to the next of them and at most for
    MAX_SILENCE_S.
    """
    for before_s, after_s in pairwise(times):
        end_s = min(after_s, before_s + MAX_SILENCE_S)
        for number in range(1, math.ceil((end_s - before_s) / period_s)):
            yield before_s + number * period_s


def _role(entry: Entry, config: Config) -> str:
    """The purpose of the channel; in a file of another program, by its topic."""
    topics = config.topics
    by_topic = {
        topics.trace.events: 'trace',
        topics.rover.battery_state: 'battery',
        topics.rover.odometry: 'odometry',
        topics.status.adapter: 'adapter',
        topics.status.adapter_inputs: 'adapter_inputs',
    }
    return entry.role or by_topic.get(entry.topic, '')


def _content(entry: Entry, decoder: Decoder) -> Any:
    if entry.encoding == 'json':
        return json.loads(entry.data)
    return decoder.decode(entry)


def _receivers(recording: Recording) -> Mapping[str, Callable[[float, Any], None]]:
    def on_inputs(at_s: float, message: Any) -> None:
        batch = decode_batch(message.data)
        if batch is None:
            raise ValueError('no batch of inputs')
        recording.batches.append((at_s, batch))

    def on_status(at_s: float, message: Any) -> None:
        status = json.loads(message.data)
        if not isinstance(status, dict) or 'moving' not in status:
            raise ValueError('no status')
        recording.statuses.append((at_s, status))

    def on_odometry(at_s: float, message: Any) -> None:
        place, twist = message.pose.pose, message.twist.twist
        q = place.orientation
        pose = (place.position.x, place.position.y, yaw_of(q))
        reading = OdometryReading(
            pose if all(map(math.isfinite, pose)) else None,
            math.hypot(twist.linear.x, twist.linear.y),
            twist.angular.z,
            tilt_of(q.x, q.y, q.z, q.w),
        )
        recording.odometry.append((at_s, reading))

    return {
        'adapter_inputs': on_inputs,
        'adapter': on_status,
        'odometry': on_odometry,
        'trace': lambda at_s, message: recording.events.append((at_s, decode(message.data))),
        'battery': lambda at_s, message: recording.battery.append(
            (at_s, float(message.percentage))
        ),
    }


def _with_limits(config: Config, info: Mapping[str, str], notes: list[str]) -> Config:
    """``config`` with the limits in the file. It keeps those that the file lacks."""
    update: dict[str, Any] = {}
    parts: dict[str, tuple[type[BaseModel], BaseModel]] = {
        THRESHOLDS: (Thresholds, config.thresholds),
        GUARDRAILS: (Guardrails, config.guardrails),
    }
    for key, (model, present) in parts.items():
        try:
            if key in info:
                values = _over(present.model_dump(mode='json'), json.loads(info[key]))
                update[key] = model.model_validate(values)
        except (ValidationError, ValueError, TypeError, RecursionError):
            notes.append(f'its {key} are not those of this version: the present ones are used')
    if not update and info:
        notes.append('it does not hold its limits: the present ones are used (--config-dir)')
    return config.model_copy(update=update)


def _over(base: Any, own: Any) -> Any:
    """``own`` over ``base``, without the keys that ``base`` does not know."""
    if not isinstance(base, dict) or not isinstance(own, dict):
        return own
    return {key: _over(value, own[key]) if key in own else value for key, value in base.items()}
