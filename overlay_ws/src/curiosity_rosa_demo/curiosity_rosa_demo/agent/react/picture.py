"""The graph as a picture for the documentation: ``python -m ...agent.react.picture``."""

from __future__ import annotations

import asyncio

from langgraph.checkpoint.memory import MemorySaver

from curiosity_rosa_demo.agent.react.graph import build_graph
from curiosity_rosa_demo.agent.react.turn import Turn


def mermaid() -> str:
    """The compiled graph in Mermaid's language."""

    def nobody() -> Turn:
        raise AssertionError('a picture carries nothing out')

    loop = asyncio.new_event_loop()
    try:
        return str(build_graph(nobody, loop, MemorySaver()).get_graph().draw_mermaid())
    finally:
        loop.close()


if __name__ == '__main__':
    print(mermaid(), end='')
