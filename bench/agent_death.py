# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Time and distance from the agent's death, in a drive at top speed, to a rover that stands.

The whole demo runs, and the agent dies by SIGKILL or freezes by SIGSTOP. Its rover's odometry, as
another process receives it, says when the wheels stand. Each death is measured beside busy
processes that want all cores, and again without them. Counted apart: drives that the adapter ended
although the agent was alive.

Aim: every rover stands within 0.5 s and 0.25 m.

Must never happen: a rover that drives on for 3 s.

Run: python bench/agent_death.py [deaths of each kind, default 50] [busy processes, default 8]
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import signal
import subprocess
import sys
import time
from typing import Any

from _bench import quantile, report, ROOT, Sandbox, table, wait_until

sys.path.insert(0, str(ROOT / 'standalone/test'))

from demo_bench import Bench, ODOMETRY, Run
from http_client import Api
from nav_msgs.msg import Odometry

AIM_S, AIM_M, NEVER_S = 0.5, 0.25, 3.0
STILL_MPS, TOP_MPS = 0.02, 0.45
DRIVE = ':forward 20'
KILL_PERIOD_S = 15.0  # run_demo.sh gives up after the sixth crash in a minute


class Wheels:
    """Each odometry message of the rover: when it arrived, x in metres, speed in m/s."""

    def __init__(self, box: Sandbox) -> None:
        self.told: list[tuple[float, float, float]] = []
        box.node.create_subscription(Odometry, ODOMETRY, self._hear, 100)

    def _hear(self, message: Odometry) -> None:
        x, speed = message.pose.pose.position.x, message.twist.twist.linear.x
        self.told.append((time.monotonic(), x, abs(speed)))

    @property
    def speed(self) -> float:
        return self.told[-1][2] if self.told else 0.0


class Agent:
    """The agent of a run, also after it was started again."""

    def __init__(self, bench: Bench, run: Run) -> None:
        self._bench, self._run, self._starts = bench, run, 0
        self._killed_at = -KILL_PERIOD_S
        self.wait_until_ready()

    def wait_until_ready(self) -> None:
        """Wait for a start after the last one."""
        self._starts += 1
        self._run.expect('The page: ', times=self._starts)
        self._api = Api(self._run).ready()

    def drive(self, wheels: Wheels) -> None:
        """Drive at top speed. A rover whose latch or mast is in the way gets what it needs."""
        for _ in range(10):
            self._api.say('stop')
            self._api.say(':clear')
            self._api.say(':mast_close')
            self._api.say(DRIVE)
            try:
                wait_until(lambda: wheels.speed > TOP_MPS, 'the rover to drive', 10.0)
                return
            except AssertionError:
                continue
        raise SystemExit(f'the rover does not drive:\n{self._run.output()[-3000:]}')

    def die(self, signum: int, wheels: Wheels) -> tuple[float, float]:
        """Seconds and metres until the wheels stand."""
        process = wait_until(lambda: self._bench.find('agent_node'), 'the agent')
        if signum == signal.SIGKILL:
            time.sleep(max(0.0, self._killed_at + KILL_PERIOD_S - time.monotonic()))
            self._killed_at = time.monotonic()
        died_at, died_x = time.monotonic(), wheels.told[-1][1]
        first = len(wheels.told)
        process.send_signal(signum)
        end = died_at + 4 * NEVER_S
        wait_until(lambda: wheels.speed < STILL_MPS or time.monotonic() > end, 'the rover', 60.0)
        stood = [each for each in wheels.told[first:] if each[2] < STILL_MPS]
        at, x = stood[0][:2] if stood else (time.monotonic(), wheels.told[-1][1])
        if signum == signal.SIGSTOP:
            process.send_signal(signal.SIGCONT)
        else:
            self.wait_until_ready()
        return at - died_at, abs(x - died_x)


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Processes that want all CPU time they can get."""
    spinners = [subprocess.Popen([sys.executable, '-c', 'while True: pass']) for _ in range(count)]
    try:
        yield
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()


def deaths(box: Sandbox, kinds: dict[str, int], count: int) -> dict[str, dict[str, Any]]:
    """What each kind of death took, and the drives that ended for a living agent."""
    bench = Bench(box)
    try:
        run = bench.run('--stand-in', 'initial_x=-95.0', '--stand-in', 'initial_mast=closed')
        wheels, agent = Wheels(box), Agent(bench, run)
        found: dict[str, dict[str, Any]] = {}
        for name, signum in kinds.items():
            seconds, metres = [], []
            alarms = 0
            for _ in range(count):
                agent.drive(wheels)
                time.sleep(1.0)
                alarms += wheels.speed < TOP_MPS  # the agent is alive
                each = agent.die(signum, wheels)
                seconds.append(each[0])
                metres.append(each[1])
            found[name] = {
                'deaths': count,
                'in_time': sum(
                    s <= AIM_S and m <= AIM_M for s, m in zip(seconds, metres, strict=True)
                ),
                'median_s': round(quantile(seconds, 0.5), 3),
                'worst_s': round(max(seconds), 3),
                'worst_m': round(max(metres), 3),
                'false_alarms': alarms,
            }
        return found
    finally:
        bench.close()


def main(count: int, load: int) -> int:
    faults: list[str] = []
    kinds = {'SIGKILL': signal.SIGKILL, 'SIGSTOP': signal.SIGSTOP}
    results: dict[str, dict[str, Any]] = {}
    for processes in (0, load):
        with busy(processes), Sandbox() as box:
            for name, each in deaths(box, kinds, count).items():
                results[f'{name}, {processes} busy processes'] = each
                if each['worst_s'] > NEVER_S:
                    faults.append(f'{name}: the rover drove on for {each["worst_s"]} s')
    keys = ['deaths', 'in_time', 'median_s', 'worst_s', 'worst_m', 'false_alarms']
    table(['death', *keys], [[name, *map(each.get, keys)] for name, each in results.items()])
    met = all(each['in_time'] == each['deaths'] for each in results.values())
    print(f'aim {"met" if met else "missed"}: every rover stands in {AIM_S:g} s and {AIM_M:g} m')
    return report('agent_death', faults, deaths=results, aim_met=met)


if __name__ == '__main__':
    arguments = [int(each) for each in sys.argv[1:]] + [50, 8][len(sys.argv) - 1 :]
    sys.exit(main(*arguments))
