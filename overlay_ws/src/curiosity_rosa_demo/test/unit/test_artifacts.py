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
from typing import Any

from curiosity_rosa_demo.agent.runtime.robot import Capture, Picture
from curiosity_rosa_demo.agent.topics.captures import Artifacts
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.trace.trace_codec import new_event
import pytest
from skill_world import no_file_beyond


def result(tool: str = 'capture_and_score', *, ok: bool = True, **data: Any) -> TraceEvent:
    return new_event(TraceKind.RESULT, tool, tool_name=tool, ok=ok, score=0.5, data=data)


def test_the_folder_holds_what_the_last_capture_made_and_nothing_older(tmp_path: Path) -> None:
    pictures: dict[str, bytes] = {}

    def of(event: TraceEvent) -> Capture | None:
        jpeg = pictures.get(event.event_id)
        return jpeg and Capture(event.event_id, Picture(jpeg, 0.0, 0.0), 0.5, False, None)

    def make(*, fresh: bool = True) -> Artifacts:
        annotated = Picture(b'annotated', 0.0, 0.0)
        return Artifacts(str(tmp_path / 'deep'), of, lambda event: annotated, fresh=fresh)

    def take(jpeg: bytes) -> None:
        event = result()
        pictures[event.event_id] = jpeg
        artifacts.record_event(event)

    def there() -> list[str]:
        return sorted(file.name for file in (tmp_path / 'deep').iterdir())

    artifacts = make()
    for jpeg in (b'first', b'second'):
        take(jpeg)
        assert artifacts.picture.read_bytes() == jpeg
    for event in (result(ok=False), result('move_stop')):
        artifacts.record_event(event)
    assert artifacts.picture.read_bytes() == b'second'
    with no_file_beyond(100), pytest.raises(OSError, match='File too large'):
        take(bytes(10_000))  # no half picture, and no earlier one
    assert there() == []
    take(bytes(10_000))
    assert artifacts.picture.stat().st_size == 10_000
    with pytest.raises(OSError, match='has not come'):
        artifacts.record_event(result())
    assert there() == []
    artifacts.record_event(result('analyze_ground', rocks=3))
    assert json.loads(artifacts.analysis.read_text()) == {'rocks': 3}
    assert artifacts.analysis_picture.read_bytes() == b'annotated'
    take(b'next')
    assert there() == ['capture.jpg']
    assert make(fresh=False).picture.exists()
    assert not make().picture.exists()
