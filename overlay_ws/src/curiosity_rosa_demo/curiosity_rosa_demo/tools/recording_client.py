# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A RoverClient that reports each of its service calls to a callback."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
import time
from typing import TypeVar

from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.ros_io import ServiceFailed
from curiosity_rosa_demo.infra.tracing.span import span
from curiosity_rosa_demo.tools.rover_client import RoverClient
from curiosity_rosa_interfaces.srv import AnalyzeGround, CaptureAndScore
from rclpy.node import Node

T = TypeVar('T')
CANCELLED = 'cancelled'


@dataclass(frozen=True)
class ServiceCall:
    """A finished call. ``answer`` is the response as text, or the reason of a failure."""

    service: str
    ok: bool
    answer: str
    duration_s: float


class RecordingClient(RoverClient):
    """``on_call`` runs in the caller's thread and must return quickly. Successful get_status calls
    are neither reported nor spans: there are up to twenty a second.
    """

    def __init__(
        self, node: Node, config: Config, on_call: Callable[[ServiceCall], None] | None = None
    ) -> None:
        super().__init__(node, config)
        self.on_call = on_call or (lambda _: None)
        self._capture_name = config.topics.services.capture_and_score.name
        self._analyze_name = config.topics.services.analyze_ground.name

    def trigger(self, name: str, cancellation: Cancellation | None = None) -> str:
        return self._record(
            self.service_names[name], lambda: RoverClient.trigger(self, name, cancellation), str
        )

    def start(self, name: str, cancellation: Cancellation) -> str:
        return self._record(
            self.service_names[name], lambda: RoverClient.start(self, name, cancellation), str
        )

    def capture(self) -> CaptureAndScore.Response:
        return self._record(
            self._capture_name,
            lambda: RoverClient.capture(self),
            lambda response: f'score {response.score:.3f}; {response.debug}',
        )

    def analyze_ground(self) -> AnalyzeGround.Response:
        return self._record(
            self._analyze_name,
            lambda: RoverClient.analyze_ground(self),
            lambda response: response.analysis,
        )

    def _record(self, service: str, call: Callable[[], T], text_of: Callable[[T], str]) -> T:
        began_s, ok, answer = time.monotonic(), False, CANCELLED
        is_status = service == self.service_names['get_status']
        attributes = {'rpc.system.name': 'ros2', 'rpc.method': service}
        with nullcontext() if is_status else span(f'call {service}', attributes, is_client=True):
            try:
                result = call()
                ok, answer = True, text_of(result)
                return result
            except ServiceFailed as failure:
                answer = str(failure)
                raise
            finally:
                if not (ok and is_status):
                    self.on_call(ServiceCall(service, ok, answer, time.monotonic() - began_s))
