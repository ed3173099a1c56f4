# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The facts of query_world, without a call of the adapter: from its last status."""

from __future__ import annotations

from collections.abc import Callable, Mapping
import time

from curiosity_rosa_demo.agent.react.turn.rover_world import RoverWorld
from curiosity_rosa_demo.domain.brain_state import Json, Reading


class WorldFacts:
    """``readings`` as in ``agent/topics/telemetry.py``."""

    def __init__(self, world: RoverWorld, readings: Callable[[], Mapping[str, Reading]]) -> None:
        self._world, self._readings = world, readings
        self._max_age_s = world.config.thresholds.telemetry.adapter_max_age_s

    def now(self) -> Json:
        """The facts now; null for those of an adapter that is silent. Does not block."""
        status = self._readings().get('adapter')
        fresh = status is not None and time.monotonic() - status.received_s <= self._max_age_s
        return self._world.facts_of(dict(status.value) if fresh and status else {})
