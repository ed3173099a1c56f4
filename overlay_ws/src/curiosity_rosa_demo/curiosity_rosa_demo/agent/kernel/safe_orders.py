# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Which orders are taken in SAFE, and the text that refuses the others. Pure."""

from __future__ import annotations

from datetime import datetime

from curiosity_rosa_demo.domain.brain_state import BrainState, Mode

# They look or stop. Stowing the mast moves it, so the guardrails refuse mast_close in SAFE too.
SKILLS_IN_SAFE = frozenset({'get_status', 'query_world', 'query_graph', 'move_stop', 'stop_base'})
CODE = 'SAFE_MODE'  # of docs/reference/guardrails.md


def order_refusal(state: BrainState, skill: str, since: datetime | None) -> str:
    """Why an order for ``skill`` is refused now; '' when it is taken.

    ``since``: when SAFE began; None: unknown. An empty ``skill`` stands for any order that could
    move the rover.
    """
    if state.tasks.mode is not Mode.SAFE or skill in SKILLS_IN_SAFE:
        return ''
    return f'{CODE}: refused, nothing may move. {safe_text(state, since)}'


def safe_text(state: BrainState, since: datetime | None) -> str:
    """The beginning of SAFE, its cause, and the way out of it."""
    begun = f'since {since.astimezone():%Y-%m-%d %H:%M:%S}' if since else 'since an unknown time'
    return f'SAFE {begun}: {state.tasks.mode_reason}. {way_out(state)}'


def way_out(state: BrainState, clear: str = 'enter :clear') -> str:
    """What ends SAFE, as a sentence. ``clear``: how a person releases the latch."""
    if state.robot.estop:
        return f'Release the e-stop, then {clear}.'
    if state.robot.safety_latch:
        return f'Look at the rover, then {clear}.'
    return 'SAFE ends when it is back.'
