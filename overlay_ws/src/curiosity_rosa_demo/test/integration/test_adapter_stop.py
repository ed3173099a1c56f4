# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Whatever happens, the adapter gets the rover to stand: stops, the leash, deaths."""

from __future__ import annotations

import signal
import sys

from adapter_world import AdapterWorld, CLOSED, near, SharedAdapter, SILENT_GRAPH
from curiosity_rosa_demo.domain.models import (
    E_STOP_PRESSED,
    MOVE_IN_PROGRESS,
    NEED_TO_CLOSE_MAST,
    STOP_NOT_CONFIRMED,
)
from harness import Sandbox, wait_until
import pytest
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger

pytestmark = pytest.mark.ros

WHEEL_COMMANDS = '/wheel_velocity_controller/commands'
LEASH_S = 1.5
QUICK = {'motion': {'service_timeout_s': 0.5, 'stop_confirm_s': 1.0}}

# Starts a motion as any client would, and then lives on without a word.
CALLER = """
import sys, threading
import rclpy
from std_srvs.srv import Trigger
rclpy.init()
node = rclpy.create_node('caller')
client = node.create_client(Trigger, sys.argv[1])
client.wait_for_service()
future = client.call_async(Trigger.Request())
rclpy.spin_until_future_complete(node, future)
print('answered', future.result().success, flush=True)
threading.Event().wait()
"""

# The demo's run_demo node in a process of its own: it alone repeats the Twist.
RUN_DEMO = """
import rclpy
from curiosity_stand_in.demo_nodes import RunNode
from curiosity_stand_in.faults import ServiceFaults
rclpy.init()
rclpy.spin(RunNode(ServiceFaults(), time_scale=1.0))
"""


def test_a_motion_that_nobody_ends_is_ended_by_the_leash(shared_adapter: SharedAdapter) -> None:
    short = {'motion': {'max_duration_s': LEASH_S}}
    leashed = f'Stopped by the leash after {LEASH_S} s'
    with shared_adapter.lend(thresholds=short) as world:
        command = [sys.executable, '-c', CALLER, world.service('move_forward')]
        caller = world.box.run(command, 'caller')
        wait_until(lambda: 'answered True' in caller.output(), 'the caller to have its motion')
        assert caller.kill(signal.SIGKILL) == -signal.SIGKILL
        wait_until(world.moves, 'the rover to move')
        world.wait_until_it_stands()
        assert world.wait_for_status(moving=False)['last_error_reason'] == leashed
        world.does('move_forward')  # and the next one gets a leash of its own
        wait_until(world.moves, 'the rover to move again')
        world.wait_until_it_stands()


def test_a_rover_whose_wheel_node_died_is_stopped_at_its_wheels(world: AdapterWorld) -> None:
    commands = world.box.collect(Float64MultiArray, WHEEL_COMMANDS, 100)
    world.drive()
    assert not commands  # not in a normal drive
    world.fault(fault_wheel_node=True, fault_services=['move_stop:hang'])
    world.does('move_stop')
    assert world.stands(), 'the wheels would have kept the last command'
    world.wait_for_status('a confirmed stop', moving=False)
    assert all(list(each.data) == [0.0] * 6 for each in commands)
    count = len(commands)
    assert count > 0
    assert world.stands()
    assert len(commands) == count  # nor after a confirmed stop
    # The hanging node takes what waits in its queue; the last of that is a stop.
    world.fault(fault_wheel_node=False, fault_services=[''])
    world.wait_until_it_stands()
    world.does('move_forward')
    wait_until(world.moves, 'the rover to move again')


def test_the_e_stop_holds_rover_and_mast(world: AdapterWorld) -> None:
    world.drive()
    world.fault(e_stop=True)
    world.wait_until_it_stands()
    for name in ('move_forward', 'mast_open', 'mast_rotate'):
        assert world.refuses(name) == E_STOP_PRESSED
    world.fault(e_stop=False)
    wait_until(lambda: world.status()['move_allowed'], 'the release')
    world.does('mast_open')


def test_a_graph_that_does_not_answer_delays_no_start_no_stop_and_no_zero_twist(
    sandbox: Sandbox,
) -> None:
    world = AdapterWorld(sandbox, program=SILENT_GRAPH)
    wait_until(lambda: 'a look-up blocks' in world.adapter.output(), 'the graph to fall silent')
    world.drive()
    world.does('move_stop')
    world.does('move_forward')
    wait_until(world.moves, 'the rover to move again')
    world.fault(fault_services=['move_stop:absent'])  # the driver goes on with its Twists
    assert not world.ask('move_stop').success
    wait_until(lambda: world.status()['violation'], 'the runaway to be noticed')
    seen = len(world.twists)
    wait_until(
        lambda: sum(not each.linear.x for each in list(world.twists)[seen:]) >= 50,
        'zero Twists after the violation',
    )


def test_a_stop_is_meant_for_the_motion_that_waits_too(shared_adapter: SharedAdapter) -> None:
    with shared_adapter.lend(thresholds={'motion': {'stop_timeout_s': 1.5}}) as world:
        world.drive()
        world.fault(fault_services=['move_stop:late:1.0'])
        stop = world.ask_later('move_stop')
        wait_until(lambda: not world.status()['move_allowed'], 'the stop to be under way')
        motion = world.ask_later('move_forward')  # it waits for the stop
        again = world.ask_later('move_stop')
        wait_until(lambda: stop.done() and motion.done() and again.done(), 'three answers')
        assert not motion.result().success
        world.wait_until_it_stands()
        assert world.stands()


def test_a_stop_is_served_while_another_call_hangs(shared_adapter: SharedAdapter) -> None:
    with shared_adapter.lend(thresholds={'motion': {'service_timeout_s': 15.0}}) as world:
        world.does('mast_open')
        world.fault(fault_services=['mast_close:hang'])
        hanging = world.ask_later('mast_close')
        wait_until(lambda: world.status()['mast'] == 'closing', 'the call to be on its way')
        world.does('move_stop')
        assert not hanging.done()
        assert world.status()['mast_is_open'] is True  # on its way, and that counts as open
        world.fault(fault_services=[''])
        wait_until(hanging.done, 'the thawed call')
        assert near(world.mast(), *CLOSED) == hanging.result().success


def test_a_motion_that_starts_late_is_stopped_again(shared_adapter: SharedAdapter) -> None:
    with shared_adapter.lend(thresholds=QUICK) as world:
        world.fault(fault_services=['move_forward:late:2.5'])
        answer = world.ask('move_forward')
        assert (answer.success, answer.message) == (False, 'Service timeout: /move_forward')
        # Not answered, it may start at any moment: that counts as moving.
        assert world.status()['moving']
        assert world.refuses('mast_open')
        world.wait_for_status('the late motion to be stopped', moving=False)
        world.wait_until_it_stands()
        assert near(world.mast(), *CLOSED)


def test_a_motion_that_never_answers_is_held_still(shared_adapter: SharedAdapter) -> None:
    with shared_adapter.lend(thresholds=QUICK) as world:
        world.drive()
        world.fault(fault_services=['turn_left:hang'])  # and with it the stop of the same node
        assert world.refuses('turn_left') == 'Service timeout: /turn_left'
        world.wait_until_it_stands()
        assert world.status()['moving'], 'it may still start'
        assert world.refuses('turn_right') == MOVE_IN_PROGRESS
        # The stop answers for itself.
        assert world.refuses('move_stop') == f'{STOP_NOT_CONFIRMED}: Service timeout: /move_stop'
        world.fault(fault_services=[''])
        world.wait_for_status(moving=False)
        world.wait_until_it_stands()


def test_killed_while_the_rover_moves_it_stops_it_first_when_it_is_back(sandbox: Sandbox) -> None:
    world = AdapterWorld(sandbox).drive()
    world.adapter.kill(signal.SIGKILL)
    killed_at = world.x
    wait_until(lambda: world.x > killed_at + 1.0, 'the rover to drive on without it')
    world.start_adapter()
    world.wait_until_it_stands()
    world.settle()
    assert world.refuses('move_forward') == NEED_TO_CLOSE_MAST, 'what it knew is lost'
    assert world.stands()
    world.does('mast_close')
    world.does('move_forward')
    wait_until(world.moves, 'the rover to move again')


def test_back_from_the_dead_it_stops_wheels_that_no_service_can(sandbox: Sandbox) -> None:
    rest = ['move_forward', 'turn_left', 'turn_right', 'move_stop']
    world = AdapterWorld(sandbox, speed=1.0, fault_services=[f'{name}:absent' for name in rest])
    driver = sandbox.run([sys.executable, '-c', RUN_DEMO], 'run_demo')
    world.drive()
    driver.kill(signal.SIGKILL)  # the wheels keep turning
    world.adapter.kill(signal.SIGKILL)
    assert world.moves()
    world.start_adapter()
    world.wait_until_it_stands()


def test_told_to_end_it_leaves_a_rover_that_stands(sandbox: Sandbox) -> None:
    world = AdapterWorld(sandbox).drive()
    world.fault(fault_services=['move_stop:hang'])
    assert world.adapter.kill(signal.SIGINT) == 0
    assert world.stands()
    assert 'Traceback' not in world.adapter.output()


def test_told_to_end_it_starts_no_motion_that_waits(sandbox: Sandbox) -> None:
    world = AdapterWorld(sandbox, thresholds={'motion': {'stop_timeout_s': 2.0}}).drive()
    world.fault(fault_services=['move_stop:late:1.0'])
    client = sandbox.node.create_client(Trigger, world.service('move_forward'))
    assert client.wait_for_service(timeout_sec=20.0)
    world.adapter.popen.send_signal(signal.SIGTERM)
    wait_until(lambda: not world.status()['move_allowed'], 'its last stop to be under way')
    client.call_async(Trigger.Request())  # it waits until the stop is confirmed
    assert world.adapter.kill(signal.SIGTERM) == 0
    assert world.stands(20)
