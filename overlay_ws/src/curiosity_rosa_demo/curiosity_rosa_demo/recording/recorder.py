# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""``:record``: record the run to an MCAP file, with a separate node and writer thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timezone
import json
import os
from pathlib import Path
import re
import threading

from curiosity_rosa_demo.domain.skills import Outcome
from curiosity_rosa_demo.domain.text import count_text
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.recording.mcap.channels import (
    CALLS_SCHEMA,
    CALLS_TOPIC,
    CDR,
    Channel,
    ChannelRates,
    ChannelSource,
    definition,
    JSON,
    NoDefinition,
    recorded_source,
    sources,
)
from curiosity_rosa_demo.recording.mcap.file import GUARDRAILS, MB, RunFile, THRESHOLDS
from curiosity_rosa_demo.recording.mcap.writer import Progress, RunWriter
from curiosity_rosa_demo.recording.recorder_node import RecorderNode
from curiosity_rosa_demo.tools.rover_client import ServiceCall

# -----------------------------------------------------------------------------------------------
# Which recordings of a folder are ours, and which of them are too many. Pure but for deletion
#
# The name of a recording is ``run_<UTC time>_<ROS domain>.mcap``, with ``_2`` and so on before the
# ending for further files of the same second.


_NAME = re.compile(r'run_(\d{8}T\d{6}Z)_(\d+)(?:_(\d+))?\.mcap')


def recording_name(began: datetime, domain: str, number: int) -> str:
    """``began``: in UTC. ``number``: 1 for the first file of this second."""
    suffix = f'_{number}' if number > 1 else ''
    return f'run_{began:%Y%m%dT%H%M%SZ}_{domain}{suffix}.mcap'


def surplus(names: Iterable[str], domain: str, max_files: int) -> list[str]:
    """The names of our recordings of this ROS domain beyond the newest ``max_files``, oldest
    first. Every other file is someone else's and never among them.
    """
    ours = []
    for name in names:
        match = _NAME.fullmatch(name)
        if match is not None and match[2] == domain:
            ours.append((match[1], int(match[3] or 1), name))
    ours.sort()
    return [name for _, _, name in ours[: max(0, len(ours) - max_files)]]


def delete_surplus(folder: Path, domain: str, max_files: int, *, spare: Path) -> list[Path]:
    """Delete the oldest recordings until ``max_files`` remain; never ``spare``, whatever the
    clock said when it got its name. Returns the deleted files. Raises OSError.
    """
    files = {each.name: each for each in folder.iterdir() if each.is_file() and each != spare}
    deleted = []
    for name in surplus(files, domain, max_files - 1):
        files[name].unlink(missing_ok=True)
        deleted.append(files[name])
    return deleted


MAX_FILES = 'recording.max_files'  # key in agent.yaml
CALLS_CHANNEL = Channel('calls', CALLS_TOPIC, 'curiosity_rosa.ServiceCall', JSON, CALLS_SCHEMA)


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
        self._sources = sources(
            config.topics, ChannelRates(**config.agent.recording.rates.model_dump())
        )
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
                channels = [_channel(source) for source in self._sources]
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
            pairs = list(zip(self._sources, channels, strict=True))
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
            data = json.dumps(
                {
                    'service': call.service,
                    'request': {},
                    'ok': call.ok,
                    'answer': call.answer,
                    'duration_s': round(call.duration_s, 6),
                }
            )
            writer.enqueue(CALLS_CHANNEL, data.encode())

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


def _channel(source: ChannelSource) -> Channel:
    """The channel for ``source``, with its message definition. Raises NoDefinition."""
    recorded = recorded_source(source)
    return Channel(recorded.role, recorded.topic, recorded.type, CDR, definition(recorded.type))


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
