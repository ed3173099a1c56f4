# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Looks at the robot for all open pages together, and tells each what changed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
import logging
import time
from typing import Protocol

from curiosity_rosa_demo.agent.interfaces.page.task_history import Life, Lives
from curiosity_rosa_demo.agent.interfaces.page.view_model import Look, ViewModel
from curiosity_rosa_demo.agent.runtime.robot import Robot
from curiosity_rosa_demo.agent.tasks import SkillRunner
from curiosity_rosa_demo.agent.tasks.errors import TaskError
from curiosity_rosa_demo.infra.config.contracts import Config

EVERY_S = 0.2

_log = logging.getLogger('curiosity_rosa.page')


class OpenPage(Protocol):
    def show(self, look: Look, pages: int) -> None:
        """Send what changed; must not wait. ``pages``: so many are open."""


class Feed:
    """In the page's loop. It looks only while a page is open."""

    def __init__(self, robot: Robot, runner: SkillRunner, config: Config) -> None:
        self._robot, self._lives = robot, Lives(runner)
        self._model = ViewModel(robot, config)
        robot.subscribe(self._model.hear)
        self._pages: set[OpenPage] = set()
        self._looking: asyncio.Task[None] | None = None
        self._reading: asyncio.Task[Sequence[Life]] | None = None
        self._read: Sequence[Life] = ()
        self._last: Look | None = None

    def join(self, page: OpenPage) -> None:
        self._pages.add(page)
        if self._looking is None or self._looking.done():
            self._looking = asyncio.get_running_loop().create_task(self._run())

    def leave(self, page: OpenPage) -> None:
        self._pages.discard(page)

    def look(self) -> Look:
        """The newest of everything, at most EVERY_S old."""
        clock = time.monotonic()
        if self._last is None or clock - self._last.clock > EVERY_S:
            self._take_lives()
            self._last = self._model.look(self._read, now=time.time(), clock=clock)
        return self._last

    async def _run(self) -> None:
        while self._pages:
            began = time.monotonic()
            # Until all is well again the pages say by themselves that nothing is live.
            with _logged('event=page_not_looked'):
                await self._tell(self.look(), tuple(self._pages))
            await asyncio.sleep(max(EVERY_S / 4, EVERY_S - (time.monotonic() - began)))

    async def _tell(self, look: Look, pages: Sequence[OpenPage]) -> None:
        """One page after the other: a stop that comes meanwhile waits for one page at most."""
        for page in pages:
            with _logged('event=page_not_shown'):
                page.show(look, len(pages))
            await asyncio.sleep(EVERY_S / 2 / len(pages))

    def _take_lives(self) -> None:
        """Never waits: of a mission that does not answer the last that was read is shown."""
        if self._reading is not None:
            if not self._reading.done():
                return
            reading, self._reading = self._reading, None
            try:
                self._read = reading.result()
            except TaskError as error:
                _log.info('event=tasks_not_read error=%r', str(error))
        self._reading = asyncio.get_running_loop().create_task(self._read_lives())

    async def _read_lives(self) -> Sequence[Life]:
        return await self._robot.call(self._lives.read())


@contextmanager
def _logged(event: str) -> Iterator[None]:
    """A fault inside is one of this look, or of one page: the next may do."""
    try:
        yield
    except Exception:
        _log.exception(event)
