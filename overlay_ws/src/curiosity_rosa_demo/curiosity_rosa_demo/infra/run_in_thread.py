# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Blocking work that a coroutine awaits, in a thread of its own.

No pool: the work never waits for other work, no idle thread stays, and none keeps the process
alive.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
import threading
from typing import TypeVar

T = TypeVar('T')


async def run_in_thread(name: str, work: Callable[[], T]) -> T:
    """Run ``work`` in a new daemon thread; returns its result or raises its exception. Work goes
    on when the caller is cancelled.
    """
    result: Future[T] = Future()
    result.set_running_or_notify_cancel()  # a caller cannot cancel it

    def run() -> None:
        try:
            result.set_result(work())
        except BaseException as error:
            result.set_exception(error)

    threading.Thread(target=run, name=name, daemon=True).start()
    done = asyncio.wrap_future(result)
    # Its exception is not logged as unretrieved when the caller was cancelled.
    done.add_done_callback(lambda _: done.cancelled() or done.exception())
    return await done
