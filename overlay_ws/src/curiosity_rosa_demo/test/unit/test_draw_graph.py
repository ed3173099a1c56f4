# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The documentation shows the graph as it is."""

from __future__ import annotations

from curiosity_rosa_demo.agent.react.graph import mermaid, STAGES
from harness import ROOT

NODES = (
    'build_observation',
    'react_decide',
    'compile_ops',
    'guardrails_check',
    'human_approval',
    'dispatch_skills',
    'observe_result',
    'stop_or_loop',
)


def test_the_picture_in_the_documentation_is_that_of_the_graph() -> None:
    page = (ROOT / 'docs/explanation/react.md').read_text(encoding='utf-8')
    assert f'```mermaid\n{mermaid().strip()}\n```' in page


def test_the_graph_has_the_eight_nodes_in_their_order() -> None:
    names = [node.__name__ for stage in STAGES.values() for node in stage]
    assert [name for name in names if name in NODES] == list(NODES)
    for name in names:
        assert name in mermaid()
