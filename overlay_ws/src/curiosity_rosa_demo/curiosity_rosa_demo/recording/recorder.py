# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Records the topics of the agent and its service calls into MCAP files.

The recorder has a node and a spin thread of its own; it never slows another part of the agent.
"""

from __future__ import annotations

import array
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from functools import partial
from itertools import count
import math
import os
from pathlib import Path
import re
import threading
import time
from typing import Any

from curiosity_rosa_demo.domain.models import ServiceCall
from curiosity_rosa_demo.domain.skills import Outcome
from curiosity_rosa_demo.imaging.image_header import ImageError
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.process import SpinThread
from curiosity_rosa_demo.infra.ros_io import (
    history_qos,
    NEWEST_ONLY,
    read_message,
    STEADY_CLOCK,
    UnreadableMessage,
)
from curiosity_rosa_demo.recording.channels import (
    CALLS_CHANNEL,
    Channel,
    DECISIONS_CHANNEL,
    definition,
    message_class,
    recorded_channels,
)
from curiosity_rosa_demo.recording.file import GUARDRAILS, ROBOT, RunFile, THRESHOLDS
from curiosity_rosa_demo.recording.writer import RunWriter
from curiosity_rosa_demo.trace.events import CaptureTaken
from curiosity_rosa_demo.trace.trace_codec import decode
from pydantic import BaseModel
from pydantic_core import PydanticSerializationError
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import serialize_message
from sensor_msgs.msg import CompressedImage, Image
from std_msgs.msg import String

# --- The node: hears the topics ----------------------------------------------------------------


POLL_PERIOD_S = 0.25
HISTORY_DEPTH = 1000  # messages of a latched topic, per burst
PICTURE_TIMEOUT_S = 5.0  # longest wait for the picture of a capture
MAX_FRAME_AGE_S = 2.0  # oldest capture event for which the picture is still current
# Best effort matches every publisher. Messages of a burst beyond the depth are lost.
ANY_PUBLISHER_QOS = QoSProfile(
    history=HistoryPolicy.KEEP_LAST, depth=100, reliability=ReliabilityPolicy.BEST_EFFORT
)


@dataclass
class Throttle:
    """Passes at most one message per 1 / ``hz`` seconds and holds the newest of the others. Times
    are seconds of a steady clock.
    """

    hz: float
    _next_s: float = -math.inf
    _held: bytes | None = None

    def accept(self, message: bytes, now_s: float) -> bytes | None:
        """Return ``message`` if it may pass now. Otherwise hold it, in place of the held one."""
        self._held = message
        return self.take_due(now_s)

    def take_due(self, now_s: float) -> bytes | None:
        """Return the held message if it may pass now, else None."""
        if self._held is None or now_s < self._next_s:
            return None
        message, self._held = self._held, None
        self._next_s = now_s + 1.0 / self.hz
        return message


class RecorderNode:
    """Passes each received message to ``enqueue``, which must not block. The spin thread calls
    ``enqueue`` and ``notify``.
    """

    def __init__(
        self,
        channels: Sequence[Channel],
        enqueue: Callable[[Channel, bytes], object],
        notify: Callable[[str], None],
        jpeg_quality: int,
    ) -> None:
        self._enqueue, self._notify, self._jpeg_quality = enqueue, notify, jpeg_quality
        # The node does not read its clock, so it does not need a subscription to /clock.
        self._node = Node('recorder', parameter_overrides=[Parameter('use_sim_time', value=False)])
        self._throttles: list[tuple[Channel, Throttle]] = []
        (self._capture,) = (each for each in channels if each.role == 'capture')
        self._picture: Any = None  # subscription while a picture is awaited
        self._picture_until_s = 0.0  # 0: none is awaited
        self._reported_image_error = False
        for channel in channels:
            if channel is not self._capture and channel.hz != 0.0:
                self._subscribe(channel)
        self._node.create_timer(POLL_PERIOD_S, self._flush_due, clock=STEADY_CLOCK)
        failed = '! The recording no longer receives messages'
        self._spin = SpinThread(
            'recorder', self._node, on_crash=lambda error: notify(f'{failed}: {error!r}')
        )

    def close(self) -> None:
        self._spin.close()
        del self._spin  # its executor would keep the node and its subscriptions in the graph
        self._node.destroy_node()

    def _subscribe(self, channel: Channel) -> None:
        throttle = Throttle(channel.hz or math.inf)
        heard: Callable[[bytes], None] = partial(self._on_message, channel, throttle)
        topic, message_type = channel.topic, message_class(channel.type)
        qos = history_qos(HISTORY_DEPTH) if channel.latched else ANY_PUBLISHER_QOS
        if channel.role == 'trace':
            heard = partial(self._on_trace_event, channel)
        elif channel.role == 'camera':
            qos = NEWEST_ONLY
            if channel.raw_topic:
                topic, message_type = channel.raw_topic, Image
                heard = partial(self._on_raw_image, channel, throttle)
        elif channel.hz is not None:
            self._throttles.append((channel, throttle))
        self._node.create_subscription(message_type, topic, heard, qos, raw=True)

    def _on_message(self, channel: Channel, throttle: Throttle, data: bytes) -> None:
        passed = throttle.accept(data, time.monotonic())
        if passed is not None:
            self._enqueue(channel, passed)

    def _on_raw_image(self, channel: Channel, throttle: Throttle, data: bytes) -> None:
        """Record a raw camera image as JPEG."""
        # Imported here because it loads OpenCV.
        from curiosity_rosa_demo.imaging.pixels import encode_jpeg, pixels_of

        if throttle.accept(b'', time.monotonic()) is None:
            return
        try:
            image: Image = read_message(data, Image)
            jpeg = encode_jpeg(pixels_of(image), self._jpeg_quality)
        except (ImageError, UnreadableMessage) as error:
            if not self._reported_image_error:
                self._reported_image_error = True
                self._notify(f'! The camera is not recorded: {error}')
            return
        picture = CompressedImage(header=image.header, format='jpeg', data=array.array('B', jpeg))
        self._enqueue(channel, serialize_message(picture))

    def _on_trace_event(self, channel: Channel, data: bytes) -> None:
        """Have the picture of a capture recorded. A permanent subscription to it would make the
        simulator process every frame.
        """
        self._enqueue(channel, data)
        with suppress(UnreadableMessage):
            event = decode(read_message(data, String).data)
            taken = CaptureTaken.of(event)
            # For an old capture, from the topic's history, the latched picture is another.
            if taken and taken.ok is True and time.time() - event.ts < MAX_FRAME_AGE_S:
                # Until it arrives. The topic is latched, so the picture is not missed.
                self._picture_until_s = time.monotonic() + PICTURE_TIMEOUT_S
                topic, qos = self._capture.topic, history_qos(1)
                self._picture = self._picture or self._node.create_subscription(
                    CompressedImage, topic, self._on_picture, qos, raw=True
                )

    def _on_picture(self, data: bytes) -> None:
        if self._picture_until_s > 0.0:  # the first one since the capture
            self._picture_until_s = 0.0
            self._enqueue(self._capture, data)

    def _flush_due(self) -> None:
        now_s = time.monotonic()
        for channel, throttle in self._throttles:
            due = throttle.take_due(now_s)
            if due is not None:
                self._enqueue(channel, due)
        if self._picture is not None and now_s > self._picture_until_s:
            self._node.destroy_subscription(self._picture)
            self._picture = None


# --- The recordings of a folder ----------------------------------------------------------------


# A further file of the same second has ``_2`` and so on.
_NAME = re.compile(r'run_(\d{8}T\d{6}Z)_(\d+)(?:_(\d+))?\.mcap')


def recording_name(began: datetime, domain: str, number: int) -> str:
    """``began``: in UTC. ``number``: 1 for the first file of this second."""
    suffix = f'_{number}' if number > 1 else ''
    return f'run_{began:%Y%m%dT%H%M%SZ}_{domain}{suffix}.mcap'


def delete_surplus(folder: Path, domain: str, max_files: int, *, spare: Path) -> list[Path]:
    """Delete our oldest recordings of this ROS domain until ``max_files`` remain; never ``spare``,
    whatever the clock said when it got its name, and no other file. Returns the deleted files.
    Raises OSError.
    """
    ours = []
    for each in folder.iterdir():
        match = _NAME.fullmatch(each.name)
        if match is not None and match[2] == domain and each != spare and each.is_file():
            ours.append((match[1], int(match[3] or 1), each))
    surplus = [each for _, _, each in sorted(ours)[: max(0, len(ours) + 1 - max_files)]]
    for each in surplus:
        each.unlink(missing_ok=True)
    return surplus


class RecordingControl:
    """Starts and stops recordings in ``folder``, which the first one creates.

    ``notify`` shows a message to the operator; several threads call it. Call the methods from any
    thread except the one that spins the recorder's node.
    """

    def __init__(self, config: Config, folder: Path, notify: Callable[[str], None]) -> None:
        self._config, self._folder, self._notify = config, folder, notify
        self._lock = threading.Lock()
        self._node: RecorderNode | None = None
        self._writer: RunWriter | None = None
        self._last: RunWriter | None = None  # of the last finished recording

    def start(self) -> Outcome:
        config = self._config
        with self._lock:
            if self._writer is not None and not self._writer.problem:
                return Outcome(False, f'it records already, to {self._writer.path}')
            self._end_recording('another recording begins')
            try:
                channels = [
                    replace(each, schema=definition(each.type))
                    for each in recorded_channels(config.topics, config.agent.recording.rates)
                ]
                writer = RunWriter(
                    self._create_file, self._notify, config.agent.recording.max_file_mb
                )
            except (ImportError, LookupError, OSError) as error:  # of a message's definition, too
                return Outcome(False, f'nothing is recorded: {error}')
            quality = config.thresholds.capture.jpeg_quality
            self._writer = writer
            self._node = RecorderNode(channels, writer.enqueue, self._notify, quality)
            return Outcome(True, f'recording to {writer.path}')

    def stop(self, why: str = 'by the operator') -> Outcome:
        with self._lock:
            ended = self._end_recording(why)
        if ended is None:
            return Outcome(False, 'nothing is recorded')
        return Outcome(not ended.problem, f'recorded {ended.text}')

    def status(self) -> Outcome:
        with self._lock:
            if self._writer is not None:
                now = self._writer
                word = 'recording ended' if now.problem else 'recording'
                return Outcome(not now.problem, f'{word}: {now.text}')
            last = f'; the last one: {self._last.text}' if self._last else ''
        return Outcome(True, f'nothing is recorded{last}')

    def run_command(self, argument: str) -> Outcome:
        """Run ``:record`` with the argument ``on``, ``off``, ``status`` or none (status)."""
        if argument == 'on':
            return self.start()
        return self.stop() if argument == 'off' else self.status()

    def record_call(self, call: ServiceCall) -> None:
        """Record a service call, if a recording runs. Thread-safe; never waits for the disk."""
        self._record(CALLS_CHANNEL, call)

    def record_decision(self, decision: BaseModel) -> None:
        """Record what gate or kernel decided, as ``record_call`` does."""
        self._record(DECISIONS_CHANNEL, decision)

    def _record(self, channel: Channel, content: BaseModel) -> None:
        writer = self._writer
        if writer is not None:
            with suppress(PydanticSerializationError):  # a text that is no valid Unicode
                writer.enqueue(channel, content.model_dump_json().encode())

    def close(self) -> None:
        self.stop('the agent ended')

    def _end_recording(self, why: str) -> RunWriter | None:
        node, writer = self._node, self._writer
        self._node = self._writer = None
        if node is not None:
            node.close()
        if writer is not None:
            writer.close(why)
            self._last = writer
        return writer

    def _create_file(self) -> RunFile:
        """Create a file with a new name, and delete the oldest ones beyond recording.max_files.
        Raises OSError.
        """
        began = datetime.now(timezone.utc)
        domain = os.environ.get('ROS_DOMAIN_ID') or '0'
        info = {
            'began': began.isoformat(timespec='seconds'),
            'domain': domain,
            ROBOT: self._config.nodes.robot,
            # The limits by which the rules decided: a replay into the rules needs them.
            THRESHOLDS: self._config.thresholds.model_dump_json(),
            GUARDRAILS: self._config.guardrails.model_dump_json(),
        }
        for number in count(1):
            with suppress(FileExistsError):  # second recording within one second
                file = RunFile(self._folder / recording_name(began, domain, number), info)
                break
        most = self._config.agent.recording.max_files
        try:
            for path in delete_surplus(self._folder, domain, most, spare=file.path):
                self._notify(
                    f'! The oldest recording was deleted: {path} (recording.max_files: {most}).'
                )
        except OSError as error:
            self._notify(f'! An old recording cannot be deleted: {error}')
        return file
