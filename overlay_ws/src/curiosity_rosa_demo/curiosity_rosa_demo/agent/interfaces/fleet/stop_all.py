# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""One stop for all robots, in parallel, each through its own POST /stop."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
import logging
import threading

from curiosity_rosa_demo.agent.interfaces.fleet.robot_client import RobotClient, StopResult

_log = logging.getLogger('curiosity_rosa.page')


class StopAll:
    """Thread-safe: a stop runs in the loop of its caller. ``results``: of the newest stop, by
    robot; a robot that has not answered yet has none.
    """

    def __init__(self, robots: Sequence[RobotClient]) -> None:
        self._robots = robots
        self._lock = threading.Lock()
        self._number = 0
        self._results: dict[str, StopResult] = {}

    def results(self) -> Mapping[str, StopResult]:
        with self._lock:
            return dict(self._results)

    async def stop(self, operator: str) -> dict[str, StopResult]:
        """The result of each robot. A robot that hangs or fails neither delays nor stops another
        robot's stop.
        """
        with self._lock:
            self._number += 1
            number = self._number
            self._results = {}

        async def stop_one(robot: RobotClient) -> StopResult:
            try:
                result = await robot.stop(operator)
            except Exception as error:  # the others are stopped all the same
                _log.exception('event=fleet_stop_failed robot=%s', robot.name)
                result = StopResult(False, f'failed inside ({type(error).__name__})', 0.0)
            with self._lock:
                if number == self._number:
                    self._results[robot.name] = result
            return result

        results = await asyncio.gather(*(stop_one(each) for each in self._robots))
        return {each.name: result for each, result in zip(self._robots, results, strict=True)}


def result_text(result: StopResult) -> str:
    """Such as ``stopped (84 ms)``."""
    return f'{result.answer} ({round(1000 * result.took_s)} ms)'


def summary(results: Mapping[str, StopResult]) -> str:
    """Those that are not stopped first."""
    ordered = sorted(results.items(), key=lambda item: item[1].ok)
    return '; '.join(f'{name}: {result_text(result)}' for name, result in ordered)
