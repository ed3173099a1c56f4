# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The node of the rover's body: wheels, sensors and camera. It has the stand-in's parameters."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
import dataclasses
import time
from typing import Any

from builtin_interfaces.msg import Time
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.infra.ros_io import STEADY_CLOCK
from curiosity_stand_in import frames, sensors
from curiosity_stand_in.body import Rates, State, WHEELS
from curiosity_stand_in.kinematics import Pose
from curiosity_stand_in.node import RoverNode, wanted
from curiosity_stand_in.parts import INITIAL, Joints
from curiosity_stand_in.renderer import Renderer
from curiosity_stand_in.rover import Rover
from curiosity_stand_in.settings import PARAMETERS
from curiosity_stand_in.signs import signs_before
from geometry_msgs.msg import Twist
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import BatteryState
from std_msgs.msg import Bool, Float64MultiArray

WHEEL_TOPIC = 'wheel_velocity_controller/commands'
SENSOR_S, SENSOR_LEAST_S = 0.1, 0.02  # period in the rover's time; the least in wall time
CAMERA_LEAST_S = 0.1
JOINTS_S = 0.01  # the demo's joint_state_broadcaster; the least in wall time as well
BATTERY_S, BATTERY_LEAST_S = 1.0, 0.1
CLOCK_S, CLOCK_STEP_S = 0.05, 1.0  # at most: wall time, and the rover's time


class BodyNode(RoverNode):
    """Raises ConfigError if the initial value of a parameter or the configuration is invalid."""

    def __init__(self) -> None:
        super().__init__('curiosity_stand_in', PARAMETERS)
        config = load_config(self.settings.config_dir, robot=self.settings.robot)
        self.thresholds = config.thresholds
        self.rover = Rover(
            self.thresholds,
            time.monotonic,
            time_scale=self.settings.time_scale,
            pose=Pose(self.settings.initial_x, self.settings.initial_y, self.settings.initial_yaw),
            joints=INITIAL[self.settings.initial_mast],
            charge=self.settings.battery,
            rates=self._rates(),
        )
        self._set_faults()
        self._battery = self.create_publisher(BatteryState, 'battery_state', 10)
        self._renderer: Future[Renderer] | None = None
        self._drawn: tuple[Pose, Joints] | None = None
        self._jpeg: bytes | None = None

    def _rates(self) -> Rates:
        return Rates(self.settings.battery_drain_per_s, self.settings.battery_charge_per_s)

    def start(self, on_settings: Callable[[], None]) -> None:
        """Start to subscribe and publish; ``on_settings`` is called after each later change."""
        self._on_settings = on_settings
        self.on_change(self._settings_change)
        self._wheels = self.create_subscription(Twist, 'cmd_vel', self._drive, 10)
        self.create_subscription(Float64MultiArray, WHEEL_TOPIC, self._command_wheels, 10)
        self._publish_e_stop()
        stamp = self._stamp(self.rover.state())
        self._joints_seen = frames.joints(self.settings.lidar)
        self._tf_static.publish(sensors.joint_frames(self._joints_seen, {}, stamp, moving=False))
        scale = self.settings.time_scale
        for period, least, publish in (
            (JOINTS_S, JOINTS_S, self._publish_joints),
            (SENSOR_S, SENSOR_LEAST_S, self._publish_sensors),
            (SENSOR_S, CAMERA_LEAST_S, self._publish_camera),
            (BATTERY_S, BATTERY_LEAST_S, self._publish_battery),
        ):
            self.create_timer(max(period / scale, least), publish, clock=STEADY_CLOCK)
        if self.settings.publish_clock:
            self._time = self.create_publisher(Clock, 'clock', 10)
            period = min(CLOCK_S, CLOCK_STEP_S / scale)
            self.create_timer(period, self._publish_clock, clock=STEADY_CLOCK)

    def _settings_change(self, values: dict[str, Any]) -> None:
        # Only if this change names it: the charge has changed since it was last set.
        with self.rover.body() as body:
            body.set_battery(charge=values.get('battery'), rates=self._rates())
        self._set_faults()
        if 'e_stop' in values:
            self._publish_e_stop()
        self._on_settings()

    def _set_faults(self) -> None:
        with self.rover.body() as body:
            body.set_slip(self.settings.fault_slip)
            body.sag_s = self.settings.fault_sag

    def _drive(self, twist: Twist) -> None:
        if self.settings.fault_wheel_node:
            return
        try:
            with self.rover.body() as body:
                body.drive(twist.linear.x, twist.angular.z)
        except ValueError as error:
            self.get_logger().warning(
                f'{self._wheels.topic_name} ignored, {error}',
                throttle_duration_sec=1.0,
                throttle_time_source_type=STEADY_CLOCK,
            )

    def _command_wheels(self, command: Float64MultiArray) -> None:
        """Stop wheels whose node is dead. A living move_wheel would repeat its own command within
        0.1 s. Like the controller, reject another number of values.
        """
        if self.settings.fault_wheel_node and list(command.data) == [0.0] * len(WHEELS):
            with self.rover.body() as body:
                body.drive(0.0, 0.0)

    def _stamp(self, state: State) -> Time:
        return sensors.time_message(state.seconds if self.settings.publish_clock else time.time())

    def _publish_clock(self) -> None:
        self._time.publish(Clock(clock=sensors.time_message(self.rover.state().seconds)))

    def _publish_battery(self) -> None:
        if not self.settings.fault_battery:
            state = self.rover.state()
            self._battery.publish(sensors.battery(state.battery, self._stamp(state)))

    def _publish_e_stop(self) -> None:
        """Publish the state of the button. The controller of the rover must act on it."""
        self._e_stop.publish(Bool(data=self.settings.e_stop))

    def _publish_joints(self) -> None:
        if wanted(self._joints) and not self.settings.fault_joint_states:
            state = self.rover.state()
            self._joints.publish(sensors.joint_states(state, self._stamp(state)))

    def _publish_sensors(self) -> None:
        state = self.rover.state()
        stamp = self._stamp(state)
        faults = self.settings
        if wanted(self._odometry) and not faults.fault_odometry:
            pitch = faults.fault_tilt or state.pose.pitch
            tilted = dataclasses.replace(state.pose, pitch=pitch)
            shown = dataclasses.replace(state, pose=tilted)
            self._odometry.publish(sensors.odometry(shown, stamp))
        if wanted(self._tf) and not faults.fault_tf_lost:
            nan = faults.fault_tf_nan
            message = sensors.transforms(state, stamp, nan=nan)
            angles = frames.angles(state.joints)
            moving = sensors.joint_frames(self._joints_seen, angles, stamp, moving=True, nan=nan)
            message.transforms = [*message.transforms, *moving.transforms]
            self._tf.publish(message)
        if wanted(self._scan) and not faults.fault_scan:
            self._scan.publish(sensors.scan(state, stamp, faults.lidar))

    def _publish_camera(self) -> None:
        raw, compressed = wanted(self._raw), wanted(self._compressed)
        if self.settings.fault_image == 'stopped':
            return
        state = self.rover.state()
        stamp = self._stamp(state)
        if wanted(self._camera_info):
            self._camera_info.publish(sensors.camera_info(stamp))
        if not (raw or compressed) or (renderer := self._made_renderer()) is None:
            return
        corrupt = self.settings.fault_image == 'corrupt'
        self._draw(renderer, state)
        if raw:
            self._raw.publish(sensors.raw_image(self._picture, stamp, corrupt=corrupt))
        if compressed:
            if self._jpeg is None:
                self._jpeg = sensors.jpeg(self._picture)
            self._compressed.publish(sensors.compressed_image(self._jpeg, stamp, corrupt=corrupt))

    def _made_renderer(self) -> Renderer | None:
        """The renderer, made at the first need; None: not ready yet. Making it takes a second on a
        busy machine, and the adapter takes joint states for lost after a second of silence: so it
        has a thread of its own.
        """
        if self._renderer is None:
            first = self.settings
            start = Pose(first.initial_x, first.initial_y, first.initial_yaw)
            maker = ThreadPoolExecutor(max_workers=1, thread_name_prefix='renderer')
            self._renderer = maker.submit(Renderer, signs_before(start, first.signs))
            maker.shutdown(wait=False)
        return self._renderer.result() if self._renderer.done() else None

    def _draw(self, renderer: Renderer, state: State) -> None:
        """Render the picture if the pose or the joints have changed since the last one."""
        if self._drawn != (state.pose, state.joints):
            self._picture = renderer.render(state.pose, state.joints)
            self._jpeg = None
            self._drawn = (state.pose, state.joints)
