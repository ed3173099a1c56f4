# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A robot by its profile alone: other names, services that may refuse, no mast."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from adapter_world import AdapterWorld
from harness import Sandbox, wait_until
import pytest
from std_srvs.srv import SetBool, Trigger
import yaml

pytestmark = [pytest.mark.ros, pytest.mark.timeout(120)]
TRIGGER, SET_BOOL = 'std_srvs/srv/Trigger', 'std_srvs/srv/SetBool'
PROFILE = {
    'mast': False,
    'topics': {
        'curiosity': {
            'move_forward': {'name': '/own/go', 'type': TRIGGER},
            'turn_left': {'name': '/own/left', 'type': TRIGGER},
            'turn_right': {'name': '/own/right', 'type': TRIGGER},
            'move_stop': {'name': '/own/go_on', 'type': SET_BOOL, 'data': False},
        }
    },
}


class OwnRobot:
    """Its services alone; the stand-in beside it reports odometry."""

    def __init__(self, box: Sandbox) -> None:
        self.calls: list[tuple[str, bool | None]] = []
        self.refused: dict[str, str] = {}
        for name in ('go', 'left', 'right'):
            box.node.create_service(Trigger, f'/own/{name}', partial(self._serve, name))
        box.node.create_service(SetBool, '/own/go_on', partial(self._serve, 'go_on'))

    def _serve(self, name: str, request: Any, response: Any) -> Any:
        self.calls.append((name, getattr(request, 'data', None)))
        response.success = name not in self.refused
        response.message = self.refused.get(name, '')
        return response


@pytest.fixture
def folder(sandbox: Sandbox) -> str:
    folder = sandbox.config_dir()
    robots = Path(folder, 'robots')
    robots.mkdir(exist_ok=True)
    (robots / 'own.yaml').write_text(yaml.safe_dump(PROFILE), encoding='utf-8')
    return folder


def test_a_robot_of_other_names_and_types_is_started_stopped_and_heard_when_it_refuses(
    sandbox: Sandbox, folder: str
) -> None:
    robot = OwnRobot(sandbox)
    world = AdapterWorld(sandbox, robot='own', config_dir=folder).settle()
    status = world.wait_for_status(move_allowed=True)
    assert (status['mast'], status['mast_is_open']) == ('none', False)
    served = {name for name, _ in sandbox.node.get_service_names_and_types()}
    assert '/adapter/move_forward' in served
    assert '/adapter/mast_close' not in served

    world.does('move_forward')
    world.does('move_stop')
    assert [call for call in robot.calls if call[0] == 'go'] == [('go', None)]
    assert robot.calls[-1] == ('go_on', False)

    robot.refused['left'] = 'the voltage is low'
    stops = len(robot.calls)
    assert world.refuses('turn_left') == '/own/left: the voltage is low'
    # It may move all the same.
    wait_until(lambda: ('go_on', False) in robot.calls[stops:], 'the stop after the refusal')

    robot.refused['go_on'] = 'stuck'
    twists = len(world.twists)
    world.does('move_forward')
    world.does('move_stop')  # by zero Twists, which the odometry confirms
    assert len(world.twists) > twists
