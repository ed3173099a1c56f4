# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""One turn of the product before a twin, and its price."""

from __future__ import annotations

from functools import partial

from curiosity_rosa_demo.agent.react.turn.request import TurnRequest, TurnResult
from curiosity_rosa_demo.agent.rosa_agent_factory import CuriosityRosa
from curiosity_rosa_demo.domain.cancellation import Cancellation, TurnCancelled
from curiosity_rosa_demo.infra.config.contracts import Config
from rover_twin import RoverTwin

TEXT = 'Analyze the ground texture'


def run_turn(rosa: CuriosityRosa, twin: RoverTwin, text: str = TEXT) -> TurnResult:
    """An e-stop interrupts the turn, as in the product; it resumes when nobody presses it."""
    executor = rosa.turn_executor
    while executor.last_result is None:
        cancellation = Cancellation()
        twin.on_e_stop = partial(cancellation.cancel, 'E-stop pressed')
        executor.request = TurnRequest(text, cancellation, thread_id='world')
        try:
            rosa.invoke(text)
        except TurnCancelled:
            twin.wait_for_the_e_stop()
            twin.trigger('move_stop')
    return executor.last_result


def price(twin: RoverTwin, config: Config) -> float:
    """The sum of the prices of all calls of the rover, in the units of tool_costs.yaml."""
    prices = config.tool_costs.tools.model_dump()
    return float(sum(prices[name] for name in twin.calls if name != 'move_stop'))
