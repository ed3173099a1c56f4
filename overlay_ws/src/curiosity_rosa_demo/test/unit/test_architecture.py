# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What ruff, mypy, lint-imports and the build do not see of our sources.

What is imported is installed, ROS stays out of the rules, and all of it runs on Python 3.10 and on
Humble's rclpy. HUMBLE and KEYWORDS were read from ros2/rclpy, branch humble (b488272): what this
project takes from rclpy and that branch has. A new name is looked up there, then entered here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path
import re
import subprocess
import sys
from xml.etree import ElementTree

from our_sources import files, imports, PACKAGE, ROOT, trees
import pytest

PRODUCT = PACKAGE / 'curiosity_rosa_demo'
ROS = re.compile(r'(\w+_(msgs|srvs|interfaces)|ament_index_python|launch|rclpy)(\.|$)')
WITHOUT_ROS = [
    'agent/interfaces/http',
    'agent/interfaces/page',
    'agent/kernel',
    'agent/llm',
    'agent/policy',
    'agent/react',
    'agent/rule_model',
    'agent/tasks',
    'domain',
    'drawing',
]
WITH_ROS = PRODUCT / 'agent/policy/autonomy'  # joins what acts unasked to the runtime
RULES = [  # tried in milliseconds: importing them imports no ROS
    'adapter.adapter_rules',
    'adapter.agent_link',
    'adapter.alarm_fold',
    'adapter.appendage',
    'adapter.call_log',
    'adapter.input_log',
    'adapter.motion_guard',
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


@pytest.mark.parametrize('package', WITHOUT_ROS)
def test_a_package_without_ros_imports_none(package: str) -> None:
    found = names_in(PRODUCT / package)
    assert found
    ros = {file for file, names in found.items() if any(map(ROS.match, names))}
    assert {file for file in ros if not file.is_relative_to(WITH_ROS)} == set()


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
    'graphviz',
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


def test_the_container_has_what_the_unit_tests_import() -> None:
    """colcon test collects them there."""
    found = packages_distributions()
    names = imported(PACKAGE / 'test/unit')
    needed = {normal(home) for name in names for home in found.get(name, [])}
    tested, ours = map(pinned, REQUIREMENTS)
    assert {each for each in needed & tested - ours if not each.startswith('ros-')} == set()


# --- the oldest Python and rclpy ----------------------------------------------------------------


def test_every_file_is_in_the_oldest_python_and_none_warns() -> None:
    assert set(trees()) == set(files())
    assert len(trees()) > 200 or not (ROOT / 'standalone').exists()
    gone = {'asynchat', 'asyncore', 'binhex', 'distutils', 'imp', 'smtpd', 'tomllib'}
    found = [
        (file, name)
        for file, tree in trees().items()
        for _, name in imports(tree)
        if name.partition('.')[0] in gone
    ]
    assert found == []


HUMBLE = {
    'rclpy': 'create_node init ok shutdown spin spin_once spin_until_future_complete try_shutdown',
    'rclpy._rclpy_pybind11': 'RCLError',
    'rclpy.action': 'ActionClient ActionServer CancelResponse GoalResponse',
    'rclpy.action.graph': 'get_action_client_names_and_types_by_node '
    'get_action_server_names_and_types_by_node',
    'rclpy.callback_groups': 'MutuallyExclusiveCallbackGroup ReentrantCallbackGroup',
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
}
KNOWN = {'rclpy', *(f'{module}.{name}' for module in HUMBLE for name in HUMBLE[module].split())}
KEYWORDS = {
    'ActionClient': 'feedback_sub_qos_profile',
    'ActionServer': 'cancel_callback feedback_pub_qos_profile goal_callback '
    'handle_accepted_callback result_timeout',
    'Node': 'cli_args context enable_rosout parameter_overrides start_parameter_services '
    'use_global_arguments',
    'create_client': 'callback_group qos_profile',
    'create_node': 'namespace parameter_overrides start_parameter_services',
    'create_publisher': 'callback_group event_callbacks qos_overriding_options',
    'create_service': 'callback_group qos_profile',
    'create_subscription': 'callback_group event_callbacks qos_overriding_options raw',
    'create_timer': 'callback_group clock',
    'init': 'args context domain_id signal_handler_options',
}
# Public names that nodes, clients and executors of later distributions have, but not Humble's.
LATER = """
add_post_set_parameters_callback add_pre_set_parameters_callback configure_introspection
count_clients count_services get_content_filter get_count_clients get_count_services
get_fully_qualified_node_names is_cft_enabled remove_post_set_parameters_callback
remove_pre_set_parameters_callback services_are_ready set_content_filter wait_for_node
wait_for_services
"""


def beyond_humble(tree: ast.AST) -> set[str]:
    asked = set(_asked_for(tree))
    names = {name for node, name in imports(tree) if node not in asked and _rclpy(name)}
    found = names - KNOWN
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in LATER.split() and node not in asked:
            found.add(node.attr)
        elif isinstance(node, ast.Call):
            known = KEYWORDS.get(_called(node))
            given = {each.arg for each in node.keywords if each.arg}
            if known is not None and _from_rclpy(node, tree):
                found |= {f'{_called(node)}({each}=)' for each in given - set(known.split())}
    return found


def _rclpy(name: str) -> bool:
    return name.split('.')[0] == 'rclpy'


def _called(call: ast.Call) -> str:
    return getattr(call.func, 'attr', '') or getattr(call.func, 'id', '')


def _from_rclpy(call: ast.Call, tree: ast.AST) -> bool:
    """Others may have an init, too."""
    if isinstance(call.func, ast.Name):
        return any(name.endswith(f'.{call.func.id}') and _rclpy(name) for _, name in imports(tree))
    return _called(call) != 'init' or ast.unparse(call.func) == 'rclpy.init'


def _asked_for(tree: ast.AST) -> Iterator[ast.AST]:
    """What stands behind a test for it: except ImportError, or hasattr in the same expression."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Try):
            if any(
                each.type and ast.unparse(each.type) == 'ImportError' for each in node.handlers
            ):
                yield from (each for part in node.body for each in ast.walk(part))
        elif isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
            first = ast.unparse(node.values[0])
            for each in ast.walk(node):
                if (
                    isinstance(each, ast.Attribute)
                    and f"hasattr({ast.unparse(each.value)}, '{each.attr}')" == first
                ):
                    yield each


def test_nothing_beyond_humble_is_used_unasked() -> None:
    found = {str(file): beyond_humble(tree) for file, tree in trees().items()}
    assert {file: names for file, names in found.items() if names} == {}


# --- licence and properties ---------------------------------------------------------------------


def test_every_file_has_the_header_that_the_licence_asks_for() -> None:
    """As ament_copyright reads it: a year, a name, then the text, however its lines are broken."""
    license_text = (ROOT / 'LICENSE').read_text(encoding='utf-8')
    notice = license_text[license_text.rindex('Licensed under the Apache License') :].split()
    wrong = []
    ours = (PACKAGE, ROOT / 'standalone/src')
    for file in (each for each in files() if any(map(each.is_relative_to, ours))):
        text = file.read_text(encoding='utf-8')
        lines = re.sub(r'\A#!.*\n', '', text).splitlines()
        end = next((n for n, line in enumerate(lines) if not line.startswith('#')), len(lines))
        block = ' '.join(line[1:] for line in lines[:end]).split()
        who = ' '.join(block[: -len(notice)])
        said = re.fullmatch(r'Copyright \d{4}(-\d{4})? Curiosity ROSA maintainers', who)
        if text.strip() and not (said and block[-len(notice) :] == notice):
            wrong.append(file)
    assert wrong == []


def test_the_number_of_examples_of_each_property_follows_the_profile() -> None:
    """See examples.py; a literal number is the same in every profile."""
    literal = re.compile(r'max_examples=\d')
    assert [file for file in files() if literal.search(file.read_text(encoding='utf-8'))] == []
