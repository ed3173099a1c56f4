# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""CPU load and memory of the demo's processes at the prompt: idle, and with a watched camera.

- idle: the prompt waits, the rover stands, the camera has no subscriber
- watched: the rover drives, and a subscriber receives the capture topic at 10 Hz
- floor: a bare node that subscribes to the odometry and the joint states, as the adapter must

Aim: the four nodes of the overlay together under 5 % of one core while idle. Memory: USS is the
memory of the process alone, PSS adds its share of the memory that it shares with others.

Must never happen: a process that ends, no picture while watched, an idle overlay above half a
core.

Run: python bench/footprint.py [seconds of each phase, default 20]
"""

from __future__ import annotations

import json
import sys
from typing import Any

from _bench import cpu_percent, Demo, report, Sandbox, script, table, wait_until
import psutil
from sensor_msgs.msg import CompressedImage
from std_srvs.srv import Trigger

AIM_PERCENT = 5.0
NEVER_PERCENT = 50.0
OVERLAY = ('agent_node', 'adapter_node', 'simulator_node', 'visualizer_node')
NODES = (*OVERLAY, 'stand_in_node')

FLOOR = """
import threading
import rclpy
from curiosity_rosa_demo.infra.ros_io import NEWEST_ONLY, SpinThread
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
rclpy.init()
node = rclpy.create_node('floor')
node.create_subscription(
    Odometry, '/model/curiosity_mars_rover/odometry', lambda message: None, NEWEST_ONLY)
node.create_subscription(JointState, '/joint_states', lambda message: None, NEWEST_ONLY)
SpinThread('floor', node, on_crash=print)
threading.Event().wait()
"""


def memory(pids: dict[str, int]) -> dict[str, dict[str, float]]:
    """USS and PSS of each process in megabytes."""
    found = {}
    for name, pid in pids.items():
        info = psutil.Process(pid).memory_full_info()
        found[name] = {'uss_mb': round(info.uss / 1e6, 1), 'pss_mb': round(info.pss / 1e6, 1)}
    return found


def phase(pids: dict[str, int], for_s: float) -> dict[str, dict[str, Any]]:
    cpu = cpu_percent(pids, for_s)
    return {
        name: {'cpu_percent': round(cpu[name], 2), **figures}
        for name, figures in memory(pids).items()
    }


def show(title: str, figures: dict[str, dict[str, Any]]) -> float:
    """Print one phase. Returns the CPU load of the overlay's nodes, in percent of a core."""
    together = {
        key: round(sum(figures[name][key] for name in OVERLAY), 2)
        for key in ('cpu_percent', 'uss_mb', 'pss_mb')
    }
    rows = [*figures.items(), ('overlay together', together)]
    table((title, 'CPU %', 'USS MB', 'PSS MB'), [(name, *each.values()) for name, each in rows])
    print()
    return float(together['cpu_percent'])


def ask(box: Sandbox, name: str) -> str:
    response = box.call(Trigger, f'/adapter/{name}', timeout_s=30.0)
    if not response.success:
        raise AssertionError(f'{name}: {response.message}')
    return str(response.message)


def begins_to_drive(box: Sandbox) -> bool:
    names = ('mast_close', 'move_forward')
    return all(box.call(Trigger, f'/adapter/{name}', timeout_s=30.0).success for name in names)


def main() -> int:
    for_s = float(sys.argv[1]) if len(sys.argv) > 1 else 20.0
    faults: list[str] = []
    with Sandbox() as box:
        demo = Demo(box.env)
        try:
            demo.wait_for('rover>')
            floor = script(box, FLOOR, 'floor')
            pids = {name: demo.nodes()[name] for name in NODES} | {'floor': floor.pid}
            wait_until(lambda: not json.loads(ask(box, 'get_status'))['moving'], 'a still rover')
            wait_until(
                lambda: max(cpu_percent(pids, 2.0).values()) < NEVER_PERCENT,
                'the imports and discovery to be over',
                60.0,
            )
            idle = phase(pids, for_s)

            pictures = box.collect(CompressedImage, '/capture/image_raw/compressed', 10)
            # On a busy machine the joint states may be late: the mast is then not known as closed.
            wait_until(lambda: begins_to_drive(box), 'a rover that drives', 60.0)
            wait_until(lambda: len(pictures) >= 5, 'pictures')
            before = len(pictures)
            watched = phase(pids, min(for_s, 25.0))  # the leash is 30 s
            rate = (len(pictures) - before) / min(for_s, 25.0)
            if not json.loads(ask(box, 'get_status'))['moving']:
                faults.append('the rover stopped while it was watched')
            ask(box, 'move_stop')
            now = demo.nodes()
            if any(now.get(name) != pids[name] for name in NODES):
                faults.append(f'processes ended or were restarted: {now}, not {pids}')
            faults += demo.leave()
        finally:
            demo.end()
    idle_percent = show('idle', idle)
    watched_percent = show(f'watched, {rate:.1f} Hz', watched)
    print(
        f'idle overlay: {idle_percent:.2f} % of a core (aim {AIM_PERCENT:g} %); '
        f'watched: {watched_percent:.1f} %'
    )
    if rate == 0.0:
        faults.append('no picture came while watched')
    if idle_percent > NEVER_PERCENT:
        faults.append('the idle overlay burns CPU')
    status: int = report(
        'footprint',
        faults,
        idle=idle,
        watched=watched,
        idle_overlay_percent=idle_percent,
        watched_overlay_percent=watched_percent,
        watched_hz=round(rate, 2),
        aim_idle_overlay_percent=AIM_PERCENT,
    )
    return status


if __name__ == '__main__':
    sys.exit(main())
