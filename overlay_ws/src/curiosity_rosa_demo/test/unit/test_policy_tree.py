# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The tree, its two renderings and its blackboard."""

from __future__ import annotations

from html import unescape
from pathlib import Path
import re

from curiosity_rosa_demo.agent.policy.autonomy.suggestion_model import write_tree
from curiosity_rosa_demo.agent.policy.behaviour_tree import behaviour_tree
from curiosity_rosa_demo.agent.policy.blackboard import (
    ClientRole,
    KEYS,
    NO_OUTCOME,
    PolicyBoard,
    reader,
)
from curiosity_rosa_demo.agent.policy.safety_filter import SafetyFilter
from curiosity_rosa_demo.agent.policy.tree_text import (
    ANSI_COLOUR,
    node_text,
    tree_as_dot,
    tree_as_text,
)
from curiosity_rosa_demo.infra.config.world import WorldView
from examples import examples
from harness import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from policy_world import COMPANION, instant, PolicyRun, ROVER, world_of
from py_trees.behaviours import Success
from py_trees.blackboard import Blackboard
import pydot
import pytest


def life_in(view: WorldView, when: str = '2026-11-23 05:00') -> PolicyRun:
    world = world_of(view)
    return PolicyRun(world, instant(when, world))


def parents_in_text(text: str) -> dict[str, str]:
    """Name of each node's parent, from the indentation; '' for the root."""
    parents: dict[str, str] = {}
    way: list[str] = []
    for line in text.splitlines():
        found = re.fullmatch(r'( *)(?:\[o\]|-\^-|-->) (.+?)(?: \[[ox*-]\](?: -- .*)?)?', line)
        assert found, line
        depth = len(found[1]) // 4
        del way[depth:]
        assert len(way) == depth
        parents[found[2]] = way[-1] if way else ''
        way.append(found[2])
    return parents


NAME = r'"[^"]*"|\w+'
VALUE = r'"(?:[^"\\]|\\.)*"|[\w.]+'
NODE = re.compile(rf'({NAME}) \[((?:\w+=(?:{VALUE})(?:, )?)*)\];')
EDGE = re.compile(rf'({NAME}) -> ({NAME});')


def parents_in_graph(text: str) -> dict[str, str]:
    """As pydot writes it: one node or edge a line. Reading it with pydot takes 0.2 s."""
    parents: dict[str, str] = {}
    for line in text.splitlines()[2:-1]:
        if edge := EDGE.fullmatch(line):
            parent, child = (name.strip('"') for name in edge.groups())
            assert not parents[child]
            parents[child] = parent
            continue
        node = NODE.fullmatch(line)
        assert node, line
        if node[1] not in ('node', 'edge', 'graph'):
            parents[node[1].strip('"')] = ''
    return parents


SVG_NODE = re.compile(r'<g id="node\d+" class="node">\s*<title>([^<]*)</title>')
SVG_EDGE = re.compile(r'<g id="edge\d+" class="edge">\s*<title>([^<]*)</title>')


def parents_in_svg(svg: str) -> dict[str, str]:
    parents = {unescape(name): '' for name in SVG_NODE.findall(svg)}
    for edge in SVG_EDGE.findall(svg):
        parent, child = unescape(edge).split('->')
        assert not parents[child]
        parents[child] = parent
    return parents


def as_pydot_reads_it(text: str) -> dict[str, pydot.Node]:
    graphs = pydot.graph_from_dot_data(text)
    assert graphs
    (graph,) = graphs
    return {node.get_name().strip('"'): node for node in graph.get_nodes()}


@settings(max_examples=examples(30))
@given(st.lists(st.sampled_from(list(COMPANION.activities)), max_size=12))
def test_every_entry_of_any_routine_is_a_node_of_its_own(names: list[str]) -> None:
    entries = [COMPANION.routine[0].model_copy(update={'activity': name}) for name in names]
    world = world_of(COMPANION.model_copy(update={'routine': entries}))
    board = PolicyBoard()
    root = behaviour_tree(board, world, SafetyFilter(world, 0.0), None)
    drawn = [node.name for node in root.iterate()]
    assert len(set(drawn)) == len(drawn)
    text = parents_in_text(tree_as_text(root, []))
    assert sorted(text) == sorted(drawn)
    assert text == parents_in_graph(tree_as_dot(root, []))
    due = [name for name, parent in text.items() if parent == 'RoutineFallback'][:-2]
    assert due == [f'{number} {name} due' for number, name in enumerate(names, 1)]
    board.close()


def test_a_node_shows_the_last_tick_and_why() -> None:
    policy_run = life_in(COMPANION)
    policy_run.tick()
    text = policy_run.policy.ascii()
    assert '-^- 1 wake due [x] -- due 06:30-12:00' in text
    assert '[o] RoutineFallback [o]' in text
    policy_run.tick('hello')
    text = policy_run.policy.ascii()
    assert '--> read_message answers 1 [o] -- hello' in text
    assert '[o] RoutineFallback\n' in text, 'what was not asked shows no old outcome'
    assert '-^- 1 wake due\n' in text


@pytest.mark.filterwarnings('ignore::DeprecationWarning:pydot')
def test_the_graph_shows_the_outcome_as_a_colour_and_why_as_a_tooltip() -> None:
    policy_run = life_in(COMPANION)
    policy_run.tick('say "hi" \\')
    drawn = as_pydot_reads_it(policy_run.policy.dot())
    assert {'node', 'edge', 'graph', *parents_in_graph(policy_run.policy.dot())} == set(drawn)
    assert drawn['held'].get('fillcolor') == 'mistyrose'
    assert drawn['message 1'].get('fillcolor') == 'palegreen'
    assert drawn['RoutineFallback'].get('fillcolor') == 'white'
    assert drawn['read_message answers 1'].get('tooltip') == r'"say \"hi\" \\"'
    policy_run.tick()
    drawn = as_pydot_reads_it(policy_run.policy.dot())
    assert drawn['emergency continues'].get('fillcolor') == 'lightblue'


def test_the_picture_shows_the_printed_tree_also_in_the_docs(tmp_path: Path) -> None:
    policy_run = life_in(ROVER, '2026-11-23 06:59')
    policy_run.run(2.0)
    picture = tmp_path / 'tree.svg'
    outcome = write_tree(policy_run.policy.dot(), str(picture))
    assert outcome.ok, outcome.answer
    svg = picture.read_text(encoding='utf-8')
    assert parents_in_svg(svg) == parents_in_text(policy_run.policy.ascii())
    assert 'lightblue' in svg, 'go_to_work goes on'
    shown = (ROOT / 'docs/images/policy_tree.svg').read_text(encoding='utf-8')
    assert parents_in_svg(shown) == parents_in_svg(svg), (
        'draw it anew: :tree docs/images/policy_tree.svg'
    )


@settings(max_examples=examples(60))
@given(st.text(max_size=40) | st.sampled_from(['\\', '"', '\x1b[31mred', 'a\nb', '\ud800', '\\"']))
def test_no_message_breaks_the_picture(text: str) -> None:
    policy_run = life_in(COMPANION)
    policy_run.tick(text)
    assert parents_in_text(policy_run.policy.ascii()) == parents_in_graph(policy_run.policy.dot())
    assert not ANSI_COLOUR.search(policy_run.policy.ascii())
    policy_run.policy.close()


# --- a file --------------------------------------------------------------------------------------

DOT = 'digraph tree {\n"a" -> "b";\n}\n'


@pytest.mark.parametrize('name', ['tree', 'tree.dot', 'my tree.DOT'])
def test_the_tree_goes_into_a_file(tmp_path: Path, name: str) -> None:
    outcome = write_tree(DOT, str(tmp_path / name))
    written = tmp_path / f'{name.split(".")[0]}.dot'
    assert outcome.ok
    assert outcome.answer == f'wrote {written}'
    assert written.read_text() == DOT


def graphviz(folder: Path, script: str) -> None:
    program = folder / 'dot'
    program.write_text(f'#!/bin/sh\n{script}\n')
    program.chmod(0o755)


def test_a_picture_is_drawn_where_graphviz_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('PATH', str(tmp_path))
    for name in ('tree.svg', 'tree.PNG'):
        outcome = write_tree(DOT, str(tmp_path / name))
        assert not outcome.ok
        assert "graphviz's dot is not installed; apt install graphviz" in outcome.answer
        assert (tmp_path / 'tree.dot').read_text() == DOT
    graphviz(tmp_path, 'echo "$1" > "$3"')
    for name, kind in (('tree.svg', 'svg'), ('-o.PNG', 'png')):
        monkeypatch.chdir(tmp_path)
        outcome = write_tree(DOT, name)
        assert outcome.ok, outcome.answer
        assert (tmp_path / name).read_text() == f'-T{kind}\n'
    graphviz(tmp_path, 'echo "syntax error" >&2; exit 1')
    outcome = write_tree(DOT, 'tree.svg')
    assert not outcome.ok
    assert outcome.answer.endswith('but not tree.svg: syntax error')


@pytest.mark.parametrize(
    'name', ['no/such/folder/tree.dot', '.', '/', 'a\0b', 'tree.pdf', 'x' * 300]
)
def test_a_file_that_cannot_be_written_is_named(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = write_tree(DOT, name)
    assert not outcome.ok
    assert outcome.answer.startswith(name)
    assert list(tmp_path.iterdir()) == []


# --- the blackboard --------------------------------------------------------------------------


def test_what_was_never_ticked_was_not_asked() -> None:
    assert node_text(Success('never')) == 'never: not asked'


def test_a_client_may_do_what_the_table_says_and_nothing_else() -> None:
    board = PolicyBoard()
    clients = {part: board.client(part) for part in ClientRole}
    clients[ClientRole.ENGINE].moment = clients[ClientRole.ENGINE].outcome = NO_OUTCOME
    for part, client in clients.items():
        for key, (reads, writes) in KEYS.items():
            if part in reads:
                assert getattr(client, key) is NO_OUTCOME
                assert reader(client, key)() is NO_OUTCOME
            else:
                if part not in writes:  # py_trees lets a writer read
                    with pytest.raises(AttributeError, match='read/write access'):
                        getattr(client, key)
                with pytest.raises(AttributeError, match=f'{part.value} may not read {key}'):
                    reader(client, key)
            if part in writes:
                setattr(client, key, NO_OUTCOME)
            else:
                with pytest.raises(AttributeError, match='write access'):
                    setattr(client, key, NO_OUTCOME)
    board.close()


def test_only_the_engine_can_be_given_the_moment_to_write() -> None:
    board = PolicyBoard()
    board.client(ClientRole.ENGINE)
    with pytest.raises(AttributeError, match='exclusive'):
        board.client(ClientRole.ENGINE)
    board.close()


def test_two_policies_do_not_meet() -> None:
    first, second = PolicyBoard(), PolicyBoard()
    one, other = first.client(ClientRole.ENGINE), second.client(ClientRole.ENGINE)
    one.moment, other.moment = 'first', 'second'
    assert reader(first.client(ClientRole.GUARD), 'moment')() == 'first'
    assert reader(second.client(ClientRole.GUARD), 'moment')() == 'second'
    first.close()
    assert reader(second.client(ClientRole.WATCH), 'moment')() == 'second'
    second.close()


@pytest.mark.parametrize('view', [ROVER, COMPANION], ids=['rover', 'companion'])
def test_a_closed_policy_leaves_nothing_behind(view: WorldView) -> None:
    storage, clients = set(Blackboard.storage), len(Blackboard.clients)
    metadata = set(Blackboard.metadata)
    policy_run = life_in(view)
    policy_run.run(5)
    assert set(Blackboard.storage) > storage
    policy_run.policy.close()
    assert set(Blackboard.storage) == storage
    assert set(Blackboard.metadata) == metadata
    assert len(Blackboard.clients) == clients
