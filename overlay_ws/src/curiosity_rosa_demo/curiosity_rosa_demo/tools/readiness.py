# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Readiness at the start of the agent: the services are discovered and the rover stands still."""

from __future__ import annotations

from collections.abc import Callable

from curiosity_rosa_demo.domain.adapter_status import Status
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.tools.rover_client import RoverClient

SERVICES_TIMEOUT_S = 20.0
STATUS_TIMEOUT_S = 10.0  # the rover may start after its adapter
POSE_TIMEOUT_S = 3.0  # a robot without TF never has one
PERIOD_S = 0.05


def wait_for_nodes(
    client: RoverClient,
    status_of: Callable[[], ToolResult],
    heard: Callable[[], Status | None],
    cancellation: Cancellation,
    notice: Callable[[str], None],
) -> None:
    """Wait for the services, for a status that says that the rover stands still, and for a pose,
    each for a limited time. So the first question has an answer.

    ``status_of`` asks the adapter for the status; ``heard`` is the last one that came without
    asking, from which the agent answers questions. ``notice`` gets the text about a missing
    condition. Raises TurnCancelled.
    """

    def services() -> str:
        return '' if client.ready() else 'The adapter or the simulator node did not appear'

    def standstill() -> str:
        """The adapter begins by stopping the rover."""
        asked, last = status_of(), heard()
        if not asked.ok or asked.data.get('moving'):
            reason = asked.error_reason or asked.data.get('last_error_reason')
            return f'The rover does not stand still: {reason or "it still moves"}'
        is_heard = last is not None and not last.get('moving')
        return '' if is_heard else 'The status of the rover did not arrive'

    def pose() -> str:
        is_known = client.pose() is not None and (heard() or {}).get('rover_x') is not None
        return '' if is_known else 'The pose is unknown'

    def problem_after(problem: Callable[[], str], timeout_s: float) -> str:
        """What it last returned, after ``timeout_s`` at most; '' as soon as it returns that."""
        for _ in range(round(timeout_s / PERIOD_S)):
            if not problem():
                return ''
            cancellation.sleep(PERIOD_S)
        return problem()

    for problem, timeout_s in ((services, SERVICES_TIMEOUT_S), (standstill, STATUS_TIMEOUT_S)):
        if why := problem_after(problem, timeout_s):
            notice(f'! {why} (within {timeout_s:g} s); commands will say what is missing.')
            return
    problem_after(pose, POSE_TIMEOUT_S)
