# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""docs/explanation/architecture.md shows the packages as the code has them; their layers hold."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
import re
import sys

from harness import ROOT
from import_rooms import PACKAGE, reach, read, room, ways
import pytest

FOLDER = ROOT / 'overlay_ws/src' / PACKAGE / PACKAGE
MODULES = read(FOLDER)
ROOMS = sorted({room(name, MODULES) for name in MODULES} - {'.'})
WAYS = ways(MODULES)
PAGE = (ROOT / 'docs/explanation/architecture.md').read_text(encoding='utf-8')
FOREIGN = {name for one in MODULES.values() for name in one.ever} - MODULES.keys()
ROS = {name for name in FOREIGN if name.endswith(('_msgs', '_srvs', '_interfaces'))} | {
    *('ament_index_python', 'launch', 'rclpy', 'tf2_ros')
}

ALLOWED = {  # below the agent: what a room may import of ours
    'adapter': {'domain', 'infra'},
    'domain': set(),
    'drawing': {'domain', 'infra'},
    'infra': {'domain', 'trace'},
    'sim': {'domain', 'infra'},
    'trace': {'domain', 'drawing', 'infra'},
    'viz': {'domain', 'infra', 'trace'},
}
WITHOUT_ROS = [
    *('agent/http', 'agent/page', 'agent/policy', 'agent/react', 'agent/tasks'),
    *('domain', 'drawing'),
]
PURE = [  # rules that are tried in milliseconds: importing them imports no ROS
    *('adapter.heartbeat', 'adapter.mast', 'adapter.motion_guard', 'adapter.stop'),
    *('adapter.unasked', 'agent.kernel.graph', 'agent.policy.policy', 'sim.light_model'),
]


def top(name: str) -> str:
    return name.partition('/')[0]


def leaf(name: str) -> str:
    return name.rpartition('/')[2]


def mermaid(arrows: Iterable[tuple[str, str]]) -> str:
    lines = [f'  {here} --> {there}' for here, there in sorted(arrows)]
    return '\n'.join(['```mermaid', 'flowchart TD', *lines, '```'])


def outer() -> str:
    """The top-level rooms. Everything imports ``domain``, so that is not drawn."""
    arrows = {(top(here), top(there)) for here, there in WAYS}
    return mermaid({(here, there) for here, there in arrows if here != there != 'domain'})


def inner() -> str:
    """The rooms of the agent."""
    arrows = {way for way in WAYS if {top(name) for name in way} == {'agent'}}
    return mermaid({(leaf(here), leaf(there)) for here, there in arrows})


@pytest.mark.parametrize('drawing', [outer(), inner()], ids=['outer', 'inner'])
def test_the_page_draws_what_the_code_imports(drawing: str) -> None:
    assert drawing in PAGE, f'put this into docs/explanation/architecture.md:\n{drawing}'


def test_the_page_names_every_room_and_the_files_that_it_names_are_there() -> None:
    table = PAGE.partition('| package | holds |')[2].partition('\n\n')[0]
    named = re.findall(r'^\| `([\w/]+)/` \| (.*) \|$', table, re.MULTILINE)
    assert sorted(name for name, _ in named if name != 'standalone/runner') == ROOMS
    for name, holds in named:
        for file in re.findall(r'`(\w+\.py)`', holds):
            assert (FOLDER / name / file).is_file(), f'{name}/{file}'


@pytest.mark.parametrize('name', ALLOWED)
def test_what_stands_below_the_agent_imports_only_what_stands_below_itself(name: str) -> None:
    assert {there for here, there in WAYS if here == name} <= ALLOWED[name]


def test_everything_below_the_agent_has_its_limits() -> None:
    assert {name for name in ROOMS if top(name) not in ('agent', 'tools')} == set(ALLOWED)


def test_the_domain_knows_pydantic_and_nothing_else_of_others() -> None:
    for name, imports in MODULES.items():
        if room(name, MODULES) == 'domain':
            foreign = {one for one in imports.ever if one not in MODULES}
            assert not foreign & ROS
            assert foreign <= {'pydantic', *sys.stdlib_module_names}, name


@pytest.mark.parametrize('name', WITHOUT_ROS)
def test_a_room_without_ros_imports_none(name: str) -> None:
    members = [one for one in MODULES if room(one, MODULES) == name]
    assert members
    for one in members:
        assert not MODULES[one].ever & ROS, one


@pytest.mark.parametrize('name', [f'{PACKAGE}.{name}' for name in PURE])
def test_importing_a_rule_imports_no_ros(name: str) -> None:
    assert not reach(name, MODULES) & ROS


def test_importing_the_tasks_imports_no_ros() -> None:
    for name in MODULES:
        if room(name, MODULES) == 'agent/tasks':
            assert not reach(name, MODULES) & ROS, name


def test_no_module_imports_itself_through_others() -> None:
    for name, imports in MODULES.items():
        for other in imports.at_once & MODULES.keys():
            assert name not in reach(other, MODULES), f'{name} and {other}'


def test_what_is_imported_later_or_for_types_alone_is_not_imported_at_once(tmp_path: Path) -> None:
    folder = tmp_path / PACKAGE
    (folder / 'room').mkdir(parents=True)
    (folder / 'room/other.py').write_text('')
    (folder / 'room/one.py').write_text(
        'from typing import TYPE_CHECKING\n'
        'try:\n    import numpy.linalg\nexcept ImportError:\n    import math\n'
        'class A:\n    import json\n'
        f'if TYPE_CHECKING:\n    from {PACKAGE}.room import other\n'
        'def late():\n    import rclpy\n'
    )
    one = read(folder)[f'{PACKAGE}.room.one']
    assert one.at_once == {'typing', 'numpy', 'math', 'json'}
    assert one.ever - one.at_once == {f'{PACKAGE}.room.other', 'rclpy'}
