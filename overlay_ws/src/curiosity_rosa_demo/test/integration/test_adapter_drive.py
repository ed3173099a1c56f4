# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What ends a drive: slip, tilt, a rock, a lost view, another adapter, no clock, the monitor."""

from __future__ import annotations

from collections.abc import Iterator
import json
from pathlib import Path
import re
import signal
import sys
import threading
import time

from adapter_world import AdapterWorld, METRES_PER_S, ODOMETRY, SharedAdapter, THRESHOLDS
from curiosity_rosa_demo.domain.models import OBSTACLE_AHEAD, OTHER_ADAPTER, VIEW_LOST
from curiosity_rosa_demo.infra.clocks import NO_CLOCK
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.infra.ros_io import history_qos
from curiosity_rosa_demo.monitor.signals import SIGNALS
from diagnostic_msgs.msg import DiagnosticArray
from harness import PREFIXES, Process, Sandbox, wait_until
from nav_msgs.msg import Odometry
import pytest
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import LaserScan
from std_msgs.msg import String, UInt64
from std_srvs.srv import Empty, Trigger

pytestmark = pytest.mark.ros

TOPICS = load_config().topics

# 5.8 m before a boulder of the stand-in's field, so far to the right of the rover's middle that
# its left turn leads past.
FACING_A_BOULDER = {'initial_x': 11.44, 'initial_y': -30.8}
BOULDER_FROM_X = 18.6
FRONT_M = THRESHOLDS.obstacles.front_m
SOON = {'drive': {'slip_s': 1.0, 'stuck_s': 1.5}}


@pytest.fixture
def world(shared_adapter: SharedAdapter) -> Iterator[AdapterWorld]:
    with shared_adapter.lend(thresholds=SOON) as world:
        yield world


def stopped(world: AdapterWorld) -> str:
    """Why it was stopped, once it stands."""
    return str(world.wait_for_status(moving=False)['last_error_reason'])


def test_slip_of_30_percent_is_noticed_and_stopped(world: AdapterWorld) -> None:
    world.drive()
    wait_until(lambda: world.x > 8.0, 'a drive whose speed is known')
    assert world.moves()
    world.fault(fault_slip=0.3)
    # Noticed at 25 % or later, as the window fills.
    slip = rf'Slip of (2[5-9]|30)%: 0\.3\d instead of {METRES_PER_S:.2f} m/s'
    assert re.match(slip, stopped(world))
    world.fault(fault_slip=0.0)
    world.drive()


def test_wheels_that_turn_in_vain_are_stopped(world: AdapterWorld) -> None:
    world.fault(fault_slip=1.0)
    world.settle().does('move_forward')
    assert stopped(world).startswith('Stuck: odometry shows no motion for 1.5 s of move_forward')


def test_a_tilted_rover_is_stopped_and_does_not_start(world: AdapterWorld) -> None:
    world.drive()
    world.fault(fault_tilt=0.6)
    reason = 'Tilt of 34 degrees, limit 26: no motion until the rover stands more level'
    assert stopped(world) == f'{reason}; the rover was stopped'
    refused = world.ask('move_forward')
    assert (refused.success, refused.message) == (False, reason)
    world.does('mast_open')
    world.does('mast_close')
    world.fault(fault_tilt=0.0)
    wait_until(lambda: world.ask('move_forward').success, 'a rover that may drive again')


def test_the_rover_stops_before_a_rock_and_may_only_turn_away_from_it(sandbox: Sandbox) -> None:
    world = AdapterWorld(sandbox, speed=2.0, lidar='body', **FACING_A_BOULDER)
    trace = sandbox.collect(String, '/trace/events', history_qos(30))
    world.close_mast()
    world.wait_for_status('a scan that sees the way', obstacle_view='ahead')
    assert world.status()['obstacle_ahead_m'] == pytest.approx(5.8, abs=0.1)

    world.drive()
    world.wait_until_it_stands(30.0)
    assert world.x > FACING_A_BOULDER['initial_x'] + 1.0
    assert world.x + FRONT_M < BOULDER_FROM_X
    assert any(f'{OBSTACLE_AHEAD} at ' in event.data for event in trace)

    refused = world.refuses('move_forward')
    assert refused.startswith(OBSTACLE_AHEAD)
    assert refused.endswith('turn_left leads past it')
    assert world.status()['last_error_reason'] == refused
    assert world.refuses('turn_right').startswith(OBSTACLE_AHEAD)
    assert world.stands()

    world.does('turn_left')
    wait_until(world.moves, 'the rover to turn away')


def test_a_rover_that_loses_its_view_is_stopped_until_it_sees_again(sandbox: Sandbox) -> None:
    world = AdapterWorld(sandbox, lidar='body')
    world.close_mast()
    world.wait_for_status('a scan that sees the way', obstacle_view='ahead')
    world.drive()
    world.fault(fault_scan=True)
    world.wait_until_it_stands(30.0)
    assert world.refuses('turn_left') == VIEW_LOST
    world.fault(fault_scan=False)
    world.wait_for_status('the scan again', obstacle_view='ahead')
    world.does('move_forward')
    wait_until(world.moves, 'the rover to move')
    scans = sandbox.collect(LaserScan, '/scan')
    wait_until(lambda: scans, 'a scan')
    with world.repeated('/scan', scans[-1]):
        world.fault(fault_scan=True)
        world.wait_until_it_stands(10.0)
        assert world.refuses('turn_left') == VIEW_LOST


def test_the_adapter_of_a_second_overlay_stops_the_rover_until_it_leaves(sandbox: Sandbox) -> None:
    world = AdapterWorld(sandbox).drive()
    # Its configuration has another name for the rover's topic, which a remapping leads there.
    folder = sandbox.config_dir(topics={'rover': {'cmd_vel': 'cmd_vel'}})
    remapped = ('-r', '__ns:=/r2', '-r', 'cmd_vel:=/cmd_vel')
    second = sandbox.start('curiosity_rosa_demo', 'adapter_node', *remapped, config_dir=folder)
    world.wait_until_it_stands()
    status = world.wait_for_status(other_adapters=['/r2/adapter'], moving=False)
    assert not status['move_allowed']
    reason = f'{OTHER_ADAPTER}: /r2/adapter'
    assert world.refuses('move_forward') == world.refuses('mast_open') == reason
    world.namespace = 'r2'
    world.wait_for_status(other_adapters=['/adapter'])
    assert world.refuses('move_forward') == f'{OTHER_ADAPTER}: /adapter'
    world.namespace = ''
    second.kill(signal.SIGKILL)
    world.wait_for_status(other_adapters=[], move_allowed=True)
    world.does('move_forward')
    world.does('move_stop')

    assert world.status()['rival_publishers'] is None
    rover = sandbox.stand_in()  # a second one, which is named until it leaves
    both = ['/curiosity_stand_in (2 times)']  # named a moment later than seen
    expected = dict.fromkeys((ODOMETRY, '/joint_states'), both)
    wait_until(lambda: world.status()['rival_publishers'] == expected, 'the topics of two rovers')
    rover.kill(signal.SIGTERM)
    wait_until(lambda: not world.status()['rival_publishers'], 'one rover alone')


# --- a clock that is absent or stops: the whole agent, adapter and rover as processes ------------

PERIOD_S = 0.02
DURATION_S = 10.0
PROMPT_S = 6.0  # the watch needs 1.5 s; the rest is for a busy machine


class Simulation:
    """Publishes /clock at real time, until it is paused."""

    def __init__(self, box: Sandbox) -> None:
        self._publisher = box.node.create_publisher(Clock, '/clock', 10)
        self._paused = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        began = time.monotonic()
        while not self._paused.wait(PERIOD_S):
            seconds = 100.0 + time.monotonic() - began
            message = Clock()
            message.clock.sec = int(seconds)
            message.clock.nanosec = int(seconds % 1.0 * 1e9)
            self._publisher.publish(message)

    def pause(self) -> None:
        self._paused.set()
        self._thread.join()


def agent(box: Sandbox, *commands: str) -> Process:
    package = 'curiosity_rosa_demo'
    command = [str(PREFIXES[package] / 'lib' / package / 'agent_node')]
    for each in commands:
        command += ['-c', each]
    parameters = ['-p', 'use_sim_time:=true', '-p', f'config_dir:={box.config_dir()}']
    return box.run([*command, '--ros-args', *parameters], 'agent')


def ends_with(going: Process, reason: str) -> None:
    wait_until(lambda: not going.alive, 'the agent to end', 60.0)
    assert going.popen.returncode == 1, going.output()
    assert reason in going.output()


def test_without_a_clock_agent_and_adapter_refuse_to_drive(sandbox: Sandbox) -> None:
    """Before the first, and when it stops in mid-drive. The rover has a time of its own."""
    sandbox.env['XDG_STATE_HOME'] = str(sandbox.folder / 'state')
    world = AdapterWorld(sandbox, speed=1.0, sim_time=True)
    sandbox.overlay('simulator_node', use_sim_time=True)
    going = agent(sandbox, ':mast_close', ':forward 2')
    ends_with(going, f'! {NO_CLOCK}: use_sim_time is on and /clock was never heard')
    assert world.refuses('move_forward').startswith(NO_CLOCK)
    assert world.never_drove()

    simulation = Simulation(sandbox)
    going = agent(sandbox, ':mast_close', f':forward {DURATION_S:g}')
    try:
        wait_until(world.moves, 'the rover to move', 60.0)
    except AssertionError:
        raise AssertionError(going.output()) from None
    simulation.pause()
    paused_at = world.x
    world.wait_until_it_stands()
    assert world.x - paused_at < METRES_PER_S * PROMPT_S
    assert world.x < METRES_PER_S * DURATION_S
    ends_with(going, f'Motion ended early: {NO_CLOCK}')


# --- a transport that takes nothing for a while --------------------------------------------------

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


class SaturatedAdapter(AdapterWorld):
    """While ``flag`` is a file, its adapter can send nothing."""

    def start_adapter(self, **_: str) -> Process:
        self.flag = Path(self.box.folder, 'saturated')
        module = 'curiosity_rosa_demo.adapter.adapter_node'
        command = [sys.executable, '-c', SATURATED, module, str(self.flag)]
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
    world.flag.touch()
    stop = world.ask_later('move_stop')
    wait_until(lambda: world.refused('/move_stop') > 0, 'a stop that could not be asked for')
    wait_until(lambda: world.refused('/cmd_vel') > 10, 'zero Twists that could not be sent')
    wait_until(lambda: world.refused(TOPICS.status.adapter) > 1, 'a status that was lost')
    assert world.adapter.alive, 'the adapter has ended'
    assert world.moves()
    world.flag.unlink()
    world.wait_until_it_stands()
    wait_until(stop.done, 'the answer to the stop')
    world.wait_for_status(moving=False)
    told = wait_until(
        lambda: (seen := values(arrays, 'adapter: rover')).get('lost /cmd_vel') and seen,
        'the losses in the diagnostics',
    )
    assert int(told['lost /cmd_vel']) == world.refused('/cmd_vel')
    assert int(told[f'lost {TOPICS.status.adapter}']) >= 2


# --- the monitor: a motion around an adapter that does not stop it -------------------------------


def test_a_motion_around_the_adapter_is_reported_and_stopped(sandbox: Sandbox) -> None:
    verdicts: list[String] = sandbox.collect(String, '/monitor/verdicts', history_qos(20))
    signals: list[UInt64] = sandbox.collect(UInt64, '/monitor/signals')
    diagnostics: list[DiagnosticArray] = sandbox.collect(DiagnosticArray, '/diagnostics')
    odometry: list[Odometry] = sandbox.collect(Odometry, ODOMETRY)
    folder = sandbox.config_dir(thresholds={'motion': {'stop_unexpected': False}})
    sandbox.stand_in()
    sandbox.overlay('adapter_node', config_dir=folder)
    sandbox.overlay('monitor_node')

    def said(text: str) -> bool:
        found = [each for array in list(diagnostics) for each in array.status]
        ours = [each.message for each in found if each.name == 'monitor: requirements']
        return bool(ours) and text in ours[-1]

    def bit(name: str) -> bool:
        return bool(signals and signals[-1].data >> list(SIGNALS).index(name) & 1)

    wait_until(lambda: sandbox.call(Trigger, '/adapter/move_stop').success, 'a confirmed stop')
    wait_until(lambda: bit('adapter_alive') and bit('mast_up'), 'the monitor to hear both', 40.0)
    wait_until(lambda: said('all requirements hold'), 'the monitor to say that all is well')
    assert not verdicts

    sandbox.call(Empty, '/move_forward')  # past the adapter, the mast up
    wait_until(lambda: bit('moving'), 'the motion to be seen')
    violation = json.loads(wait_until(lambda: list(verdicts), 'a verdict')[0].data)
    assert (violation['requirement'], violation['ok']) == ('S1', False)
    assert violation['severity'] == 'critical'
    wait_until(
        lambda: odometry and odometry[-1].twist.twist.linear.x == 0.0 and not bit('moving'),
        'the monitor to have had the rover stopped',
    )
    wait_until(lambda: said('all requirements hold'), 'the requirement to hold again')
    wait_until(
        lambda: any(json.loads(each.data)['ok'] for each in list(verdicts)),
        'a verdict that says so',
    )
