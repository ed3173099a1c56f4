# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The six nodes of the kernel as a LangGraph StateGraph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TYPE_CHECKING, TypedDict
import warnings

from curiosity_rosa_demo.agent.kernel.event_arbitrate import event_arbitrate
from curiosity_rosa_demo.agent.kernel.hci_ingress import hci_ingress
from curiosity_rosa_demo.agent.kernel.kernel_route import kernel_route
from curiosity_rosa_demo.agent.kernel.limits import KernelRules
from curiosity_rosa_demo.agent.kernel.task_queue import task_queue
from curiosity_rosa_demo.agent.kernel.telemetry_sync import telemetry_sync
from curiosity_rosa_demo.agent.kernel.world_update import world_update
from curiosity_rosa_demo.domain.brain_state import BrainState

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph

Node = Callable[[BrainState], BrainState]


class Channels(TypedDict):
    """A single channel, so that LangGraph neither validates nor merges parts of the state."""

    brain: BrainState


def nodes(rules: KernelRules) -> dict[str, Node]:
    """The nodes by name, in execution order."""
    return {
        'hci_ingress': hci_ingress,
        'telemetry_sync': lambda state: telemetry_sync(state, rules),
        'world_update': lambda state: world_update(state, rules),
        'event_arbitrate': lambda state: event_arbitrate(state, rules),
        'task_queue': task_queue,
        'kernel_route': kernel_route,
    }


def build_graph(rules: KernelRules) -> CompiledStateGraph:
    """Compile the graph without a checkpointer. The first call imports LangGraph (about 0.5 s)."""
    import langchain  # noqa: F401  its import enables all of its warnings

    # LangGraph's own import raises this warning, for a default that the kernel does not use.
    warnings.filterwarnings(
        'ignore', message='The default value of `allowed_objects`', module='langgraph'
    )
    from langgraph.graph import END, START, StateGraph

    graph = StateGraph(Channels)
    previous = START
    for name, node in nodes(rules).items():
        graph.add_node(name, _on_channel(node))
        graph.add_edge(previous, name)
        previous = name
    graph.add_edge(previous, END)
    return graph.compile()


def tick(graph: CompiledStateGraph, state: BrainState) -> BrainState:
    """Run the graph once and return the new state."""
    from langsmith import tracing_context

    # LANGSMITH_* variables are overridden: the kernel must not upload ten traces a second.
    with tracing_context(enabled=False):
        # Cheaper than invoke(), which also collects the updates of each node.
        *_, result = graph.stream({'brain': state}, stream_mode='values', output_keys='brain')
    assert isinstance(result, BrainState)
    return result


def _on_channel(node: Node) -> Any:  # LangGraph's node type is not public
    return lambda channels: {'brain': node(channels['brain'])}
