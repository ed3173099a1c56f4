# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The drawn tree, the printed tree and the picture in the documents are one tree."""

from __future__ import annotations

from html import unescape
from pathlib import Path
import re

from curiosity_rosa_demo.agent.policy.autonomy.tree_file import write_tree
from harness import ROOT
from policy_world import instant, PolicyRun, ROVER, world_of

NODE = re.compile(r'<g id="node\d+" class="node">\s*<title>([^<]*)</title>')
EDGE = re.compile(r'<g id="edge\d+" class="edge">\s*<title>([^<]*)</title>')


def printed(tree: str) -> tuple[set[str], set[tuple[str, str]]]:
    """Names, and pairs of parent and child, of the tree as ``:tree`` prints it."""
    edges, above = set(), []
    for line in tree.splitlines():
        found = re.fullmatch(r'( *)(?:\[.\]|-->|-\^-|\{.\}) (.*?)(?: \[.\].*| -- .*)?', line)
        assert found, line
        depth, name = len(found[1]) // 4, found[2]
        del above[depth:]
        if above:
            edges.add((above[-1], name))
        above.append(name)
    return {name for edge in edges for name in edge}, edges


def drawn(svg: str) -> tuple[set[str], set[tuple[str, str]]]:
    nodes = {unescape(name) for name in NODE.findall(svg)}
    edges = {tuple(unescape(edge).split('->')) for edge in EDGE.findall(svg)}
    return nodes, edges  # type: ignore[return-value]


def test_the_picture_has_the_nodes_and_parents_of_the_printed_tree(tmp_path: Path) -> None:
    world = world_of(ROVER)
    policy_run = PolicyRun(world, instant('2026-11-23 06:59', world))
    policy_run.run(2.0)
    picture = tmp_path / 'tree.svg'
    outcome = write_tree(policy_run.policy.dot(), str(picture))
    assert outcome.ok, outcome.answer
    svg = picture.read_text(encoding='utf-8')
    assert drawn(svg) == printed(policy_run.policy.ascii())
    assert 'lightblue' in svg, 'go_to_work goes on'

    shown = (ROOT / 'docs/images/policy_tree.svg').read_text(encoding='utf-8')
    assert drawn(shown) == drawn(svg), 'draw it anew: :tree docs/images/policy_tree.svg'
