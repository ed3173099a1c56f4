# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Canadarm2 with its poses as goals of an action, for tests: no shipped profile has actions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from curiosity_rosa_demo.infra.config_loader import shipped_config_dir
import yaml

NAME = 'action_arm'
ACTION = '/arm_controller/follow_joint_trajectory'
TYPE = 'control_msgs/action/FollowJointTrajectory'


def action_profile(action: str = ACTION, joints: int = 7) -> dict[str, Any]:
    """``joints``: how many of the arm's seven the profile knows."""
    shipped = (shipped_config_dir() / 'robots/canadarm2.yaml').read_text(encoding='utf-8')
    profile: dict[str, Any] = yaml.safe_load(shipped)
    arm = profile['appendages']['arm']
    arm.update(joints=arm['joints'][:joints], stowed_rad=arm['stowed_rad'][:joints])
    for command in arm['commands'].values():
        del command['topic']
        command.update(type=TYPE, action=action, target_rad=command['target_rad'][:joints])
    return profile


def write_action_profile(config_dir: str, action: str = ACTION, joints: int = 7) -> str:
    """Add the profile to this folder, which is returned."""
    robots = Path(config_dir, 'robots')
    robots.mkdir(exist_ok=True)
    profile = yaml.safe_dump(action_profile(action, joints))
    (robots / f'{NAME}.yaml').write_text(profile, encoding='utf-8')
    return config_dir
