# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The calls of skills that carry out the steps of an order. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from curiosity_rosa_demo.agent.language.grammar import Step, TOOLS

DEFAULT_DRIVE_S = 3.0  # for a requested motion without a duration
AROUND_PICTURES = 3
TIMED = ('forward', 'left', 'right')
NEEDS_PLACE = ('home', 'back')

Op = tuple[str, dict[str, Any]]


def operations(
    steps: Sequence[Step],
    places: Mapping[str, tuple[float, float]],
    longest_s: float,
    stows: Sequence[str] = (),
    *,
    has_mast: bool = True,
) -> Iterator[Op]:
    """The calls of skills that carry out ``steps``, with the mast, if there is one, as each needs
    it, and each of ``stows``, the skills that stow an appendage, before a drive.
    """
    mast, stowed = '', False
    for step in steps:
        for op in _operations(step, places, longest_s):
            needs = _mast_needed(op[0])
            if needs == 'mast_close' != op[0] and not stowed:
                yield from ((skill, {}) for skill in stows)
                stowed = True
            elif step.verb == 'skill':
                stowed = False  # it may move an appendage
            if has_mast and needs and needs != mast:
                mast = needs
                if op[0] != needs:
                    yield needs, {}
            yield op


def _mast_needed(skill: str) -> str:
    if skill in ('capture_and_score', 'mast_rotate', 'mast_open'):
        return 'mast_open'
    drives = (
        *(TOOLS[verb] for verb in TIMED),
        'drive_distance',
        'turn_angle',
        'navigate_to_pose',
        'mast_close',
    )
    return 'mast_close' if skill in drives else ''


def _operations(
    step: Step, places: Mapping[str, tuple[float, float]], longest_s: float
) -> Iterator[Op]:
    verb = step.verb
    if verb in TIMED and step.unit == 'm':
        yield 'drive_distance', {'distance_m': step.amount}
    elif verb in TIMED and step.unit == 'deg':
        yield 'turn_angle', {'angle_deg': step.amount if verb == 'left' else -step.amount}
    elif verb in TIMED:
        left = step.amount if step.unit else DEFAULT_DRIVE_S
        legs = max(1, -int(-left // longest_s))
        for _ in range(legs):
            yield TOOLS[verb], {'duration_s': round(left / legs, 2)}
    elif verb == 'goto':
        yield 'navigate_to_pose', {'x': step.x, 'y': step.y}
    elif verb in NEEDS_PLACE:
        x, y = places[verb]
        yield 'navigate_to_pose', {'x': round(x, 3), 'y': round(y, 3)}
    elif verb == 'picture':
        yield from (('capture_and_score', {}) for _ in range(step.count or 1))
    elif verb == 'around':
        for i in range(step.count or AROUND_PICTURES):
            if i:
                yield 'mast_rotate', {}
            yield 'capture_and_score', {}
    elif verb == 'wait':
        yield TOOLS[verb], {'duration_s': step.amount}
    elif verb == 'say':
        yield TOOLS[verb], {'text': step.text}
    elif verb == 'skill':
        yield step.text, {}
    else:
        yield TOOLS[verb], {}
