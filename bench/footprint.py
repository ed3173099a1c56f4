# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""What the demo needs: time to start, CPU and memory at rest and at work, for one and more rovers.

Must never happen: a start, an end or a demo that fails, a process that ends or is left running, a
prompt with a node missing, an idle overlay above half a core.

Run: python bench/footprint.py [start] [rovers] [--size N] [--smoke]
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing, contextmanager
from statistics import median
import subprocess
import sys
import time

from _bench import cpu_percent, main, Part, Result, ROOT
from demo_bench import Bench, read_pages
from harness import Sandbox
from nav_msgs.msg import Odometry
import psutil

AIM_START, AIM_PERCENT, NEVER_PERCENT = 1.5, 5.0, 50.0
NODES = ('agent_node', 'adapter_node', 'simulator_node', 'visualizer_node', 'stand_in_node')
ODOMETRY = 'model/curiosity_mars_rover/odometry'
AROUND = 'around them'  # the runner


@contextmanager
def sandboxed() -> Iterator[Bench]:
    """A demo ends within it, and must leave nothing."""
    with Sandbox() as box, closing(Bench(box)) as bench:
        yield bench
        bench.nothing_left()


def start(options: argparse.Namespace) -> Result:
    times: defaultdict[str, list[float]] = defaultdict(list)
    faults: list[str] = []
    subprocess.run([ROOT / 'scripts/setup.sh'], check=True, capture_output=True)
    for _ in range(options.size):
        began = time.perf_counter()
        subprocess.run([sys.executable, '-c', 'import rosa'], check=True)
        times['import rosa (peer)'].append(time.perf_counter() - began)
        began = time.perf_counter()
        with sandboxed() as bench:
            terminal = bench.terminal()
            terminal.prompt()
            times['the prompt'].append(time.perf_counter() - began)
            if missing := [name for name in NODES if bench.find(name) is None]:
                faults.append(f'the prompt came without {", ".join(missing)}')
            for line, answer, what in (
                (':status', '; mast ', 'the answer to a :status typed at once'),
                ('写真を撮って', '撮影しました', 'the first answer of the agent'),
            ):
                terminal.enter(line)
                terminal.expect(answer)
                times[what].append(time.perf_counter() - began)
            terminal.enter(':quit')
            if (status := terminal.end()) != 0:
                faults.append(f'run_demo.sh ended with status {status}')
    peer = median(times['import rosa (peer)'])
    return Result(
        'The start of the demo',
        'scripts/run_demo.sh in a terminal, the check of the setup included; the peer is the '
        'import of rosa alone, which follows the prompt.',
        ('seconds until', 'median', 'best', 'worst', 'of the import'),
        [
            (name, *(round(of(each), 2) for of in (median, min, max)),
             round(median(each) / peer, 2))
            for name, each in times.items()
        ],
        f'the prompt within {AIM_START:g} of the import',
        median(times['the prompt']) <= AIM_START * peer,
        faults,
    )  # fmt: skip


Loads = dict[str, tuple[float, float]]  # CPU in percent of a core and PSS in MB, by owner


def loads(bench: Bench, names: list[str], for_s: float) -> Loads:
    owners = {}
    for process in bench.processes():
        line = process.cmdline()
        rover = next((name for name in names if f'__ns:=/{name}' in line), '')
        part = 'stand-in' if any('stand_in' in word for word in line[:3]) else 'overlay'
        owners[process.pid] = f'{rover}, {part}' if rover else AROUND
    cpu = cpu_percent({str(pid): pid for pid in owners}, for_s)
    found: Loads = {}
    for pid, name in owners.items():
        percent, pss = found.get(name, (0.0, 0.0))
        memory = psutil.Process(pid).memory_full_info().pss / 1e6
        found[name] = (round(percent + cpu[str(pid)], 1), round(pss + memory, 1))
    return found


def rovers(options: argparse.Namespace) -> Result:
    rows: list[tuple[str, float, float, float]] = []
    faults: list[str] = []
    for count in range(1, options.size + 1):
        names = [f'r{number}' for number in range(1, count + 1)]
        with sandboxed() as bench:
            odometry = [bench.box.collect(Odometry, f'/{name}/{ODOMETRY}') for name in names]

            def driving(odometry: list[list[Odometry]] = odometry) -> bool:
                return all(each and abs(each[-1].twist.twist.linear.x) > 0.02 for each in odometry)

            run = bench.run('--rovers', str(count), *bench.options)
            read_pages(run, count)  # their import is the agents' last work
            run.send(':mast_close')
            run.expect('[RESULT] mast_close: done', times=count)
            loads(bench, names, 3.0)  # discovery settles
            idle = loads(bench, names, 1.0 if options.smoke else 15.0)
            run.send(':forward 20')
            run.until(driving, f'{count} rovers to drive')
            drive = loads(bench, names, 1.0 if options.smoke else 12.0)
            if not driving() or idle.keys() != drive.keys():
                faults.append(f'{count} rovers: one stopped, or a process ended')
            run.send(':stop')
            if (status := run.end()) != 0:
                faults.append(f'{count} rovers: run_demo.sh ended with status {status}')
        rows += [(f'{count}: {n}', idle[n][1], idle[n][0], drive[n][0]) for n in sorted(idle)]
    overlay = next(row for row in rows if row[0] == '1: r1, overlay')
    if overlay[2] > NEVER_PERCENT:
        faults.append('the idle overlay burns CPU')
    return Result(
        'CPU and memory',
        'A rover is its stand-in and the four nodes of the overlay. PSS has a share of common '
        'memory.',
        ('rovers', 'PSS MB', 'idle, % of a core', 'driving, % of a core'),
        rows,
        f'the overlay of one rover idle under {AIM_PERCENT:g} %',
        overlay[2] < AIM_PERCENT,
        faults,
    )


if __name__ == '__main__':
    sys.exit(main(Part('start', start, 'starts', 5, 1), Part('rovers', rovers, 'rovers', 3, 1)))
