# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The agent's tools over DDS, with the real adapter, simulator and stand-in rover behind them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
import threading

from curiosity_rosa_demo.domain.cancellation import Cancellation, TurnCancelled
from curiosity_rosa_demo.domain.models import MAST_IS_CLOSED, NEED_TO_CLOSE_MAST, ToolResult
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.sim.light_model import LightModel
from curiosity_rosa_demo.tools.rover_client import RoverClient, ServiceCall
from curiosity_rosa_demo.tools.rover_tools import RoverTools
from harness import Process, Sandbox, wait_until
import pytest

pytestmark = pytest.mark.ros

CONFIG = load_config()
THRESHOLDS = load_config().thresholds
FORWARD_MPS, ARC_MPS = THRESHOLDS.body.forward_mps, THRESHOLDS.body.turn_mps
RADIUS_M = THRESHOLDS.obstacles.turn_radius_m


@dataclass
class World:
    box: Sandbox
    client: RoverClient
    tools: RoverTools
    adapter: Process
    calls: list[ServiceCall]

    def x(self) -> float:
        pose = wait_until(self.client.pose, 'a pose from TF')
        return float(pose.x)

    def stands_still(self) -> bool:
        before = self.x()
        threading.Event().wait(0.3)  # three odometry messages
        return abs(self.x() - before) < 1e-3

    def run(self, name: str, **arguments: float) -> ToolResult:
        """The tool's result; it must be a success."""
        result = self.tools.run(name, **arguments)
        assert result.ok, result.error_reason
        return result

    def cancel_while_moving(self) -> None:
        """Press the button a moment into a motion."""
        wait_until(lambda: self.client.status()['moving'], 'the rover to move')
        begun = self.x()
        wait_until(lambda: self.x() > begun + 0.1, 'the rover to be on its way')
        self.tools.cancellation.cancel('Stopped by a test')


def start(box: Sandbox, **stand_in: object) -> World:
    box.stand_in(**stand_in)
    adapter = box.overlay('adapter_node')
    box.overlay('simulator_node')
    calls: list[ServiceCall] = []
    client = RoverClient(box.node, CONFIG, calls.append)
    world = World(box, client, RoverTools(client, CONFIG, box.node.get_clock()), adapter, calls)
    wait_until(client.ready, 'all services of the overlay', 30.0)
    world.x()
    return world


def test_without_an_overlay_each_tool_says_what_is_missing(sandbox: Sandbox) -> None:
    client = RoverClient(sandbox.node, CONFIG)
    tools = RoverTools(client, CONFIG, sandbox.node.get_clock())
    assert not client.ready()
    assert client.pose() is None
    assert tools.run('get_status').error_reason == 'Service unavailable: /adapter/get_status'
    assert tools.run('capture_and_score').error_reason.startswith('Service unavailable: /adapter')
    assert not tools.run('move_stop').ok


# The tests from here on share one rover and its overlay; the last one kills the adapter.


@pytest.fixture(scope='module')
def shared() -> Iterator[World]:
    with Sandbox() as box:
        yield start(box, initial_x=1.0)


@pytest.fixture
def world(shared: World) -> Iterator[World]:
    with shared.box.lent():
        yield shared


def test_a_drive_covers_its_distance_and_a_picture_needs_the_mast(world: World) -> None:
    refused = world.tools.run('move_forward', duration_s=1.0)
    assert refused.error_reason == NEED_TO_CLOSE_MAST
    assert world.x() == pytest.approx(1.0, abs=0.01)

    world.run('mast_close')
    drive = world.run('move_forward', duration_s=2.0)
    assert drive.data['distance_m'] == pytest.approx(2.0 * FORWARD_MPS, rel=0.2)
    assert drive.data['x'] == pytest.approx(1.0 + 2.0 * FORWARD_MPS, rel=0.2)
    assert world.stands_still()
    assert world.x() == pytest.approx(drive.data['x'], abs=0.01)

    assert world.tools.run('capture_and_score').error_reason == MAST_IS_CLOSED
    world.run('mast_open')
    picture = wait_until(
        lambda: result if (result := world.tools.run('capture_and_score')).ok else None,
        'a picture',
    )
    light = LightModel.of(CONFIG.thresholds).score(world.x())
    assert picture.data['score'] == pytest.approx(light.score, abs=0.01)
    assert picture.data['is_good'] is light.is_good is False
    assert picture.data['image_topic'] == CONFIG.topics.images.output_capture_compressed

    told = [(call.service, call.ok, call.answer[:12]) for call in world.calls]
    assert told[0] == ('/adapter/move_forward', False, NEED_TO_CLOSE_MAST[:12])
    assert told[-1] == ('/capture_and_score', True, f'score {light.score:.3f};'[:12])
    assert '/adapter/get_status' not in {service for service, *_ in told}


def test_a_cancelled_drive_leaves_a_still_rover(world: World) -> None:
    world.run('mast_close')
    presser = threading.Thread(target=world.cancel_while_moving)
    presser.start()
    with pytest.raises(TurnCancelled, match='Stopped by a test'):
        world.tools.run('move_forward', duration_s=20.0)
    presser.join(timeout=10)
    wait_until(lambda: not world.client.status()['moving'], 'the adapter to see it still')
    assert world.stands_still()
    world.tools.cancellation = Cancellation()
    assert world.run('move_forward', duration_s=0.5).data['distance_m'] is not None


def test_an_adapter_that_dies_in_a_drive_is_told_and_its_successor_stops_the_rover(
    world: World,
) -> None:
    world.run('mast_close')

    def replace() -> None:
        wait_until(lambda: world.client.status()['moving'], 'the rover to move')
        world.adapter.kill()
        world.box.overlay('adapter_node')

    replacer = threading.Thread(target=replace)
    replacer.start()
    result = world.tools.run('move_forward', duration_s=15.0)
    replacer.join(timeout=20)
    assert not result.ok
    assert result.error_reason.startswith(
        ('Service timeout: /adapter/', 'Service unavailable: /adapter/', 'Motion ended early: ')
    )
    wait_until(world.stands_still, 'the rover to stand still')
