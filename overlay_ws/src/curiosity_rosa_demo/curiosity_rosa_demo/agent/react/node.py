# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The agent loop's eight nodes as objects, for use in another graph."""

from __future__ import annotations

from dataclasses import dataclass

from curiosity_rosa_demo.agent.react.graph import Node, STAGES
from curiosity_rosa_demo.agent.react.nodes.human_approval import human_approval, put_question
from curiosity_rosa_demo.agent.react.turn.context import TurnContext
from curiosity_rosa_demo.domain.brain_state import BrainState
from curiosity_rosa_demo.domain.interfaces import IReActNode


@dataclass(frozen=True)
class ReActNode(IReActNode):
    name: str
    function: Node
    turn: TurnContext

    async def execute(self, state: BrainState) -> BrainState:
        return await self.function(state, self.turn)


def react_nodes(turn: TurnContext) -> list[ReActNode]:
    """The eight nodes in the order in which they run. ``human_approval`` waits in LangGraph's
    ``interrupt``, so a graph with a checkpointer must run it.
    """
    functions = [node for stage in STAGES.values() for node in stage if node is not put_question]
    return [
        ReActNode(node.__name__, _approval if node is human_approval else node, turn)
        for node in functions
    ]


async def _approval(state: BrainState, turn: TurnContext) -> BrainState:
    """Ask when the proposed operation needs an answer; otherwise do nothing."""
    if state.react.question is None:
        state = await put_question(state, turn)
    return state if state.react.question is None else await human_approval(state, turn)
