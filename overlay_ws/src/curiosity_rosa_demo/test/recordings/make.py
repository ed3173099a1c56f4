# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Make the recordings of this folder: ``python make.py NAME FOLDER [CHECKOUT]`` after env.sh.

NAME is a key of RUNS. CHECKOUT is an older one, with its own installation, whose product runs.
The file keeps only the channels that a replay into the rules reads.
"""

from __future__ import annotations

import os
from pathlib import Path
import subprocess
import sys
import tempfile
import threading
import time

from curiosity_rosa_demo.recording.mcap.channels import Channel
from curiosity_rosa_demo.recording.mcap.file import RunFile
from curiosity_rosa_demo.recording.mcap.reader import RunReader

ROOT = Path(__file__).resolve().parents[5]
CHANNELS = frozenset(
    {'trace', 'adapter', 'adapter_inputs', 'odometry', 'joint_states', 'battery', 'calls'}
)
RUNS: dict[str, list[str]] = {
    'demo': ['-c', ':demo'],
    'slip': ['--stand-in', 'fault_slip=0.8', '-c', ':mast_close', '-c', ':forward 12'],
    'stuck': ['--stand-in', 'fault_slip=1.0', '-c', ':mast_close', '-c', ':forward 12'],
    'refusals': [
        *('-c', ':mast_open', '-c', ':forward 2', '-c', ':mast_close', '-c', ':left 3'),
        *('-c', ':stop', '-c', ':forward 15'),
    ],
}
DOMAIN = '87'


def record(name: str, folder: Path, checkout: Path = ROOT) -> Path:
    """Run the product, and return the small file."""
    with tempfile.TemporaryDirectory() as whole:
        command = [str(checkout / 'scripts/run_demo.sh'), *RUNS[name], '--record', whole]
        bare = ('PATH', 'HOME', 'LANG')
        environment = {key: os.environ[key] for key in bare if key in os.environ}
        # A state of its own: SAFE of an earlier run would be restored.
        environment |= {'ROS_DOMAIN_ID': DOMAIN, 'XDG_STATE_HOME': f'{whole}/state'}
        run = subprocess.Popen(command, env=environment)
        ended = threading.Event()
        operator = threading.Thread(target=press_and_call, args=(ended,))
        if name == 'refusals':
            operator.start()
        try:
            run.wait(timeout=300)
        finally:
            ended.set()
        if operator.ident is not None:
            operator.join(timeout=20)
        (file,) = Path(whole).glob('*.mcap')
        return reduced(file, folder / f'{name}.mcap')


def reduced(file: Path, target: Path) -> Path:
    reader = RunReader(file)
    entries = [each for each in reader if each.role in CHANNELS]
    target.unlink(missing_ok=True)
    copy = RunFile(target, reader.info)
    for each in entries:
        schema = each.schema.data.decode() if each.schema is not None else ''
        channel = Channel(each.role, each.topic, each.type, each.encoding, schema)
        copy.write(channel, each.data, each.at_ns)
    copy.finish(reader.end or {})
    return target


def press_and_call(ended: threading.Event) -> None:
    """During the second drive, the long one: press the e-stop, call the adapter, release it."""
    os.environ['ROS_DOMAIN_ID'] = DOMAIN
    from rcl_interfaces.msg import Parameter, ParameterValue
    from rcl_interfaces.srv import SetParameters
    import rclpy
    from rclpy.node import Node
    from std_msgs.msg import String
    from std_srvs.srv import Trigger

    rclpy.init()
    node = Node('operator')
    drives: list[bool] = []

    def on_status(message: String) -> None:
        if '"moving": true' in message.data and (not drives or not drives[-1]):
            drives.append(True)
        elif '"moving": false' in message.data and drives and drives[-1]:
            drives.append(False)

    def spin(seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until and not ended.is_set():
            rclpy.spin_once(node, timeout_sec=0.05)

    def press(pressed: bool) -> None:
        client = node.create_client(SetParameters, '/curiosity_stand_in/set_parameters')
        client.wait_for_service(timeout_sec=20.0)
        value = ParameterValue(type=1, bool_value=pressed)
        client.call_async(
            SetParameters.Request(parameters=[Parameter(name='e_stop', value=value)])
        )

    node.create_subscription(String, '/adapter/status', on_status, 10)
    clients = {
        name: node.create_client(Trigger, f'/adapter/{name}')
        for name in ('move_forward', 'mast_open')
    }
    while drives.count(True) < 3 and not ended.is_set():  # at the start it counts as moving
        rclpy.spin_once(node, timeout_sec=0.1)
    spin(2.0)
    press(True)
    spin(2.0)
    for client in clients.values():
        client.call_async(Trigger.Request())
        spin(0.5)
    press(False)
    spin(2.0)
    clients['mast_open'].call_async(Trigger.Request())
    spin(1.0)
    node.destroy_node()
    rclpy.shutdown()


if __name__ == '__main__':
    print(record(sys.argv[1], Path(sys.argv[2]), *map(Path, sys.argv[3:])))
