# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""The program: the rover in MuJoCo, with the stand-in's drivers unless the demo's own run."""

from __future__ import annotations

import os
import sys

from curiosity_physics import demos, urdf
from curiosity_rosa_demo.infra.config_loader import ConfigError
from curiosity_rosa_demo.infra.process import Process, run_app, SpinThread
from curiosity_stand_in.demo_nodes import demo_threads
from curiosity_stand_in.faults import ServiceFaults

NAME = 'physics_node'
NO_WHEEL = 'MuJoCo is not installed: scripts/setup.sh --physics'

os.environ.setdefault('MUJOCO_GL', 'egl')  # MuJoCo reads it when it is imported
try:
    import mujoco  # noqa: F401
except ImportError:
    sys.exit(f'{NAME}: {NO_WHEEL}')

from curiosity_physics.body_node import PhysicsNode  # noqa: E402
from curiosity_stand_in.robot import own, Robot  # noqa: E402


def load(clone: str) -> Robot:
    """The rover of the clone, or our own. Raises ValueError."""
    return urdf.read(demos.find(clone)) if clone else own()


class Physics:
    """The body and, unless a clone is given, the demo's drivers, each in its own thread."""

    def __init__(self, process: Process) -> None:
        try:
            self.body = PhysicsNode(load)
        except ValueError as error:
            raise ConfigError(str(error)) from None
        settings = self.body.settings
        self._faults = ServiceFaults()
        drives = not settings.demos
        move, faults, crash = self.body.move, self._faults, process.crash
        self._threads: list[SpinThread] = []
        if drives:
            threads = demo_threads(move, faults, time_scale=settings.time_scale, on_crash=crash)
            self._threads += threads.values()
        self.body.start(drives=drives, on_crash=crash)
        self._threads.append(SpinThread('body', self.body, on_crash=crash))
        self.body.get_logger().info(
            f'This is MuJoCo, not Gazebo and not a robot: {self.body.built.robot.origin}, world '
            f'{settings.world}, friction {settings.friction:g}; time x {settings.time_scale:g}'
        )

    def close(self) -> None:
        self._faults.close()
        self.body.close()
        for thread in self._threads:
            thread.close()


def main() -> None:
    sys.exit(run_app(NAME, Physics))


if __name__ == '__main__':
    main()
