# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The simulated rover: Gazebo's world and the demo's nodes, with their manners.

``run_demo`` answers at once and repeats its Twist every 0.1 s until ``/move_stop``, which sends
one zero Twist. The wheels keep the last Twist for ever, also when ``run_demo`` dies. The mast
needs its seconds. Odometry, TF and joints come at 10 Hz, the scan at 5 Hz.
"""

from __future__ import annotations

import array
from collections.abc import Callable
from dataclasses import dataclass
import math
import random
from typing import Any

from curiosity_rosa_demo.adapter.mast import MastAction
from curiosity_rosa_demo.domain.ground import (
    Geometry,
    GroundAnalysis,
    TextureClass,
    TextureResult,
)
from curiosity_rosa_demo.infra.config.contracts import Config
from curiosity_rosa_demo.infra.ros_io import history_qos
from curiosity_rosa_demo.simulation.body import Body, Disc, Light
from curiosity_rosa_demo.simulation.ros import Graph, WorldNode
from curiosity_rosa_demo.simulation.scheduler import SimulatedProcess
from curiosity_rosa_demo.simulation.threads import EPOCH_S
from curiosity_rosa_interfaces.srv import AnalyzeGround, CaptureAndScore
from geometry_msgs.msg import TransformStamped, Twist
from nav_msgs.msg import Odometry
from sensor_msgs.msg import BatteryState, JointState, LaserScan
from std_msgs.msg import Bool
from std_srvs.srv import Empty
from tf2_msgs.msg import TFMessage

STEP_S = 0.05
REPORT_STEPS = 2  # 10 Hz
SCAN_STEPS = 4
BATTERY_STEPS = 20
METRES_PER_UNIT = 0.25  # of a Twist in wheel units: linear.x = 2.0 drives 0.5 m/s
FORWARD, TURN = (2.0, 0.0), (1.0, 0.4)  # linear.x and angular.z of the demo's motions
TWISTS = {'move_forward': FORWARD, 'turn_left': TURN, 'turn_right': (TURN[0], -TURN[1])}
BEAMS = 60
SCAN_RANGE_M = 20.0
CHARGE_PER_M = 0.001
ANALYSIS = GroundAnalysis(  # of smooth ground without rocks
    texture=TextureResult(
        name=TextureClass.SMOOTH,
        contrast=1.0,
        homogeneity=0.5,
        energy=0.1,
        lbp_uniform=0.7,
        lbp_entropy=2.0,
        orientation_deg=0.0,
        coherence=0.1,
        grain_px=4.0,
        grain_cm=1.0,
        confidence=0.8,
    ),
    rocks=0,
    rock_coverage_pct=0.0,
    largest_rock=None,
    nearest_rocks=(),
    rocks_confidence=0.9,
    range_m=20.0,
    sharpness=100.0,
    exposure_luma=120.0,
    clipped_pct=0.0,
    camera_height_m=2.0,
    geometry=Geometry.MEASURED,
    geometry_note='',
    took_ms=100.0,
).model_dump_json()
FREE = array.array('f', [math.inf] * BEAMS)


@dataclass
class Silences:
    """Sensors that do not report."""

    odometry: bool = False
    joints: bool = False
    tf: bool = False
    camera: bool = False


class Rover:
    def __init__(
        self, graph: Graph, config: Config, chance: random.Random, *, light: Light
    ) -> None:
        self._graph, self._config, self._chance = graph, config, chance
        self.body, self.light = Body(), light
        self.obstacles: list[Disc] = []
        self.silences = Silences()
        self.slip, self.tilt_rad, self.charge = 0.0, 0.0, 1.0
        self.on_step: Callable[[], None] = lambda: None
        self._wheels = (0.0, 0.0)  # the last Twist: linear.x, angular.z
        self._steps = 0
        self.processes = {
            name: SimulatedProcess(name) for name in ('gazebo', 'run_demo', 'move_mast', 'camera')
        }
        self._start_gazebo()
        self.drive = self._start_drive()
        self.mast = self._start_mast()
        self.camera = self._start_camera()
        graph.scheduler.call_later(STEP_S, self._step)

    @property
    def moves(self) -> bool:
        return self._wheels[0] != 0.0

    # --- nodes --------------------------------------------------------------------------------

    def _start_gazebo(self) -> None:
        topics = self._config.topics
        node = WorldNode('gazebo', process=self.processes['gazebo'])
        publish = node.create_publisher
        self._odometry = publish(Odometry, topics.rover.odometry, 10)
        self._joints = publish(JointState, topics.rover.joint_states, 10)
        self._tf = publish(TFMessage, topics.tf.topic, 10)
        self._scan = publish(LaserScan, topics.rover.scan, 10)
        self._battery = publish(BatteryState, topics.rover.battery_state, 10)
        self._e_stop = publish(Bool, topics.rover.e_stop, history_qos(1))
        node.create_subscription(Twist, topics.rover.cmd_vel, self._on_twist, 10)

    def _start_drive(self) -> DriveNode:
        return DriveNode(self._config, self.processes['run_demo'])

    def restart_drive(self) -> None:
        """A new ``run_demo`` after the death of the last one. The wheels keep their Twist."""
        self.processes['run_demo'] = SimulatedProcess('run_demo')
        self.drive = self._start_drive()

    def _start_mast(self) -> WorldNode:
        node = WorldNode('move_mast', process=self.processes['move_mast'])
        for action in MastAction:
            name = getattr(self._config.topics.curiosity, action.value).name
            node.create_service(Empty, name, self._mast_callback(action))
        return node

    def _mast_callback(self, action: MastAction) -> Callable[[Any, Any], Any]:
        def serve(_: Any, response: Any) -> Any:
            self.body.target = action.target(self._config.thresholds.mast)
            self.body.mast_left_s = action.duration_s(self._config.thresholds.mast)
            return response

        return serve

    def _start_camera(self) -> WorldNode:
        services = self._config.topics.services
        node = WorldNode('simulator', process=self.processes['camera'])
        node.create_service(CaptureAndScore, services.capture_and_score.name, self._capture)
        node.create_service(AnalyzeGround, services.analyze_ground.name, self._analyze)
        return node

    def _capture(self, _: Any, response: Any) -> Any:
        if self.silences.camera or self.silences.tf:
            response.ok, response.error_reason = False, 'No image received'
            return response
        score = self.light.score(self.body.x, self.body.y)
        response.ok, response.score = True, score
        response.is_good = score >= self._config.thresholds.quality.score_threshold
        response.image_topic = self._config.topics.images.output_capture_compressed
        return response

    def _analyze(self, _: Any, response: Any) -> Any:
        response.ok, response.analysis = True, ANALYSIS
        response.image_topic = self._config.topics.images.output_analysis_compressed
        return response

    # --- truth ----------------------------------------------------------------------------------

    def _on_twist(self, message: Twist) -> None:
        x, z = message.linear.x, message.angular.z
        self._wheels = (x, z) if math.isfinite(x) and math.isfinite(z) else (0.0, 0.0)

    def press_e_stop(self, pressed: bool) -> None:
        self._e_stop.publish(Bool(data=pressed))

    def _step(self) -> None:
        self._graph.scheduler.call_later(STEP_S, self._step)
        self._steps += 1
        grip = METRES_PER_UNIT * (1.0 - self.slip)
        x, z = self._wheels
        self.body.speed = x * grip
        self.body.turn_rate = z * grip if x else 0.0  # it cannot turn on the spot
        self.body.integrate(STEP_S)
        self.charge = max(0.0, self.charge - abs(self.body.speed) * STEP_S * CHARGE_PER_M)
        self.on_step()
        if self._steps % REPORT_STEPS == 0:
            self._report()
        if self._steps % BATTERY_STEPS == 0:
            self._battery.publish(BatteryState(percentage=self.charge))

    # --- sensors --------------------------------------------------------------------------------

    def _report(self) -> None:
        if not self.silences.odometry:
            self._odometry.publish(self._odometry_message())
        if not self.silences.tf:
            self._tf.publish(TFMessage(transforms=[self._transform()]))
        if not self.silences.joints:
            p, turn = self.body.joints
            names = [*self._config.thresholds.mast.joints, 'mast_cameras_joint']
            self._joints.publish(JointState(name=names, position=[p, turn, 0.0]))
        if self._steps % SCAN_STEPS == 0:
            self._scan.publish(self._scan_message())

    def _stamp(self, header: Any, frame: str) -> None:
        nanoseconds = round((EPOCH_S + self._graph.scheduler.now_s) * 1e9)
        header.stamp.sec, header.stamp.nanosec = divmod(nanoseconds, 10**9)
        header.frame_id = frame

    def _odometry_message(self) -> Odometry:
        message, body = Odometry(), self.body
        self._stamp(message.header, '/odom')
        message.child_frame_id = '/base_footprint'
        pose, twist = message.pose.pose, message.twist.twist
        pose.position.x, pose.position.y = body.x, body.y
        pose.orientation.z, pose.orientation.w = math.sin(body.yaw / 2), math.cos(body.yaw / 2)
        if self.tilt_rad:  # a roll on top of the heading
            half = self.tilt_rad / 2
            z, w = pose.orientation.z, pose.orientation.w
            pose.orientation.x, pose.orientation.y = w * math.sin(half), z * math.sin(half)
            pose.orientation.z, pose.orientation.w = z * math.cos(half), w * math.cos(half)
        twist.linear.x, twist.angular.z = body.speed, body.turn_rate
        return message

    def _transform(self) -> TransformStamped:
        moved, body = TransformStamped(), self.body
        self._stamp(moved.header, '/odom')
        moved.child_frame_id = '/base_footprint'
        at, turn = moved.transform.translation, moved.transform.rotation
        at.x, at.y = body.x, body.y
        turn.z, turn.w = math.sin(body.yaw / 2), math.cos(body.yaw / 2)
        return moved

    def _scan_message(self) -> LaserScan:
        """Ranges from the middle of the rover to the rocks; the scanner sits in the base frame."""
        message = LaserScan(
            angle_min=-math.pi,
            angle_max=math.pi,
            angle_increment=math.tau / BEAMS,
            range_min=1.0,
            range_max=SCAN_RANGE_M,
        )
        self._stamp(message.header, 'base_footprint')
        if self.obstacles:
            message.ranges = [
                min(self._range(disc, self.body.yaw - math.pi + beam * math.tau / BEAMS)
                    for disc in self.obstacles)
                for beam in range(BEAMS)
            ]  # fmt: skip
        else:
            message.ranges = FREE
        return message

    def _range(self, disc: Disc, angle: float) -> float:
        """The distance to ``disc`` along a ray at ``angle``, or infinity."""
        x, y = disc.x - self.body.x, disc.y - self.body.y
        along = x * math.cos(angle) + y * math.sin(angle)
        across = abs(x * math.sin(angle) - y * math.cos(angle))
        if along <= 0.0 or across >= disc.radius:
            return math.inf
        found = along - math.sqrt(disc.radius**2 - across**2)
        return found if found <= SCAN_RANGE_M else math.inf


class DriveNode(WorldNode):
    """The demo's ``run_demo``: repeats its Twist every 0.1 s until ``/move_stop``."""

    REPEAT_S = 0.1

    def __init__(self, config: Config, process: SimulatedProcess) -> None:
        super().__init__('run_demo', process=process)
        self._twist: tuple[float, float] | None = None
        self.starts: list[tuple[float, str]] = []  # time and name of each motion that it began
        self._publisher = self.create_publisher(Twist, config.topics.rover.cmd_vel, 10)
        services = config.topics.curiosity
        for name in TWISTS:
            self.create_service(Empty, getattr(services, name).name, self._starter(name))
        self.create_service(Empty, services.move_stop.name, self._stop)
        self.create_timer(self.REPEAT_S, self._repeat)

    def _starter(self, name: str) -> Callable[[Any, Any], Any]:
        def serve(_: Any, response: Any) -> Any:
            self._twist = TWISTS[name]
            self.starts.append((self.graph.scheduler.now_s, name))
            return response

        return serve

    def _stop(self, _: Any, response: Any) -> Any:
        self._twist = None
        self._publish(0.0, 0.0)
        return response

    def _repeat(self) -> None:
        if self._twist is not None:
            self._publish(*self._twist)

    def _publish(self, x: float, z: float) -> None:
        message = Twist()
        message.linear.x, message.angular.z = x, z
        self._publisher.publish(message)
