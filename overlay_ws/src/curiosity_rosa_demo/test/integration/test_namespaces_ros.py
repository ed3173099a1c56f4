# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The nodes' own parameters for namespaces and the page's port, as processes take them."""

from __future__ import annotations

from harness import Sandbox, wait_until
from nav_msgs.msg import Odometry
import pytest
from std_srvs.srv import Trigger

pytestmark = pytest.mark.ros

ODOMETRY = '/model/curiosity_mars_rover/odometry'


def test_an_adapter_drives_the_rover_of_its_rover_namespace_alone(sandbox: Sandbox) -> None:
    """Ours and the rover's namespace need not be the same."""
    sandbox.start('curiosity_stand_in', 'stand_in_node', '-r', '__ns:=/mars')
    sandbox.stand_in()
    sandbox.start(
        'curiosity_rosa_demo', 'adapter_node', '-r', '__ns:=/ours', '-p', 'rover_namespace:=mars/'
    )
    mars, other = (sandbox.collect(Odometry, f'{each}{ODOMETRY}') for each in ('/mars', ''))
    for name in ('mast_close', 'move_forward'):
        answer = sandbox.call(Trigger, f'/ours/adapter/{name}')
        assert answer.success, answer.message
    wait_until(lambda: mars and mars[-1].twist.twist.linear.x > 0.1, 'the rover in /mars to drive')
    heard = len(other)
    wait_until(lambda: len(other) >= heard + 10, 'the odometry of the other one')
    assert {each.twist.twist.linear.x for each in other} == {0.0}
    assert sandbox.call(Trigger, '/ours/adapter/move_stop').success
