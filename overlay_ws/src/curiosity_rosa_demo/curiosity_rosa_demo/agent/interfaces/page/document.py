# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What a page shows, as one JSON document made of the bodies of the public routes, and how such a
document changes: a JSON Merge Patch (RFC 7396), in which null stands for what is gone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
import math
from typing import Any

from curiosity_rosa_demo.agent.interfaces.http.models import (
    CaptureView,
    GroundView,
    QuestionView,
    StateView,
)
from curiosity_rosa_demo.agent.interfaces.http.talk import TalkLines
from curiosity_rosa_demo.agent.interfaces.terminal.commands import with_templates
from curiosity_rosa_demo.agent.robot import Robot
from curiosity_rosa_demo.domain.geometry import XY
from curiosity_rosa_demo.domain.models import RoverPose
from curiosity_rosa_demo.domain.origin import MAX_OPERATOR_CHARS
from curiosity_rosa_demo.drawing.trail import simplified
from curiosity_rosa_demo.infra.config.topics import Config

ZONE = {'bright_zone_x_min', 'bright_zone_x_max', 'bright_zone_half_width'}
TRAIL_ERROR_M = 0.01
Document = dict[str, Any]  # of JSON
# Of GET /state: what changes by events, not with every tick. The ages come beside the document.
STATE_SHOWN: Any = {
    'brain_state': {
        'world': {'obstacles'},
        'robot': {
            *('mast', 'appendages', 'moving', 'estop', 'safety_latch', 'silent'),
            *('battery_pct', 'battery_state'),
        },
        'tasks': {
            **dict.fromkeys(('mode', 'mode_reason', 'active_task_id'), True),
            'queue': {'__all__': {'task_id', 'goal'}},
        },
        'skills': {'running'},
        'react': {'plan', 'rehearsal'},
    },
    **dict.fromkeys(('ready', 'auto', 'auto_on', 'usage_text', 'replay'), True),
    **dict.fromkeys(('sources', 'way_ahead', 'warnings'), True),
}


def document(robot: Robot, state: StateView, tasks: Document, talk: TalkLines) -> Document:
    """``tasks``: by ID. Without nulls outside of lists, as patches leave it."""
    ground = robot.ground()
    asked = [QuestionView.of(each, robot.approval_deadline(each)) for each in robot.questions()]
    return patched(
        {},
        {
            'state': state_shown(state),
            'tasks': tasks,
            'approvals': [each.model_dump(mode='json') for each in asked],
            'triggers': {each.name: _trigger(asdict(each)) for each in robot.triggers()},
            'captures': {
                each.event_id: CaptureView.of(each).model_dump(mode='json')
                for each in robot.captures()
            },
            'ground': ground and GroundView.of(ground).model_dump(mode='json'),
            'talk': talk.rows(),
        },
    )


def state_shown(state: StateView) -> Document:
    """The state with measured values as exact as they are shown, so that it seldom changes."""
    shown: Document = state.model_dump(mode='json', include=STATE_SHOWN)
    brain = shown['brain_state']
    brain['robot']['battery_pct'] = round(brain['robot']['battery_pct'])
    brain['world']['obstacles'] = [_rounded(each) for each in brain['world']['obstacles']]
    nodes = [
        {'name': each.name, 'ok': each.ok, 'heard': each.age_s is not None, 'text': each.text}
        for each in state.nodes
    ]
    return {**shown, 'nodes': nodes, 'pose': pose_shown(state.pose)}


def pose_shown(pose: RoverPose | None) -> Document | None:
    if pose is None:
        return None
    return _rounded({'x': pose.x, 'y': pose.y, 'yaw_rad': pose.yaw_rad})


def trail_shown(places: Sequence[XY]) -> list[XY]:
    """As a line of few places, to the centimetre."""
    return [(round(x, 2), round(y, 2)) for x, y in simplified(places, TRAIL_ERROR_M)]


def _rounded(values: Document) -> Document:
    return {
        name: round(value, 2) if isinstance(value, float) else value
        for name, value in values.items()
    }


def _trigger(status: Document) -> Document:
    return {key: value for key, value in status.items() if not key.startswith('fired_')}


def ages(state: StateView) -> dict[str, float | None]:
    """The age of each source and node in seconds; None: no message has arrived. The kernel's ages
    are those at its last tick, so its own age is added.
    """
    nodes = {f'node:{each.name}': each.age_s for each in state.nodes}
    kernel = nodes.get('node:kernel') or 0.0
    heard = {name: age + kernel for name, age in state.brain_state.robot.ages_s.items()}
    return {
        name: round(age, 2) if age is not None and math.isfinite(age) else None
        for name, age in (nodes | heard).items()
    }


def about(config: Config) -> Document:
    """What does not change while the agent runs. ``limits``: the age in seconds from which a
    source is stale. ``body``: which rover it is, such as the stand-in.
    """
    numbers = config.thresholds.telemetry
    return {
        'camera_period_s': 1.0 / config.agent.http.camera_hz,
        'commands': [
            [each.name, each.argument, each.help]
            for each in with_templates(config.prompts.templates).values()
        ],
        'fleet': bool(config.agent.http.fleet),
        'name_chars': MAX_OPERATOR_CHARS,
        'body': config.agent.http.body,
        'limits': {
            'odometry': numbers.odometry_max_age_s,
            'scan': numbers.scan_max_age_s,
            'battery': numbers.battery_max_age_s,
            'adapter': numbers.adapter_max_age_s,
        },
        'rover': config.thresholds.obstacles.model_dump(
            mode='json', include={'front_m', 'rear_m', 'half_width_m'}
        ),
        'zone': config.thresholds.viz.model_dump(mode='json', include=ZONE),
        'fence': config.guardrails.geofence.model_dump(mode='json'),
        'score_threshold': config.thresholds.quality.score_threshold,
        'light': config.thresholds.light_model.model_dump(mode='json'),
    }


# --- Merge patches. Pure ------------------------------------------------------------------------


def patch_of(before: Mapping[str, Any], after: Mapping[str, Any]) -> Document:
    """What leads from one document without nulls to another; empty: they are equal."""
    patch: Document = {key: None for key in before if key not in after}
    for key, value in after.items():
        known = before.get(key)
        if isinstance(value, dict) and isinstance(known, dict):
            if known != value:
                patch[key] = patch_of(known, value)
        elif key not in before or known != value:
            patch[key] = value
    return patch


def patched(before: Mapping[str, Any], patch: Mapping[str, Any]) -> Document:
    """Raises RecursionError."""
    after = dict(before)
    for key, value in patch.items():
        if value is None:
            after.pop(key, None)
        elif isinstance(value, dict):
            known = after.get(key)
            after[key] = patched(known if isinstance(known, dict) else {}, value)
        else:
            after[key] = value
    return after
