# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Canadarm2's stand-in behind an adapter, and how its joints are seen to move."""

from __future__ import annotations

from collections.abc import Sequence

from adapter_world import AdapterWorld, TOLERANCE
from curiosity_rosa_demo.infra.config_loader import load_config
from harness import wait_until
import pytest

ARM = load_config(robot='canadarm2').robot.appendages['arm']
EXTENDED = ARM.commands['arm_extend'].target_rad


class ArmWorld(AdapterWorld):
    def angles(self) -> list[float]:
        """Radians, in the order of the profile."""
        wait_until(lambda: self.joints, 'joint states')
        message = self.joints[-1]
        measured = dict(zip(message.name, message.position, strict=True))
        return [measured[name] for name in ARM.joints]

    def is_at(self, target: Sequence[float]) -> bool:
        return self.angles() == pytest.approx(target, abs=TOLERANCE)

    def extends(self) -> bool:
        """Whether the arm is between its stowed and its extended pose."""
        return 0.3 < abs(self.angles()[3]) < 2.8

    def arm_stands(self) -> bool:
        """Whether the newest ten joint states, half a second of the robot's, are the same."""
        newest = [tuple(message.position) for message in self.joints[-10:]]
        return len(newest) == 10 and len(set(newest)) == 1

    def wait_for_posture(self, posture: str) -> None:
        wait_until(lambda: self.status()['appendages'] == {'arm': posture}, f'the arm {posture}')

    def takes_its_poses_and_is_held(self) -> None:
        """In their order only, and a stop in the midst of a motion holds it there."""
        wait_until(lambda: self.joints, 'joint states')
        assert self.refuses('arm_grapple') == 'arm must first be where arm_extend leads'
        self.does('arm_extend')
        assert self.is_at(EXTENDED)
        self.does('arm_grapple')
        assert self.is_at(ARM.commands['arm_grapple'].target_rad)
        self.does('arm_stow')

        answer = self.ask_later('arm_extend')
        wait_until(self.extends, 'the arm to move')
        self.does('move_stop')
        assert self.arm_stands()
        assert self.extends()
        wait_until(answer.done, 'the answer of arm_extend')
        assert not answer.result().success
        assert self.status()['appendages'] == {'arm': 'unknown'}
        self.does('arm_stow')
        assert self.is_at(ARM.stowed_rad)
