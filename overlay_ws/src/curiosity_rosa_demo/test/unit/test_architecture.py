# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""What ruff, mypy, lint-imports and the build do not see of our sources, read, not run.

What is imported is installed, importing the rules imports no ROS, and all of it runs on Python
3.10 and on Humble's rclpy. HUMBLE was read from ros2/rclpy, branch humble (b488272): what this
project takes from rclpy and that branch has. A new name is looked up there, then entered here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
import gc
from importlib.metadata import packages_distributions
from pathlib import Path
import re
import subprocess
import sys
import warnings
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parents[5]
PACKAGE = Path(__file__).resolve().parents[2]
FOLDERS = (PACKAGE, ROOT / 'standalone', ROOT / 'bench', ROOT / 'examples', ROOT / 'docker')
MADE = {'build', 'install', 'log'}  # by colcon
OLDEST = (3, 10)


def files() -> list[Path]:
    """The package, and where the whole checkout is here, all else in it."""
    return sorted(
        file
        for folder in FOLDERS
        for file in folder.rglob('*.py')
        if not MADE.intersection(file.relative_to(folder).parts)
    )


def parsed(text: str) -> ast.Module:
    """Raises SyntaxError for what the oldest Python does not know, and for what a newer one warns
    of.
    """
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        gc.disable()  # may run a second parse meanwhile: "depth mismatch" (CPython gh-106905)
        try:
            tree = ast.parse(text, feature_version=OLDEST)
        finally:
            gc.enable()
        compile(tree, 'text', 'exec', dont_inherit=True)
        return tree


@cache
def trees() -> dict[Path, ast.Module]:
    return {file: parsed(file.read_text(encoding='utf-8')) for file in files()}


def imports(tree: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """The dotted name of everything imported, and of each attribute of an imported module."""
    modules = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield from ((node, f'{node.module}.{each.name}') for each in node.names)
        elif isinstance(node, ast.Import):
            for each in node.names:
                yield node, each.name
                modules[each.asname or each.name] = each.name
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = modules.get(node.value.id)
            if module:
                yield node, f'{module}.{node.attr}'


PRODUCT = PACKAGE / 'curiosity_rosa_demo'
RULES = [  # tried in milliseconds: importing them imports no ROS
    'adapter.agent_link',
    'adapter.part',
    'adapter.steps',
    'adapter.stop',
    'adapter.watches',
    'agent.kernel.loop',
    'agent.policy.policy',
    'agent.tasks',
    'domain',
    'sim.light_model',
]


def names_in(folder: Path) -> dict[Path, set[str]]:
    """What each file below the folder imports, dotted, inside functions too."""
    return {
        file: {name for _, name in imports(tree)}
        for file, tree in trees().items()
        if file.is_relative_to(folder)
    }


def test_importing_a_rule_imports_no_ros() -> None:
    program = [
        'import importlib, pkgutil, sys',
        "sys.modules['rclpy'] = None",
        'for name in sys.argv[1:]:',
        "    module = importlib.import_module(f'curiosity_rosa_demo.{name}')",
        "    for each in pkgutil.iter_modules(getattr(module, '__path__', [])):",
        "        importlib.import_module(f'{module.__name__}.{each.name}')",
        "    assert not [m for m in sys.modules if m.endswith('_msgs.msg')], name",
    ]
    command = [sys.executable, '-c', '\n'.join(program), *RULES]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr


# --- what is installed --------------------------------------------------------------------------

SOURCES = {
    'curiosity_physics': ROOT / 'standalone/src/curiosity_physics',
    'curiosity_rosa_demo': PACKAGE,
    'curiosity_stand_in': ROOT / 'standalone/src/curiosity_stand_in',
}
KEYS = {  # where rosdep calls a module otherwise
    'PIL': 'python3-pil',
    'cv2': 'python3-opencv',
    'jinja2': 'python3-jinja2',
    'numpy': 'python3-numpy',
    'prometheus_client': 'python3-prometheus-client',
    'prompt_toolkit': 'python3-prompt-toolkit',
    'yaml': 'python3-yaml',
}
WHERE_INSTALLED = {'nav2_msgs', 'curiosity_stand_in'}  # the missions' rover; a test tool's
RUN = {  # what is started, not imported
    'compressed_image_transport',
    'ros2launch',
    'rosidl_default_runtime',
    'rviz2',
    'xterm',
}
REQUIREMENTS = [ROOT / 'standalone/requirements.txt', ROOT / 'docker/requirements.txt']
# What scripts/setup.sh adds with --model and --physics.
OPTIONAL = [ROOT / f'standalone/requirements-{name}.txt' for name in ('model', 'physics')]


def depends(folder: Path) -> set[str]:
    root = ElementTree.parse(folder / 'package.xml').getroot()
    return {str(found.text) for tag in ('depend', 'exec_depend') for found in root.iter(tag)}


def imported(*folders: Path) -> set[str]:
    """The foreign top-level modules."""
    names = {each for folder in folders for one in names_in(folder).values() for each in one}
    return {name.partition('.')[0] for name in names} - sys.stdlib_module_names


def pinned(requirements: Path) -> set[str]:
    lines = requirements.read_text(encoding='utf-8').splitlines()
    return {normal(re.split(r'[=<>;\[ ]', line)[0]) for line in lines if line[:1].isalnum()}


def normal(distribution: str) -> str:
    return re.sub(r'[-_.]+', '-', distribution).lower()


@pytest.mark.parametrize('package', SOURCES)
def test_every_import_is_declared_or_pinned_and_nothing_else_is(package: str) -> None:
    folder = SOURCES[package]
    declared, found = depends(folder), packages_distributions()
    names = imported(folder / package, folder / 'launch') - {package}
    missing = []
    for name in names - WHERE_INSTALLED:
        homes = {normal(home) for home in found.get(name, [name])}  # it may be left out
        required = all(homes & pinned(file) for file in REQUIREMENTS)
        optional = any(homes & pinned(file) for file in OPTIONAL)
        if KEYS.get(name, name) not in declared and not required and not optional:
            missing.append(name)
    assert missing == []
    assert declared - {KEYS.get(name, name) for name in names} - RUN == set()


COMMAND = re.compile(r"f'\w+ = \{PACKAGE\}\.([\w.]+):(\w+)'")


def test_every_installed_command_is_a_function_of_the_package() -> None:
    found = COMMAND.findall((PACKAGE / 'setup.py').read_text(encoding='utf-8'))
    assert len(found) > 5
    for module, name in found:
        body = trees()[PRODUCT / f'{module.replace(".", "/")}.py'].body
        assert name in {getattr(node, 'name', '') for node in body}, f'{module}:{name}'


# --- the oldest Python and rclpy ----------------------------------------------------------------

HUMBLE = {
    'rclpy': 'create_node init ok shutdown spin spin_once try_shutdown',
    'rclpy._rclpy_pybind11': 'RCLError',
    'rclpy.action': 'ActionClient ActionServer CancelResponse GoalResponse',
    'rclpy.action.graph': 'get_action_client_names_and_types_by_node '
    'get_action_server_names_and_types_by_node',
    'rclpy.client': 'Client',
    'rclpy.clock': 'Clock ClockType',
    'rclpy.context': 'Context',
    'rclpy.duration': 'Duration',
    'rclpy.executors': 'Executor ExternalShutdownException MultiThreadedExecutor '
    'SingleThreadedExecutor',
    'rclpy.impl.implementation_singleton': 'rclpy_implementation',
    'rclpy.node': 'Node',
    'rclpy.parameter': 'Parameter parameter_value_to_python',
    'rclpy.qos': 'DurabilityPolicy HistoryPolicy LivelinessPolicy QoSCompatibility '
    'QoSProfile ReliabilityPolicy qos_check_compatible qos_profile_sensor_data',
    'rclpy.qos_event': 'SubscriptionEventCallbacks',
    'rclpy.serialization': 'deserialize_message serialize_message',
    'rclpy.service': 'Service',
    'rclpy.signals': 'SignalHandlerOptions',
    'rclpy.subscription': 'Subscription',
    'rclpy.task': 'Future',
    'rclpy.time': 'Time',
    'rclpy.utilities': 'remove_ros_args',
    'rclpy.validate_full_topic_name': 'validate_full_topic_name',
    # where there are these: tried with another way out
    'rclpy.event_handler': 'SubscriptionEventCallbacks',
    'rclpy.experimental': 'EventsExecutor',
}
KNOWN = {'rclpy', *(f'{module}.{name}' for module in HUMBLE for name in HUMBLE[module].split())}
GONE = {'asynchat', 'asyncore', 'binhex', 'distutils', 'imp', 'smtpd', 'tomllib'}


def test_every_file_is_in_the_oldest_python_and_imports_what_it_and_humble_have() -> None:
    assert len(trees()) > 200 or not (ROOT / 'standalone').exists()
    names = {(name, file) for file, tree in trees().items() for _, name in imports(tree)}
    tops = {(name.partition('.')[0], name, file) for name, file in names}
    assert [each for each in tops if each[0] in GONE] == []
    assert [each for each in tops if each[0] == 'rclpy' and each[1] not in KNOWN] == []


# --- licence and properties ---------------------------------------------------------------------


def test_every_file_has_the_header_that_the_licence_asks_for() -> None:
    """As ament_copyright reads it: a year, a name, then the text, however its lines are broken."""
    license_text = (ROOT / 'LICENSE').read_text(encoding='utf-8')
    notice = license_text[license_text.rindex('Licensed under the Apache License') :].split()
    header = r'Copyright \d{4}(-\d{4})? Curiosity ROSA maintainers ' + re.escape(' '.join(notice))
    wrong = []
    ours = (PACKAGE, ROOT / 'standalone/src')
    for file in (each for each in files() if any(map(each.is_relative_to, ours))):
        comments = re.match(r'(#!.*\n)?((#.*\n)*)', file.read_text(encoding='utf-8'))
        words = ' '.join(comments[2].replace('#', ' ').split()) if comments else ''
        if not re.fullmatch(header, words) and file.stat().st_size:
            wrong.append(file)
    assert wrong == []


def test_the_number_of_examples_of_each_property_follows_the_profile() -> None:
    """See examples.py; a literal number is the same in every profile."""
    literal = re.compile(r'max_examples=\d')
    assert [file for file in files() if literal.search(file.read_text(encoding='utf-8'))] == []
