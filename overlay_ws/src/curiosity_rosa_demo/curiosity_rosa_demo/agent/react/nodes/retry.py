# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The error map's answer to the last failure: a retry by the loop, or a hint to the model. Pure.

The loop retries a call once, and only when that is harmless: a skill that leads to a state
(``repeatable``), or a skill that did not start because another one held its resource.
"""

from __future__ import annotations

from curiosity_rosa_demo.agent.react.turn.context import TurnContext
from curiosity_rosa_demo.agent.react.turn.messages import result_of
from curiosity_rosa_demo.domain.brain_state import BrainState, DecisionType, Json
from curiosity_rosa_demo.domain.refusal import RefusalCode

RETRY_WAIT_S = 0.5  # before a retry
RETRY_OF = 'retry_of'  # in the entry of a retry: the ID of the first call


def last_failure(state: BrainState, turn: TurnContext) -> tuple[Json, DecisionType] | None:
    """The last call and the error map's decision on its failure; None when it did not fail, or
    the map has no entry for the failure.
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
    """The call that the loop retries now, without the model; None for no retry."""
    failure = last_failure(state, turn)
    if failure is None or failure[1] is not DecisionType.RETRY or RETRY_OF in failure[0]:
        return None
    call = failure[0]
    result = result_of(call)
    if result is not None and result.error_code == RefusalCode.RESOURCE_CONFLICT:
        return call
    if 'op' not in call:
        return None
    return call if turn.registry.get(str(call['tool'])).repeatable else None
