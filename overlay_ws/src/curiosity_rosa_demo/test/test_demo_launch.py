# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""demo.launch.py under launch_testing, beside the stand-in, in a ROS domain of its own.

The tests of a class run in the order of their names; the last one leaves the rover driving.
"""

from __future__ import annotations

import atexit
from contextlib import ExitStack
import os
from pathlib import Path
import signal
from typing import Any
import unittest

from ament_index_python.packages import get_package_prefix
from harness import Sandbox, wait_until
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription, RegisterEventHandler, SetEnvironmentVariable
from launch.event_handlers import OnProcessExit, OnProcessStart
from launch.launch_description_sources import PythonLaunchDescriptionSource
import launch_testing
import launch_testing.actions
import launch_testing.asserts
from nav_msgs.msg import Odometry
import pytest
from std_srvs.srv import Trigger

LAUNCH_FILE = Path(__file__).parents[1] / 'launch/demo.launch.py'
STAND_IN = ('curiosity_stand_in', 'stand_in_node')
LAST_TO_FIRST = ['agent_node', 'visualizer_node', 'simulator_node', 'adapter_node']
READY_S = 60.0
AT_THE_END = ExitStack()
atexit.register(AT_THE_END.close)  # should the last test not be reached


class World:
    """The rover, who looks at it from outside, and what launch tells of its processes."""

    def __init__(self, box: Sandbox) -> None:
        self.box = box
        self.pids: dict[str, int] = {}  # of those that run, or ran last
        self.ended: list[str] = []
        self._odometry = box.collect(Odometry, '/model/curiosity_mars_rover/odometry')
        package, executable = STAND_IN
        box.run([f'{get_package_prefix(package)}/lib/{package}/{executable}'], executable)

    @property
    def moving(self) -> bool:
        return bool(self._odometry) and abs(self._odometry[-1].twist.twist.linear.x) > 0.02

    def trigger(self, name: str) -> Trigger.Response:
        return self.box.call(Trigger, f'/adapter/{name}', timeout_s=READY_S)

    def handlers(self) -> list[RegisterEventHandler]:
        return [
            RegisterEventHandler(OnProcessStart(on_start=self._started)),
            RegisterEventHandler(OnProcessExit(on_exit=self._exited)),
        ]

    def _started(self, event: Any, _: Any) -> None:
        self.pids[plain(event.process_name)] = event.pid

    def _exited(self, event: Any, _: Any) -> None:
        self.ended.append(plain(event.process_name))


def plain(process_name: str) -> str:
    """Without the number that launch adds."""
    return process_name.rpartition('-')[0]


@pytest.mark.ros
@pytest.mark.launch_test
def generate_test_description() -> tuple[LaunchDescription, dict[str, Any]]:
    box = AT_THE_END.enter_context(Sandbox())
    world = World(box)
    env = {name: box.env[name] for name in ('ROS_DOMAIN_ID', 'ROS_LOG_DIR', 'PYTHONUNBUFFERED')}
    env['XDG_STATE_HOME'] = str(box.folder / 'state')
    arguments = {'config_dir': box.config_dir(), 'use_sim_time': 'false'}  # agent: by default
    include = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(LAUNCH_FILE)), launch_arguments=arguments.items()
    )
    description = LaunchDescription(
        [
            *(SetEnvironmentVariable(*each) for each in env.items()),
            *world.handlers(),
            include,
            launch_testing.actions.ReadyToTest(),
        ]
    )
    return description, {'world': world}


class TestWhileItRuns(unittest.TestCase):
    def test_a_killed_node_is_back_after_a_while(self, world: World) -> None:
        old = wait_until(lambda: world.pids.get('visualizer_node'), 'a visualizer', READY_S)
        os.kill(old, signal.SIGKILL)
        wait_until(lambda: world.pids['visualizer_node'] != old, 'another visualizer', READY_S)

    def test_every_node_is_there(self, world: World) -> None:
        wanted = {'adapter', 'simulator', 'visualizer', 'agent'}
        node = world.box.node
        wait_until(lambda: wanted <= set(node.get_node_names()), f'{wanted}', READY_S)

    def test_the_rover_drives_only_with_its_mast_down(self, world: World) -> None:
        refused = world.trigger('move_forward')
        assert (refused.success, refused.message) == (False, 'Need to close mast')
        assert world.trigger('mast_close').success
        assert world.trigger('move_forward').success
        wait_until(lambda: world.moving, 'the rover to drive')


@launch_testing.post_shutdown_test()
class TestAfterTheEnd(unittest.TestCase):
    @classmethod
    def tearDownClass(cls) -> None:
        AT_THE_END.close()

    def test_the_agent_left_first_and_the_adapter_last(self, world: World) -> None:
        assert world.ended[-len(LAST_TO_FIRST) :] == LAST_TO_FIRST

    def test_the_rover_stands(self, world: World) -> None:
        wait_until(lambda: not world.moving, 'the rover to stand', 5.0)

    def test_they_left_with_0(self, proc_info: Any) -> None:
        launch_testing.asserts.assertExitCodes(proc_info)
