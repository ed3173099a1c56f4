# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Prints the graph for the documentation: ``python -m ...agent.react.draw_graph``."""

from __future__ import annotations

import asyncio

from curiosity_rosa_demo.agent.react.graph import build_graph
from curiosity_rosa_demo.agent.react.turn.context import TurnContext
from langgraph.checkpoint.memory import MemorySaver


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
