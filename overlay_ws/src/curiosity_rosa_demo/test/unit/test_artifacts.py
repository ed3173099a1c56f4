# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""--artifacts: the picture on the disk is that of the last capture, or there is none."""

from __future__ import annotations

import json
from pathlib import Path

from curiosity_rosa_demo.agent.runtime.robot import Capture, Picture
from curiosity_rosa_demo.agent.topics.captures import Artifacts
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.trace.trace_codec import new_event
from full_disk import no_file_beyond
import pytest


def captured(*, ok: bool = True, tool: str = 'capture_and_score') -> TraceEvent:
    return new_event(TraceKind.RESULT, tool, tool_name=tool, ok=ok, score=0.5)


def no_picture(event: TraceEvent) -> Picture | None:
    return None


class Captures:
    """``pictures`` by the event's ID."""

    def __init__(self) -> None:
        self.pictures: dict[str, bytes] = {}

    def of(self, event: TraceEvent) -> Capture | None:
        jpeg = self.pictures.get(event.event_id)
        if jpeg is None:
            return None
        return Capture(event.event_id, Picture(jpeg, 0.0, 0.0), 0.5, False, None)

    def take(self, jpeg: bytes) -> TraceEvent:
        event = captured()
        self.pictures[event.event_id] = jpeg
        return event


@pytest.fixture
def captures() -> Captures:
    return Captures()


def test_each_capture_leaves_its_own_picture_or_none(tmp_path: Path, captures: Captures) -> None:
    artifacts = Artifacts(str(tmp_path / 'deep/folder'), captures.of, no_picture, fresh=True)
    for jpeg in (b'first', b'second'):
        artifacts.record_event(captures.take(jpeg))
        assert artifacts.picture.read_bytes() == jpeg
    with pytest.raises(OSError, match='has not come'):
        artifacts.record_event(captured())
    assert list(artifacts.picture.parent.iterdir()) == []


def test_a_full_disk_leaves_no_half_picture_and_no_earlier_one(
    tmp_path: Path, captures: Captures
) -> None:
    artifacts = Artifacts(str(tmp_path), captures.of, no_picture, fresh=True)
    artifacts.record_event(captures.take(b'first'))
    with no_file_beyond(100), pytest.raises(OSError, match='File too large'):
        artifacts.record_event(captures.take(bytes(10_000)))
    assert list(tmp_path.iterdir()) == []
    artifacts.record_event(captures.take(bytes(10_000)))
    assert artifacts.picture.stat().st_size == 10_000


def test_what_is_no_capture_and_a_restart_leave_the_picture_as_it_is(
    tmp_path: Path, captures: Captures
) -> None:
    artifacts = Artifacts(str(tmp_path), captures.of, no_picture, fresh=True)
    artifacts.record_event(captures.take(b'first'))
    for event in (captured(ok=False), captured(tool='move_stop')):
        artifacts.record_event(event)
    assert artifacts.picture.read_bytes() == b'first'
    assert Artifacts(str(tmp_path), captures.of, no_picture, fresh=False).picture.exists()
    assert not Artifacts(str(tmp_path), captures.of, no_picture, fresh=True).picture.exists()


def test_an_analysis_leaves_its_numbers_and_picture_until_the_next_capture(
    tmp_path: Path, captures: Captures
) -> None:
    picture = Picture(b'annotated', 0.0, 0.0)
    artifacts = Artifacts(str(tmp_path), captures.of, lambda event: picture, fresh=True)
    found = {'rocks': 3, 'image_stamp_s': 1.5}
    artifacts.record_event(
        new_event(TraceKind.RESULT, 'x', tool_name='analyze_ground', ok=True, data=found)
    )
    assert json.loads(artifacts.analysis.read_text()) == found
    assert artifacts.analysis_picture.read_bytes() == b'annotated'
    artifacts.record_event(captures.take(b'next'))
    assert [file.name for file in tmp_path.iterdir()] == ['capture.jpg']
