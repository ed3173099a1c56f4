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

from curiosity_rosa_demo.infra.config_loader import ConfigError
from curiosity_stand_in.body_node import BodyNode
from curiosity_stand_in.demo_nodes import ArmNode, MastNode, RunNode
from curiosity_stand_in.faults import ServiceFaults
from curiosity_stand_in.settings import Settings
from curiosity_stand_in.spin import Ending, NodeThread, run_app

NAME = 'stand_in_node'


class StandIn:
    """The demo's nodes, each in its own thread: a hanging node does not block the others."""

    def __init__(self, ending: Ending, *, start_parameter_services: bool = True) -> None:
        self.body = BodyNode(start_parameter_services=start_parameter_services)
        settings = self.body.settings
        self._faults = ServiceFaults()
        self._faults.set(settings.fault_services)
        self.run = RunNode(
            self._faults,
            time_scale=settings.time_scale,
            start_parameter_services=start_parameter_services,
        )
        self.mast = MastNode(
            self.body.rover, self._faults, start_parameter_services=start_parameter_services
        )
        self.arm = ArmNode(
            self.body.rover, self._faults, start_parameter_services=start_parameter_services
        )
        self.body.start(self._settings_changed)
        # Start the body's thread last: a parameter change may come at once and needs the others.
        self._run_thread = NodeThread(self.run, on_crash=ending.crash)
        self._mast_thread = NodeThread(self.mast, on_crash=ending.crash)
        self._arm_thread = NodeThread(self.arm, on_crash=ending.crash)
        self._body_thread = NodeThread(self.body, on_crash=ending.crash)
        self.body.get_logger().info(
            'This is the stand-in rover, not Gazebo and not a robot: flat ground, no forces; '
            f'move_forward drives {self.body.thresholds.body.forward_mps:g} m/s; '
            f'time x {settings.time_scale:g}'
        )

    def _settings_changed(self, settings: Settings) -> None:
        self._faults.set(settings.fault_services)
        self._run_thread.post(self.run.empty_services.create_or_destroy)
        self._mast_thread.post(self.mast.empty_services.create_or_destroy)
        self._arm_thread.post(self.arm.empty_services.create_or_destroy)

    def close(self) -> None:
        self._faults.close()
        threads = (self._body_thread, self._run_thread, self._mast_thread, self._arm_thread)
        for thread in threads:
            thread.close()
        for thread in threads:
            thread.join()


def main() -> None:
    sys.exit(run_app(NAME, StandIn, ValueError, ConfigError))


if __name__ == '__main__':
    main()
