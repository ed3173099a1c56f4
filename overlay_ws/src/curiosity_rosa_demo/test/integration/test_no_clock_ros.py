# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Simulated time that is absent or stops: the whole agent, adapter and rover as processes."""

from __future__ import annotations

import threading
import time

from adapter_world import AdapterWorld, METRES_PER_S
from curiosity_rosa_demo.infra.clocks import NO_CLOCK
from harness import PREFIXES, Process, Sandbox, wait_until
import pytest
from rosgraph_msgs.msg import Clock

pytestmark = pytest.mark.ros
PERIOD_S = 0.02
DURATION_S = 10.0
PROMPT_S = 6.0  # the watch needs 1.5 s; the rest is for a busy machine


class Simulation:
    """Publishes /clock at real time, until it is paused."""

    def __init__(self, box: Sandbox) -> None:
        self._publisher = box.node.create_publisher(Clock, '/clock', 10)
        self._paused = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        began = time.monotonic()
        while not self._paused.wait(PERIOD_S):
            seconds = 100.0 + time.monotonic() - began
            message = Clock()
            message.clock.sec = int(seconds)
            message.clock.nanosec = int(seconds % 1.0 * 1e9)
            self._publisher.publish(message)

    def pause(self) -> None:
        self._paused.set()
        self._thread.join()


def agent(box: Sandbox, *commands: str) -> Process:
    package = 'curiosity_rosa_demo'
    command = [str(PREFIXES[package] / 'lib' / package / 'agent_node')]
    for each in commands:
        command += ['-c', each]
    parameters = ['-p', 'use_sim_time:=true', '-p', f'config_dir:={box.config_dir()}']
    return box.run([*command, '--ros-args', *parameters], 'agent')


def ends_with(going: Process, reason: str) -> None:
    wait_until(lambda: not going.alive, 'the agent to end', 60.0)
    assert going.popen.returncode == 1, going.output()
    assert reason in going.output()


def test_without_a_clock_agent_and_adapter_refuse_to_drive(sandbox: Sandbox) -> None:
    """Before the first, and when it stops in mid-drive. The rover has a time of its own."""
    sandbox.env['XDG_STATE_HOME'] = str(sandbox.folder / 'state')
    world = AdapterWorld(sandbox, speed=1.0, sim_time=True)
    sandbox.overlay('simulator_node', use_sim_time=True)
    going = agent(sandbox, ':mast_close', ':forward 2')
    ends_with(going, f'! {NO_CLOCK}: use_sim_time is on and /clock was never heard')
    assert world.refuses('move_forward').startswith(NO_CLOCK)
    assert world.never_drove()

    simulation = Simulation(sandbox)
    going = agent(sandbox, ':mast_close', f':forward {DURATION_S:g}')
    try:
        wait_until(world.moves, 'the rover to move', 60.0)
    except AssertionError:
        raise AssertionError(going.output()) from None
    simulation.pause()
    paused_at = world.x
    world.wait_until_it_stands()
    assert world.x - paused_at < METRES_PER_S * PROMPT_S
    assert world.x < METRES_PER_S * DURATION_S
    ends_with(going, f'Motion ended early: {NO_CLOCK}')
