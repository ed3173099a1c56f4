# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""When the rule model decides a step in the model's place, and which calls it reads. Pure.

The rule model decides one step; then the model is asked again, until ``patience.takeovers``. Its
proposals pass the same guardrails.
"""

from __future__ import annotations

from collections.abc import Iterable

from curiosity_rosa_demo.agent.react.plan.steps import ENDED_STATUSES
from curiosity_rosa_demo.agent.react.turn.context import TurnContext
from curiosity_rosa_demo.agent.react.turn.messages import result_of
from curiosity_rosa_demo.agent.rule_model.rules import is_understood
from curiosity_rosa_demo.domain.brain_state import BrainState, Json
from curiosity_rosa_demo.domain.plan.plan import Plan
from curiosity_rosa_demo.domain.refusal import RefusalCode

BY, ROUTINE = 'by', 'routine'  # marks the rule model's decisions and calls


def rules_may_decide(state: BrainState, turn: TurnContext) -> bool:
    """Whether the rule model may decide: it understands the goal, no plan is under way, and the
    operator's last answer was not a no.
    """
    if turn.fallback is None or not is_understood(turn.text, _skill_words(turn)):
        return False
    plan = state.react.plan
    under_way = plan is not None and Plan.from_dict(plan).status not in ENDED_STATUSES
    return not (under_way or was_rejected(state))


def _skill_words(turn: TurnContext) -> tuple[tuple[str, str], ...]:
    return tuple(
        (phrase, skill.definition.name)
        for skill in turn.registry.for_model()
        for phrase in skill.words
    )


def refused_too_often(state: BrainState, turn: TurnContext) -> bool:
    return state.react.refused_in_a_row >= turn.config.guardrails.patience.refused_in_a_row


def rules_decided_last(state: BrainState) -> bool:
    """Whether the rule model made the last decision."""
    decision = state.react.decision
    return decision is not None and decision.by == ROUTINE


def messages_for_rules(messages: Iterable[Json]) -> list[Json]:
    """The executed calls and the rule model's own. A refused proposal of the model is left out,
    because it is no failure of the skill.
    """
    return [each for each in messages if 'op' in each or each.get(BY) == ROUTINE]


def was_rejected(state: BrainState) -> bool:
    """Whether the operator's last answer was a no."""
    for message in reversed(state.messages):
        result = result_of(message)
        if result is not None and result.error_code != RefusalCode.DECLINED:
            rejected = result.error_code == RefusalCode.REJECTED
            return rejected or result.data.get('answer') == 'no'
    return False
