# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""An asyncio loop that owns its clock: a wait of a minute takes no time.

Only for work that waits for timers alone: a reply of another thread would come too late.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
import selectors
from typing import Any, TypeVar

T = TypeVar('T')


class _Selector(selectors.DefaultSelector):
    """Where a loop would sleep, its time passes."""

    now_s = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0.0 if timeout is not None else None)
        if not ready:
            self.now_s += timeout or 0.0
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._clock = _Selector()
        super().__init__(self._clock)

    def time(self) -> float:
        return self._clock.now_s


def run(work: Coroutine[Any, Any, T]) -> T:
    """As asyncio.run(), in virtual time."""
    loop = VirtualLoop()
    try:
        return loop.run_until_complete(work)
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
