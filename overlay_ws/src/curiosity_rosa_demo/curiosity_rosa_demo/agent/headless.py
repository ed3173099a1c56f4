"""An agent without a console: who wants something of it comes by HTTP or by the action."""

from __future__ import annotations

import queue
import signal
import sys
from contextlib import suppress

ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LOOK_S = 0.2


def tell_where(url: str, action: str) -> None:
    """On the error stream: where it can be reached. ``url`` is empty without a page."""
    page = f'at {url} and from' if url else 'without a page, only from'
    print(f'agent: headless; orders come {page} the action {action}', file=sys.stderr, flush=True)


def wait_for_a_signal() -> None:
    """Until one of ENDS comes; in the main thread.

    A queue and no Event: a second signal may come while the first one is being taken, and
    SimpleQueue.put can stand that. A bounded wait in a loop: one that comes in the moment before
    the wait would not end it.
    """
    told: queue.SimpleQueue[int] = queue.SimpleQueue()
    for signum in ENDS:
        signal.signal(signum, lambda number, _: told.put(number))
    while True:
        with suppress(queue.Empty):
            told.get(timeout=LOOK_S)
            return
