# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A RobotService over the runtime and the console of runtime_world."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, cast, TypeVar

from curiosity_rosa_demo.agent.runtime.robot import Robot
from curiosity_rosa_demo.agent.runtime.robot_service import RobotService
from curiosity_rosa_demo.agent.topics.camera import CameraFeed
from curiosity_rosa_demo.agent.topics.captures import Analyses, Captures
from curiosity_rosa_demo.agent.topics.node_health import NodeHealth
from curiosity_rosa_demo.domain.adapter_status import NodeStatus, Triggers
from curiosity_rosa_demo.domain.models import RoverPose
from curiosity_rosa_demo.domain.pictures import AnalyzedGround, Capture, Picture
from runtime_world import RuntimeBench, WAIT_S

T = TypeVar('T')
POSE = RoverPose(x=1.0, y=2.0, frame_id='odom')


class Eyes:
    """Stands for the camera, the captures and the analyses."""

    def __init__(self) -> None:
        self.shown: Picture | None = None
        self.captures: list[Capture] = []
        self.ground: AnalyzedGround | None = None

    def picture(self) -> Picture | None:
        return self.shown

    def recent(self) -> list[Capture]:
        return self.captures

    def newest(self) -> AnalyzedGround | None:
        return self.ground


class Nodes:
    def node_statuses(self) -> list[NodeStatus]:
        return [NodeStatus('adapter', True, 0.1)]


class RobotServiceBench:
    """What a test of a RobotService has in its hands."""

    def __init__(self, bench: RuntimeBench, triggers: Triggers | None = None) -> None:
        self.bench, self.eyes = bench, Eyes()
        self.service = RobotService(
            bench.runtime,
            bench.session,  # type: ignore[arg-type]
            bench.autonomy,
            bench.console,
            camera=cast(CameraFeed, self.eyes),
            captures=cast(Captures, self.eyes),
            analyses=cast(Analyses, self.eyes),
            nodes=cast(NodeHealth, Nodes()),
            pose=lambda: POSE,
            replay=lambda: '',
            kernel_max_age_s=2.0,
            triggers=triggers,
            console_texts=bench.console_texts,
        )
        self.robot: Robot = self.service


def run(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """``work`` in a loop of its own, as the HTTP server has one; bounded."""

    async def bounded() -> T:
        return await asyncio.wait_for(work(), WAIT_S)

    return asyncio.run(bounded())
