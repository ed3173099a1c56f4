# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Memory and CPU load of one, two and three rovers, and the duration of their demos.

- idle: all consoles wait, the rovers stand
- driving: all rovers drive at once
- demo: seconds from the command to the end of :demo on all at once, at three times the speed

A rover is its stand-in and the four nodes. "around" is the runner, which runs once for all rovers,
and a supervisord for each. PSS: the memory of the process alone, and its share of the memory that
it shares with others.

Must never happen: a process that ends, a rover that does not drive, a demo that fails.

Run: python bench/rovers.py [seconds of each phase, default 15] [most rovers, default 3]
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import Any
import urllib.request

from _bench import cpu_percent, Demo, report, ROOT, Sandbox, table, wait_until
from nav_msgs.msg import Odometry
import psutil

ODOMETRY = 'model/curiosity_mars_rover/odometry'
DEMO_SPEED = '3'
AROUND = 'around'


def owners(demo: Demo, names: list[str]) -> dict[int, str]:
    """The rover of each process by process ID, or AROUND."""
    found = {}
    for process in demo.processes():
        line = process.cmdline()
        whose = [name for name in names if f'__ns:=/{name}' in line]
        found[process.pid] = whose[0] if whose else AROUND
    return found


def measured(whose: dict[int, str], for_s: float) -> dict[str, dict[str, float]]:
    """CPU load (percent of a core) and PSS (MB) of each rover and of AROUND."""
    cpu = cpu_percent({str(pid): pid for pid in whose}, for_s)
    found = {name: {'cpu_percent': 0.0, 'pss_mb': 0.0} for name in sorted(set(whose.values()))}
    for pid, name in whose.items():
        found[name]['cpu_percent'] += cpu[str(pid)]
        found[name]['pss_mb'] += psutil.Process(pid).memory_full_info().pss / 1e6
    return {
        name: {key: round(value, 1) for key, value in figures.items()}
        for name, figures in found.items()
    }


def wait_for_the_page(demo: Demo, name: str) -> None:
    """Wait until the page responds: its import is the last work of a starting agent."""
    demo.wait_for(f'[{name}] The page: ')
    url = demo.text.partition(f'[{name}] The page: ')[2].split()[0]
    with urllib.request.urlopen(url, timeout=60.0) as answer:
        answer.read()


def at_rest_and_driving(
    box: Sandbox, options: list[str], names: list[str], for_s: float, faults: list[str]
) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]]:
    odometry = {name: box.collect(Odometry, f'/{name}/{ODOMETRY}') for name in names}

    def driving() -> bool:
        return all(
            each and abs(each[-1].twist.twist.linear.x) > 0.02 for each in odometry.values()
        )

    demo = Demo(box.env, *options)
    try:
        demo.wait_for('text" is for one')
        demo.enter(':mast_close')
        for name in names:
            demo.wait_for(f'[{name}]   [RESULT] mast_close: done')
            wait_for_the_page(demo, name)
        whose = owners(demo, names)
        cpu_percent({str(pid): pid for pid in whose}, 3.0)  # wait until discovery has settled
        idle = measured(whose, for_s)
        demo.enter(':forward 20')
        wait_until(driving, f'{len(names)} rovers to drive', 20.0)
        drive = measured(whose, min(for_s, 12.0))
        if not driving():
            faults.append(f'{len(names)} rovers: one stopped while it was watched')
        if owners(demo, names) != whose:
            faults.append(f'{len(names)} rovers: processes ended or were restarted')
        demo.enter(':stop')
        faults += demo.leave()
    finally:
        demo.end()
    return idle, drive


def demos(box: Sandbox, options: list[str], faults: list[str]) -> float:
    """Seconds of :demo on all rovers at once, start and end included."""
    began = time.perf_counter()
    ended = subprocess.run(
        [str(ROOT / 'scripts/run_demo.sh'), *options, '--speed', DEMO_SPEED, '-c', ':demo'],
        env=box.env,
        capture_output=True,
        text=True,
        timeout=300,
    )
    took = time.perf_counter() - began
    if ended.returncode != 0 or not json.loads(ended.stdout.splitlines()[-1])['ok']:
        faults.append(f'a demo failed: {ended.stdout[-1000:]}{ended.stderr[-1000:]}')
    return round(took, 1)


def main() -> int:
    for_s = float(sys.argv[1]) if len(sys.argv) > 1 else 15.0
    most = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    faults: list[str] = []
    figures: dict[str, Any] = {}
    rows = []
    for count in range(1, most + 1):
        names = [f'r{number}' for number in range(1, count + 1)]
        with Sandbox() as box:
            options = ['--rovers', str(count), '--config-dir', box.config_dir()]
            box.env['XDG_STATE_HOME'] = str(box.folder / 'state')
            idle, drive = at_rest_and_driving(box, options, names, for_s, faults)
            demo_s = demos(box, options, faults)
        figures[str(count)] = {'idle': idle, 'driving': drive, 'demo_s': demo_s}
        for name in (*names, AROUND):
            rows.append(
                (
                    f'{count}: {name}',
                    idle[name]['pss_mb'],
                    idle[name]['cpu_percent'],
                    drive[name]['cpu_percent'],
                    demo_s if name == AROUND else '',
                )
            )
    table(('rovers', 'PSS MB', 'idle CPU %', 'driving CPU %', 'demo s'), rows)
    status: int = report('rovers', faults, rovers=figures)
    return status


if __name__ == '__main__':
    sys.exit(main())
