# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Loops of a demo: bring all up, kill one process at a random moment, shut all down.

Each way of starting has one function that says what to start. Every process of a loop has the
loop's mark in its environment. What still has the mark after the loop is an orphan.
"""

from __future__ import annotations

from collections.abc import Callable
import contextlib
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
import random
import re
import signal
import subprocess
import sys
import time
from typing import IO
import uuid

from demo_bench import is_ready, processes_with
from harness import DIES_WITH_US, PREFIXES, ROOT, Sandbox, wait_until
import psutil

MARK = 'CURIOSITY_LOOP'
START_S = 10.0  # the longest start of everything
LATEST_KILL_S = 10.0  # after the start; about half of the kills hit the bring-up
READY_S, END_S, GONE_S = 60.0, 30.0, 20.0
PAGE = re.compile(r'http://127\.0\.0\.1:\d+')
SHARED_MEMORY = Path('/dev/shm')
TRACING = 'lttng-ust-wait'  # of liblttng-ust, which rcl links: one file for all of a user
NODES = ('adapter_node', 'simulator_node', 'visualizer_node', 'agent_node', 'stand_in_node')
SCRIPT = str(ROOT / 'scripts/run_demo.sh')
LAUNCH_FILE = ROOT / 'overlay_ws/src/curiosity_rosa_demo/launch/demo.launch.py'
# "ros2 launch" without ros2cli.
LAUNCH = """
import sys
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import AnyLaunchDescriptionSource
file, *arguments = sys.argv[1:]
pairs = [tuple(each.split(':=', 1)) for each in arguments]
service = LaunchService()
service.include_launch_description(LaunchDescription([
    IncludeLaunchDescription(AnyLaunchDescriptionSource(file), launch_arguments=pairs)]))
sys.exit(service.run())
"""
HAS_LAUNCH = find_spec('launch_ros') is not None


@dataclass(frozen=True)
class Way:
    """A way of starting: the command of the demo, and of a rover that it is started beside."""

    name: str
    rovers: int
    command: Callable[[str], list[str]]  # from the folder of the configuration
    beside_a_rover: bool = False


def _launched(config_dir: str) -> list[str]:
    """demo.launch.py; without launch, run_demo.sh with the same nodes.yaml and no stand-in."""
    if not HAS_LAUNCH:
        return [SCRIPT, '--no-stand-in', '--config-dir', config_dir]
    arguments = [f'config_dir:={config_dir}', 'use_sim_time:=false']
    return [sys.executable, '-c', LAUNCH, str(LAUNCH_FILE), *arguments]


WAYS = (
    Way('standalone', 1, lambda config_dir: [SCRIPT, '--config-dir', config_dir]),
    Way('launch', 1, _launched, beside_a_rover=True),
    Way('rovers', 2, lambda config_dir: [SCRIPT, '--rovers', '2', '--config-dir', config_dir]),
)


@dataclass
class Outcome:
    way: str
    number: int
    start_s: float | None = None  # until everything was ready; None: a kill came first
    killed: str = ''  # and when
    restart_s: float | None = None  # from the kill to everything ready again
    left: list[str] = field(default_factory=list)  # orphans, shared memory, files
    failures: list[str] = field(default_factory=list)  # a start or an end that did not come


class Loop:
    """One loop in the domain of ``box``. ``seed`` decides the victim, the moment and the end."""

    def __init__(
        self,
        box: Sandbox,
        way: Way,
        number: int,
        seed: int,
        *,
        latest_kill_s: float = LATEST_KILL_S,
        gone_s: float = GONE_S,
    ) -> None:
        self._box, self._way = box, way
        self._latest_kill_s, self._gone_s = latest_kill_s, gone_s
        self._random = random.Random(f'{seed}/{way.name}/{number}')
        self._mark = uuid.uuid4().hex
        self._folder = box.folder / f'loop-{way.name}-{number}'
        self._temporary = self._folder / 'tmp'
        self._temporary.mkdir(parents=True)
        self._log = self._folder / 'output.log'
        self._segments: set[str] = set()
        self.outcome = Outcome(way.name, number)

    def run(self) -> Outcome:
        """Run the loop to its end, and look at what it left."""
        files = self._files()
        with self._log.open('wb') as log:
            rover = self._start(_stand_in(), log) if self._way.beside_a_rover else None
            self._began = time.monotonic()
            config_dir = self._box.config_dir()
            demo = self._start(self._way.command(config_dir), log)
            try:
                self._bring_up_and_down(demo)
            except AssertionError as error:
                self.outcome.failures.append(f'{error}; the output was:\n{self._output()[-3000:]}')
            finally:
                self._end(demo, signal.SIGTERM)
                if rover is not None:
                    self._end(rover, signal.SIGTERM)
                self._look_for_orphans()
        self.outcome.left += [f'{each} in {SHARED_MEMORY}' for each in self._shared_memory()]
        self.outcome.left += sorted(map(str, self._files() - files))
        return self.outcome

    def _start(self, command: list[str], log: IO[bytes]) -> subprocess.Popen[bytes]:
        env = {
            **self._box.env,
            MARK: self._mark,
            'TMPDIR': str(self._temporary),
            'XDG_STATE_HOME': str(self._folder / 'state'),
            'ROS_LOG_DIR': str(self._folder / 'log'),
        }
        return subprocess.Popen(
            [*DIES_WITH_US, *command],
            env=env,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def _bring_up_and_down(self, demo: subprocess.Popen[bytes]) -> None:
        kill_at = self._began + self._random.uniform(0.0, self._latest_kill_s)
        wait_until(
            lambda: time.monotonic() >= kill_at or demo.poll() is not None or self._is_up(),
            'the start or the kill',
            READY_S,
        )
        wait_until(lambda: time.monotonic() >= kill_at, 'the moment of the kill', READY_S)
        victim, name = self._kill()
        killed_at = time.monotonic()
        if victim.pid == demo.pid:
            self._wait_for_end(demo)
            return
        # Half of the time the demo ends while its victim is down.
        if name in NODES and self._random.random() < 0.5:
            wait_until(self._is_up, 'everything to be up again after the kill', READY_S)
            self.outcome.restart_s = time.monotonic() - killed_at
        self._shut_down(demo)
        self._wait_for_end(demo)

    def _is_up(self) -> bool:
        """Whether every node runs and every agent says that tasks may run."""
        if len(set(PAGE.findall(self._output()))) < self._way.rovers:
            return False
        names = [name for _, name in self._named_processes()]
        if any(names.count(node) < self._way.rovers for node in NODES):
            return False
        if sum(is_ready(page) for page in set(PAGE.findall(self._output()))) < self._way.rovers:
            return False
        if self.outcome.start_s is None and not self.outcome.killed:
            self.outcome.start_s = time.monotonic() - self._began
        return True

    def _kill(self) -> tuple[psutil.Process, str]:
        """Kill a process of the demo. Returns it with its name."""
        self._note_segments()
        found = sorted(self._named_processes(), key=lambda each: (each[1], each[0].pid))
        if self._way.beside_a_rover:  # the rover is not a part of what is started
            found = [each for each in found if each[1] != 'stand_in_node']
        if not found:
            raise AssertionError('the demo ended before it was killed')
        victim, name = self._random.choice(found)
        self.outcome.killed = f'{name} after {time.monotonic() - self._began:.1f} s'
        with contextlib.suppress(psutil.NoSuchProcess):
            victim.kill()
        return victim, name

    def _shut_down(self, demo: subprocess.Popen[bytes]) -> None:
        self._note_segments()
        if self._way.name == 'launch' and HAS_LAUNCH:
            demo.send_signal(self._random.choice((signal.SIGINT, signal.SIGTERM)))
            return
        how = self._random.choice(('input', signal.SIGTERM, signal.SIGHUP))
        if isinstance(how, signal.Signals):
            demo.send_signal(how)
        elif demo.stdin is not None:
            demo.stdin.close()

    def _wait_for_end(self, demo: subprocess.Popen[bytes]) -> None:
        wait_until(lambda: demo.poll() is not None, 'the demo to end', END_S)

    def _end(self, process: subprocess.Popen[bytes], signum: signal.Signals) -> None:
        """End the process, if it has not ended, and close its input."""
        if process.poll() is None:
            process.send_signal(signum)
        try:
            process.wait(timeout=END_S)
        except subprocess.TimeoutExpired:
            self.outcome.failures.append(f'{process.args!r} outlived {signum.name} by {END_S} s')
            process.kill()
            process.wait(timeout=END_S)
        if process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()

    def _look_for_orphans(self) -> None:
        try:
            wait_until(
                lambda: not processes_with(MARK, self._mark),
                'its processes to be gone',
                self._gone_s,
            )
        except AssertionError:
            for process, name in self._named_processes():
                self.outcome.left.append(f'process {process.pid} {name}')
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()

    def _output(self) -> str:
        return self._log.read_text(encoding='utf-8', errors='replace')

    def _named_processes(self) -> list[tuple[psutil.Process, str]]:
        found = []
        for process in processes_with(MARK, self._mark):
            with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                found.append((process, _name(process.cmdline())))
        return found

    def _note_segments(self) -> None:
        """Note the shared memory that the loop's processes have open, by what they map."""
        for process in processes_with(MARK, self._mark):
            with contextlib.suppress(OSError):
                maps = Path(f'/proc/{process.pid}/maps').read_text()
                self._segments.update(re.findall(rf'{SHARED_MEMORY}/(\S+)', maps))

    def _shared_memory(self) -> list[str]:
        """What the loop left: segments that its processes mapped, and the ports of its domain."""
        first = 7400 + 250 * self._box.domain  # the DDS ports of the domain
        mine = Path('/proc/self/maps').read_text()  # of the client of the domain, which goes on
        left = []
        for each in sorted(SHARED_MEMORY.iterdir()):
            port = re.search(r'fastrtps_(port(\d+))', each.name)
            is_ours = port is not None and first <= int(port[2]) < first + 250
            is_mapped = each.name in self._segments and not each.name.startswith(TRACING)
            is_in_use = (port[1] if port is not None else each.name) in mine
            if (is_ours or is_mapped) and not is_in_use:
                left.append(each.name)
        return left

    def _files(self) -> set[Path]:
        """The files of the loop that are neither logs nor the agent's own state."""
        run = ROOT / 'run' / f'domain-{self._box.domain}'
        folders = (run, self._temporary)
        files = {each for folder in folders for each in folder.rglob('*') if each.is_file()}
        return {each for each in files if '.log' not in each.suffixes}


def _stand_in() -> list[str]:
    package = 'curiosity_stand_in'
    return [str(PREFIXES[package] / 'lib' / package / 'stand_in_node')]


def _name(command: list[str]) -> str:
    """The name of a process: that of its node, else of its program."""
    for part in command[:4]:
        if Path(part).name in NODES:
            return Path(part).name
    words = ('-c', 'launch') if LAUNCH in command else command[1:3]
    return ' '.join(Path(part).name for part in (*command[:1], *words))
