# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The policy's behaviour tree: emergencies first, then the filtered model, then the routine."""

from __future__ import annotations

from curiosity_rosa_demo.agent.policy.blackboard import PolicyBoard
from curiosity_rosa_demo.agent.policy.daily_routine import routine_fallback
from curiosity_rosa_demo.agent.policy.guards import MayAsk, MessageWaits
from curiosity_rosa_demo.agent.policy.leaves import (
    AnswerMessage,
    AskModel,
    ContinueActivity,
    IsHeld,
)
from curiosity_rosa_demo.agent.policy.safety_filter import SafetyFilter
from curiosity_rosa_demo.agent.policy.suggestion_provider import LLMPolicyProvider
from curiosity_rosa_demo.agent.policy.world_state import Source
from curiosity_rosa_demo.agent.policy.world_view import WorldModel
from py_trees.composites import Selector


def behaviour_tree(
    board: PolicyBoard, world: WorldModel, safety: SafetyFilter, provider: LLMPolicyProvider | None
) -> Selector:
    """Build the tree. Node names are unique and have no colon, which DOT does not allow."""
    model = AskModel('model', board, world=world, safety=safety, provider=provider)
    asking = MayAsk('LLMDrivenBranch', model, board, world=world, provider=provider)
    branches = [_emergency(board, world, safety), asking, routine_fallback(board, world, safety)]
    return Selector('Root', memory=False, children=branches)


def _emergency(board: PolicyBoard, world: WorldModel, safety: SafetyFilter) -> Selector:
    guarded = [
        MessageWaits(
            f'message {number}',
            AnswerMessage(
                f'{entry.activity} answers {number}', board, activity=entry.activity, safety=safety
            ),
            board,
        )
        for number, entry in enumerate(world.view.emergencies, 1)
    ]
    last = ContinueActivity('emergency continues', board, by=Source.EMERGENCY)
    return Selector(
        'EmergencyBranch', memory=False, children=[IsHeld('held', board), *guarded, last]
    )
