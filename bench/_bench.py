# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Shared code of the benchmarks: a separate ROS domain, CPU time, tables, the demo in a terminal.

The domain and its processes come from the tests (test/harness.py). A benchmark ends only processes
that it has started.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
import contextlib
from datetime import datetime, timezone
import json
import os
from pathlib import Path
import pty
import re
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import psutil

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / 'overlay_ws/src/curiosity_rosa_demo/test'))

import harness  # noqa: E402
from harness import Process, wait_until  # noqa: E402
import rclpy  # noqa: E402
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor  # noqa: E402
from rclpy.node import Node  # noqa: E402

__all__ = [
    'ROOT',
    'SMOKE',
    'Demo',
    'Process',
    'Sandbox',
    'cpu_percent',
    'milliseconds',
    'quantile',
    'report',
    'script',
    'table',
    'wait_until',
]

SMOKE = (
    os.environ.get('CURIOSITY_BENCH_SMOKE') == '1'
)  # a short run that checks only whether the benchmark works
ESCAPES = re.compile(r'\x1b(\[[0-9;?]*[ -/]*[@-~]|\][^\x07]*\x07|[@-Z\\-_=>])')


class Sandbox(harness.Sandbox):
    """A domain with additional nodes of the benchmark, which are destroyed at its end."""

    def __enter__(self) -> Sandbox:
        super().__enter__()
        self._further = contextlib.ExitStack()
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self._further.close()
        finally:
            super().__exit__(*error)

    def further_node(self, name: str) -> Node:
        """Create a node that is not spun."""
        node = rclpy.create_node(name)
        self._further.callback(node.destroy_node)
        return node

    def default_node(self, name: str) -> Node:
        """Create a node that a thread spins with rclpy's default executor."""
        node = self.further_node(name)
        executor = SingleThreadedExecutor()
        executor.add_node(node)

        def spin() -> None:
            with contextlib.suppress(ExternalShutdownException):
                executor.spin()

        thread = threading.Thread(target=spin, name=name, daemon=True)
        thread.start()
        self._further.callback(thread.join, 10.0)
        self._further.callback(executor.shutdown)
        return node


def script(box: Sandbox, source: str, name: str, *arguments: str) -> Process:
    """Run a piece of Python in the benchmark's domain."""
    return box.run([sys.executable, '-c', source, *arguments], name)


def quantile(values: Iterable[float], part: float) -> float:
    """The nearest-rank quantile; ``part`` 0 to 1."""
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, int(part * len(ranked)))]


def milliseconds(values: Sequence[float]) -> dict[str, float]:
    """Median and 99th percentile of seconds, in milliseconds."""
    return {
        'median_ms': round(1e3 * quantile(values, 0.5), 3),
        'p99_ms': round(1e3 * quantile(values, 0.99), 3),
    }


def cpu_seconds(pid: int) -> float:
    """The user and system time of the process so far."""
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


def cpu_percent(pids: dict[str, int], for_s: float) -> dict[str, float]:
    """CPU load of each process over the next ``for_s`` seconds, in percent of one core."""
    before = {name: cpu_seconds(pid) for name, pid in pids.items()}
    began = time.perf_counter()
    threading.Event().wait(for_s)
    took = time.perf_counter() - began
    return {name: 100 * (cpu_seconds(pid) - before[name]) / took for name, pid in pids.items()}


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print rows in columns; all but the first are right-aligned."""
    texts = [[_shown(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [list(head), *texts]) for i in range(len(head))]
    for row in [list(head), *texts]:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        print('  '.join(cells).rstrip())


def _shown(cell: Any) -> str:
    return f'{cell:.2f}' if isinstance(cell, float) else str(cell)


def report(bench: str, faults: Sequence[str], **figures: Any) -> int:
    """Print the last line, a JSON object. Returns the exit status: 1 if there were faults.

    A fault is an event that must never happen. A missed aim is a figure, not a fault. With
    CURIOSITY_BENCH_RESULTS in the environment the figures are also added to bench/results.
    """
    for fault in faults:
        print(f'! {fault}')
    print(json.dumps({'bench': bench, 'ok': not faults, 'faults': list(faults), **figures}))
    if not faults and (how := os.environ.get('CURIOSITY_BENCH_RESULTS')):
        _save(bench, figures, append=how == 'append')
    return 1 if faults else 0


def _save(bench: str, figures: dict[str, Any], *, append: bool) -> None:
    """Write bench/results/<bench>.json, which bench/report.py reads."""
    file = ROOT / 'bench/results' / f'{bench}.json'
    python = '.'.join(map(str, sys.version_info[:2]))
    saved = {
        'bench': bench,
        'measured': datetime.now(timezone.utc).date().isoformat(),
        'machine': f'{os.cpu_count()} cores, CPython {python}, ROS 2 {os.environ["ROS_DISTRO"]}',
        'load': round(os.getloadavg()[2], 1),  # of the last 15 minutes, this benchmark included
        'runs': [figures],
    }
    if append and file.is_file():
        saved['runs'] = [*json.loads(file.read_text())['runs'], figures]
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(saved, indent=1) + '\n')


class Demo:
    """scripts/run_demo.sh in a pseudo-terminal, as an operator runs it."""

    def __init__(self, env: dict[str, str], *arguments: str) -> None:
        self._terminal, child_side = pty.openpty()
        self._text = ''
        self._changed = threading.Condition()
        self.began = time.perf_counter()
        self._seen_at: list[tuple[int, float]] = []  # length of the text, and when
        self.popen = subprocess.Popen(
            [str(ROOT / 'scripts/run_demo.sh'), *arguments],
            env={**env, 'TERM': 'xterm', 'PROMPT_TOOLKIT_NO_CPR': '1'},
            stdin=child_side,
            stdout=child_side,
            stderr=child_side,
            start_new_session=True,
        )
        os.close(child_side)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        with contextlib.suppress(OSError):  # the terminal ends with its last process
            while data := os.read(self._terminal, 65536):
                with self._changed:
                    self._text += ESCAPES.sub('', data.decode('utf-8', 'replace'))
                    self._seen_at.append((len(self._text), time.perf_counter()))
                    self._changed.notify_all()

    @property
    def text(self) -> str:
        with self._changed:
            return self._text

    def wait_for(self, text: str, timeout_s: float = 60.0) -> float:
        """Wait for ``text`` on the screen. Returns the seconds from the start of the script to it.

        Raises AssertionError after ``timeout_s``.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: text in self._text, timeout_s):
                raise AssertionError(f'no {text!r} within {timeout_s} s:\n{self._text[-2000:]}')
            end = self._text.index(text) + len(text)
            return next(at for length, at in self._seen_at if length >= end) - self.began

    def enter(self, line: str) -> None:
        os.write(self._terminal, f'{line}\r'.encode())

    def processes(self) -> list[psutil.Process]:
        """The script and all its descendants."""
        return [psutil.Process(self.popen.pid), *self.children()]

    def children(self) -> list[psutil.Process]:
        return list(psutil.Process(self.popen.pid).children(recursive=True))

    def nodes(self) -> dict[str, int]:
        """The process ID of each node, by the name of its executable."""
        found = {}
        for process in self.processes():
            with contextlib.suppress(psutil.NoSuchProcess):
                for part in process.cmdline()[:3]:
                    if part.endswith('_node'):
                        found[Path(part).name] = process.pid
        return found

    def leave(self) -> list[str]:
        """Quit the demo. Returns the faults: a bad exit status, and each process left running."""
        processes = self.processes()
        self.enter(':quit')
        faults = []
        try:
            status = self.popen.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.end()
            return ['run_demo.sh did not end within 30 s of :quit']
        if status != 0:
            faults.append(f'run_demo.sh ended with status {status}: {self.text[-500:]!r}')
        _, alive = psutil.wait_procs(processes, timeout=10)
        for process in alive:
            faults.append(f'left running: {process}')
            process.kill()
        return faults

    def end(self) -> None:
        """Terminate the demo and its processes, unless it has ended."""
        if self.popen.poll() is None:
            processes = self.processes()
            self.popen.send_signal(signal.SIGTERM)
            _, alive = psutil.wait_procs(processes, timeout=15)
            for process in alive:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
            self.popen.wait(timeout=10)
