# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""How far a running skill is: as a fraction, in words, and how often it is worth telling. Pure.

A skill reports a JSON object. ``fraction`` in it is the part that is done, 0.0 to 1.0;
``distance_m`` the metres that are left, ``waited_s`` the seconds that have passed.
"""

from __future__ import annotations

from collections.abc import Mapping

from curiosity_rosa_demo.domain.brain_state import Json
from curiosity_rosa_demo.trace.reporter import finite_float

PROGRESS = 'PROGRESS'  # kind of the feedback of the action run_task
TOLD_EVERY_S = 1.0  # at most
STEP = 0.1  # of the whole, since it was last told
UNKNOWN_EVERY_S = 10.0  # of a skill that does not know how much is left


def part_done(before: float, left: float) -> float:
    """``left`` of ``before`` is still to do: the part that is done, 0.0 to 1.0."""
    return 1.0 if before <= 0.0 else round(min(1.0, max(0.0, 1.0 - left / before)), 3)


def fraction_of(progress: Mapping[str, object]) -> float | None:
    """The part that is done; None: unknown."""
    fraction = finite_float(progress.get('fraction'))
    return fraction if fraction is not None and 0.0 <= fraction <= 1.0 else None


def progress_text(skill: str, progress: Json) -> str:
    """Such as ``navigate_to_pose: 40 %, 6.1 m left``."""
    parts = []
    if (fraction := fraction_of(progress)) is not None:
        parts.append(f'{100.0 * fraction:.0f} %')
    if (metres := finite_float(progress.get('distance_m'))) is not None:
        parts.append(f'{metres:.1f} m left')
    if (seconds := finite_float(progress.get('waited_s'))) is not None:
        parts.append(f'waited {seconds:.0f} s')
    return f'{skill}: {", ".join(parts) or "under way"}'


class ProgressThrottle:
    """Of one run: which of its reports are told. At most one a second, and only when a tenth more
    is done, so that a run tells about ten times however long it takes.
    """

    def __init__(self, began_s: float) -> None:
        self._told_s, self._told = began_s, 0.0

    def admits(self, fraction: float | None, now_s: float) -> bool:
        """Whether to tell this report at ``now_s`` (steady clock); then it counts as told."""
        since_s = now_s - self._told_s
        if fraction is None:
            due = since_s >= UNKNOWN_EVERY_S
        else:
            due = since_s >= TOLD_EVERY_S and abs(fraction - self._told) >= STEP
        if due:
            self._told_s = now_s
            self._told = self._told if fraction is None else fraction
        return due
