# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the error map says to the last failure: the loop tries again, or tells the model. Pure.

The loop tries a call again once, and only where that can do no harm: a skill that leads to a state
(``repeatable``), or one that did not begin because another held its resource.
"""

from __future__ import annotations

from curiosity_rosa_demo.agent.react.turn.context import TurnContext
from curiosity_rosa_demo.agent.react.turn.messages import result_of
from curiosity_rosa_demo.domain.brain_state import BrainState, DecisionType, Json

RETRY_WAIT_S = 0.5  # before a call is tried again
RETRY_OF = 'retry_of'  # in a call that the loop tries again: the ID of the first one
CONFLICT = 'RESOURCE_CONFLICT'


def last_failure(state: BrainState, turn: TurnContext) -> tuple[Json, DecisionType] | None:
    """The last call, and what the error map says to its failure; None: nothing failed, or the map
    says nothing.
    """
    if not state.messages:
        return None
    call = state.messages[-1]
    result = result_of(call)
    if result is None or result.ok:
        return None
    decision = turn.registry.error_decision(str(call['tool']), result.error_reason)
    return None if decision is None else (call, decision)


def call_to_retry(state: BrainState, turn: TurnContext) -> Json | None:
    """The call that the loop tries again now, without asking the model."""
    failure = last_failure(state, turn)
    if failure is None or failure[1] is not DecisionType.RETRY or RETRY_OF in failure[0]:
        return None
    call = failure[0]
    result = result_of(call)
    began = 'op' in call and result is not None and not result.error_reason.startswith(CONFLICT)
    if not began:
        conflict = result is not None and result.error_reason.startswith(CONFLICT)
        return call if conflict else None
    return call if turn.registry.get(str(call['tool'])).repeatable else None
