# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The open pages of one kind, which get updates in turn. Runs in the page's loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
import logging
import time
from typing import Generic, Protocol, TypeVar

from curiosity_rosa_demo.domain.origin import MAX_OPERATOR_CHARS
from nicegui import ui

# --- What one browser keeps: the name of its person, and how it calls that person --------------


class BrowserSettings(ui.element, component='components/browser_settings.js'):
    """Its event ``operator`` tells the name, '' for none: at once, and after each change."""

    def __init__(self) -> None:
        super().__init__()
        self.props['longest'] = MAX_OPERATOR_CHARS


UPDATE_PERIOD_S = 0.2

_log = logging.getLogger('curiosity_rosa.page')

Shown = TypeVar('Shown')
ShownByPage = TypeVar('ShownByPage', contravariant=True)


class OpenPage(Protocol[ShownByPage]):
    def update(self, snapshot: ShownByPage, pages: int) -> None:
        """Send the changes; must not block. ``pages``: number of open pages."""


class OpenPages(Generic[Shown]):
    """Takes a snapshot only while a page is open."""

    def __init__(self, snapshot: Callable[[], Shown]) -> None:
        self._snapshot = snapshot
        self._pages: set[OpenPage[Shown]] = set()
        self._update_task: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._pages)

    def add(self, page: OpenPage[Shown]) -> None:
        self._pages.add(page)
        if self._update_task is None or self._update_task.done():
            self._update_task = asyncio.get_running_loop().create_task(self._run())

    def remove(self, page: OpenPage[Shown]) -> None:
        self._pages.discard(page)

    async def _run(self) -> None:
        while self._pages:
            began = time.monotonic()
            # Without updates, the pages themselves report that their data is stale.
            with errors_logged('event=page_not_looked'):
                await self._update_pages(self._snapshot(), tuple(self._pages))
            await asyncio.sleep(
                max(UPDATE_PERIOD_S / 4, UPDATE_PERIOD_S - (time.monotonic() - began))
            )

    async def _update_pages(self, snapshot: Shown, pages: Sequence[OpenPage[Shown]]) -> None:
        """Update the pages one by one, so that a stop waits for one page at most."""
        for page in pages:
            with errors_logged('event=page_not_shown'):
                page.update(snapshot, len(pages))
            await asyncio.sleep(UPDATE_PERIOD_S / 2 / len(pages))


@contextmanager
def errors_logged(event: str) -> Iterator[None]:
    """Log an exception: it ends one update of one page, and the next may succeed."""
    try:
        yield
    except Exception:
        _log.exception(event)
