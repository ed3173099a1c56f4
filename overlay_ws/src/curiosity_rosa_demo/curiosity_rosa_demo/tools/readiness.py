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

from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.tools.rover_client import RoverClient

READY_TIMEOUT_S = 20.0
STANDSTILL_TIMEOUT_S = 3.0


def wait_for_nodes(
    client: RoverClient,
    status_of: Callable[[], ToolResult],
    cancellation: Cancellation,
    notice: Callable[[str], None],
) -> None:
    """Wait for the services, a pose and standstill, each for a limited time.

    ``status_of`` returns the rover's status; ``notice`` gets the text about a missing condition.
    Raises TurnCancelled.
    """
    for _ in range(int(READY_TIMEOUT_S / 0.02)):
        if client.ready():
            break
        cancellation.sleep(0.02)
    else:
        notice(
            f'! The adapter or the simulator node did not appear within {READY_TIMEOUT_S:g} s; '
            'commands will say what is missing.'
        )
        return
    for _ in range(int(STANDSTILL_TIMEOUT_S / 0.05)):  # the adapter begins by stopping the rover
        status = status_of()
        still = status.ok and not status.data.get('moving')
        if still and client.pose() is not None:  # the first transforms arrive a little later
            return
        cancellation.sleep(0.05)
    if still:
        return
    reason = status.error_reason or status.data.get('last_error_reason') or 'it still moves'
    notice(f'! The rover does not stand still: {reason}')
