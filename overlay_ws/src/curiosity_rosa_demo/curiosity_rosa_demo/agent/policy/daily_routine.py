# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The routine as the tree's last branch: starts the activities that are due by the world view.
Deterministic; it needs no model.
"""

from __future__ import annotations

from collections.abc import Iterator

from curiosity_rosa_demo.agent.policy.action import ActionProposal, PolicyAction
from curiosity_rosa_demo.agent.policy.blackboard import PolicyBoard
from curiosity_rosa_demo.agent.policy.guards import IsDue
from curiosity_rosa_demo.agent.policy.leaves import BeginProposal, ContinueActivity, StayIdle
from curiosity_rosa_demo.agent.policy.safety_filter import SafetyFilter
from curiosity_rosa_demo.agent.policy.world_state import Source
from curiosity_rosa_demo.agent.policy.world_view import WorldModel
from py_trees.behaviour import Behaviour
from py_trees.composites import Selector


def routine_fallback(board: PolicyBoard, world: WorldModel, safety: SafetyFilter) -> Selector:
    """A branch of the entries in order, then the ongoing activity, then idle."""
    entries = list(_entries(board, world, safety))
    last = [ContinueActivity('continue', board), StayIdle('rest', board)]
    return Selector('RoutineFallback', memory=False, children=[*entries, *last])


def _entries(board: PolicyBoard, world: WorldModel, safety: SafetyFilter) -> Iterator[Behaviour]:
    for number, entry in enumerate(world.view.routine, 1):
        action = PolicyAction(type=entry.activity, preemptive=entry.preemptive)
        proposal = ActionProposal(action, Source.ROUTINE)
        name = f'{number} {entry.activity}'  # one activity may have several entries
        yield IsDue(
            f'{name} due',
            BeginProposal(f'{name} begins', board, proposal=proposal),
            board,
            entry=entry,
            proposal=proposal,
            world=world,
            safety=safety,
        )
