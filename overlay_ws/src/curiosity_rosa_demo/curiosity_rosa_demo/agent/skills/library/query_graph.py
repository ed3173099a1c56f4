# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The skill ``query_graph``: reads the ROS graph. It writes nothing."""

from __future__ import annotations

from typing import Annotated

from curiosity_rosa_demo.agent.kernel.intent.graph_questions import graph_query
from curiosity_rosa_demo.agent.rule_model.parser import detect_language
from curiosity_rosa_demo.agent.skills.skill import SkillCall
from curiosity_rosa_demo.domain.graph import GraphKind, GraphQuery
from curiosity_rosa_demo.domain.models import ToolResult
from pydantic import Field

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
