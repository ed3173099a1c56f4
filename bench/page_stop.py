# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The latency of a stop through the HTTP server while 20 pages are open.

The agent's server with the page runs in front of a simulated robot that moves all the time.
Another process holds the sockets of 20 pages open and requests camera frames as often as their
scripts do. A stop is one POST /stop on a new connection. Measured without and with the pages: the
time to the call of the robot, the time to the response, and the CPU load of the server.

Aim: the median until the robot is called at most doubles, its 99th percentile stays below 50 ms.

Must never happen: a stop that is refused or lost; a page without messages for 2 s.

Run: python bench/page_stop.py [stops, default 300]
"""

from __future__ import annotations

import http.client
import math
import os
import sys
import threading
import time
from typing import Any

from _bench import cpu_percent, milliseconds, report, ROOT, table
from _held_pages import held_pages

sys.path.insert(0, str(ROOT / 'overlay_ws/src/curiosity_rosa_demo/test/unit'))

from curiosity_rosa_demo.agent.interfaces.http.server import create_app
from curiosity_rosa_demo.agent.interfaces.http.server_thread import HttpThread
from curiosity_rosa_demo.agent.interfaces.page.page import add_page
from curiosity_rosa_demo.domain.models import RoverPose, TraceKind
from curiosity_rosa_demo.domain.outcome import Outcome
from fake_robot import CONFIG, FakeRobot

PAGES = 20
AIM_TIMES, AIM_P99_MS = 2.0, 50.0


class Robot(FakeRobot):
    """Records the time of a stop, drives in a circle and publishes trace events."""

    called = 0.0

    async def stop(self, by: str) -> Outcome:
        self.called = time.perf_counter()
        return self.stop_outcome

    def drive(self, end: threading.Event) -> None:
        for step in range(sys.maxsize):
            if end.wait(0.1):
                return
            x, y = 4 + 3 * math.cos(step / 20), 3 * math.sin(step / 20)
            self.where = RoverPose(x=x, y=y, yaw_rad=step / 20, frame_id='odom')
            self._trail = [*self._trail[-1999:], (x, y)]
            self.trace(TraceKind.ACT, f'step {step}', tool_name='move_forward')


# --- the stops ---------------------------------------------------------------------------------


def stop(url: str, robot: Robot, faults: list[str]) -> tuple[float, float]:
    """Seconds to the call of the robot, and to the response."""
    connection = http.client.HTTPConnection(url.removeprefix('http://').rstrip('/'), timeout=10)
    robot.called = 0.0
    began = time.perf_counter()
    connection.request('POST', '/stop')
    answer = connection.getresponse()
    answer.read()
    took = time.perf_counter() - began
    connection.close()
    if answer.status != 200 or not robot.called:
        faults.append(f'a stop was answered with {answer.status}')
    return robot.called - began, took


def measure(url: str, robot: Robot, stops: int, faults: list[str]) -> dict[str, Any]:
    cpu: dict[str, float] = {}
    watch = threading.Thread(target=lambda: cpu.update(cpu_percent({'': os.getpid()}, 4.0)))
    watch.start()
    times = []
    for _ in range(stops):
        times.append(stop(url, robot, faults))
        time.sleep(0.02)
    watch.join()
    return {
        'called': milliseconds([called for called, _ in times]),
        'answered': milliseconds([answered for _, answered in times]),
        'cpu_percent': round(cpu[''], 1),
    }


def main(stops: int) -> int:
    faults: list[str] = []
    end = threading.Event()
    with Robot() as robot:
        settings = CONFIG.agent.http.model_copy(update={'port': 0})

        def make() -> Any:
            app = create_app(robot.runner, robot=robot, settings=settings)
            add_page(app, robot, robot.runner, CONFIG)
            return app

        server = HttpThread(make, settings)
        url = server.start()
        threading.Thread(target=robot.drive, args=(end,), daemon=True).start()
        alone = measure(url, robot, stops, faults)
        with held_pages(url, PAGES, faults):
            crowded = measure(url, robot, stops, faults)
        end.set()
        server.close()
    rows = [(f'{count} pages', each) for count, each in ((0, alone), (PAGES, crowded))]
    table(
        ['', 'called, median ms', 'p99', 'answered, median ms', 'p99', 'CPU %'],
        [
            [name, *each['called'].values(), *each['answered'].values(), each['cpu_percent']]
            for name, each in rows
        ],
    )
    times = crowded['called']['median_ms'] / alone['called']['median_ms']
    met = times <= AIM_TIMES and crowded['called']['p99_ms'] <= AIM_P99_MS
    print(f'aim {"met" if met else "missed"}: {times:.2f} times the median without pages')
    return report('page_stop', faults, alone=alone, crowded=crowded, aim_met=met)


if __name__ == '__main__':
    raise SystemExit(main(int(sys.argv[1]) if sys.argv[1:] else 300))
