# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What Humble's rclpy lacks is asked for before it is used.

HUMBLE and KEYWORDS were read from ros2/rclpy, branch humble (b488272): what this project takes
from rclpy and that branch has. A new name is looked up there first, then entered here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from our_sources import imports, trees

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
# What a Node of Humble or a later one calls and keeps. Humble calls its own _set_parameters.
PRIVATE = """
_allow_undeclared_parameters _apply_descriptor _apply_descriptor_and_set _apply_descriptors
_apply_floating_point_range _apply_integer_range _call_post_set_parameters_callback
_call_pre_set_parameters_callback _check_undeclared_parameters _clients _clock _context
_count_clients_or_servers _count_publishers_or_subscribers _declare_parameter_common
_default_callback_group _descriptors _get_info_by_topic _guards _logger _logger_service
_on_set_parameters_callbacks _parameter_event_publisher _parameter_overrides
_parameter_service _parameters _parameters_callbacks _post_set_parameters_callbacks
_pre_set_parameters_callbacks _publishers _rate_group _services _set_parameters
_set_parameters_atomically _set_parameters_atomically_common _subscriptions _time_source
_timers _type_description_service _validate_qos_or_depth_parameter
_validate_topic_or_service_name _wake_executor
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


def test_no_node_of_ours_takes_a_name_that_rclpys_node_has_for_itself() -> None:
    found = {
        f'{file}: {name}'
        for file, tree in trees().items()
        for each in ast.walk(tree)
        if isinstance(each, ast.ClassDef) and 'Node' in [ast.unparse(base) for base in each.bases]
        for name in _own(each).intersection(PRIVATE.split())
    }
    assert found == set()


def _own(kind: ast.ClassDef) -> set[str]:
    """The names of its methods and of what it keeps in self."""
    methods = {each.name for each in ast.walk(kind) if isinstance(each, ast.FunctionDef)}
    return methods | {
        each.attr
        for each in ast.walk(kind)
        if isinstance(each, ast.Attribute)
        and isinstance(each.ctx, ast.Store)
        and ast.unparse(each.value) == 'self'
    }
