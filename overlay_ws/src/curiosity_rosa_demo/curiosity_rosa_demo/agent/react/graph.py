# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The ReAct loop as a LangGraph StateGraph.

The eight nodes form three stages. A checkpoint follows each stage: before an act, after it, and at
a question. A second run of ``think`` or ``ask`` does not move the robot. An interrupted ``act`` is
not run again: the loop observes its result instead.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
import time
from typing import Any, TypedDict

from curiosity_rosa_demo.agent.react.nodes.build_observation import build_observation
from curiosity_rosa_demo.agent.react.nodes.compile_ops import compile_ops
from curiosity_rosa_demo.agent.react.nodes.dispatch_skills import dispatch_skills
from curiosity_rosa_demo.agent.react.nodes.guardrails_check import guardrails_check
from curiosity_rosa_demo.agent.react.nodes.human_approval import human_approval, put_question
from curiosity_rosa_demo.agent.react.nodes.observe_result import observe_result
from curiosity_rosa_demo.agent.react.nodes.react_decide import react_decide
from curiosity_rosa_demo.agent.react.nodes.stop_or_loop import stop_or_loop
from curiosity_rosa_demo.agent.react.turn.context import TurnContext
from curiosity_rosa_demo.agent.react.turn.messages import with_react_fields
from curiosity_rosa_demo.domain.brain_state import BrainState
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import MemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

Node = Callable[[BrainState, TurnContext], Awaitable[BrainState]]

STAGES: dict[str, tuple[Node, ...]] = {
    'think': (build_observation, react_decide, compile_ops, guardrails_check, put_question),
    'ask': (human_approval,),
    'act': (dispatch_skills, observe_result, stop_or_loop),
}


class Channels(TypedDict):
    """One channel, so that LangGraph neither validates nor merges parts of the state."""

    brain: BrainState


def build_graph(
    turn: Callable[[], TurnContext],
    loop: asyncio.AbstractEventLoop,
    saver: BaseCheckpointSaver[Any],
) -> CompiledStateGraph:
    """The compiled graph. Its nodes run in ``loop``, in the thread that streams the graph."""
    graph = StateGraph(Channels)
    for name, nodes in STAGES.items():
        names = ', '.join(node.__name__ for node in nodes)
        graph.add_node(name, _stage_node(name, nodes, turn, loop), metadata={'nodes': names})
    graph.add_edge(START, 'think')
    graph.add_conditional_edges('think', after_think, ['ask', 'act'])
    graph.add_conditional_edges('ask', after_think, ['ask', 'act'])
    graph.add_conditional_edges('act', after_act, ['think', 'ask', END])
    return graph.compile(checkpointer=saver)


def after_think(channels: Channels) -> str:
    return 'act' if channels['brain'].react.question is None else 'ask'


def after_act(channels: Channels) -> str:
    react = channels['brain'].react
    if react.question is not None:
        return 'ask'
    return END if react.stop_reason else 'think'


def _stage_node(
    name: str, nodes: tuple[Node, ...], turn: Callable[[], TurnContext], loop: Any
) -> Any:
    async def run(state: BrainState) -> BrainState:
        started_s = time.monotonic()
        with turn().step_spans.stage(name, state.react.iter + 1):
            for node in nodes:
                state = await node(state, turn())
        spent = state.react.spent
        seconds = spent.seconds + time.monotonic() - started_s
        return with_react_fields(state, spent=spent.model_copy(update={'seconds': seconds}))

    # Asynchronous nodes in a synchronous run: LangGraph's own asynchronous run costs more.
    return lambda channels: {'brain': loop.run_until_complete(run(channels['brain']))}


# --- Prints the graph for the documentation: ``python -m ...agent.react.draw_graph`` -----------


def mermaid() -> str:
    """The compiled graph as a Mermaid diagram."""

    def no_turn() -> TurnContext:
        raise AssertionError('the graph is drawn, never run')

    loop = asyncio.new_event_loop()
    try:
        return str(build_graph(no_turn, loop, MemorySaver()).get_graph().draw_mermaid())
    finally:
        loop.close()


if __name__ == '__main__':
    print(mermaid(), end='')
