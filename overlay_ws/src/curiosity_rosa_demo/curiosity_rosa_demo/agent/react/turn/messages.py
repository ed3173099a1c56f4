# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The calls of a turn, as the JSON of BrainState.messages and in LangChain's form.

An entry is one call of the model: ``tool``, ``input``, ``call_id``, ``thought`` (the text beside
the call), ``result`` (a ToolResult as JSON; None while it is not known) and ``at`` (seconds since
the epoch, of the result). ``picture``, if any, is a reference to the picture that a model that
can see gets with the result: never its pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
import json
import time
from typing import Any

from curiosity_rosa_demo.domain.brain_state import BrainState, Json
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.domain.serde import from_json, to_json
from langchain.agents.output_parsers.tools import ToolAgentAction
from langchain_core.agents import AgentAction
from langchain_core.messages import AIMessage

PICTURE = 'picture'
Steps = list[tuple[AgentAction, str]]


def call_entry(action: AgentAction, thought: str, used_ids: set[str]) -> Json:
    """``used_ids``: the call IDs of the turn so far. A missing or used ID is replaced: some models
    restart their numbering in each answer. Mistral accepts nine letters and digits only.
    """
    call_id = getattr(action, 'tool_call_id', '') or ''
    number = len(used_ids)
    while not call_id or call_id in used_ids:
        call_id, number = f'rosa{number:05d}', number + 1
    return {
        'tool': action.tool,
        'input': json.dumps(action.tool_input),  # as text: a model may write NaN
        'call_id': call_id,
        'thought': thought,
        'result': None,
        'at': 0.0,
    }


def with_result(messages: list[Json], call_id: str, result: ToolResult, **more: Any) -> list[Json]:
    """``messages`` with the result of the call ``call_id``."""
    return [
        {**each, 'result': to_json(result), 'at': time.time(), **more}
        if each['call_id'] == call_id
        else each
        for each in messages
    ]


def result_of(message: Json) -> ToolResult | None:
    text = message['result']
    return None if text is None else from_json(ToolResult, str(text))


def picture_references(messages: Sequence[Json]) -> dict[str, Json]:
    """The references to the pictures of the calls, by call ID."""
    found = ((str(each['call_id']), each.get(PICTURE)) for each in messages)
    return {call_id: picture for call_id, picture in found if isinstance(picture, dict)}


class StepCache:
    """Caches the entries in LangChain's form. Converting them for every call of the model would
    cost as much as the rest of a step.
    """

    def __init__(self) -> None:
        self._cache: dict[str, tuple[Json, tuple[AgentAction, str]]] = {}

    def steps(self, messages: Sequence[Json]) -> Steps:
        """The calls whose result is known."""
        return [self._step(each) for each in messages if each['result'] is not None]

    def _step(self, message: Json) -> tuple[AgentAction, str]:
        key = str(message['call_id'])
        known = self._cache.get(key)
        if known is None or known[0] != message:
            known = self._cache[key] = (message, _agent_step(message))
        return known[1]


def _agent_step(message: Json) -> tuple[AgentAction, str]:
    tool, arguments = str(message['tool']), json.loads(str(message['input']))
    # LangChain unwraps the argument "__arg1" into a bare value.
    as_sent = arguments if isinstance(arguments, dict) else {'__arg1': arguments}
    call: Any = {'name': tool, 'args': as_sent, 'id': message['call_id']}
    action = ToolAgentAction(
        tool=tool,
        tool_input=arguments,
        log='',
        tool_call_id=str(message['call_id']),
        message_log=[AIMessage(content=str(message['thought']), tool_calls=[call])],
    )
    return action, str(message['result'])


def with_react_fields(state: BrainState, **changes: Any) -> BrainState:
    """``state`` with other fields in its ``react``. Not validated: that would cost more."""
    return state.model_copy(update={'react': state.react.model_copy(update=changes)})
