# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Formats a tree as text for a terminal or as a DOT graph, with the last tick's outcome, and
the policy's state as text.
"""

from __future__ import annotations

from collections.abc import Collection
import re

from curiosity_rosa_demo.agent.policy.world_state import Ongoing, WorldState
from curiosity_rosa_demo.agent.policy.world_view import energy_now, WorldModel
from curiosity_rosa_demo.domain.text import printable
from py_trees.behaviour import Behaviour
from py_trees.common import Status
from py_trees.display import ascii_tree, dot_tree

# --- The policy's state as one line for the operator. Pure -------------------------------------


def state_text(state: WorldState, world: WorldModel, at: float, holding: str) -> str:
    """Place, energy, ongoing and suspended activities, hold reason. Times are local."""
    where = f'at {state.place}' if state.place else 'at an unknown place'
    parts = [f'{where}, energy {energy_now(state, world, at):.0%}']
    if state.activity is None:
        parts.append('nothing goes on')
    else:
        parts.append(_ongoing(state.activity, world))
    if state.suspended:
        names = ', '.join(each.activity for each in reversed(state.suspended))
        parts.append(f'goes on afterwards: {names}')
    if holding:
        parts.append(f'held: {holding}')
    return printable('; '.join(parts))


def _ongoing(ongoing: Ongoing, world: WorldModel) -> str:
    since = f'{world.local(ongoing.began_at):%H:%M}'
    until = '' if ongoing.until is None else f' until {world.local(ongoing.until):%H:%M}'
    return f'{ongoing.activity} since {since}{until}, by the {ongoing.by.value}'


ANSI_COLOUR = re.compile('\x1b\\[[0-9;]*m')
STATUS_TEXTS = {
    Status.SUCCESS: 'yes',
    Status.FAILURE: 'no',
    Status.RUNNING: 'goes on',
    Status.INVALID: 'not asked',
}
# how node_text() ends: after a success without a reason, and after a failure
SUCCESS_SUFFIX = f': {STATUS_TEXTS[Status.SUCCESS]}'
FAILURE_SUFFIX = re.compile(rf': {STATUS_TEXTS[Status.FAILURE]}(?: \(|$)')
STATUS_FILLS = {
    Status.SUCCESS: 'palegreen',
    Status.FAILURE: 'mistyrose',
    Status.RUNNING: 'lightblue',
    Status.INVALID: 'white',
}


def node_text(node: Behaviour) -> str:
    """One line: the node's name, status and reason."""
    why = f' ({node.feedback_message})' if node.feedback_message else ''
    return f'{node.name}: {STATUS_TEXTS[node.status]}{why}'


def tree_as_text(root: Behaviour, visited: Collection[Behaviour]) -> str:
    """The tree with a mark for each visited node: o success, x failure, * running, and why."""
    drawn = ascii_tree(root, visited={node.id: node.status for node in visited})
    return ANSI_COLOUR.sub('', drawn).rstrip('\n')


def tree_as_dot(root: Behaviour, visited: Collection[Behaviour]) -> str:
    """The tree as a DOT graph: green success, red failure, blue running, white not visited."""
    graph = dot_tree(root)
    graph.set_name('policy')
    by_name = {node.name: node for node in root.iterate()}
    for drawn in graph.get_nodes():
        node = by_name.get(drawn.get_name().strip('"'))
        if node is None:  # an entry with the graph's defaults
            continue
        was_visited = node in visited
        drawn.set('fillcolor', STATUS_FILLS[node.status if was_visited else Status.INVALID])
        if was_visited and node.feedback_message:
            drawn.set('tooltip', node.feedback_message.replace('\\', '\\\\'))
    return graph.to_string()
