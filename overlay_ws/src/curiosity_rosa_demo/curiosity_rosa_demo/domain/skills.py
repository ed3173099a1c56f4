# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Names of skills with special rules, and the outcome of a command."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from curiosity_rosa_demo.domain.geometry import DIRECTIONS
from curiosity_rosa_demo.domain.models import Json
from curiosity_rosa_demo.domain.task_state import LifecycleState

MOTIONS = tuple(DIRECTIONS)
MAST_SKILLS = frozenset({'mast_open', 'mast_close', 'mast_rotate'})
# skills.yaml must keep these cancellable: they drive, or may last until an operator cancels them
ALWAYS_CANCELLABLE = (
    *(*MOTIONS, 'navigate_to_pose', 'drive_distance', 'turn_angle'),
    *('wait', 'wait_until', 'react', 'charge', 'activity'),
)
CAPTURE = 'capture_and_score'
ANALYZE = 'analyze_ground'
CANCELLED = 'CANCELLED'  # the code of a cancelled task's outcome


@dataclass(frozen=True)
class Outcome:
    """The outcome of a command, for a person and for a script."""

    ok: bool
    answer: str
    score: float | None = None
    goal: str = ''  # the goal of the task that replaces this turn; empty: none
    code: str = ''  # of the failure, if it has one (error_code of ToolResult)
    refusal: Json | None = None  # the guardrail's refusal (domain/refusal.py) that ended it


def outcome_of(state: LifecycleState, metadata: dict[str, Any], reason: str) -> Outcome:
    """The outcome of a task that has ended, from what its skill has stored in its ``metadata``.
    The code is CANCELLED for a cancelled one.
    """
    stored = Outcome(**{'ok': True, 'answer': '', **metadata.get('outcome', {})})
    if state is LifecycleState.COMPLETED:
        return replace(stored, answer=stored.answer or 'done')
    code = CANCELLED if state is LifecycleState.CANCELLED else stored.code
    return replace(stored, ok=False, answer=reason or stored.answer or state.value, code=code)
