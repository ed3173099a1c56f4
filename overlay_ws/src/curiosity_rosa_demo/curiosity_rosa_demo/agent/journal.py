"""The calls of a turn, kept as JSON so that the turn can go on after a pause or a crash."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from langchain.agents.output_parsers.tools import ToolAgentAction
from langchain_core.agents import AgentAction
from langchain_core.messages import AIMessage

from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.domain.serde import to_json

INTERRUPTED = 'Interrupted: what this call did is not known'


class Journal:
    """``entries`` is a list of JSON objects, read when a turn begins and added to as it goes on.

    ``save`` returns when the entries are safe; it is called before a call is carried out and after
    it has its result.
    """

    def __init__(self, entries: list[dict[str, Any]], save: Callable[[], None]) -> None:
        self._entries, self._save = entries, save

    def begin(self, action: AgentAction, thought: str) -> None:
        """Note what is about to be done."""
        self._entries.append(
            {
                'tool': action.tool,
                'input': json.dumps(action.tool_input),  # a model may write NaN
                'call_id': getattr(action, 'tool_call_id', ''),
                'thought': thought,
                'result': None,
            }
        )
        self._save()

    def end(self, result: str) -> None:
        """Note what came of it: a ToolResult as JSON."""
        self._entries[-1]['result'] = result
        self._save()

    def steps(self) -> Iterator[tuple[AgentAction, str]]:
        """What was done so far. A call without a result was interrupted."""
        for entry in self._entries:
            if entry['result'] is None:
                entry['result'] = to_json(ToolResult.failure(INTERRUPTED))
            arguments = json.loads(entry['input'])
            call = {'name': entry['tool'], 'args': arguments, 'id': entry['call_id']}
            yield (
                ToolAgentAction(
                    tool=entry['tool'],
                    tool_input=arguments,
                    log='',
                    tool_call_id=entry['call_id'],
                    message_log=[AIMessage(content=entry['thought'], tool_calls=[call])],
                ),
                entry['result'],
            )
