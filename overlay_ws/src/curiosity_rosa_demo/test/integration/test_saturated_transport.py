# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A transport that takes nothing for a while: no node ends of it, and a stop goes out later."""

from __future__ import annotations

from pathlib import Path
import sys

from adapter_world import AdapterWorld
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.infra.ros_io import HEARTBEAT_S, NEWEST_ONLY
from diagnostic_msgs.msg import DiagnosticArray
from harness import Process, Sandbox, wait_until
import pytest
from std_msgs.msg import String

pytestmark = pytest.mark.ros

TOPICS = load_config().topics

# One of our nodes, whose rclpy raises as it does before a saturated transport, while a file is
# there. It prints what it could not publish.
SATURATED = """
import importlib, os, sys
module, flag = sys.argv[1:3]
sys.argv[1:3] = []
from rclpy._rclpy_pybind11 import RCLError
from rclpy.client import Client
from rclpy.publisher import Publisher

def unless_saturated(method, name):
    def call(self, message, *args):
        if os.path.exists(flag):
            print('refused', name(self), flush=True)
            raise RCLError('Failed to publish: cannot publish data')
        return method(self, message, *args)
    return call

Publisher.publish = unless_saturated(Publisher.publish, lambda self: self.topic_name)
Client.call_async = unless_saturated(Client.call_async, lambda self: self.srv_name)
importlib.import_module(module).main()
"""


class Saturation:
    def __init__(self, sandbox: Sandbox) -> None:
        self._flag = Path(sandbox.folder, 'saturated')

    def command(self, module: str, *args: str) -> list[str]:
        return [sys.executable, '-c', SATURATED, module, str(self._flag), *args]

    def begin(self) -> None:
        self._flag.touch()

    def end(self) -> None:
        self._flag.unlink()


class SaturatedAdapter(AdapterWorld):
    def start_adapter(self) -> Process:
        self.saturation = Saturation(self.box)
        command = self.saturation.command('curiosity_rosa_demo.adapter.adapter_node')
        self.adapter = self.box.run(command, 'adapter')
        return self.adapter

    def refused(self, name: str) -> int:
        return self.adapter.output().count(f'refused {name}\n')


def values(arrays: list[DiagnosticArray], name: str) -> dict[str, str]:
    found = [each for array in arrays for each in array.status if each.name == name]
    return {each.key: each.value for each in found[-1].values} if found else {}


def test_a_stop_that_could_not_be_sent_is_sent_as_soon_as_it_can_be(sandbox: Sandbox) -> None:
    world = SaturatedAdapter(sandbox)
    arrays = sandbox.collect(DiagnosticArray, TOPICS.status.diagnostics)
    world.drive()
    world.saturation.begin()
    stop = world.ask_later('move_stop')
    wait_until(lambda: world.refused('/move_stop') > 0, 'a stop that could not be asked for')
    wait_until(lambda: world.refused('/cmd_vel') > 10, 'zero Twists that could not be sent')
    wait_until(lambda: world.refused(TOPICS.status.adapter) > 1, 'a status that was lost')
    assert world.adapter.alive, 'the adapter has ended'
    assert world.moves()
    world.saturation.end()
    world.wait_until_it_stands()
    wait_until(stop.done, 'the answer to the stop')
    world.wait_for_status(moving=False)
    told = wait_until(
        lambda: (seen := values(arrays, 'adapter: rover')).get('lost /cmd_vel') and seen,
        'the losses in the diagnostics',
    )
    assert int(told['lost /cmd_vel']) == world.refused('/cmd_vel')
    assert int(told[f'lost {TOPICS.status.adapter}']) >= 2


def test_an_agent_whose_transport_was_saturated_goes_on(sandbox: Sandbox) -> None:
    world = AdapterWorld(sandbox).settle()
    sandbox.overlay('simulator_node')
    saturation = Saturation(sandbox)
    config = f'config_dir:={sandbox.config_dir()}'
    sandbox.env['XDG_STATE_HOME'] = str(sandbox.folder)
    heartbeats = sandbox.collect(String, TOPICS.status.kernel, NEWEST_ONLY)
    arrays = sandbox.collect(DiagnosticArray, TOPICS.status.diagnostics)
    agent = sandbox.run(
        saturation.command(
            'curiosity_rosa_demo.agent.agent_node', '--headless', '--ros-args', '-p', config
        ),
        'agent_node',
    )
    wait_until(lambda: values(arrays, 'agent: runtime').get('ready') == 'true', 'it', 90.0)
    saturation.begin()
    world.fault(e_stop=True)  # the kernel has something to say of it
    for topic in (TOPICS.status.kernel, TOPICS.trace.events, '/adapter/move_stop'):
        wait_until(lambda: f'refused {topic}\n' in agent.output(), topic)  # noqa: B023
    saturation.end()
    heard = len(heartbeats)
    wait_until(lambda: len(heartbeats) > heard + 2, 'the heartbeats to go on', 40 * HEARTBEAT_S)
    assert agent.alive
    told = wait_until(
        lambda: values(arrays, 'agent: runtime').get(f'lost {TOPICS.trace.events}'),
        'the losses in the diagnostics',
    )
    assert int(told) >= 1
    world.fault(e_stop=False)
    wait_until(lambda: 'e-stop released' in agent.output(), 'the kernel to go on')
    assert 'internal error' not in agent.output()
