# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Several rovers at one console: input lines go to all or one, output lines have a name prefix."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping
import json
import os
import sys
import threading
import time
from typing import Any

from curiosity_rosa_demo.agent.interfaces.terminal.options import READY_MESSAGE

from runner.supervision import failed

READY_S = 120.0  # the longest wait for all rovers before their commands start
OUTPUTS = ('stdout', 'stderr')  # each read by a thread
LONGEST_LINE = 4096  # bytes: a pipe writes up to PIPE_BUF atomically


class Rover:
    """The pipes of one rover. They outlast its agent, which may be restarted.

    Threads read them: a slow reader of our own output must not hold up who supervises.
    """

    def __init__(self, name: str, on_line: Callable[[str, str, bool], None]) -> None:
        self.name = name
        self.last = ''  # last line of the standard output
        self.status: int | None = None
        self.ready = threading.Event()  # or ended
        self._on_line = on_line
        read, self._write = os.pipe()
        os.set_blocking(self._write, False)
        self._lock = threading.Lock()
        self._open = True
        self._readers: list[threading.Thread] = []
        self.streams: dict[str, Any] = {'stdin': read}
        for name in OUTPUTS:
            read, write = os.pipe()
            reader = threading.Thread(
                target=self._read, args=(read, name == 'stderr'), daemon=True
            )
            reader.start()
            self._readers.append(reader)
            self.streams[name] = os.fdopen(write, 'w', encoding='utf-8')

    def _read(self, descriptor: int, is_error: bool) -> None:
        with open(descriptor, encoding='utf-8', errors='replace') as lines:
            for line in lines:
                text = line.rstrip('\n')
                if not is_error:
                    self.last = text
                    if text == READY_MESSAGE:
                        self.ready.set()
                self._on_line(self.name, text, is_error)

    def send(self, line: bytes) -> str:
        """Write a line to the agent without blocking. Returns the reason of a failure, if any."""
        with self._lock:
            if not self._open:
                return 'has left'
            try:
                os.write(self._write, line + b'\n')
            except BlockingIOError:
                return 'does not take its lines'
        return ''

    def no_more(self) -> None:
        """Close the agent's standard input."""
        with self._lock:
            if self._open:
                self._open = False
                os.close(self._write)

    def ended(self, status: int) -> None:
        """Mark the agent as ended, and wait until its output has been read."""
        self.status = status
        self.ready.set()
        self.no_more()
        for name in OUTPUTS:
            self.streams[name].close()
        for reader in self._readers:
            reader.join(timeout=5.0)

    def result(self) -> dict[str, Any]:
        """The result of the commands: the last output line if it is one, else a failed result."""
        try:
            found = json.loads(self.last)
        except ValueError:
            found = None
        if not (isinstance(found, dict) and 'ok' in found):
            found = failed(f'No result: the agent ended with status {self.status}; see its lines.')
        return {**found, 'ok': found['ok'] is True and self.status == 0}


class Rovers:
    """Runs all rovers and merges their output, line by line, into the own output and error."""

    def __init__(self, names: Iterable[str]) -> None:
        self.rovers = {name: Rover(name, self._print_line) for name in names}
        self._on_closed: Callable[[], object] = lambda: None
        self._print_lock = threading.Lock()
        self._output_closed = False

    async def run(
        self,
        runs: Mapping[str, Coroutine[Any, Any, int]],
        end: Callable[[], None],
        *,
        commands: bool,
    ) -> int:
        """Run all until they have ended. Returns the greatest exit status: 0 if all succeeded.

        ``end`` ends all, in the thread of this loop. ``commands``: the rovers have console
        commands to run, and this prints one JSON object at the end. Without commands, the rovers
        get the lines of standard input.
        """
        loop = asyncio.get_running_loop()
        self._on_closed = lambda: loop.call_soon_threadsafe(end)
        feed = self._start_together if commands else self._read_lines
        threading.Thread(target=feed, daemon=True).start()

        async def run_one(rover: Rover) -> int:
            status = 2
            try:
                status = await runs[rover.name]
            except OSError as error:
                self._print_line(rover.name, f'run_demo: {error}', True)
            finally:
                await asyncio.to_thread(rover.ended, status)
            return status

        statuses = await asyncio.gather(*map(run_one, self.rovers.values()))
        if commands:
            results = {name: rover.result() for name, rover in self.rovers.items()}
            ok = all(result['ok'] for result in results.values())
            text = json.dumps({'ok': ok, 'rovers': results}, ensure_ascii=False)
            self._print_line('', text)
        return max(statuses)

    def _start_together(self) -> None:
        until_s = time.monotonic() + READY_S
        for rover in self.rovers.values():
            rover.ready.wait(max(0.0, until_s - time.monotonic()))
        for rover in self.rovers.values():
            rover.no_more()  # the agents wait for a line or the end of their input

    def _read_lines(self) -> None:
        """Read standard input by its descriptor: a thread blocked in sys.stdin would delay the
        exit of the process.
        """
        self._print_line('', self._usage())
        rest = b''
        while True:
            try:
                data = os.read(0, 65536)
            except OSError:  # the terminal is gone
                data = b''
            if not data:
                break
            *lines, rest = (rest + data).split(b'\n')
            for line in lines:
                self._route_line(line)
        if rest:
            self._route_line(rest)
        for rover in self.rovers.values():
            rover.no_more()

    def _route_line(self, line: bytes) -> None:
        targets = [each for each in self.rovers.values() if each.status is None]
        if line.startswith(b'@'):
            name, _, line = line[1:].partition(b' ')
            chosen = self.rovers.get(name.decode(errors='replace'))
            if chosen is None or not line.strip():
                self._print_line('', f'! {self._usage()}')
                return
            targets = [chosen]
        if len(line) >= LONGEST_LINE:
            self._print_line('', f'! {len(line)} bytes; a line may have {LONGEST_LINE - 1}')
            return
        for rover in targets:
            if why := rover.send(line):
                self._print_line(rover.name, f'! {why}')

    def _usage(self) -> str:
        names = list(self.rovers)
        return (
            f'A line is for all of {", ".join(names)}; "@{names[-1]} text" is for one. '
            ':stop stops all, Ctrl-C too, twice leaves; :quit leaves.'
        )

    def _print_line(self, name: str, text: str, is_error: bool = False) -> None:
        stream = sys.stderr if is_error else sys.stdout
        with self._print_lock:
            if self._output_closed:
                return
            try:
                print(f'[{name}] {text}' if name else text, file=stream, flush=True)
            except (OSError, ValueError):  # the reader has closed the output
                self._output_closed = True
                devnull = os.open(os.devnull, os.O_WRONLY)
                os.dup2(devnull, stream.fileno())
                self._on_closed()
