# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A thin layer over rclpy: node processes, spin threads, service calls and publishers."""

from curiosity_rosa_demo.infra.ros.process import (
    make_executor,
    node_config,
    NodeApp,
    Process,
    run_app,
    SpinThread,
    start_parameter,
)
from curiosity_rosa_demo.infra.ros.publishers import Heartbeat, HEARTBEAT_S, TracePublisher
from curiosity_rosa_demo.infra.ros.qos import (
    heartbeat_qos,
    history_qos,
    NEWEST_ONLY,
    STEADY_CLOCK,
    subscribe_to_button,
    subscribe_to_heartbeat,
)
from curiosity_rosa_demo.infra.ros.service_call import call, ServiceFailed

__all__ = [
    'HEARTBEAT_S',
    'NEWEST_ONLY',
    'STEADY_CLOCK',
    'Heartbeat',
    'NodeApp',
    'Process',
    'ServiceFailed',
    'SpinThread',
    'TracePublisher',
    'call',
    'heartbeat_qos',
    'history_qos',
    'make_executor',
    'node_config',
    'run_app',
    'start_parameter',
    'subscribe_to_button',
    'subscribe_to_heartbeat',
]
