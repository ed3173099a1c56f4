# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The recordings that a page can show. Reads them with bounded memory; never plays them."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
import threading

from curiosity_rosa_demo.agent.interfaces.page.past_view import Story
from curiosity_rosa_demo.agent.interfaces.page.recorded_story import picture_of, recorded_story
from curiosity_rosa_demo.domain.text import clip
from curiosity_rosa_demo.recording.mcap.limits import NotARecording
from curiosity_rosa_demo.recording.report.run import read_run, RecordedRun

MAX_NAMES = 50  # the newest
MAX_OPEN = 2  # recordings in memory; each has the limits of a report


class RecordingNotShown(Exception):
    """The message says which recording, and why."""


class RecordingLibrary:
    """Safe from any thread. ``folder`` None: there are none."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._open: OrderedDict[str, RecordedRun] = OrderedDict()
        self._lock = threading.Lock()

    def names(self) -> list[str]:
        """The newest first."""
        if self._folder is None:
            return []
        found = (each.name for each in self._folder.glob('*.mcap') if each.is_file())
        return sorted(found, reverse=True)[:MAX_NAMES]

    def open(self, name: str) -> Story:
        """Blocks while it reads the file. Raises RecordingNotShown."""
        if self._folder is None or name not in self.names():
            raise RecordingNotShown(f'There is no recording {clip(name, 100)!r} any more.')
        with self._lock:
            try:
                run = read_run(self._folder / name)
            except (NotARecording, OSError) as error:
                raise RecordingNotShown(f'{name} cannot be shown: {error}') from None
            story = recorded_story(run)
            if story.history.start is None:
                raise RecordingNotShown(f'{name} holds nothing to show.')
            self._open[name] = run
            self._open.move_to_end(name)
            while len(self._open) > MAX_OPEN:
                self._open.popitem(last=False)
            return story

    def picture(self, event_id: str) -> bytes | None:
        """The picture of a capture in an open recording."""
        for run in tuple(self._open.values()):
            if (jpeg := picture_of(run, event_id)) is not None:
                return jpeg
        return None
