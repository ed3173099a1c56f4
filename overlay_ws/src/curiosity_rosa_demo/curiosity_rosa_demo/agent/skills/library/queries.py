# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The skills ``query_graph`` and ``query_world``."""

from __future__ import annotations

import re
from typing import Annotated

from curiosity_rosa_demo.agent.language.graph_questions import graph_query
from curiosity_rosa_demo.agent.language.tables import detect_language
from curiosity_rosa_demo.agent.skills.skill import SkillCall
from curiosity_rosa_demo.domain.brain_state import Json
from curiosity_rosa_demo.domain.graph import GraphKind, GraphQuery
from curiosity_rosa_demo.domain.models import ToolResult
from pydantic import Field

# --- The skill ``query_graph``: reads the ROS graph. It writes nothing -------------------------


KINDS = ', '.join(kind.value for kind in GraphKind)
What = Annotated[str, Field(max_length=40, description=f'one of: {KINDS}; empty: use question')]
Target = Annotated[
    str,
    Field(max_length=200, description='a topic, node, service, action or frame, or a part of it'),
]
Parameter = Annotated[str, Field(max_length=200, description='the parameter to read; empty: all')]
Question = Annotated[str, Field(max_length=300, description='a question in words instead of what')]


def query_graph(
    call: SkillCall,
    what: What = '',
    target: Target = '',
    parameter: Parameter = '',
    question: Question = '',
) -> ToolResult:
    """Read the ROS graph: nodes, topics, types, QoS, services, actions, parameters, rate,
    bandwidth, newest message, frames, or why there is no picture. Read-only.
    """
    if what:
        if what not in KINDS.split(', '):
            return ToolResult.failure(f'what: {what[:40]!r} is none of: {KINDS}')
        query = GraphQuery(GraphKind(what), target, parameter)
    else:
        asked = graph_query(question)
        if asked is None:
            return ToolResult.failure(
                f'question: {question[:80]!r} does not ask about the ROS graph; use what, one of: '
                f'{KINDS}'
            )
        query = asked
    return call.world.graph(query, detect_language(question), call.cancellation)


# -----------------------------------------------------------------------------------------------
# The skill ``query_world``: the current facts about the robot and its surroundings.


Query = Annotated[
    str, Field(max_length=500, description='names or words of facts; empty: all of them')
]
# Query words that do not occur in the names of the facts they ask for.
FACT_KEYWORDS = {
    'where': ('x', 'y', 'yaw_rad', 'zones'),
    'position': ('x', 'y'),
    'pose': ('x', 'y', 'yaw_rad'),
    'heading': ('yaw_rad',),
    'charge': ('battery_pct', 'battery_state'),
    'zone': ('zones',),
    'light': ('score', 'is_good', 'distance_to_target'),
    'stopped': ('moving', 'safety_latch'),
}


def query_world(call: SkillCall, query: Query = '') -> ToolResult:
    """What is known now: pose, mast, motion, battery, zones, mode. All of it, or what the query
    names.
    """
    return ToolResult(ok=True, data=matching_facts(call.world.facts(), query))


def matching_facts(facts: Json, query: str) -> Json:
    """The facts that ``query`` mentions by name or keyword; all facts if it mentions none."""
    words = set(re.findall(r'\w+', query.lower()))
    keyword_facts = {name for word in words for name in FACT_KEYWORDS.get(word, ())}
    chosen: Json = {
        name: value
        for name, value in facts.items()
        if name in keyword_facts or name.lower() in words or words & _parts(name)
    }
    return chosen or dict(facts)


def _parts(name: str) -> set[str]:
    """The words of a fact's name, without units and single letters (three letters or fewer)."""
    return {part for part in name.lower().split('_') if len(part) > 3}
