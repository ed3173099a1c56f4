# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The rule to which a refusal or an alarm belongs, by the beginning of its text."""

from __future__ import annotations

from curiosity_rosa_demo.domain.models import (
    AGENT_IS_SAFE,
    AGENT_IS_SILENT,
    E_STOP_PRESSED,
    MOVE_IN_PROGRESS,
    NEED_TO_CLOSE_MAST,
    NEED_TO_OPEN_MAST,
    NEED_TO_STOW,
    OBSTACLE_AHEAD,
    ODOMETRY_SILENT,
    OTHER_ADAPTER,
    SLIPPING,
    STOP_NOT_CONFIRMED,
    STOPPED_UNASKED,
    STUCK,
    TILTED,
    TWO_AGENTS,
    VIEW_LOST,
)

RULES = {
    SLIPPING: 'drive_watch',
    STUCK: 'drive_watch',
    TILTED: 'drive_watch',
    ODOMETRY_SILENT: 'odometry_silence',
    OBSTACLE_AHEAD: 'obstacle_stop',
    VIEW_LOST: 'obstacle_stop',
    AGENT_IS_SAFE: 'agent_link',
    AGENT_IS_SILENT: 'agent_link',
    'The agent': 'agent_link',
    TWO_AGENTS: 'agent_link',
    OTHER_ADAPTER: 'other_adapters',
    NEED_TO_CLOSE_MAST: 'mast',
    NEED_TO_STOW: 'appendage',
    NEED_TO_OPEN_MAST: 'mast',
    'Joint states': 'mast',
    'Mast': 'mast',
    'Stopped: mast': 'mast',
    STOPPED_UNASKED: 'unexpected_motion',
    MOVE_IN_PROGRESS: 'motion_guard',
    E_STOP_PRESSED: 'motion_guard',
    'Stopped by the leash': 'motion_guard',
    'The rover moves on': 'stop',
    STOP_NOT_CONFIRMED: 'stop',
}


def rule_of(text: str, otherwise: str) -> str:
    """``otherwise``: for a text of no rule, such as a success."""
    text = text.removeprefix('refused: ')
    fitting = [start for start in RULES if text.startswith(start)]
    return RULES[max(fitting, key=len)] if fitting else otherwise
