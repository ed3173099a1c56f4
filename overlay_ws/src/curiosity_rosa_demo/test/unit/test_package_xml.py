# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Whoever installs what package.xml and the pip requirements name has all that is imported."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
import re
import sys
from xml.etree import ElementTree

from harness import ROOT
import pytest

SOURCES = {
    'control_msgs': ROOT / 'standalone/src/control_msgs',
    'curiosity_physics': ROOT / 'standalone/src/curiosity_physics',
    'curiosity_rosa_demo': ROOT / 'overlay_ws/src/curiosity_rosa_demo',
    'curiosity_rosa_interfaces': ROOT / 'overlay_ws/src/curiosity_rosa_interfaces',
    'curiosity_stand_in': ROOT / 'standalone/src/curiosity_stand_in',
    'tf2_msgs': ROOT / 'standalone/src/tf2_msgs',
}
LICENSES = {'control_msgs': 'BSD-3-Clause'}  # that of the package whose interfaces it has
PYTHON = ['curiosity_physics', 'curiosity_rosa_demo', 'curiosity_stand_in']
KEYS = {  # where rosdep calls a module otherwise
    'cv2': 'python3-opencv',
    'jinja2': 'python3-jinja2',
    'numpy': 'python3-numpy',
    'prometheus_client': 'python3-prometheus-client',
    'prompt_toolkit': 'python3-prompt-toolkit',
    'tf2_ros': 'tf2_ros_py',
    'yaml': 'python3-yaml',
}
WHERE_INSTALLED = {'nav2_msgs', 'curiosity_stand_in'}  # the missions' rover; a test tool's
RUN = {  # what is started, not imported
    *('ros2launch', 'rviz2', 'compressed_image_transport', 'xterm', 'graphviz'),
    'rosidl_default_runtime',
}
REQUIREMENTS = [ROOT / 'standalone/requirements.txt', ROOT / 'docker/requirements.txt']
# What scripts/setup.sh adds with --model and --physics.
OPTIONAL = [ROOT / f'standalone/requirements-{name}.txt' for name in ('model', 'physics')]


def depends(package: str, *tags: str) -> set[str]:
    root = ElementTree.parse(SOURCES[package] / 'package.xml').getroot()
    return {
        str(found.text) for tag in tags or ('depend', 'exec_depend') for found in root.iter(tag)
    }


def modules(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def imports(package: str) -> set[str]:
    """The foreign top-level modules that the package's own code imports, without its tests."""
    folder = SOURCES[package]
    files = [*(folder / package).rglob('*.py'), *folder.glob('launch/*.py')]
    names = {
        name.partition('.')[0] for file in files for name in modules(ast.parse(file.read_bytes()))
    }
    return names - sys.stdlib_module_names - {package}


def pinned(requirements: Path) -> set[str]:
    lines = requirements.read_text(encoding='utf-8').splitlines()
    return {normal(re.split(r'[=<>;\[ ]', line)[0]) for line in lines if line[:1].isalnum()}


@cache
def distributions() -> Mapping[str, list[str]]:
    return packages_distributions()


def normal(distribution: str) -> str:
    return re.sub(r'[-_.]+', '-', distribution).lower()


@pytest.mark.parametrize('package', PYTHON)
def test_every_import_is_declared_or_pinned(package: str) -> None:
    declared = depends(package)
    found = distributions()
    for name in sorted(imports(package) - WHERE_INSTALLED):
        if KEYS.get(name, name) in declared:
            continue
        homes = {normal(home) for home in found.get(name, [name])}  # it may be left out
        if any(homes & pinned(file) for file in OPTIONAL):
            continue
        for requirements in REQUIREMENTS:
            assert homes & pinned(requirements), (
                f'{package} imports {name}: neither package.xml nor {requirements.name} in '
                f'{requirements.parent.name}/ has it'
            )


@pytest.mark.parametrize('package', PYTHON)
def test_nothing_is_declared_that_is_not_used(package: str) -> None:
    used = {KEYS.get(name, name) for name in imports(package)}
    assert depends(package) - used - RUN == set()


@pytest.mark.parametrize('package', ['control_msgs', 'curiosity_rosa_interfaces', 'tf2_msgs'])
def test_an_interface_package_declares_the_packages_of_its_fields(package: str) -> None:
    files = [
        file for kind in ('msg', 'srv', 'action') for file in SOURCES[package].rglob(f'*.{kind}')
    ]
    assert files
    text = '\n'.join(file.read_text(encoding='utf-8') for file in files)
    fields = set(re.findall(r'^(\w+)/', text, re.MULTILINE))
    wanted = fields | (
        {'action_msgs'} if any(file.suffix == '.action' for file in files) else set()
    )
    assert wanted == depends(package, 'depend')
    cmake = (SOURCES[package] / 'CMakeLists.txt').read_text(encoding='utf-8')
    for file in files:
        assert f'"{file.parent.name}/{file.name}"' in cmake
    assert wanted <= set(re.findall(r'find_package\((\w+) REQUIRED\)', cmake))


@pytest.mark.parametrize('package', SOURCES)
def test_what_package_xml_and_setup_py_say_of_a_package_agrees(package: str) -> None:
    root = ElementTree.parse(SOURCES[package] / 'package.xml').getroot()
    said = {tag: root.findtext(tag) for tag in ('name', 'version', 'license', 'maintainer')}
    assert said == {
        'name': package,
        'version': '0.1.0',
        'license': LICENSES.get(package, 'Apache-2.0'),
        'maintainer': 'Curiosity ROSA maintainers',
    }
    setup = SOURCES[package] / 'setup.py'
    if package in PYTHON:
        text = setup.read_text(encoding='utf-8')
        for value in (said['version'], said['license'], said['maintainer']):
            assert f"'{value}'" in text
        # colcon test takes pytest only where the package names it, in both.
        assert "extras_require={'test': ['pytest']}" in text
        assert 'python3-pytest' in depends(package, 'test_depend')
    else:
        assert not setup.exists()
