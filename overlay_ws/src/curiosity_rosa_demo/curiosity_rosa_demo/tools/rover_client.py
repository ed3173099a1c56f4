# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The agent's client of the rover: /adapter/*, /capture_and_score and TF. Every call has a
time-out.

The service calls block. Call them from any thread except the one that spins the node.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
import math
import threading
import time
from typing import Any

from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.ground import GroundAnalysis
from curiosity_rosa_demo.domain.models import RoverPose, ServiceCall
from curiosity_rosa_demo.domain.refusal import read_answer
from curiosity_rosa_demo.domain.serde import read_object
from curiosity_rosa_demo.domain.skills import MAST_SKILLS, MOTIONS
from curiosity_rosa_demo.infra.clocks import SimulationClock
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.ros_io import call, make_transform_source, ServiceFailed
from curiosity_rosa_demo.infra.spans import span
from curiosity_rosa_demo.infra.tf import TransformUnavailable
from curiosity_rosa_interfaces.srv import AnalyzeGround, CaptureAndScore
from rclpy.client import Client
from rclpy.node import Node
from std_srvs.srv import Trigger

TIMEOUT_MARGIN_S = 1.0
CAPTURE_RETRY_S = 1.5
ANALYSIS_TIMEOUT_S = 15.0  # steady: the first analysis also loads its libraries


class RoverClient:
    """``on_call`` gets each call, runs in the caller's thread and must return quickly. Successful
    get_status calls are neither reported nor spans: there are up to twenty a second.
    """

    def __init__(
        self, node: Node, config: Config, on_call: Callable[[ServiceCall], None] | None = None
    ) -> None:
        self._on_call = on_call or (lambda _: None)
        self._frames, self._has_camera = config.topics.tf, config.robot.has_camera
        # for waits that depend on the simulator
        self.simulation = SimulationClock(node.get_clock(), config.thresholds.motion)
        self.transforms = make_transform_source(node, config, self.simulation)
        left_out = {
            *(() if config.robot.mobile_base else MOTIONS),
            *(() if config.robot.has_mast else MAST_SKILLS),
        }
        services = {
            name: each.name for name, each in config.topics.adapter if name not in left_out
        }
        services |= {name: config.appendage_service(name) for name in config.robot.commands}
        self._triggers = {
            name: node.create_client(Trigger, service) for name, service in services.items()
        }
        others = config.topics.services
        self._capture = node.create_client(CaptureAndScore, others.capture_and_score.name)
        self._analyze = node.create_client(AnalyzeGround, others.analyze_ground.name)
        self._sent_lock = threading.Lock()
        self._sent: Counter[str] = Counter()
        self._timeouts = _timeouts(config)
        motion = config.thresholds.motion
        self._stop_discovery_s = motion.stop_timeout_s + motion.stop_confirm_s + TIMEOUT_MARGIN_S
        self._capture_timeout_s = config.thresholds.capture.wait_s + 2.0 + TIMEOUT_MARGIN_S

    def start(self, name: str, cancellation: Cancellation) -> str:
        """Like ``trigger``, but a cancellation does not end the wait for a request that was sent:
        the caller can then send a stop after it.
        """
        return self.trigger(name, cancellation, is_start=True)

    def sent_calls(self) -> dict[str, int]:
        """How many calls of each adapter service were sent, without get_status. Thread-safe."""
        with self._sent_lock:
            return dict(self._sent)

    @contextmanager
    def _reported(self, client: Client) -> Iterator[ServiceCall]:
        """A call, whose answer the caller fills in, as a span and for ``on_call``."""
        service, is_status = client.srv_name, client is self._triggers['get_status']
        made, began_s = ServiceCall(service=service), time.monotonic()
        attributes = {'rpc.system.name': 'ros2', 'rpc.method': service}
        with nullcontext() if is_status else span(f'call {service}', attributes, is_client=True):
            try:
                yield made
                made.ok = True
            except ServiceFailed as failure:
                made.answer = str(failure)
                raise
            finally:
                made.duration_s = time.monotonic() - began_s
                if not (made.ok and is_status):
                    self._on_call(made)

    def trigger(
        self, name: str, cancellation: Cancellation | None = None, *, is_start: bool = False
    ) -> str:
        """Call /adapter/<name> and return the message of its response. ``is_start`` as ``start``.

        Raises ServiceFailed with the reason of a failure. Raises TurnCancelled, without sending a
        request, when ``cancellation`` is already requested. A request during the call ends the
        wait but not the action that the adapter has started.
        """
        cancellation = cancellation or Cancellation()
        done, client = threading.Event(), self._triggers[name]

        @contextmanager
        def sending() -> Iterator[None]:
            """Holds a stop back while the request is sent, and counts it once it is."""
            with cancellation.hold_back():
                yield
            if name != 'get_status':
                with self._sent_lock:
                    self._sent[client.srv_name] += 1

        with (
            self._reported(client) as made,
            nullcontext() if is_start else cancellation.call_when_pressed(done.set),
        ):
            try:
                response = call(
                    client,
                    Trigger.Request(),
                    timeout_s=self._timeouts[name],
                    # A stop that settles may take long; that there is no adapter is told soon.
                    discovery_s=self._stop_discovery_s if name == 'move_stop' else None,
                    # get_status waits for nothing that the simulator does
                    clock=time.monotonic if name == 'get_status' else self.simulation,
                    done=done,
                    sending=sending,
                )
            except ServiceFailed:
                if not is_start:
                    cancellation.check()
                raise
            if not response.success:
                raise answered_failure(response.message, name)
            made.answer = str(response.message)
        return made.answer

    def status(self) -> dict[str, Any]:
        """The adapter's status; a pose from TF replaces its pose. Raises ServiceFailed."""
        message = self.trigger('get_status')
        status, pose = read_object(message), self.pose()
        if not status:
            raise ServiceFailed(f'get_status answered no JSON object: {message[:80]!r}')
        if pose is not None:
            status.update(rover_x=pose.x, rover_y=pose.y, yaw_rad=pose.yaw_rad)
        return status

    def capture(self) -> dict[str, Any]:
        """Capture one picture: ``score``, ``is_good`` and which picture it is. Raises
        ServiceFailed with the reason of a failure.
        """
        with self._reported(self._capture) as made:
            response = call(
                self._capture,
                CaptureAndScore.Request(),
                timeout_s=self._capture_timeout_s,
                again_s=CAPTURE_RETRY_S,
                clock=self.simulation,
            )
            if not response.ok:
                raise answered_failure(response.error_reason, 'capture')
            if not math.isfinite(response.score):
                raise ServiceFailed(f'capture answered no score: {response.score}')
            made.answer = f'score {response.score:.3f}; {response.debug}'
        score = {'score': float(response.score), 'is_good': bool(response.is_good)}
        return {**score, **_picture_of(response)}

    def analyze_ground(self) -> dict[str, Any]:
        """Analyze the last capture: the fields of a GroundAnalysis, and its picture. Raises
        ServiceFailed with the reason of a failure.
        """
        with self._reported(self._analyze) as made:
            response = call(self._analyze, AnalyzeGround.Request(), timeout_s=ANALYSIS_TIMEOUT_S)
            if not response.ok:
                raise answered_failure(response.error_reason, 'analyze_ground')
            made.answer = str(response.analysis)
        try:
            analysis = GroundAnalysis.model_validate_json(response.analysis)
        except ValueError as error:
            raise ServiceFailed(f'analyze_ground answered no analysis: {error}'[:300]) from error
        return {**analysis.model_dump(mode='json'), **_picture_of(response)}

    def pose(self) -> RoverPose | None:
        """The pose of the base in the world frame; None while TF is unavailable."""
        try:
            return self.transforms.lookup(self._frames.world_frame, self._frames.base_frame)
        except TransformUnavailable:
            return None

    def ready(self) -> bool:
        """Whether every service that the tools call has been discovered."""
        clients = [*self._triggers.values(), *([self._capture] if self._has_camera else [])]
        return all(client.service_is_ready() for client in clients)


def answered_failure(text: str, name: str) -> ServiceFailed:
    """The failure of ``name`` that a service of ROS has answered, or that the adapter's status
    tells: the one place that reads a code back from a text.
    """
    reason = text.strip() or f'{name} failed without a reason'
    return ServiceFailed(reason, *read_answer(reason))


def _picture_of(response: Any) -> dict[str, Any]:
    stamp_s = float(response.stamp.sec + response.stamp.nanosec * 1e-9)
    return {'image_topic': response.image_topic, 'image_stamp_s': stamp_s}


def _timeouts(config: Config) -> dict[str, float]:
    """Time-out of each adapter service in seconds of the simulation's clock (get_status: steady
    seconds): its longest duration, and a margin.
    """
    motion, mast = config.thresholds.motion, config.thresholds.mast
    await_stop = motion.stop_timeout_s + motion.settle_s
    start = await_stop + 2 * motion.service_timeout_s + TIMEOUT_MARGIN_S
    confirm = start + mast.confirm_margin_s + TIMEOUT_MARGIN_S
    return {
        **dict.fromkeys(MOTIONS, start),
        'move_stop': motion.stop_timeout_s + motion.longest_confirm_s + TIMEOUT_MARGIN_S,
        'mast_open': confirm + mast.open_duration_s,
        'mast_close': confirm + mast.close_duration_s,
        'mast_rotate': confirm + mast.rotate_duration_s,
        'get_status': 2.0,
        **{
            name: confirm + command.duration_s
            for name, (_, command) in config.robot.commands.items()
        },
    }
