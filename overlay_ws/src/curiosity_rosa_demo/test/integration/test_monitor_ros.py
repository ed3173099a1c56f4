# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The monitor's process beside adapter and rover: it sees what the adapter was told to ignore."""

from __future__ import annotations

import json

from curiosity_rosa_demo.infra.ros_io import history_qos
from curiosity_rosa_demo.monitor.signals import SIGNALS
from diagnostic_msgs.msg import DiagnosticArray
from harness import Sandbox, wait_until
from nav_msgs.msg import Odometry
import pytest
from std_msgs.msg import String, UInt64
from std_srvs.srv import Empty, Trigger

pytestmark = pytest.mark.ros

ODOMETRY = '/model/curiosity_mars_rover/odometry'


def test_a_motion_around_the_adapter_is_reported_and_stopped(sandbox: Sandbox) -> None:
    verdicts: list[String] = sandbox.collect(String, '/monitor/verdicts', history_qos(20))
    signals: list[UInt64] = sandbox.collect(UInt64, '/monitor/signals')
    diagnostics: list[DiagnosticArray] = sandbox.collect(DiagnosticArray, '/diagnostics')
    odometry: list[Odometry] = sandbox.collect(Odometry, ODOMETRY)
    folder = sandbox.config_dir(thresholds={'motion': {'stop_unexpected': False}})
    sandbox.stand_in()
    sandbox.overlay('adapter_node', config_dir=folder)
    sandbox.overlay('monitor_node')

    def said(text: str) -> bool:
        found = [each for array in list(diagnostics) for each in array.status]
        ours = [each.message for each in found if each.name == 'monitor: requirements']
        return bool(ours) and text in ours[-1]

    def bit(name: str) -> bool:
        return bool(signals and signals[-1].data >> list(SIGNALS).index(name) & 1)

    wait_until(lambda: sandbox.call(Trigger, '/adapter/move_stop').success, 'a confirmed stop')
    wait_until(lambda: bit('adapter_alive') and bit('mast_up'), 'the monitor to hear both', 40.0)
    wait_until(lambda: said('all requirements hold'), 'the monitor to say that all is well')
    assert not verdicts

    sandbox.call(Empty, '/move_forward')  # past the adapter, the mast up
    wait_until(lambda: bit('moving'), 'the motion to be seen')
    violation = json.loads(wait_until(lambda: list(verdicts), 'a verdict')[0].data)
    assert (violation['requirement'], violation['ok']) == ('S1', False)
    assert violation['severity'] == 'critical'
    wait_until(
        lambda: odometry and odometry[-1].twist.twist.linear.x == 0.0 and not bit('moving'),
        'the monitor to have had the rover stopped',
    )
    wait_until(lambda: said('all requirements hold'), 'the requirement to hold again')
    wait_until(
        lambda: any(json.loads(each.data)['ok'] for each in list(verdicts)),
        'a verdict that says so',
    )
