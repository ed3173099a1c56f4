# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What all benchmarks share: options, results, and figures of times and processes. Without ROS."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
import contextlib
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
import json
import os
from pathlib import Path
import shutil
import sys
import tempfile
import threading
import time
from typing import Any

import psutil

ROOT = Path(__file__).resolve().parents[1]
TEST = ROOT / 'overlay_ws/src/curiosity_rosa_demo/test'
sys.path[:0] = [
    str(TEST),
    str(TEST / 'unit'),
    str(ROOT / 'standalone'),
    str(ROOT / 'standalone/test'),
]

RESULTS = ROOT / 'bench/results'
MEMORY_FILE_SYSTEMS = {'tmpfs', 'ramfs'}
SHOWN_FAULTS = 20


@dataclass
class Result:
    """What a part of a benchmark has measured. ``what`` says how, and against which peer. A fault
    is an event that must never happen; a missed aim is a figure.
    """

    title: str
    what: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    aim: str = ''
    met: bool | None = None
    faults: Sequence[str] = field(default_factory=list)

    def show(self) -> None:
        texts = [[shown(cell) for cell in row] for row in (self.columns, *self.rows)]
        widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
        print(f'{self.title}. {self.what}')
        for row in texts:
            print('  '.join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip())
        if self.met is not None:
            print(f'aim {"met" if self.met else "missed"}: {self.aim}')
        for fault in self.faults[:SHOWN_FAULTS]:
            print(f'! {fault}')

    def save(self, name: str, command: str) -> None:
        """Write bench/results/NAME.json, which bench/report.py reads."""
        python = '.'.join(map(str, sys.version_info[:2]))
        distro = os.environ['ROS_DISTRO']
        saved = {
            **asdict(self),
            'command': command,
            'measured': datetime.now(timezone.utc).date().isoformat(),
            'machine': f'{os.cpu_count()} cores, CPython {python}, ROS 2 {distro}',
            'load': round(os.getloadavg()[2], 1),  # of 15 minutes, this benchmark included
        }
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / f'{name}.json').write_text(json.dumps(saved, indent=1) + '\n')


@dataclass(frozen=True)
class Part:
    """``measure`` is called with the options: ``size`` counts ``unit``, ``seed`` and ``smoke``, a
    run that shows only whether the benchmark works.
    """

    name: str
    measure: Callable[[argparse.Namespace], Result]
    unit: str
    size: int
    smallest: int


def main(*parts: Part, **more: Any) -> int:
    """Run the named parts, or all. ``more``: further options and their defaults. Returns the exit
    status: 1 if there were faults.
    """
    file = Path(sys.argv[0]).stem
    parser = argparse.ArgumentParser()
    units = '; '.join(f'{each.name}: {each.size} {each.unit}' for each in parts)
    parser.add_argument('parts', nargs='*', metavar='PART', help=', '.join(p.name for p in parts))
    parser.add_argument('--size', type=int, help=units)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--smoke', action='store_true', help='at its smallest size, without peers')
    parser.add_argument('--save', action='store_true', help='write bench/results')
    for name, default in more.items():
        kind = json.loads if isinstance(default, dict) else type(default)
        parser.add_argument(f'--{name}', type=kind, default=default)
    options = parser.parse_args()
    if unknown := set(options.parts) - {each.name for each in parts}:
        parser.error(f'{unknown.pop()}: not one of {", ".join(each.name for each in parts)}')
    given, status = options.size, 0
    for part in parts:
        if options.parts and part.name not in options.parts:
            continue
        options.size = given or (part.smallest if options.smoke else part.size)
        began = os.times().elapsed  # a mission owns the clocks of time
        result = part.measure(options)
        result.show()
        took_s = os.times().elapsed - began
        print(f'{file} {part.name}: {options.size} {part.unit}, {took_s:.0f} s\n', flush=True)
        if result.faults:
            status = 1
        elif options.save:
            command = f'bench/{file}.py {part.name} --size {options.size} --seed {options.seed}'
            result.save(f'{file}_{part.name}', command)
    return status


def shown(cell: Any) -> str:
    if cell is None:
        return '-'
    if isinstance(cell, float):
        return f'{cell:,.3g}' if abs(cell) < 10 else f'{cell:,.1f}'
    return f'{cell:,}' if isinstance(cell, int) else str(cell)


def quantile(values: Iterable[float], part: float) -> float:
    """The nearest-rank quantile; ``part`` 0 to 1."""
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, int(part * len(ranked)))]


def milliseconds(values: Sequence[float]) -> tuple[float, float]:
    """Median and 99th percentile of seconds, in milliseconds."""
    median, p99 = (round(1e3 * quantile(values, part), 3) for part in (0.5, 0.99))
    return median, p99


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


@contextlib.contextmanager
def disk_folder() -> Iterator[Path]:
    """A temporary folder on a disk: in the default place, or beside the repository."""
    usual = Path(tempfile.gettempdir()).resolve()
    mounts = {Path(part.mountpoint): part.fstype for part in psutil.disk_partitions(all=True)}
    mount = next(each for each in (usual, *usual.parents) if each in mounts)
    parent = ROOT.parent if mounts[mount] in MEMORY_FILE_SYSTEMS else usual
    folder = Path(tempfile.mkdtemp(prefix='curiosity-bench-', dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)
