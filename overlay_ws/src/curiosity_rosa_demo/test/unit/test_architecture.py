# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""docs/explanation/architecture.md lists the packages in the order of the contracts, and packages
without ROS import none. ``lint-imports`` checks the order itself (pyproject.toml).
"""

from __future__ import annotations

import re
import sys

from harness import ROOT
from importlinter.api import read_configuration
from module_imports import PACKAGE, reach, read
import pytest

FOLDER = ROOT / 'overlay_ws/src' / PACKAGE / PACKAGE
MODULES = read(FOLDER)
FOREIGN = {name for one in MODULES.values() for name in one.ever} - MODULES.keys()
ROS = {name for name in FOREIGN if name.endswith(('_msgs', '_srvs', '_interfaces'))} | {
    *('ament_index_python', 'launch', 'rclpy', 'tf2_ros')
}

WITHOUT_ROS = [
    *('agent.interfaces.http', 'agent.interfaces.page', 'agent.kernel', 'agent.llm'),
    *('agent.policy', 'agent.react', 'agent.rule_model', 'agent.tasks', 'domain', 'drawing'),
]
WITH_ROS = f'{PACKAGE}.agent.policy.autonomy.'  # joins what acts unasked to the runtime
PURE = [  # rules that are tried in milliseconds: importing them imports no ROS
    *(
        'adapter.adapter_rules',
        'adapter.input_log',
        'adapter.agent_link',
        'adapter.alarm_fold',
        'adapter.call_log',
        'adapter.stop_result',
    ),
    *('adapter.mast', 'adapter.motion_guard', 'adapter.stop'),
    *('adapter.watches', 'agent.kernel.loop', 'agent.policy.policy'),
    'sim.light_model',
]


def members(package: str) -> list[str]:
    whole = f'{PACKAGE}.{package}'
    found = [name for name in MODULES if name == whole or name.startswith(f'{whole}.')]
    assert found, package
    return found


def order_of_the_contracts() -> list[list[str]]:
    """Bottom first; what stands together does not import each other."""
    contracts = read_configuration(str(ROOT / 'pyproject.toml'))['contracts_options']
    layers = [
        f'{container}.{layer}'.removeprefix(f'{PACKAGE}.')
        for contract in contracts
        if contract['type'] == 'layers'
        for container in contract['containers']
        for layer in contract['layers']
    ]
    outer = [layer for layer in layers if '.' not in layer]
    agent = outer.index('agent')
    inner = [layer for layer in layers if '.' in layer]
    return [
        sorted(name.strip().rpartition('.')[2] for name in layer.split('|'))
        for layer in (*outer[:agent:-1], *reversed(inner), *reversed(outer[:agent]))
    ]


def test_the_page_lists_the_packages_in_the_order_of_the_contracts() -> None:
    (file,) = (ROOT / 'docs').rglob('architecture.md')
    page = file.read_text(encoding='utf-8')
    section = page.partition('### Who imports whom')[2].partition('\n#')[0]
    lines = re.findall(r'^\d+\. ((?:`[\w./]+`,? ?)+)', section, re.MULTILINE)
    listed = [
        sorted(re.sub(r'\.py$|/$|^agent/', '', name) for name in re.findall(r'`([\w./]+)`', line))
        for line in lines
    ]
    assert listed == order_of_the_contracts()


def test_the_domain_imports_pydantic_and_nothing_else_of_others() -> None:
    for name in members('domain'):
        foreign = {one for one in MODULES[name].ever if one not in MODULES}
        assert not foreign & ROS
        assert foreign <= {'pydantic', *sys.stdlib_module_names}, name


@pytest.mark.parametrize('package', WITHOUT_ROS)
def test_a_package_without_ros_imports_none(package: str) -> None:
    for name in members(package):
        if not name.startswith(WITH_ROS):
            assert not MODULES[name].ever & ROS, name


@pytest.mark.parametrize('package', [*PURE, 'agent.tasks'])
def test_importing_a_rule_imports_no_ros(package: str) -> None:
    for name in members(package):
        assert not reach(name, MODULES) & ROS, name
