# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The agents in the foreground, each with the nodes of its rover behind it: one that has the
terminal, or several at one console, where input lines go to all or one and output lines have the
name of their rover.
"""

from __future__ import annotations

import asyncio
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Mapping, Sequence
import contextlib
from functools import partial
import json
import os
from pathlib import Path
import queue
import sys
import termios
import threading
import time
from typing import Any

from curiosity_rosa_demo.agent.interfaces.terminal.options import READY_MESSAGE
from curiosity_rosa_demo.agent.interfaces.terminal.writer import use_utf8

from runner.supervision import kept_running, PlannedProcess, run

FINAL = (0, 1, 2, 130, 143)  # the agent's own exit statuses; anything else is a crash
MAX_CRASHES, CRASH_WINDOW_S = 5, 60.0
AGENT_END_S = 25.0  # that it has after SIGTERM; it ends itself after 20
# Resets line wrap, cursor, bracketed paste and colours of a terminal.
SANE = '\x1b[?7h\x1b[?25h\x1b[?2004l\x1b[0m'
READY_S = 120.0  # the longest wait for all rovers before their commands start
LONGEST_LINE = 4096  # bytes: a pipe takes up to PIPE_BUF whole or not at all
LONGEST_OUTPUT = 2**24  # bytes of one line
PRINTED_S = 5.0  # that a slow reader has at the end

Output = Callable[[str, bool], None]  # a line, and whether it is of the standard error


class Agent:
    """Runs the agent of a rover until it ends without a restart, or until ``ending``, and its
    ``nodes`` as long, with their logs in ``folder``.

    ``command``: its command line, from ``crash``, how the last one ended, and the descriptor
    ``process_events_fd``. ``commands``: the agent has console commands to run, and is not
    restarted after a crash. ``output`` takes its lines, and ``send`` writes to it; without, it has
    the streams of this process.
    """

    def __init__(
        self,
        command: Callable[..., list[str]],
        nodes: Sequence[PlannedProcess],
        folder: Path,
        *,
        commands: bool,
        output: Output | None = None,
    ) -> None:
        self._events_fd, self._events = os.pipe()
        self._input_fd, self._input = os.pipe()  # outlasts an agent that is started again
        for descriptor in (self._events, self._input):
            os.set_blocking(descriptor, False)
        self._command = partial(command, process_events_fd=self._events_fd)
        self._command()  # raises now if the options are wrong
        self._nodes, self._folder = nodes, folder
        self._commands, self._output = commands, output
        self._last = ''  # line of the standard output
        self._takes_lines = True
        self.ending, self.ready = asyncio.Event(), asyncio.Event()  # ready: or ended
        self.status: int | None = None

    def notify(self, text: str) -> None:
        """Tell the agent of another process."""
        with contextlib.suppress(OSError):  # full, while no agent reads
            os.write(self._events, f'{text}\n'.encode())

    def send(self, line: bytes) -> str:
        """Write a line to the agent without blocking. Returns the reason of a failure, if any."""
        if not self._takes_lines:
            return 'has left'
        try:
            os.write(self._input, line + b'\n')
        except BlockingIOError:
            return 'does not take its lines'
        return ''

    def no_more(self) -> None:
        """Close the agent's standard input."""
        if self._takes_lines:
            self._takes_lines = False
            os.close(self._input)

    async def run(self) -> int:
        """Returns its exit status, as in a shell."""
        try:
            async with kept_running(self._nodes, self._folder, self.notify):
                status = await self._run()
        except OSError as error:
            self._say(f'run_demo: {error}', True)
            status = 2
        self.status = status
        self.ready.set()
        self.no_more()
        return status

    async def _run(self) -> int:
        options: dict[str, Any] = {'pass_fds': (self._events_fd,), 'end_s': AGENT_END_S}
        terminal = None
        if self._output is not None:
            pipes = {'stdin': self._input_fd, 'stdout': PIPE, 'stderr': PIPE}
            options |= {**pipes, 'limit': LONGEST_OUTPUT, 'read': self._read}
        elif sys.stdin.isatty():
            terminal = termios.tcgetattr(sys.stdin)
        crash = ''
        crashes: list[float] = []
        while not self.ending.is_set():
            status = await run(self._command(crash=crash), self.ending, **options)
            final = status in FINAL and not (status == 1 and not self._commands)
            if self.ending.is_set() or final:
                return status if status >= 0 else 128 - status
            if terminal is not None:  # a killed console leaves it in raw mode
                termios.tcsetattr(sys.stdin, termios.TCSADRAIN, terminal)
                if sys.stdout.isatty():
                    print(SANE, flush=True)
            crash = f'signal {-status}' if status < 0 else f'exit status {status}'
            if self._commands:
                self._say(json.dumps(failed(f'The agent ended by {crash}.')), False)
                return 1
            crashes = [at for at in crashes if time.monotonic() - at < CRASH_WINDOW_S]
            crashes.append(time.monotonic())
            if len(crashes) > MAX_CRASHES:
                self._say(f'run_demo: the agent crashed {len(crashes)} times a minute', True)
                return 1
        return 143

    async def _read(self, child: Process) -> None:
        assert child.stdout is not None
        assert child.stderr is not None
        await asyncio.gather(self._tell(child.stdout, False), self._tell(child.stderr, True))

    async def _tell(self, lines: asyncio.StreamReader, is_error: bool) -> None:
        async for line in lines:
            self._say(line.decode(errors='replace').rstrip('\n'), is_error)

    def _say(self, text: str, is_error: bool) -> None:
        if not is_error:
            self._last = text
            if text == READY_MESSAGE:
                self.ready.set()
        if self._output is None:
            print(text, file=sys.stderr if is_error else sys.stdout, flush=True)
        else:
            self._output(text, is_error)

    def result(self) -> dict[str, Any]:
        """The result of the commands: the last output line if it is one, else a failed result."""
        try:
            found = json.loads(self._last)
        except ValueError:
            found = None
        if not (isinstance(found, dict) and 'ok' in found):
            found = failed(f'No result: the agent ended with status {self.status}; see its lines.')
        return {**found, 'ok': found['ok'] is True and self.status == 0}


def failed(answer: str) -> dict[str, Any]:
    """The result of commands that did not finish."""
    return {'ok': False, 'answer': answer, 'score': None, 'image': None, 'trace': None}


# --- Several rovers ----------------------------------------------------------------------------


class Console:
    """Merges the output of several agents, line by line, into the own output and error. A thread
    prints: a slow reader must not hold up who supervises. ``end`` ends all of them, in the thread
    of this loop, as when nobody reads any longer.
    """

    def __init__(self, end: Callable[[], None]) -> None:
        self._end = end
        self._lines: queue.SimpleQueue[tuple[str, bool] | None] = queue.SimpleQueue()

    def output(self, name: str) -> Output:
        """Takes the lines of the rover ``name``."""
        return lambda text, is_error: self._lines.put((f'[{name}] {text}', is_error))

    async def run(self, agents: Mapping[str, Agent], *, commands: bool) -> int:
        """Run all until they have ended. Returns the greatest exit status: 0 if all succeeded.

        ``commands``: the agents have console commands to run, and this prints one JSON object at
        the end. Without commands, the agents get the lines of standard input.
        """
        loop = asyncio.get_running_loop()
        printer = threading.Thread(target=self._print, args=(loop,), daemon=True)
        printer.start()
        started = asyncio.gather(*(agent.run() for agent in agents.values()))
        if commands:  # they wait for the end of their input: all begin together
            ready = [asyncio.ensure_future(agent.ready.wait()) for agent in agents.values()]
            await asyncio.wait(ready, timeout=READY_S)
            for agent in agents.values():
                agent.no_more()
        else:
            self._say(_usage(agents))
            threading.Thread(target=self._feed, args=(loop, agents), daemon=True).start()
        status = max(await started)
        if commands:
            results = {name: agent.result() for name, agent in agents.items()}
            ok = all(result['ok'] for result in results.values())
            self._say(json.dumps({'ok': ok, 'rovers': results}, ensure_ascii=False))
        self._lines.put(None)
        await asyncio.to_thread(printer.join, PRINTED_S)
        return status

    def _feed(self, loop: asyncio.AbstractEventLoop, agents: Mapping[str, Agent]) -> None:
        """Read standard input by its descriptor: a thread blocked in sys.stdin would delay the
        exit of the process.
        """
        with contextlib.suppress(RuntimeError):  # the loop has ended
            with (
                contextlib.suppress(OSError),  # the terminal is gone
                open(0, 'rb', buffering=0, closefd=False) as lines,
            ):
                for line in lines:
                    loop.call_soon_threadsafe(self._route, line.rstrip(b'\n'), agents)
            for agent in agents.values():
                loop.call_soon_threadsafe(agent.no_more)

    def _route(self, line: bytes, agents: Mapping[str, Agent]) -> None:
        targets = {name: each for name, each in agents.items() if each.status is None}
        if line.startswith(b'@'):
            rover, _, line = line[1:].partition(b' ')
            name = rover.decode(errors='replace')
            if name not in agents or not line.strip():
                self._say(f'! {_usage(agents)}')
                return
            targets = {name: agents[name]}
        if len(line) >= LONGEST_LINE:
            self._say(f'! {len(line)} bytes; a line may have {LONGEST_LINE - 1}')
            return
        for name, agent in targets.items():
            if why := agent.send(line):
                self.output(name)(f'! {why}', False)

    def _say(self, text: str) -> None:
        self._lines.put((text, False))

    def _print(self, loop: asyncio.AbstractEventLoop) -> None:
        use_utf8(sys.stdout, sys.stderr)
        while (line := self._lines.get()) is not None:
            text, is_error = line
            stream = sys.stderr if is_error else sys.stdout
            try:
                print(text, file=stream, flush=True)
            except (OSError, ValueError):  # the reader has closed the output
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
                loop.call_soon_threadsafe(self._end)


def _usage(agents: Mapping[str, Agent]) -> str:
    names = list(agents)
    return (
        f'A line is for all of {", ".join(names)}; "@{names[-1]} text" is for one. '
        ':stop stops all, Ctrl-C too, twice leaves; :quit leaves.'
    )
