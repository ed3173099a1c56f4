# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The rover of a mission: the stand-in's body and drivers as simulated nodes.

The wheels keep the last Twist for ever, also when ``run_demo`` dies. Odometry, TF and joints come
at 10 Hz, the scan at 5 Hz.
"""

from __future__ import annotations

import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
import math
import random
from typing import Any

from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.ros_io import history_qos
from curiosity_rosa_interfaces.srv import AnalyzeGround, CaptureAndScore
from curiosity_stand_in import sensors
from curiosity_stand_in.body import Body, State
from curiosity_stand_in.drivers import MOTIONS, REPEAT_S, RunDemo
from curiosity_stand_in.kinematics import Pose
from curiosity_stand_in.parts import MAST
from curiosity_stand_in.scenery import Disc, Light
from geometry_msgs.msg import Twist
from missions.graph import Graph
from missions.nodes import WorldNode
from missions.primitives import EPOCH_S
from missions.rover_twin import ANALYSIS
from missions.scheduler import SimulatedProcess
from nav_msgs.msg import Odometry
from sensor_msgs.msg import BatteryState, JointState, LaserScan
from std_msgs.msg import Bool
from std_srvs.srv import Empty
from tf2_msgs.msg import TFMessage

STEP_S = 0.05
REPORT_STEPS = 2  # 10 Hz
SCAN_STEPS = 4
BATTERY_STEPS = 20
BEAMS = 60
SCAN_RANGE_M = 20.0
CHARGE_PER_M = 0.001
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
        self, graph: Graph, config: Config, chance: random.Random, *, light: Light, pose: Pose
    ) -> None:
        self._graph, self._config, self._chance = graph, config, chance
        self.body = Body(config.thresholds, lambda: graph.scheduler.now_s, pose=pose)
        self.light = light
        self.obstacles: list[Disc] = []
        self.silences = Silences()
        self.tilt_rad, self.charge = 0.0, 1.0
        self.on_step: Callable[[State], None] = lambda _: None
        self._path_m = 0.0  # that the battery has paid for
        self._steps = 0
        self.processes = {
            name: SimulatedProcess(name) for name in ('gazebo', 'run_demo', 'move_mast', 'camera')
        }
        self._start_gazebo()
        self.drive = self._start_drive()
        self.mast = self._start_mast()
        self.camera = self._start_camera()
        graph.scheduler.call_later(STEP_S, self._step)

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
        serve(node, self._config, MAST.effects(self.body.move))
        return node

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
        score = self._score()
        response.ok, response.score = True, score
        response.is_good = score >= self._config.thresholds.quality.score_threshold
        response.image_topic = self._config.topics.images.output_capture_compressed
        return response

    def _score(self) -> float:
        pose = self.body.state().pose
        return self.light.score(pose.x, pose.y)

    def _analyze(self, _: Any, response: Any) -> Any:
        response.ok, response.analysis = True, ANALYSIS.model_dump_json()
        response.image_topic = self._config.topics.images.output_analysis_compressed
        return response

    # --- truth ----------------------------------------------------------------------------------

    def _on_twist(self, message: Twist) -> None:
        self.body.drive(message.linear.x, message.angular.z)

    def press_e_stop(self, pressed: bool) -> None:
        self._e_stop.publish(Bool(data=pressed))

    def _step(self) -> None:
        self._graph.scheduler.call_later(STEP_S, self._step)
        self._steps += 1
        state = self.body.state()
        path_m, self._path_m = self._path_m, state.path_m
        self.charge = max(0.0, self.charge - (self._path_m - path_m) * CHARGE_PER_M)
        self.on_step(state)
        if self._steps % REPORT_STEPS == 0:
            self._report(state)
        if self._steps % BATTERY_STEPS == 0:
            self._battery.publish(BatteryState(percentage=self.charge))

    # --- sensors --------------------------------------------------------------------------------

    def _report(self, state: State) -> None:
        tilted = replace(state, pose=replace(state.pose, roll=state.pose.roll + self.tilt_rad))
        stamp = sensors.time_message(EPOCH_S + self._graph.scheduler.now_s)
        if not self.silences.odometry:
            self._odometry.publish(sensors.odometry(tilted, stamp))
        if not self.silences.tf:
            self._tf.publish(sensors.transforms(tilted, stamp))
        if not self.silences.joints:
            self._joints.publish(sensors.joint_states(state, stamp))
        if self._steps % SCAN_STEPS == 0:
            message = self._scan_message(state)
            message.header.stamp = stamp
            self._scan.publish(message)

    def _scan_message(self, state: State) -> LaserScan:
        """Ranges from the middle of the rover to the rocks; the scanner sits in the base frame."""
        message = LaserScan(
            angle_min=-math.pi,
            angle_max=math.pi,
            angle_increment=math.tau / BEAMS,
            range_min=1.0,
            range_max=SCAN_RANGE_M,
        )
        message.header.frame_id = 'base_footprint'
        if self.obstacles:
            message.ranges = [
                min(_range(state.pose, disc, -math.pi + beam * math.tau / BEAMS)
                    for disc in self.obstacles)
                for beam in range(BEAMS)
            ]  # fmt: skip
        else:
            message.ranges = FREE
        return message


def _range(pose: Pose, disc: Disc, beam: float) -> float:
    """The distance to ``disc`` along a ray that points ``beam`` to the left, or infinity."""
    x, y, angle = disc.x - pose.x, disc.y - pose.y, pose.yaw + beam
    along = x * math.cos(angle) + y * math.sin(angle)
    across = abs(x * math.sin(angle) - y * math.cos(angle))
    if along <= 0.0 or across >= disc.radius:
        return math.inf
    found = along - math.sqrt(disc.radius**2 - across**2)
    return found if found <= SCAN_RANGE_M else math.inf


def serve(node: WorldNode, config: Config, effects: Mapping[str, Callable[[], None]]) -> None:
    """Create the node's Empty services."""

    def callback(effect: Callable[[], None]) -> Callable[[Any, Any], Any]:
        def answer(_: Any, response: Any) -> Any:
            effect()
            return response

        return answer

    for name, effect in effects.items():
        service = getattr(config.topics.curiosity, name).name
        node.create_service(Empty, service, callback(effect))


class DriveNode(WorldNode):
    """The demo's ``run_demo``."""

    def __init__(self, config: Config, process: SimulatedProcess) -> None:
        super().__init__('run_demo', process=process)
        self.starts: list[tuple[float, str]] = []  # time and name of each motion that it began
        self._publisher = self.create_publisher(Twist, config.topics.rover.cmd_vel, 10)
        self._run_demo = RunDemo(self._publish)
        noted = {name: partial(self._begin, name) for name in MOTIONS}
        serve(self, config, {**self._run_demo.effects, **noted})
        self.create_timer(REPEAT_S, self._run_demo.repeat)

    def _begin(self, name: str) -> None:
        self._run_demo.effects[name]()
        self.starts.append((self.graph.scheduler.now_s, name))

    def _publish(self, x: float, z: float) -> None:
        message = Twist()
        message.linear.x, message.angular.z = x, z
        self._publisher.publish(message)
