# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The adapter in front of the stand-in rover, both as processes, and what was seen of them."""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from contextlib import contextmanager, ExitStack
import json
import math
import sys
import time
from typing import Any

from curiosity_rosa_demo.domain.models import NEED_TO_CLOSE_MAST
from curiosity_rosa_demo.infra.config_loader import load_config
from geometry_msgs.msg import Pose, Twist
from harness import Process, Sandbox, wait_until
from nav_msgs.msg import Odometry
import pytest
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

MOVES = ('move_forward', 'turn_left', 'turn_right')
MASTS = ('mast_open', 'mast_close', 'mast_rotate')
ODOMETRY = '/model/curiosity_mars_rover/odometry'
SPEED = 4.0  # the rover's seconds in one of ours
THRESHOLDS = load_config().thresholds
METRES_PER_S = THRESHOLDS.body.forward_mps  # of the rover's time
TURN_RADPS = THRESHOLDS.body.turn_mps / THRESHOLDS.obstacles.turn_radius_m
CLOSED = (1.57, -1.57)
RAISED_P = 0.0
SOUND: dict[str, Any] = {
    'e_stop': False,
    'fault_tf_lost': False,
    'fault_tf_nan': False,
    'fault_joint_states': False,
    'fault_odometry': False,
    'fault_slip': 0.0,
    'fault_tilt': 0.0,
    'fault_wheel_node': False,
    'fault_scan': False,
    'fault_services': [''],
}
STATUS_AGAIN_S = 3.0  # a status that a killed adapter did not answer is asked for again
TOLERANCE = 0.15  # radians; a little more than the adapter's own

RUN_ADAPTER = """
from curiosity_rosa_demo.adapter.adapter_node import main
main()
"""
# The adapter where rclpy has no EventsExecutor, as in Humble.
WITHOUT_EVENTS_EXECUTOR = f"""
import sys
sys.modules['rclpy.experimental'] = None
{RUN_ADAPTER}
"""
# The adapter in a graph that never says who is there.
SILENT_GRAPH = f"""
import threading
from rclpy.node import Node

def blocked(*_):
    print('a look-up blocks', flush=True)
    threading.Event().wait()

for name in ('get_publishers_info_by_topic', 'count_publishers', 'count_subscribers',
             'get_node_names_and_namespaces', 'get_client_names_and_types_by_node',
             'get_service_names_and_types', 'get_service_names_and_types_by_node'):
    setattr(Node, name, blocked)
{RUN_ADAPTER}
"""
# The adapter whose last thread begins late: its services are there before.
SLOW_START = f"""
import threading
from curiosity_rosa_demo.infra.process import SpinThread

begin = SpinThread.__init__

def begin_late(self, name, *nodes, **options):
    if name == 'adapter_scan':
        threading.Event().wait(2.0)
    begin(self, name, *nodes, **options)

SpinThread.__init__ = begin_late
{RUN_ADAPTER}
"""

EXECUTORS = pytest.mark.parametrize(
    'program', ['', WITHOUT_EVENTS_EXECUTOR], ids=['events', 'single-threaded']
)


class AdapterWorld:
    """Starts both. ``thresholds`` are changes to thresholds.yaml, ``robot`` is the profile and
    ``config_dir`` its folder, ``program`` the source of another adapter; the rest goes to the
    rover.
    """

    def __init__(
        self,
        box: Sandbox,
        *,
        thresholds: dict[str, Any] | None = None,
        speed: float = SPEED,
        program: str = '',
        sim_time: bool = False,
        robot: str = '',
        config_dir: str = '',
        **rover: Any,
    ) -> None:
        self.box = box
        self.namespace = ''  # of the adapter that is asked
        self.odometry: list[Odometry] = box.collect(Odometry, ODOMETRY, 100)
        self.joints: list[JointState] = box.collect(JointState, '/joint_states', 100)
        self.twists: list[Twist] = box.collect(Twist, '/cmd_vel', 100)
        self.sim_time = sim_time
        self._program = program
        self._config_dir, self._robot = config_dir, robot
        self._start: Pose | None = None
        if not (config_dir or robot):
            thresholds = thresholds or {}
            longest = thresholds.get('motion', {}).get('max_duration_s', 30.0)
            turn = {'turn': {'max_motion_s': min(20.0, longest / 2)}}
            self._config_dir = box.config_dir(thresholds=thresholds, agent=turn)
        self.rover = self._start_robot(time_scale=speed, **rover)
        self.adapter = self.start_adapter()

    def _start_robot(self, **parameters: Any) -> Process:
        if load_config(self._config_dir, robot=self._robot).robot.mobile_base:
            return self.box.stand_in(**parameters)
        if self._config_dir:
            parameters['config_dir'] = self._config_dir
        return self.box.start(
            'curiosity_stand_in', 'profile_node', robot=self._robot, **parameters
        )

    def start_adapter(self, *, config_dir: str = '') -> Process:
        """``config_dir``: instead of that of the world."""
        parameters: dict[str, Any] = {'use_sim_time': self.sim_time}
        if self._robot:
            parameters['robot'] = self._robot
        if folder := config_dir or self._config_dir:
            parameters['config_dir'] = folder
        if not self._program:
            self.adapter = self.box.overlay('adapter_node', **parameters)
        else:
            command = [sys.executable, '-c', self._program, '--ros-args']
            for name, value in parameters.items():
                command += ['-p', f'{name}:={json.dumps(value)}']
            self.adapter = self.box.run(command, 'adapter')
        return self.adapter

    # --- asking -----------------------------------------------------------------------------

    def service(self, name: str) -> str:
        prefix = f'/{self.namespace}' if self.namespace else ''
        return f'{prefix}/adapter/{name}'

    def ask(self, name: str, timeout_s: float = 30.0) -> Trigger.Response:
        return self.box.call(Trigger, self.service(name), timeout_s=timeout_s)

    def does(self, name: str) -> None:
        """Ask for it and insist on success."""
        response = self.ask(name)
        assert response.success, f'{name}: {response.message}'

    def refuses(self, name: str) -> str:
        """Ask for it, insist on a refusal; the reason, which the status repeats."""
        response = self.ask(name)
        assert not response.success, f'{name} succeeded'
        assert response.message
        return str(response.message)

    def ask_later(self, name: str) -> Any:
        """A future of the answer."""
        client = self.box.client(Trigger, self.service(name))
        assert client.wait_for_service(timeout_sec=20.0), f'{name} did not appear'
        return client.call_async(Trigger.Request())

    def status(self) -> dict[str, Any]:
        response = self.box.call(
            Trigger, self.service('get_status'), timeout_s=30.0, again_s=STATUS_AGAIN_S
        )
        assert response.success
        status: dict[str, Any] = json.loads(response.message)
        return status

    def wait_for_status(self, what: str = 'that status', /, **wanted: Any) -> dict[str, Any]:
        """The first status that has these values."""
        last: dict[str, Any] = {}

        def look() -> dict[str, Any] | None:
            last.update(self.status())
            return last if all(last[key] == value for key, value in wanted.items()) else None

        try:
            status: dict[str, Any] = wait_until(look, f'{what}: {wanted}')
        except AssertionError as error:
            raise AssertionError(f'{error}; the last one was {last}') from None
        return status

    def fault(self, **values: Any) -> None:
        """Change parameters of the rover."""
        assert self.box.set_parameters('curiosity_stand_in', **values) == []

    @contextmanager
    def repeated(self, topic: str, message: Any) -> Iterator[None]:
        """A frozen sensor: somebody publishes the same message again and again."""
        node = self.box.node
        publisher = node.create_publisher(type(message), topic, 10)
        timer = node.create_timer(0.1, lambda: publisher.publish(message))
        try:
            yield
        finally:
            node.destroy_timer(timer)
            node.destroy_publisher(publisher)

    # --- bringing about ---------------------------------------------------------------------

    def settle(self) -> AdapterWorld:
        """Until the adapter has made sure that the rover stands, and sees it."""
        wait_until(lambda: self.odometry, 'odometry')
        wait_until(lambda: self.status()['rover_x'] is not None, 'the adapter to hear it')
        self.wait_for_status('a rover known to stand', moving=False)
        return self

    def close_mast(self) -> AdapterWorld:
        self.settle()
        self.does('mast_close')
        return self

    def drive(self, name: str = 'move_forward') -> AdapterWorld:
        """Close the mast and drive off."""
        self.close_mast()
        self.does(name)
        wait_until(self.moves, 'the rover to move')
        return self

    def reset(self) -> AdapterWorld:
        """For the next test: a sound rover that stands with its mast closed, at x = 0, and an
        adapter whose last error is that the mast was up.
        """
        for process in (self.rover, self.adapter):
            assert process.alive, process.output()
        self.fault(**SOUND)
        wait_until(lambda: self.ask('move_stop').success, 'the stop of what the last test left')
        self.settle()
        self.does('mast_open')
        assert self.refuses('move_forward') == NEED_TO_CLOSE_MAST
        self.does('mast_close')
        assert self.stands()
        self._start = self.odometry[-1].pose.pose
        self.twists.clear()
        return self

    # --- seeing -----------------------------------------------------------------------------

    def moves(self) -> bool:
        """Whether the newest odometry says so."""
        return bool(self.odometry) and in_motion(self.odometry[-1])

    @property
    def x(self) -> float:
        """After ``reset`` metres ahead of where the rover stood then, else in odom."""
        here = self.odometry[-1].pose.pose.position
        if self._start is None:
            return float(here.x)
        start = self._start.position
        yaw = 2 * math.atan2(self._start.orientation.z, self._start.orientation.w)
        return float((here.x - start.x) * math.cos(yaw) + (here.y - start.y) * math.sin(yaw))

    def stands(self, messages: int = 10) -> bool:
        """Whether the next so many odometry messages all say that the rover stands."""
        seen = len(self.odometry)
        wait_until(lambda: len(self.odometry) >= seen + messages, 'odometry to go on')
        return not any(in_motion(message) for message in self.odometry[seen:])

    def wait_until_it_stands(self, timeout_s: float = 20.0) -> None:
        """Until it stands and goes on standing."""
        wait_until(self.stands, 'the rover to stand', timeout_s)

    def never_drove(self) -> bool:
        """Whether nobody has asked the wheels to turn, nor have they, since the last ``reset``."""
        return self.stands() and not any(
            twist.linear.x or twist.angular.z for twist in list(self.twists)
        )

    def measured(self, messages: int = 1) -> list[JointState]:
        """The next so many joint states that the rover measures. An answer may arrive before a
        message that is older.
        """
        now, seen = time.time(), len(self.joints)

        def fresh() -> list[JointState]:
            found = [each for each in self.joints[seen:] if _seconds(each) > now]
            return found if len(found) >= messages else []

        return list(wait_until(fresh, f'{messages} joint states from now on'))[:messages]

    def mast(self) -> tuple[float, float]:
        """mast_p_joint and mast_02_joint, radians."""
        return mast_of(self.measured()[0])

    def mast_stays(self, messages: int = 100) -> bool:
        """Whether the next so many joint states, 100 a second, show a mast that no command
        moves: a servo still creeps for a moment after its mast is confirmed.
        """
        first, *rest = map(mast_of, self.measured(messages))
        return all(math.dist(first, each) < THRESHOLDS.mast.tolerance_rad for each in rest)


class SharedAdapter:
    """One adapter and its rover for the tests of a module that neither kill nor configure them.

    rclpy is in one domain at a time: a test that wants one of its own ends this one.
    """

    def __init__(self) -> None:
        self._open = ExitStack()
        self._options: dict[str, Any] | None = None

    @contextmanager
    def lend(self, **options: Any) -> Iterator[AdapterWorld]:
        """For one test; with the ``options`` of the test before it, the same one."""
        if self._options != options:
            self.end()
            box = self._open.enter_context(Sandbox())
            self._world, self._options = AdapterWorld(box, **options), options
            self._world.settle()
        try:
            self._world.reset()
        except AssertionError:  # what one test broke is not handed to the next
            self._world.box.show_logs()
            self.end()
            raise
        with self._world.box.lent():
            try:
                yield self._world
            finally:
                if self._world.adapter.alive:
                    print(self._world.status())  # pytest shows it if the test fails

    def end(self) -> None:
        self._options = None
        self._open.close()


def in_motion(message: Odometry) -> bool:
    twist = message.twist.twist
    return bool(abs(twist.linear.x) > 1e-3 or abs(twist.angular.z) > 1e-3)


def mast_of(message: JointState) -> tuple[float, float]:
    positions = dict(zip(message.name, message.position, strict=True))
    return positions['mast_p_joint'], positions['mast_02_joint']


def near(mast: tuple[float, float], p: float, turn: float) -> bool:
    return abs(mast[0] - p) <= TOLERANCE and abs(mast[1] - turn) <= TOLERANCE


LEASH_S = 30.0  # motion.max_duration_s
SLACK_S = 1.0  # a stop's own time
QUEUE = 1000


class Witness:
    """What the rover itself tells of how it drove from now on, compared by its own time."""

    def __init__(self, box: Sandbox, namespace: str = '') -> None:
        self._odometry: list[Odometry] = box.collect(Odometry, namespace + ODOMETRY, QUEUE)
        joints = f'{namespace}/joint_states'
        self._joints: list[JointState] = box.collect(JointState, joints, QUEUE)

    @property
    def place(self) -> tuple[float, float]:
        """Where the rover is, by its last word: x and y, metres."""
        wait_until(lambda: self._odometry, 'odometry of the rover')
        at = self._odometry[-1].pose.pose.position
        return at.x, at.y

    def violations(self) -> list[str]:
        """Where it drove with its mast not stowed, or for longer than the leash."""
        assert self._joints, 'the rover told nothing of its mast'
        masts = sorted((_seconds(each), mast_of(each)) for each in list(self._joints))
        found: list[str] = []
        since: float | None = None
        for message in list(self._odometry):
            at = _seconds(message)
            if not in_motion(message):
                since = None
                continue
            since = at if since is None else since
            if at - since > LEASH_S + SLACK_S:
                found.append(f'{at:.2f} s: drives since {since:.2f} s')
            before = bisect.bisect_right(masts, at, key=lambda each: each[0])
            if before and not near(masts[before - 1][1], *CLOSED):
                found.append(f'{at:.2f} s: drives with its mast at {masts[before - 1][1]}')
        return found


def _seconds(message: Odometry | JointState) -> float:
    return float(message.header.stamp.sec + message.header.stamp.nanosec * 1e-9)
