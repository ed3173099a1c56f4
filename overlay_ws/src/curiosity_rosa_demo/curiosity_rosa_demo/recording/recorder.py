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
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import partial
import json
import math
import os
from pathlib import Path
import re
import threading
import time
from typing import Any

from curiosity_rosa_demo.domain.models import ServiceCall
from curiosity_rosa_demo.domain.skills import Outcome
from curiosity_rosa_demo.domain.text import count_text, valid_unicode
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
    ChannelSource,
    DECISIONS_CHANNEL,
    message_class,
    NoDefinition,
    RAW_PICTURE,
    recorded_channel,
    sources,
)
from curiosity_rosa_demo.recording.file import GUARDRAILS, MB, RunFile, THRESHOLDS
from curiosity_rosa_demo.recording.writer import Progress, RunWriter
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
        pairs: Sequence[tuple[ChannelSource, Channel]],
        enqueue: Callable[[Channel, bytes], object],
        notify: Callable[[str], None],
        jpeg_quality: int,
    ) -> None:
        self._enqueue, self._notify = enqueue, notify
        # The node does not read its clock, so it does not need a subscription to /clock.
        self._node = Node(
            'recorder',
            parameter_overrides=[Parameter('use_sim_time', value=False)],
        )
        self._throttles: list[tuple[Channel, Throttle]] = []
        self._capture: tuple[ChannelSource, Channel] | None = None
        self._picture: Any = None  # subscription while a picture is awaited
        self._picture_until_s = 0.0
        self._to_jpeg: Callable[[Image], bytes] | None = None
        self._reported_image_error = False
        for source, channel in pairs:
            if source.role == 'capture':
                self._capture = source, channel
            elif source.hz is None or source.hz > 0.0:
                self._subscribe(source, channel, jpeg_quality)
        self._node.create_timer(POLL_PERIOD_S, self._flush_due, clock=STEADY_CLOCK)
        self._spin = SpinThread('recorder', self._node, on_crash=self._on_ros_failure)

    def close(self) -> None:
        self._spin.close()
        del self._spin  # its executor would keep the node and its subscriptions in the graph
        self._node.destroy_node()

    def _subscribe(self, source: ChannelSource, channel: Channel, jpeg_quality: int) -> None:
        throttle = Throttle(math.inf if source.hz is None else source.hz)
        callback: Callable[[bytes], None] = partial(self._on_message, channel, throttle)
        if source.type == RAW_PICTURE:
            # Imported here because it loads OpenCV.
            from curiosity_rosa_demo.imaging.pixels import encode_jpeg, pixels_of

            self._to_jpeg = lambda image: encode_jpeg(pixels_of(image), jpeg_quality)
            callback = partial(self._on_raw_image, channel, throttle)
        elif source.role == 'trace':
            callback = partial(self._on_trace_event, channel)
        if source.hz is not None and source.role != 'camera':
            self._throttles.append((channel, throttle))
        qos = history_qos(HISTORY_DEPTH) if source.latched else ANY_PUBLISHER_QOS
        if source.role == 'camera':
            qos = NEWEST_ONLY
        self._node.create_subscription(
            message_class(source.type), source.topic, callback, qos, raw=True
        )

    def _on_message(self, channel: Channel, throttle: Throttle, data: bytes) -> None:
        passed = throttle.accept(data, time.monotonic())
        if passed is not None:
            self._enqueue(channel, passed)

    def _on_raw_image(self, channel: Channel, throttle: Throttle, data: bytes) -> None:
        """Record a raw camera image as JPEG."""
        if throttle.accept(b'', time.monotonic()) is None or self._to_jpeg is None:
            return
        try:
            image: Image = read_message(data, Image)
            jpeg = self._to_jpeg(image)
        except (ImageError, UnreadableMessage) as error:
            if not self._reported_image_error:
                self._reported_image_error = True
                self._notify(f'! The camera is not recorded: {error}')
            return
        picture = CompressedImage(header=image.header, format='jpeg', data=array.array('B', jpeg))
        self._enqueue(channel, serialize_message(picture))

    def _on_trace_event(self, channel: Channel, data: bytes) -> None:
        self._enqueue(channel, data)
        try:
            event = decode(read_message(data, String).data)
        except UnreadableMessage:
            return
        # For an old capture, replayed from the topic's history, the latched picture is another.
        taken = CaptureTaken.of(event)
        if taken and taken.ok is True and time.time() - event.ts < MAX_FRAME_AGE_S:
            self._subscribe_to_picture()

    def _subscribe_to_picture(self) -> None:
        """Subscribe until the picture of the capture arrives. The topic is latched, so the picture
        is not missed. A permanent subscription would make the simulator process every frame.
        """
        self._picture_until_s = time.monotonic() + PICTURE_TIMEOUT_S
        if self._picture is None and self._capture is not None:
            source, channel = self._capture
            received: list[bool] = []

            def on_picture(data: bytes) -> None:
                if not received:
                    received.append(True)
                    self._enqueue(channel, data)
                    self._picture_until_s = 0.0

            self._picture = self._node.create_subscription(
                CompressedImage, source.topic, on_picture, history_qos(1), raw=True
            )

    def _flush_due(self) -> None:
        now_s = time.monotonic()
        for channel, throttle in self._throttles:
            due = throttle.take_due(now_s)
            if due is not None:
                self._enqueue(channel, due)
        if self._picture is not None and now_s > self._picture_until_s:
            self._node.destroy_subscription(self._picture)
            self._picture = None

    def _on_ros_failure(self, error: Exception) -> None:
        self._notify(f'! The recording no longer receives messages: {error!r}')


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


MAX_FILES = 'recording.max_files'  # key in agent.yaml


class RecordingControl:
    """Starts and stops recordings in ``folder``, which the first one creates.

    ``notify`` shows a message to the operator; several threads call it. Call the methods from any
    thread except the one that spins the recorder's node.
    """

    def __init__(
        self,
        config: Config,
        folder: Path,
        notify: Callable[[str], None],
    ) -> None:
        self._config, self._folder, self._notify = config, folder, notify
        self._sources = sources(config.topics, config.agent.recording.rates)
        self._lock = threading.Lock()
        self._node: RecorderNode | None = None
        self._writer: RunWriter | None = None
        self._last: Progress | None = None  # of the last finished recording

    def start(self) -> Outcome:
        with self._lock:
            if self._writer is not None and not self._writer.progress.problem:
                return Outcome(False, f'it records already, to {self._writer.progress.path}')
            self._end_recording('another recording begins')
            try:
                pairs = [(source, recorded_channel(source)) for source in self._sources]
                file = self._create_file()
            except (NoDefinition, OSError) as error:
                return Outcome(False, f'nothing is recorded: {error}')
            limits = self._config.agent.recording
            self._writer = writer = RunWriter(
                file,
                self._notify,
                max_bytes=limits.max_file_mb * MB,
                next_file=self._continue_in_file,
            )
            self._node = RecorderNode(
                pairs, writer.enqueue, self._notify, self._config.thresholds.capture.jpeg_quality
            )
            return Outcome(True, f'recording to {file.path}')

    def stop(self, why: str = 'by the operator') -> Outcome:
        with self._lock:
            if self._writer is None:
                return Outcome(False, 'nothing is recorded')
            ended = self._end_recording(why)
        return Outcome(not ended.problem, f'recorded {_progress_text(ended)}')

    def status(self) -> Outcome:
        with self._lock:
            if self._writer is not None:
                now = self._writer.progress
                word = 'recording ended' if now.problem else 'recording'
                return Outcome(not now.problem, f'{word}: {_progress_text(now)}')
            last = f'; the last one: {_progress_text(self._last)}' if self._last else ''
        return Outcome(True, f'nothing is recorded{last}')

    def run_command(self, argument: str) -> Outcome:
        """Run ``:record`` with the argument ``on``, ``off``, ``status`` or none (status)."""
        if argument == 'on':
            return self.start()
        return self.stop() if argument == 'off' else self.status()

    def record_call(self, call: ServiceCall) -> None:
        """Record a service call, if a recording runs. Thread-safe; never waits for the disk."""
        writer = self._writer
        if writer is not None:
            call.answer, call.duration_s = valid_unicode(call.answer), round(call.duration_s, 6)
            writer.enqueue(CALLS_CHANNEL, call.model_dump_json().encode())

    def record_decision(self, decision: BaseModel) -> None:
        """Record what gate or kernel decided, as ``record_call`` does."""
        writer = self._writer
        if writer is not None:
            with suppress(PydanticSerializationError):  # a text that is no valid Unicode
                writer.enqueue(DECISIONS_CHANNEL, decision.model_dump_json().encode())

    def close(self) -> None:
        with self._lock:
            if self._writer is not None:
                self._end_recording('the agent ended')

    def _end_recording(self, why: str) -> Progress:
        node, writer = self._node, self._writer
        self._node = self._writer = None
        if node is not None:
            node.close()
        if writer is not None:
            self._last = writer.close(why)
        return self._last or Progress(Path(), 0, 0, 0, '')

    def _continue_in_file(self) -> RunFile:
        """The next file of a recording whose file is full. Raises OSError."""
        file = self._create_file()
        self._notify(
            f'The recording continues in {file.path} '
            f'(recording.max_file_mb: {self._config.agent.recording.max_file_mb}).'
        )
        return file

    def _delete_oldest(self, domain: str, newest: Path) -> None:
        """Delete our oldest recordings beyond recording.max_files, and say so."""
        max_files = self._config.agent.recording.max_files
        try:
            deleted = delete_surplus(self._folder, domain, max_files, spare=newest)
        except OSError as error:
            self._notify(f'! An old recording cannot be deleted: {error}')
            return
        for path in deleted:
            self._notify(f'! The oldest recording was deleted: {path} ({MAX_FILES}: {max_files}).')

    def _create_file(self) -> RunFile:
        """Create a file with a new name, and delete the oldest ones. Raises OSError."""
        began = datetime.now(timezone.utc)
        domain = os.environ.get('ROS_DOMAIN_ID') or '0'
        viz = self._config.thresholds.viz
        zone = [viz.bright_zone_x_min, viz.bright_zone_x_max, viz.bright_zone_half_width]
        info = {
            'began': began.isoformat(timespec='seconds'),
            'domain': domain,
            'world_frame': self._config.topics.tf.world_frame,
            'base_frame': self._config.topics.tf.base_frame,
            'bright_zone': json.dumps(zone),
            'score_threshold': str(self._config.thresholds.quality.score_threshold),
            # The limits by which the rules decided: a replay into the rules needs them.
            THRESHOLDS: self._config.thresholds.model_dump_json(),
            GUARDRAILS: self._config.guardrails.model_dump_json(),
        }
        number = 1
        while True:
            try:
                file = RunFile(self._folder / recording_name(began, domain, number), info)
                break
            except FileExistsError:  # second recording within one second
                number += 1
        self._delete_oldest(domain, file.path)
        return file


def _progress_text(progress: Progress) -> str:
    parts = [
        str(progress.path),
        *([f'file {progress.files} of this recording'] if progress.files > 1 else []),
        f'{progress.size / 1e6:.1f} MB',
        count_text(progress.messages, 'message'),
        f'{progress.dropped} dropped' if progress.dropped else 'none dropped',
    ]
    if progress.problem:
        parts.append(f'ended by itself: {progress.problem}')
    return ', '.join(parts)
