# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The adapter over real services: what it allows, refuses and says, how it stops the rover whoever
fails, and how it watches the agent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
import random
import signal
import sys
import threading
from typing import Any

from adapter_world import (
    AdapterWorld,
    CLOSED,
    EXECUTORS,
    MASTS,
    MOVES,
    near,
    ODOMETRY,
    RAISED_P,
    SharedAdapter,
    SILENT_GRAPH,
    SLOW_START,
    SPEED,
    TURN_RADPS,
    Witness,
)
from curiosity_rosa_demo.adapter.rules import STOPPED_WHILE_STARTING
from curiosity_rosa_demo.domain.adapter_status import encode_heartbeat
from curiosity_rosa_demo.domain.models import (
    AGENT_IS_SILENT,
    E_STOP_PRESSED,
    MOVE_IN_PROGRESS,
    NEED_TO_CLOSE_MAST,
    NEED_TO_OPEN_MAST,
    STOP_NOT_CONFIRMED,
    TWO_AGENTS,
)
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.infra.process import SpinThread
from curiosity_rosa_demo.infra.ros_io import (
    call,
    Heartbeat,
    heartbeat_qos,
    history_qos,
    LossCounter,
    ServiceFailed,
)
from curiosity_rosa_demo.tools.rover_client import RoverClient
from curiosity_rosa_demo.trace.trace_codec import decode
from geometry_msgs.msg import Twist
from harness import PATIENT_LEASE_S, Sandbox, wait_until
from nav_msgs.msg import Odometry
import pytest
import rclpy
from std_msgs.msg import Bool, Float64MultiArray, String
from std_srvs.srv import Empty, Trigger

pytestmark = pytest.mark.ros

SERVICES = {f'/adapter/{name}' for name in (*MOVES, *MASTS, 'move_stop', 'get_status')}
WHEEL_COMMANDS = '/wheel_velocity_controller/commands'
LEASH_S = 1.5
QUICK = {'motion': {'service_timeout_s': 0.5, 'stop_confirm_s': 1.0}}
HEARTBEAT = '/kernel/heartbeat'
MOTION = load_config().thresholds.motion
MAX_AGE_S, LEASE_S = MOTION.heartbeat_max_age_s, MOTION.agent_lease_s
SHIPPED_LEASE = {'motion': {'agent_lease_s': LEASE_S}}
SILENCE = f'The agent fell silent for {MAX_AGE_S:g} s: the rover was stopped'
GONE = 'The agent is gone: the rover was stopped'


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


# The agent's heartbeat in a process of its own, so that it can be killed and frozen. It is in SAFE
# until SIGUSR1, so that a test knows when the adapter has heard it.
AGENT = """
import signal, threading
import rclpy
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.infra.ros_io import Heartbeat, LossCounter
rclpy.init()
reasons = ['starting']
signal.signal(signal.SIGUSR1, lambda *_: reasons.append(''))
node = rclpy.create_node('agent')
heartbeat = Heartbeat(node, load_config(), LossCounter(), lambda: reasons[-1])
while True:
    heartbeat.beat()
    threading.Event().wait(0.05)
"""


# Repeats the command of the wheels, as the demo's move_wheel does.
MOVE_WHEEL = f"""
import threading
import rclpy
from std_msgs.msg import Float64MultiArray
rclpy.init()
node = rclpy.create_node('wheel_node')
publisher = node.create_publisher(Float64MultiArray, '{WHEEL_COMMANDS}', 10)
while True:
    publisher.publish(Float64MultiArray(data=[2.0, 3.0, 2.0, -2.0, -3.0, -2.0]))
    threading.Event().wait(0.05)
"""


# --- what it allows and says ------------------------------------------------------------------


def trigger_services(sandbox: Sandbox) -> set[str]:
    found = sandbox.node.get_service_names_and_types()
    return {name for name, types in found if types == ['std_srvs/srv/Trigger']}


def test_a_closed_mast_lets_the_rover_move_and_a_stop_ends_it(world: AdapterWorld) -> None:
    wait_until(lambda: trigger_services(world.box) == SERVICES, 'exactly the eight services')
    for move, sign in zip(MOVES, (0, 1, -1), strict=True):
        world.drive(move)
        start = world.x
        wait_until(lambda start=start: world.x != start, 'the rover to get along')
        turn = world.odometry[-1].twist.twist.angular.z
        assert (turn > TURN_RADPS / 2) - (turn < -TURN_RADPS / 2) == sign, move
        assert near(world.mast(), *CLOSED)
        world.does('move_stop')
        assert world.stands()
        world.wait_for_status(moving=False, move_allowed=True)


def test_mast_calls_answer_when_the_joints_have_arrived(world: AdapterWorld) -> None:
    for name, pose in (
        ('mast_open', (RAISED_P, -0.5)),
        ('mast_close', CLOSED),
        ('mast_open', (RAISED_P, -0.5)),
        ('mast_rotate', (RAISED_P, -6.28)),
    ):
        world.does(name)
        assert near(world.mast(), *pose), name
    status = world.status()
    assert status['mast_is_open'] is True
    assert status['mast_yaw_rad'] == pytest.approx(-6.28, abs=0.15)


def test_the_mast_stays_closed_while_the_rover_moves(world: AdapterWorld) -> None:
    assert world.refuses('mast_rotate') == NEED_TO_OPEN_MAST
    assert world.status()['last_error_reason'] == NEED_TO_OPEN_MAST
    world.drive()
    assert world.refuses('mast_open') == MOVE_IN_PROGRESS
    assert world.refuses('mast_rotate') == MOVE_IN_PROGRESS
    assert world.mast_stays()
    assert near(world.mast(), *CLOSED)
    assert world.moves()


def test_a_rover_whose_joint_states_are_lost_is_stopped(world: AdapterWorld) -> None:
    world.drive()
    world.fault(fault_joint_states=True)
    world.wait_until_it_stands()
    status = world.wait_for_status(moving=False)
    assert status['mast_is_open'] is None
    assert status['last_error_reason'] == 'Stopped: mast is unknown'
    world.fault(fault_joint_states=False)
    heard = len(world.joints)
    wait_until(lambda: len(world.joints) > heard + 10, 'joint states again')
    assert world.refuses('move_forward') == NEED_TO_CLOSE_MAST
    world.does('mast_close')
    world.does('move_forward')


def test_a_mast_that_opens_by_itself_stops_the_rover(world: AdapterWorld) -> None:
    world.drive()
    world.box.call(Empty, '/mast_open')  # behind the adapter's back
    world.wait_until_it_stands()
    status = world.wait_for_status(moving=False, mast_is_open=True)
    assert status['last_error_reason'].startswith('Stopped: mast is ')
    assert world.refuses('move_forward') == NEED_TO_CLOSE_MAST


def test_a_rover_whose_odometry_falls_silent_is_warned_of_and_stopped(world: AdapterWorld) -> None:
    events = world.box.collect(String, '/trace/events')
    reason = 'No odometry for 3 s; the rover was stopped'
    for is_frozen in (False, True):
        world.drive()
        last = world.odometry[-1]
        with world.repeated(ODOMETRY, last) if is_frozen else nullcontext():
            world.fault(fault_odometry=True)
            assert world.wait_for_status(moving=False)['last_error_reason'] == reason
        wait_until(lambda: any(reason in each.data for each in events), 'the alarm')
        assert any('No odometry for 1 s of a motion' in each.data for each in events)
        world.fault(fault_odometry=False)
        wait_until(world.stands, 'a rover that stands')
    world.drive()


def is_stopped_when_it_moves_unasked(world: AdapterWorld) -> None:
    teleop = world.box.node.create_publisher(Twist, '/cmd_vel', 10)
    wait_until(lambda: teleop.get_subscription_count() == 3, 'wheels, adapter and this test')
    forward = Twist()
    forward.linear.x = 1.0
    teleop.publish(forward)  # the wheels keep it
    wait_until(world.moves, 'the wheels to take it')
    world.wait_until_it_stands()
    assert world.status()['last_error_reason'] == 'Stopped: the rover moved unasked'
    world.box.node.destroy_publisher(teleop)


def test_a_rover_that_moves_unasked_is_stopped_unless_told_otherwise(world: AdapterWorld) -> None:
    """Told otherwise it is in test_adapter_drive.py."""
    is_stopped_when_it_moves_unasked(world)


def test_of_odometry_without_a_twist_the_pose_shows_that_the_rover_moves(sandbox: Sandbox) -> None:
    folder = sandbox.config_dir(topics={'rover': {'odometry': '/poses'}})
    poses = sandbox.node.create_publisher(Odometry, '/poses', 10)

    def relay(message: Odometry) -> None:
        poses.publish(Odometry(header=message.header, pose=message.pose))

    sandbox.node.create_subscription(Odometry, ODOMETRY, relay, 10)
    world = AdapterWorld(sandbox, config_dir=folder).close_mast()
    is_stopped_when_it_moves_unasked(world)


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


def test_a_drive_ends_with_the_node_that_drives(world: AdapterWorld) -> None:
    """The wheels would keep the last command."""
    wheel_node = world.box.run([sys.executable, '-c', MOVE_WHEEL], 'move_wheel')
    world.drive()
    commands = world.box.collect(Float64MultiArray, WHEEL_COMMANDS, 100)
    # The adapter discovers the publisher as this test does, a moment earlier or later.
    wait_until(lambda: len(commands) > 40, 'the commands of the wheels')
    world.fault(fault_wheel_node=True)  # the Twists go on, and nobody hears them
    wheel_node.kill(signal.SIGKILL)
    status = world.wait_for_status('a stop at the wheels', moving=False)
    assert status['last_error_reason'].startswith(f'The driver fell silent on {WHEEL_COMMANDS} ')
    assert world.stands()

    world.fault(fault_wheel_node=False)
    world.drive()
    world.fault(fault_services=['turn_left:hang'])
    with pytest.raises(ServiceFailed):  # a first request may be lost while it is discovered
        world.box.call(Empty, '/turn_left', timeout_s=3.0, again_s=1.0)
    status = world.wait_for_status('a stop by zero Twists', moving=False)
    assert status['last_error_reason'].startswith('The driver fell silent on /cmd_vel ')
    assert world.stands()


def test_an_e_stop_that_is_released_while_the_adapter_is_held_up_stops_the_rover(
    world: AdapterWorld,
) -> None:
    button = world.box.node.create_publisher(Bool, '/e_stop', 10)
    wait_until(lambda: button.get_subscription_count() == 2, 'the adapter to hear it')
    world.drive()
    world.adapter.popen.send_signal(signal.SIGSTOP)
    for pressed in (True, False):
        button.publish(Bool(data=pressed))
    world.adapter.popen.send_signal(signal.SIGCONT)
    world.wait_until_it_stands()
    world.box.node.destroy_publisher(button)
    assert world.status()['last_error_reason'] == f'{E_STOP_PRESSED}: the rover was stopped'


def test_the_e_stop_holds_rover_and_mast(world: AdapterWorld) -> None:
    world.drive()
    world.fault(e_stop=True)
    world.wait_until_it_stands()
    for name in ('move_forward', 'mast_open', 'mast_rotate'):
        assert world.refuses(name) == E_STOP_PRESSED
    world.fault(e_stop=False)
    wait_until(lambda: world.status()['move_allowed'], 'the release')
    world.does('mast_open')


# --- the agent that it watches ----------------------------------------------------------------


class Agent:
    """Publishes heartbeats until it freezes or leaves."""

    def __init__(self, box: Sandbox) -> None:
        self._box = box
        self.safe_reason, self._tick = '', 0
        self._publisher: Any = box.node.create_publisher(
            String, HEARTBEAT, heartbeat_qos(PATIENT_LEASE_S)
        )
        wait_until(lambda: self._publisher.get_subscription_count() == 1, 'the adapter to listen')
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)
        self._thread.start()

    def _beat(self) -> None:
        while not self._ended.wait(0.05):
            self._tick += 1
            text = encode_heartbeat(self._tick, self.safe_reason)
            self._publisher.publish(String(data=text))

    def freeze(self) -> None:
        self._ended.set()
        self._thread.join(timeout=5.0)

    def leave(self) -> None:
        self.freeze()
        if self._publisher is not None:
            self._box.node.destroy_publisher(self._publisher)
            self._publisher = None


@contextmanager
def living_agent(box: Sandbox) -> Iterator[Agent]:
    agent = Agent(box)
    try:
        yield agent
    finally:
        agent.leave()


def test_a_rover_whose_agent_freezes_is_stopped(world: AdapterWorld) -> None:
    with living_agent(world.box) as agent:
        world.drive()
        begun = world.x
        wait_until(lambda: world.x > begun + 5.0, 'a watched rover to go its way')
        assert world.moves()
        agent.freeze()
        world.wait_until_it_stands()
        assert world.wait_for_status(moving=False)['last_error_reason'] == SILENCE
        assert not world.status()['move_allowed']
        assert world.refuses('turn_left') == AGENT_IS_SILENT
        world.does('move_stop')
        world.does('mast_open')
        world.does('mast_close')
        agent.leave()
        world.wait_for_status(move_allowed=True)  # one that has left is not waited for
        world.does('move_forward')
        wait_until(world.moves, 'the rover to be driven by hand')
        world.does('move_stop')
    with living_agent(world.box) as agent:
        agent.safe_reason = 'starting'  # until the adapter has heard it
        world.wait_for_status(agent_safe_reason='starting')
        agent.safe_reason = ''
        world.wait_for_status(move_allowed=True)
        world.does('move_forward')
        wait_until(world.moves, 'the rover to move for the next agent')
        world.does('move_stop')


def test_a_forged_heartbeat_does_not_keep_the_motion_of_a_frozen_agent(
    world: AdapterWorld,
) -> None:
    with living_agent(world.box) as agent:
        world.drive()
        agent.freeze()
        with living_agent(world.box) as forger:
            world.wait_until_it_stands()
            refusal = world.refuses('move_forward')
            assert refusal.startswith(TWO_AGENTS)
            assert '/test_client' in refusal
            forger.leave()
        world.wait_for_status(moving=False)


@contextmanager
def foreign_driver(box: Sandbox) -> Iterator[None]:
    """Repeats a Twist."""
    publisher = box.node.create_publisher(Twist, '/cmd_vel', 10)
    wait_until(lambda: publisher.get_subscription_count() == 3, 'wheels, adapter and this test')
    ended, twist = threading.Event(), Twist()
    twist.linear.x = 2.0

    def drive() -> None:
        while not ended.wait(0.02):
            publisher.publish(twist)

    thread = threading.Thread(target=drive, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        box.node.destroy_publisher(publisher)


def held_back(world: AdapterWorld) -> None:
    seen = len(world.twists)
    wait_until(
        lambda: sum(not each.linear.x for each in list(world.twists)[seen:]) >= 50,
        'zero Twists after the violation',
    )


def test_a_stop_that_a_foreign_driver_undoes_is_not_done(world: AdapterWorld) -> None:
    world.drive()
    with foreign_driver(world.box):
        answer = world.ask('move_stop')
        assert not answer.success
        assert answer.message.startswith(STOP_NOT_CONFIRMED)
        violation = world.status()['violation']
        assert '/test_client' in violation
        assert '/adapter' not in violation
        held_back(world)
    world.wait_for_status(moving=False, violation='')


# --- other rovers: at real time, with other thresholds -----------------------------------------


@pytest.mark.parametrize('signum', [signal.SIGKILL, signal.SIGSTOP])
def test_the_rover_of_a_dead_agent_stands_soon(
    shared_adapter: SharedAdapter, signum: signal.Signals
) -> None:
    with shared_adapter.lend(speed=1.0, thresholds=SHIPPED_LEASE) as world:
        agent = world.box.run([sys.executable, '-c', AGENT], 'agent')
        world.wait_for_status('the agent to be heard', agent_safe_reason='starting')
        agent.popen.send_signal(signal.SIGUSR1)
        world.wait_for_status(move_allowed=True)
        world.does('move_forward')
        wait_until(world.moves, 'the rover to move')
        agent.popen.send_signal(signum)
        world.wait_until_it_stands()
        # By its lease: a watchdog of heartbeats would have called it silent.
        assert world.status()['last_error_reason'] == GONE
        agent.kill(signal.SIGKILL)


def test_no_motion_while_the_mast_is_on_its_way_or_up(shared_adapter: SharedAdapter) -> None:
    with shared_adapter.lend(speed=1.0) as world:
        for action in ('mast_open', 'mast_rotate'):
            answer = world.ask_later(action)
            wait_until(lambda: world.status()['mast'] == 'opening', 'the mast to set off')
            assert world.refuses('move_forward') == NEED_TO_CLOSE_MAST
            assert not answer.done()
            wait_until(answer.done, 'the mast to arrive')
            assert answer.result().success
            assert world.refuses('turn_left') == NEED_TO_CLOSE_MAST
        assert world.never_drove()


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


def test_a_stop_is_served_while_another_call_hangs(shared_adapter: SharedAdapter) -> None:
    with shared_adapter.lend(thresholds={'motion': {'service_timeout_s': 15.0}}) as world:
        world.does('mast_open')
        world.fault(fault_services=['mast_close:hang'])
        hanging = world.ask_later('mast_close')
        wait_until(lambda: world.status()['mast'] == 'closing', 'the call to be on its way')
        world.does('move_stop')
        assert not hanging.done()
        assert world.status()['mast_is_open'] is True  # on its way, and that counts as open
        assert world.refuses('move_forward') == NEED_TO_CLOSE_MAST
        world.fault(fault_services=[''])
        wait_until(hanging.done, 'the thawed call')
        assert near(world.mast(), *CLOSED) == hanging.result().success


def ask_to_stop(world: AdapterWorld) -> None:
    world.does('move_stop')


def press_and_release(world: AdapterWorld) -> None:
    for pressed in (True, False):
        world.fault(e_stop=pressed)
        world.wait_for_status(e_stop=pressed)


@pytest.mark.parametrize('stop', [ask_to_stop, press_and_release])
@EXECUTORS
def test_a_stop_also_ends_the_motions_that_wait_behind_another(
    shared_adapter: SharedAdapter, program: str, stop: Callable[[AdapterWorld], None]
) -> None:
    with shared_adapter.lend(program=program) as world:
        world.fault(fault_services=['turn_left:late:1.0'])
        answers = [world.ask_later('turn_left')]
        wait_until(lambda: world.status()['moving'], 'the first to be on its way')
        answers += [world.ask_later('move_forward') for _ in range(3)]
        stop(world)
        wait_until(lambda: all(answer.done() for answer in answers), 'all to be answered')
        first, *others = (answer.result().message for answer in answers)
        assert first
        assert not answers[0].result().success
        assert others == [STOPPED_WHILE_STARTING] * 3
        assert world.stands()
        world.does('move_forward')  # asked for after the stop


@EXECUTORS
def test_a_stop_ends_the_commands_of_the_mast_that_wait_and_none_that_come_after_it(
    shared_adapter: SharedAdapter, program: str
) -> None:
    with shared_adapter.lend(program=program) as world:
        world.does('mast_open')
        rotating = world.ask_later('mast_rotate')
        wait_until(lambda: world.status()['mast'] == 'opening', 'the mast to turn')
        waiting = world.ask_later('mast_close')
        world.does('move_stop')
        if not program:  # Humble's executor mixes what came before a stop with what came after
            later = world.ask_later('mast_open')
            wait_until(later.done, 'the last call')
            assert later.result().success, later.result().message
        wait_until(waiting.done, 'the call that waits')
        assert rotating.result().success, rotating.result().message
        assert waiting.result().message == STOPPED_WHILE_STARTING
        assert world.status()['mast'] == 'open'


def test_a_graph_that_does_not_answer_delays_no_start_no_stop_and_no_zero_twist(
    sandbox: Sandbox,
) -> None:
    world = AdapterWorld(sandbox, program=SILENT_GRAPH)
    wait_until(lambda: 'a look-up blocks' in world.adapter.output(), 'the graph to fall silent')
    world.drive()
    world.does('move_stop')
    world.does('move_forward')
    wait_until(world.moves, 'the rover to move again')
    with foreign_driver(world.box):
        assert not world.ask('move_stop').success
        wait_until(lambda: world.status()['violation'], 'the runaway to be noticed')
        held_back(world)


def test_killed_while_the_rover_moves_it_stops_it_first_when_it_is_back(sandbox: Sandbox) -> None:
    """Also where no service stops it, by the wheels."""
    world = AdapterWorld(sandbox).drive()
    for fault in ('', 'move_stop:hang'):
        world.adapter.kill(signal.SIGKILL)
        world.fault(fault_services=[fault])
        killed_at = world.x
        wait_until(lambda at=killed_at: world.x > at + 1.0, 'the rover to drive on without it')
        world.start_adapter()
        world.wait_until_it_stands()
        world.fault(fault_services=[''])
        world.settle()
        assert world.refuses('move_forward') == NEED_TO_CLOSE_MAST, 'what it knew is lost'
        assert world.stands()
        world.does('mast_close')
        world.does('move_forward')
        wait_until(world.moves, 'the rover to move again')


@pytest.mark.parametrize('name', ['move_stop', 'move_forward'])
def test_a_call_that_comes_while_it_starts_is_answered(sandbox: Sandbox, name: str) -> None:
    world = AdapterWorld(sandbox, program=SLOW_START)
    answer = world.ask_later(name)
    wait_until(lambda: answer.done() or not world.adapter.alive, 'an answer')
    assert world.adapter.alive, world.adapter.output()
    assert answer.result().message in ('', NEED_TO_CLOSE_MAST, STOPPED_WHILE_STARTING)


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
    assert 'Traceback' not in world.adapter.output()


# --- many callers ------------------------------------------------------------------------------


STORM_S = 3.0
# A mast that is soon where it is wanted leaves time for more requests.
STORMY = {'open_duration_s': 0.1, 'close_duration_s': 0.1, 'rotate_duration_s': 0.6}
DRIVER = (*MOVES, *MOVES, 'mast_close', 'mast_close', 'move_stop', 'get_status')
MEDDLER = (*MOVES, *MASTS, 'move_stop', 'move_stop', 'get_status')
REFUSALS = {
    MOVE_IN_PROGRESS,
    NEED_TO_CLOSE_MAST,
    NEED_TO_OPEN_MAST,
    'Mast is moving',
    STOPPED_WHILE_STARTING,
}


class Caller(threading.Thread):
    """Asks for something at random until told to end, and counts the answers."""

    def __init__(
        self, box: Sandbox, number: int, requests: Sequence[str], ended: threading.Event
    ) -> None:
        super().__init__(name=f'caller-{number}', daemon=True)
        self._clients = {
            name: box.node.create_client(Trigger, f'/adapter/{name}') for name in set(requests)
        }
        self._requests, self._ended = requests, ended
        self._random = random.Random(number)
        self.answers: Counter[str] = Counter()
        self.problem: Exception | None = None

    def run(self) -> None:
        try:
            while not self._ended.is_set():
                name = self._random.choice(self._requests)
                response = call(self._clients[name], Trigger.Request(), timeout_s=30.0)
                self.answers[f'{name} done' if response.success else response.message] += 1
                self._ended.wait(self._random.uniform(0.0, 0.2))
        except Exception as problem:  # shown by the test
            self.problem = problem


@EXECUTORS
def test_a_storm_of_callers_neither_blocks_it_nor_gets_past_its_rules(
    sandbox: Sandbox, program: str
) -> None:
    witness = Witness(sandbox)
    world = AdapterWorld(
        sandbox, speed=10.0, thresholds={'mast': STORMY}, program=program
    ).settle()
    ended = threading.Event()
    callers = [
        Caller(sandbox, number, requests, ended)
        for number, requests in enumerate((DRIVER, DRIVER, MEDDLER, MEDDLER))
    ]
    for caller in callers:
        caller.start()
    ended.wait(STORM_S)
    moves = {f'{move} done' for move in MOVES}
    try:
        wait_until(
            lambda: any(moves.intersection(caller.answers) for caller in callers),
            'the storm to move the rover',
        )
    finally:
        ended.set()
    for caller in callers:
        caller.join(timeout=40)
    assert not [caller.name for caller in callers if caller.is_alive()], 'blocked'
    assert not [caller.problem for caller in callers if caller.problem]

    answers = sum((caller.answers for caller in callers), Counter[str]())
    print(answers)
    done = {name for name in answers if name.endswith(' done')}
    assert set(answers) - done <= REFUSALS, answers
    assert 'move_stop done' in done
    world.does('move_stop')
    world.does('get_status')
    assert world.stands()
    assert witness.violations() == []


def test_only_calls_of_other_nodes_are_trace_events_with_their_caller(sandbox: Sandbox) -> None:
    config = load_config()
    trace = sandbox.collect(String, config.topics.trace.events, history_qos(100))
    sandbox.stand_in(time_scale=SPEED)
    spec = next(node for node in config.nodes.nodes if node.name == 'adapter')
    levels = spec.log_arguments('', debug=True)
    adapter = sandbox.start('curiosity_rosa_demo', 'adapter_node', *levels)
    agent = rclpy.create_node('agent')
    client = RoverClient(agent, config)
    said = ['not heard yet']
    heartbeat = Heartbeat(agent, config, LossCounter(), lambda: said[0], client.sent_calls)
    agent.create_timer(0.1, heartbeat.beat)

    def hears(reason: str) -> bool:
        with suppress(ServiceFailed):  # which is not discovered yet
            return bool(client.status()['agent_safe_reason'] == reason)
        return False

    def called() -> list[tuple[object, object]]:
        """The services and callers of the calls that the trace reports."""
        data = [decode(each.data).data or {} for each in trace]
        return [(each['service'], each['callers']) for each in data if 'callers' in each]

    spin = SpinThread('agent', agent, on_crash=sandbox.crashes.append)
    try:
        for said[0] in ('not heard yet', ''):  # it counts the calls from its first heartbeat on
            wait_until(lambda: hears(said[0]), 'the adapter to hear the heartbeat')
        client.trigger('mast_close')
        client.trigger('move_stop')
        assert sandbox.call(Trigger, '/adapter/move_stop').success
        client.trigger('move_stop')
        wait_until(called, 'the call in the trace')
    finally:
        spin.close()
        agent.destroy_node()
    assert called() == [('/adapter/move_stop', ['/test_client'])]
    debug_lines = [line for line in adapter.output().splitlines() if 'DEBUG' in line]
    assert len([line for line in debug_lines if '/adapter/move_stop: done' in line]) == 3
    assert [line for line in debug_lines if '[adapter]' not in line] == []
