# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A stand-in for the Gazebo simulation and the Curiosity demo's own nodes, in one process."""

from __future__ import annotations

import sys

from curiosity_rosa_demo.infra.process import Process, run_app, SpinThread
from curiosity_stand_in.body_node import BodyNode
from curiosity_stand_in.demo_nodes import demo_threads
from curiosity_stand_in.faults import ServiceFaults


class StandIn:
    """The demo's nodes, each in its own thread: a hanging node does not block the others."""

    def __init__(self, process: Process) -> None:
        self.body = BodyNode()
        rover, settings = self.body.rover, self.body.settings
        self._faults = ServiceFaults()
        self._faults.set(settings.fault_services)
        self._services = demo_threads(
            rover.move, self._faults, time_scale=settings.time_scale, on_crash=process.crash
        )
        self.body.start(self._settings_changed)
        # Last: a parameter change may come at once and needs the others.
        self._body_thread = SpinThread('body', self.body, on_crash=process.crash)
        self.body.get_logger().info(
            'This is the stand-in rover, not Gazebo and not a robot: flat ground, no forces; '
            f'move_forward drives {self.body.thresholds.body.forward_mps:g} m/s; '
            f'time x {settings.time_scale:g}'
        )

    def _settings_changed(self) -> None:
        self._faults.set(self.body.settings.fault_services)
        for node, thread in self._services.items():
            thread.post(node.create_or_destroy)

    def close(self) -> None:
        self._faults.close()
        for thread in (self._body_thread, *self._services.values()):
            thread.close()


def main() -> None:
    sys.exit(run_app('stand_in_node', StandIn))


if __name__ == '__main__':
    main()
