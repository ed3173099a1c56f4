# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Starts the demo's processes, starts those again that end, and ends them in their order.

The kernel's parent-death signal (setpriv --pdeathsig) ends each of them with this process, also
after kill -9. The signal is TERM, so that the adapter can still stop the rover.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
import contextlib
from dataclasses import dataclass
import os
from pathlib import Path
import shutil
import signal
import time
from typing import Any

END_S = 5.0  # that a process has after SIGTERM
STEADY_S, MOST_RETRIES = 1.0, 20  # of processes that end sooner: each waits a second longer
LOG_BYTES, LOG_LOOK_S = 5_000_000, 10.0
# A parent that ends before setpriv has asked for the signal would leave an orphan.
ONLY_WITH_PARENT = '[ "$PPID" = "$1" ] || exit 143; shift; exec "$@"'
SIGNAL_NAMES = {number.value: number.name for number in signal.Signals}


@dataclass(frozen=True)
class PlannedProcess:
    name: str
    command: tuple[str, ...]
    stops_last: bool = False


def die_with_parent(command: Sequence[str]) -> list[str]:
    """Wrap the command so that the end of this process ends it. Raises FileNotFoundError."""
    setpriv = shutil.which('setpriv')
    if setpriv is None:
        raise FileNotFoundError('setpriv is missing: apt-get install util-linux')
    check = ['/bin/sh', '-c', ONLY_WITH_PARENT, 'sh', str(os.getpid())]
    return [setpriv, '--pdeathsig', 'TERM', '--', *check, *command]


async def run(
    command: Sequence[str],
    ending: asyncio.Event,
    *,
    end_s: float = END_S,
    read: Callable[[asyncio.subprocess.Process], Awaitable[None]] | None = None,
    **options: Any,
) -> int:
    """Run a process until it ends, or until ``ending``: then it gets SIGTERM, and after ``end_s``
    SIGKILL. Returns its exit status, -N after signal N. ``read``: reads its pipes to the end.
    ``options``: of subprocess.Popen.
    """
    child = await asyncio.create_subprocess_exec(*die_with_parent(command), **options)
    reading = None if read is None else asyncio.ensure_future(read(child))
    ended = asyncio.ensure_future(child.wait())
    told = asyncio.ensure_future(ending.wait())
    await asyncio.wait({ended, told}, return_when=asyncio.FIRST_COMPLETED)
    told.cancel()
    for end in (child.terminate, child.kill):
        if not ended.done():
            with contextlib.suppress(ProcessLookupError):
                end()
            await asyncio.wait({ended}, timeout=end_s)
    if reading is not None:
        await asyncio.wait({reading}, timeout=END_S)  # its children may have the pipes, too
        reading.cancel()
    return await ended


@contextlib.asynccontextmanager
async def kept_running(
    processes: Sequence[PlannedProcess], folder: Path, notify: Callable[[str], None]
) -> AsyncIterator[None]:
    """Keep the processes running within the context; those that stop last end after all others.

    ``folder`` takes the logs. ``notify`` gets a text about each process that ended by itself.
    """
    if processes:
        folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob('*.log*'):
        old.unlink()
    logs = asyncio.ensure_future(_limit_logs(folder))
    last, others = asyncio.Event(), asyncio.Event()
    kept: dict[asyncio.Event, list[asyncio.Future[None]]] = {others: [], last: []}
    for process in processes:
        ending = last if process.stops_last else others
        kept[ending].append(asyncio.ensure_future(_keep(process, folder, ending, notify)))
    try:
        yield
    finally:
        for ending, group in kept.items():
            ending.set()
            await asyncio.gather(*group, return_exceptions=True)  # the next group ends anyway
        logs.cancel()


async def _keep(
    process: PlannedProcess, folder: Path, ending: asyncio.Event, notify: Callable[[str], None]
) -> None:
    quick = 0  # ends in a row
    while not ending.is_set():
        began = time.monotonic()
        try:
            with (folder / f'{process.name}.log').open('ab') as output:
                status = await run(
                    process.command,
                    ending,
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=output,
                    stderr=asyncio.subprocess.STDOUT,
                    start_new_session=True,  # Ctrl-C at the console must not reach it
                )
            how = f'exit status {status}'
            if status < 0:
                how = f'terminated by {SIGNAL_NAMES.get(-status, -status)}'
        except OSError as error:
            how = str(error)
        if ending.is_set():
            return
        quick = quick + 1 if time.monotonic() - began < STEADY_S else 0
        if quick > MOST_RETRIES:
            notify(
                f'The {process.name} process keeps ending and is no longer started; see its log.'
            )
            return
        notify(f'The {process.name} process ended ({how}) and is started again.')
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(ending.wait(), timeout=quick)


async def _limit_logs(folder: Path) -> None:
    """Move what is in a long log to NAME.log.1; its process goes on with the same file."""
    while True:
        await asyncio.sleep(LOG_LOOK_S)
        for log in folder.glob('*.log'):
            with contextlib.suppress(OSError):
                if log.stat().st_size > LOG_BYTES:
                    shutil.copyfile(log, f'{log}.1')
                    os.truncate(log, 0)
