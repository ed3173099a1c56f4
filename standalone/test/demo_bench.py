# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""scripts/run_demo.sh as a test sees it: in a domain of its own, read, and looked after."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
import json
import os
import re
import signal
import subprocess
import time
from typing import Any

from adapter_world import ODOMETRY
from curiosity_rosa_demo.infra.ros_io import ServiceFailed
from harness import DIES_WITH_US, ROOT, Sandbox, wait_until
import httpx
from nav_msgs.msg import Odometry
import pexpect
import psutil

SCRIPT = str(ROOT / 'scripts/run_demo.sh')
READY_S, END_S, GONE_S = 120.0, 60.0, 60.0  # with the machine's cores busy elsewhere
CURSOR_QUESTION, CURSOR = '\x1b[6n', '\x1b[30;1R'


class Run:
    """One run without a terminal: lines go in through a pipe, output is collected in a file."""

    def __init__(self, bench: Bench, *arguments: str, **streams: Any) -> None:
        self.log = bench.box.folder / f'run-{time.monotonic_ns()}.log'
        streams = {'stdin': subprocess.PIPE, **streams}
        with self.log.open('wb') as out:
            self.popen = subprocess.Popen(
                [*DIES_WITH_US, SCRIPT, *bench.options, *arguments],
                env=bench.env,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                **streams,
            )

    def send(self, *lines: str) -> None:
        assert self.popen.stdin is not None
        self.popen.stdin.write(''.join(f'{line}\n' for line in lines).encode())
        self.popen.stdin.flush()

    def output(self) -> str:
        return str(self.log.read_text(encoding='utf-8'))

    def expect(self, text: str, timeout_s: float = READY_S, times: int = 1) -> None:
        self.until(lambda: self.output().count(text) >= times, repr(text), timeout_s)

    def until(self, condition: Callable[[], Any], what: str, timeout_s: float = READY_S) -> None:
        try:
            wait_until(condition, what, timeout_s)
        except AssertionError as error:
            raise AssertionError(f'{error}; the output was:\n{self.output()}') from None

    def end(self, timeout_s: float = READY_S) -> int:
        """Close its input and wait; the exit status."""
        if self.popen.stdin is not None:
            self.popen.stdin.close()
        return self.popen.wait(timeout=timeout_s)


class Terminal:
    """A program in a pseudo-terminal that reads, and answers as terminals do, all the while."""

    def __init__(self, bench: Bench, *command: str) -> None:
        self.child = pexpect.spawn(
            DIES_WITH_US[0],
            [*DIES_WITH_US[1:], *command],
            env=bench.env,
            encoding='utf-8',
            dimensions=(40, 200),
        )
        self.text = ''  # all that was printed up to the last match
        self._new = ''  # and after it
        self._answered = 0
        self._ended = False

    def _read(self) -> None:
        """What there is, within a moment; a question for the cursor's place is answered."""
        try:
            self._new += self.child.read_nonblocking(65536, timeout=0.05)
        except pexpect.TIMEOUT:
            return
        except pexpect.EOF:
            self._ended = True
            return
        asked = (self.text + self._new).count(CURSOR_QUESTION)
        self.child.send(CURSOR * (asked - self._answered))
        self._answered = asked

    def expect(self, pattern: str, timeout_s: float = READY_S) -> str:
        """Wait for the pattern; what was printed before it."""
        wanted = re.compile(pattern, re.DOTALL)
        deadline = time.monotonic() + timeout_s
        while not (found := wanted.search(self._new)):
            if self._ended or time.monotonic() > deadline:
                why = 'it ended' if self._ended else f'waited {timeout_s} s'
                raise AssertionError(f'{why}, for {pattern!r}; the last lines:\n{self._seen()}')
            self._read()
        before, self.text = self._new[: found.start()], self.text + self._new[: found.end()]
        self._new = self._new[found.end() :]
        return before

    def until(self, condition: Callable[[], Any], what: str, timeout_s: float = 20.0) -> None:
        """Wait for the condition, reading on; what was printed can still be expected."""

        def met() -> Any:
            self._read()
            return condition()

        try:
            wait_until(met, what, timeout_s)
        except AssertionError as error:
            raise AssertionError(f'{error}; the last lines:\n{self._seen()}') from None

    def _seen(self) -> str:
        return plain(self.text + self._new)[-3000:]

    def prompt(self) -> None:
        self.expect('rover>')

    def enter(self, line: str) -> None:
        self.child.send(line + '\r')

    def end(self, timeout_s: float = END_S) -> int:
        """Wait for the end; the exit status as a shell has it."""
        self.until(lambda: self._ended, 'the end', timeout_s)
        self.text, self._new = self.text + self._new, ''
        self.child.close()
        if self.child.signalstatus is not None:
            return 128 + int(self.child.signalstatus)
        return int(self.child.exitstatus)


class Bench:
    """A domain of its own, and what goes on in it."""

    def __init__(self, box: Sandbox) -> None:
        self.box = box
        self.env = {**box.env, 'XDG_STATE_HOME': str(box.folder / 'state')}
        self.options = ('--config-dir', box.config_dir())  # of a run that names none
        self.runs: list[Run] = []
        self.terminals: list[Terminal] = []
        self._odometry = box.collect(Odometry, ODOMETRY)

    def run(self, *arguments: str, **streams: Any) -> Run:
        self.runs.append(Run(self, *arguments, **streams))
        return self.runs[-1]

    def terminal(self, *arguments: str) -> Terminal:
        """A run with its own console."""
        return self.program(SCRIPT, *self.options, *arguments)

    def program(self, *command: str) -> Terminal:
        self.terminals.append(Terminal(self, *command))
        return self.terminals[-1]

    def commands(self, *commands: str, options: tuple[str, ...] = ()) -> tuple[int, Any, str]:
        """Run commands to the end: exit status, the JSON of the last line, the output."""
        flags = [part for command in commands for part in ('-c', command)]
        run = self.run(*options, *flags)
        status = run.end(100.0)
        output = run.output()
        return status, json.loads(output.splitlines()[-1]), output

    def turn(self, **values: Any) -> None:
        """Set parameters of the stand-in rover."""

        def taken() -> bool:
            # The answer to a client that the rover has not discovered yet is lost.
            with suppress(ServiceFailed):
                return self.box.set_parameters('curiosity_stand_in', timeout_s=3.0, **values) == []
            return False

        wait_until(taken, 'the stand-in to take its parameters')

    @property
    def speed(self) -> float:
        """The last speed that the rover reported, m/s."""
        return abs(self._odometry[-1].twist.twist.linear.x) if self._odometry else 0.0

    @property
    def moving(self) -> bool:
        return self.speed > 0.02

    def stands(self, timeout_s: float) -> None:
        """Wait until the rover stands still, and has done so for a second: a driver that repeats
        its last Twist stops for a moment between.
        """
        still_s = 0.0

        def still() -> bool:
            nonlocal still_s
            still_s = (still_s or time.monotonic()) if not self.moving else 0.0
            return bool(still_s) and time.monotonic() - still_s > 1.0

        wait_until(still, 'the rover to stand still for a second', timeout_s)

    def processes(self) -> list[psutil.Process]:
        """Every living process that has this domain in its environment."""
        return processes_with('ROS_DOMAIN_ID', str(self.box.domain))

    def find(self, name: str) -> psutil.Process | None:
        """The process whose command line has ``name`` in it."""
        for process in self.processes():
            try:
                if any(part.endswith(name) for part in process.cmdline()[:3]):
                    return process
            except psutil.NoSuchProcess:
                continue
        return None

    def kill(self, name: str) -> int:
        """kill -9; the pid."""
        process = wait_until(lambda: self.find(name), f'a process {name}')
        pid = int(process.pid)
        os.kill(pid, signal.SIGKILL)
        return pid

    def back(self, name: str, old: int) -> None:
        def is_back() -> bool:
            process = self.find(name)
            return process is not None and process.pid != old

        wait_until(is_back, f'{name} to be started again', READY_S)

    def nothing_left(self) -> None:
        def names() -> list[str]:
            return [' '.join(process.cmdline()[:3]) for process in self.processes()]

        try:
            wait_until(lambda: not self.processes(), 'all processes to be gone', GONE_S)
        except AssertionError as error:
            raise AssertionError(f'{error}; still there: {names()}') from None

    def close(self) -> None:
        """Whatever a failed test left running."""
        for process in self.processes():
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue
        for run in self.runs:
            run.popen.wait(timeout=10)
            if run.popen.stdin is not None and not run.popen.stdin.closed:
                run.popen.stdin.close()
            print(f'--- {run.log.name} (last lines)\n{run.output()[-3000:]}')  # of a failed test
        for terminal in self.terminals:
            terminal.child.close(force=True)


def processes_with(variable: str, value: str) -> list[psutil.Process]:
    """Every living process that has this in its environment."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            is_alive = process.status() != psutil.STATUS_ZOMBIE
            if is_alive and process.environ().get(variable) == value:
                found.append(process)
    return found


def is_ready(page: str, headers: dict[str, str] | None = None) -> bool:
    """Whether the agent of this page says that tasks may run."""
    try:
        return httpx.get(f'{page}/readyz', timeout=2.0, headers=headers).status_code == 200
    except httpx.HTTPError:  # an agent that has ended, or does not serve yet
        return False


def plain(text: str) -> str:
    """The text without the sequences that paint it."""
    return re.sub(r'\x1b\[[0-9;?]*[A-Za-z]', '', text)


PAGE = re.compile(r'The page: (http://127\.0\.0\.1:\d+)/')


def read_pages(run: Run, count: int) -> list[str]:
    """Read the pages of ``count`` agents. Returns their addresses in order."""
    run.expect('The page: ', times=count, timeout_s=150.0)
    urls = sorted(PAGE.findall(run.output()))
    for url in urls:
        httpx.get(url, timeout=90.0).raise_for_status()
    return urls


class Api:
    """Of a run that has told its page's address: of its last agent, if it had several."""

    def __init__(self, run: Run, token: str = '') -> None:
        run.expect('The page: ')
        pages = PAGE.findall(run.output())
        assert pages, run.output()
        self.run, self.url = run, pages[-1]
        self._headers = {'Authorization': f'Bearer {token}'} if token else {}
        self.client = httpx.Client(base_url=self.url, timeout=20.0, headers=self._headers)

    def ready(self) -> Api:
        """Wait until tasks may run."""
        self.run.until(lambda: is_ready(self.url, self._headers), '/readyz to say yes', READY_S)
        return self

    def get(self, path: str) -> Any:
        answer = self.client.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path: str, body: Any = None) -> Any:
        answer = self.client.post(path, json=body) if body is not None else self.client.post(path)
        assert answer.is_success, answer.text
        return answer.json()

    def say(self, text: str) -> Any:
        return self.post('/say', {'text': text})
