# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A headless agent beside the stand-in, as launch starts it."""

from __future__ import annotations

import signal

from demo_bench import Bench, READY_S
from harness import PREFIXES, Process, wait_until
from std_srvs.srv import Trigger

ORDERS = 'agent: headless; orders come '


class Headless:
    def __init__(self, bench: Bench, **http: object) -> None:
        self._bench, box = bench, bench.box
        box.stand_in()
        box.overlay('adapter_node')
        box.overlay('simulator_node')
        box.env.update(bench.env)  # the folder of its state
        package = 'curiosity_rosa_demo'
        program = str(PREFIXES[package] / 'lib' / package / 'agent_node')
        config = f'config_dir:={box.config_dir(agent={"http": http})}'
        self.process: Process = box.run(
            [program, '--headless', '--ros-args', '-p', config], 'agent_node'
        )

    @property
    def url(self) -> str:
        return self.orders().partition('at ')[2].partition(' and')[0]

    def orders(self) -> str:
        """Where they come from, as it says itself."""
        output = wait_until(
            lambda: ORDERS in self.process.output() and self.process.output(), ORDERS, READY_S
        )
        return str(output).partition(ORDERS)[2].partition('\n')[0]

    def drives(self) -> None:
        for name in ('mast_close', 'move_forward'):
            assert self._bench.box.call(Trigger, f'/adapter/{name}', timeout_s=READY_S).success
        wait_until(lambda: self._bench.moving, 'the rover to drive')

    def ends_well(self, signum: signal.Signals) -> None:
        """It leaves with 0, and by then the rover was told to stop."""
        assert self.process.kill(signum) == 0
        wait_until(lambda: not self._bench.moving, 'the rover to stand', 5.0)
        assert 'Traceback' not in self.process.output()
        assert '[RESULT] move_stop' in self.process.output()
