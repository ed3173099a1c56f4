# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Profiles of robots: any valid one, and Canadarm2 with its poses as goals of an action."""

from __future__ import annotations

from pathlib import Path
import string
from typing import Any

from curiosity_rosa_demo.infra.config_loader import load_config, shipped_config_dir
from hypothesis import strategies as st
import yaml

GAP_RAD = 2 * load_config().thresholds.mast.tolerance_rad
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


names = st.text(string.ascii_lowercase, min_size=4, max_size=8).map(lambda text: f'x_{text}')
angles = st.floats(-6.3, 6.3).map(lambda angle: round(angle, 3))
KINDS = [
    *(
        {'type': f'std_srvs/srv/{name}', 'service': '/x'}
        for name in ('Empty', 'Trigger', 'SetBool')
    ),
    {'type': 'trajectory_msgs/msg/JointTrajectory', 'topic': '/x'},
]


@st.composite
def profiles(draw: st.DrawFn) -> dict[str, Any]:
    """A valid robots/NAME.yaml: a mast with poses of its own, or none; one to three appendages."""
    parts: dict[str, Any] = {}
    own = iter(draw(st.lists(names, min_size=29, max_size=29, unique=True)))
    for _ in range(draw(st.integers(1, 3))):
        joints = [next(own) for _ in range(draw(st.integers(1, 3)))]
        stowed = [draw(angles) for _ in joints]
        commands = {next(own): stowed}
        action = {'type': TYPE, 'action': f'/{next(own)}'}  # of this part alone
        for _ in range(draw(st.integers(0, 2))):
            target = [draw(angles) for _ in joints]
            far = max(abs(a - b) for a, b in zip(target, stowed, strict=True))
            target[0] += 0.0 if far > GAP_RAD else 1.0
            commands[next(own)] = target
        parts[next(own)] = {
            'joints': joints,
            'stowed_rad': stowed,
            'commands': {
                name: {
                    **draw(st.sampled_from([*KINDS, action])),
                    'target_rad': target,
                    'duration_s': draw(st.sampled_from([0.2, 1.0, 4.0])),
                    'only_after': []
                    if target is stowed
                    else draw(st.lists(st.just(next(iter(commands))), max_size=1)),
                    'description': 'Move it.',
                    'cost': 1.0,
                    'risk': 'low',
                }
                for name, target in commands.items()
            },
        }
    if not draw(st.booleans()):
        return {'mast': False, 'appendages': parts}
    closed, opened = draw(angles), draw(angles)
    opened += 0.0 if abs(opened - closed) > GAP_RAD else 1.0
    mast = {
        'joints': [next(own), next(own)],
        'closed_rad': [closed, draw(angles)],
        'open_rad': [opened, draw(angles)],
        'rotated_rad': [opened, draw(angles)],
        'close_duration_s': draw(st.sampled_from([0.2, 1.0, 4.0])),
    }
    return {'appendages': parts, 'thresholds': {'mast': mast}}
