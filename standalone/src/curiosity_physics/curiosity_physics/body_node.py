# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""The ROS shell of the simulation: time, topics and the controllers' commands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import threading
import time
from typing import Any

from curiosity_physics import messages
from curiosity_physics.camera import Camera
from curiosity_physics.controllers import PERIOD_S, TrajectoryController
from curiosity_physics.drivers import PERIOD_S as DRIVER_S
from curiosity_physics.drivers import WheelDriver
from curiosity_physics.model import build, Built
from curiosity_physics.settings import PARAMETERS
from curiosity_physics.simulation import NEAREST_M, Simulation, State
from curiosity_physics.worlds import make
from curiosity_stand_in import sensors
from curiosity_stand_in.node import RoverNode, wanted
from curiosity_stand_in.parts import Part, Waypoints
from curiosity_stand_in.robot import Floats, Robot
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Bool, Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

# In control periods of the simulation.
CLOCK_TICKS, SENSOR_TICKS, TRUTH_TICKS = 2, 10, 5
BEHIND_S = 0.2  # a simulation that is later than this runs on from now


class PhysicsNode(RoverNode):
    """Raises ConfigError if the initial value of a parameter is invalid."""

    def __init__(self, load: Callable[[str], Robot]) -> None:
        super().__init__('curiosity_physics', PARAMETERS)
        first = self.settings
        world = make(first.world, first.seed, rock_ahead_m=first.rock_ahead)
        self.built: Built = build(load(first.demos), world, friction=first.friction)
        self._simulation = Simulation(
            self.built,
            x=first.initial_x,
            y=first.initial_y,
            yaw=first.initial_yaw,
            standing=first.standing,
        )
        self._lock = threading.Lock()  # of the simulation and the driver
        self._driver: WheelDriver | None = None
        self._closing = threading.Event()
        self._moment: tuple[float, Floats] | None = None  # that the camera draws next
        self._moment_changed = threading.Condition()
        self._time = self.create_publisher(Clock, 'clock', 10)
        self._truth = self.create_publisher(Odometry, 'ground_truth/odometry', 10)

    def start(self, *, drives: bool, on_crash: Callable[[Exception], None]) -> None:
        """Start time. ``drives``: this node does what the demo's move_wheel does."""
        self.on_change(self._settings_change)
        self._subscribe(drives=drives)
        self._e_stop.publish(Bool(data=self.settings.e_stop))
        joints, stamp = self.built.robot.joints, sensors.time_message(0.0)
        self._tf_static.publish(sensors.joint_frames(joints, {}, stamp, moving=False))
        self._on_crash = on_crash
        self._threads = [
            threading.Thread(target=self._guard, args=(work,), name=work.__name__, daemon=True)
            for work in (self._simulate, self._draw)
        ]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        self._closing.set()
        with self._moment_changed:
            self._moment_changed.notify_all()
        for thread in self._threads:
            thread.join(timeout=3.0)

    # --- what the drivers of our own call ------------------------------------------------------

    def move(self, part: Part, waypoints: Waypoints) -> None:
        points = [(point.seconds, point.joints) for point in waypoints]
        self._follow(self._simulation.controllers.parts[part], part.joints, points)

    # --- ROS -----------------------------------------------------------------------------------

    def _settings_change(self, values: dict[str, Any]) -> None:
        if 'e_stop' in values:  # the only one that is not fixed
            self._e_stop.publish(Bool(data=values['e_stop']))

    def _subscribe(self, *, drives: bool) -> None:
        controllers = self._simulation.controllers
        for name, command in (
            ('wheel_velocity_controller', controllers.wheels.command),
            ('wheel_tree_position_controller', controllers.suspension.command),
        ):
            self.create_subscription(
                Float64MultiArray, f'{name}/commands', self._commander(name, command), 10
            )
        for name, follower in (
            ('steer_position_controller', controllers.steer),
            *(
                (f'{part.name}_joint_trajectory_controller', follower)
                for part, follower in controllers.parts.items()
            ),
        ):
            self.create_subscription(
                JointTrajectory, f'{name}/joint_trajectory', self._follower(name, follower), 10
            )
        if drives:
            self._driver = WheelDriver(controllers)
            self.create_subscription(Twist, 'cmd_vel', self._drive, 10)

    def _commander(
        self, name: str, command: Callable[[Sequence[float]], None]
    ) -> Callable[[Float64MultiArray], None]:
        def callback(message: Float64MultiArray) -> None:
            try:
                with self._lock:
                    command(message.data)
            except ValueError as error:
                self.get_logger().error(f'{name}: a command is ignored: {error}')

        return callback

    def _follower(
        self, name: str, controller: TrajectoryController
    ) -> Callable[[JointTrajectory], None]:
        def callback(message: JointTrajectory) -> None:
            points = [
                (each.time_from_start.sec + each.time_from_start.nanosec * 1e-9, each.positions)
                for each in message.points
            ]
            try:
                self._follow(controller, message.joint_names, points)
            except ValueError as error:
                self.get_logger().error(f'{name}: a trajectory is rejected: {error}')

        return callback

    def _follow(
        self,
        controller: TrajectoryController,
        names: Sequence[str],
        points: Sequence[tuple[float, Sequence[float]]],
    ) -> None:
        with self._lock:
            state = self._simulation.state()
            controller.follow(names, points, now=state.seconds, actual=state.angles)

    def _drive(self, message: Twist) -> None:
        assert self._driver is not None
        with self._lock:
            self._driver.drive(message.linear.x, message.angular.z)

    # --- time ----------------------------------------------------------------------------------

    def _guard(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:
            if not self._closing.is_set():  # else a publisher that is gone
                self._on_crash(error)

    def _simulate(self) -> None:
        scale = self.settings.time_scale
        joint_ticks = max(1, round(scale))
        driver_ticks = round(DRIVER_S / PERIOD_S)
        due, tick = time.monotonic(), 0
        while not self._closing.is_set():
            with self._lock:
                if self._driver is not None and tick % driver_ticks == 0:
                    now = self._simulation.state()
                    self._driver.tick(now.seconds, now.angles)
                self._simulation.advance()
                state = self._simulation.state()
                scans = tick % SENSOR_TICKS == 0 and wanted(self._scan)
                ranges = self._simulation.scan() if scans else None
                if tick % SENSOR_TICKS == 5:
                    self._set_moment(state)
            self._publish(state, tick, ranges, joint_ticks)
            tick += 1
            due += PERIOD_S / scale
            late = time.monotonic() - due
            if late < 0.0:
                self._closing.wait(-late)
            elif late > BEHIND_S:
                due += late

    def _publish(self, state: State, tick: int, ranges: Floats | None, joint_ticks: int) -> None:
        stamp = sensors.time_message(state.seconds)
        if tick % CLOCK_TICKS == 0:
            self._time.publish(Clock(clock=stamp))
        if tick % joint_ticks == 0:
            self._joints.publish(messages.joint_states(state, stamp))
        if tick % TRUTH_TICKS == 0 and wanted(self._truth):
            self._truth.publish(messages.odometry(state, stamp, true=True))
        if tick % SENSOR_TICKS == 0:
            odometry = messages.odometry(state, stamp)
            self._odometry.publish(odometry)
            joints = self.built.robot.joints
            frames = sensors.joint_frames(joints, state.angles, stamp, moving=True)
            frames.transforms = [messages.base_transform(odometry), *frames.transforms]
            self._tf.publish(frames)
        if ranges is not None:
            self._scan.publish(sensors.scan_message(ranges, stamp, NEAREST_M))

    # --- camera --------------------------------------------------------------------------------

    def _set_moment(self, state: State) -> None:
        if wanted(self._raw) or wanted(self._compressed) or wanted(self._camera_info):
            with self._moment_changed:
                self._moment = state.seconds, self._simulation.configuration()
                self._moment_changed.notify_all()

    def _draw(self) -> None:
        """Draw the newest moment, as often as the machine can; in a thread of its own, which
        OpenGL needs and which lets time run on.
        """
        camera: Camera | None = None
        while (moment := self._next_moment()) is not None:
            seconds, configuration = moment
            if camera is None:
                try:
                    camera = Camera(self.built)
                except RuntimeError as error:
                    self.get_logger().error(f'No pictures: {error}')
                    return
            picture = camera.draw(configuration)
            stamp = sensors.time_message(seconds)
            self._camera_info.publish(sensors.camera_info(stamp))
            if wanted(self._raw):
                self._raw.publish(sensors.raw_image(picture, stamp))
            if wanted(self._compressed):
                self._compressed.publish(sensors.compressed_image(sensors.jpeg(picture), stamp))
        if camera is not None:
            camera.close()

    def _next_moment(self) -> tuple[float, Floats] | None:
        """Wait for a new moment; None: the node closes."""
        with self._moment_changed:
            while self._moment is None and not self._closing.is_set():
                self._moment_changed.wait(timeout=1.0)
            moment, self._moment = self._moment, None
            return None if self._closing.is_set() else moment
