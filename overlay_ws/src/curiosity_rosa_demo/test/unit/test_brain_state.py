# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""BrainState as a value: complete, closed, and exact in JSON."""

from __future__ import annotations

import math
from typing import Any

from curiosity_rosa_demo.domain.brain_state import (
    BrainState,
    HCIState,
    QueuedTask,
    Reading,
    RobotState,
    SkillDef,
    SkillsState,
    Telemetry,
    WorldState,
)
from curiosity_rosa_demo.domain.serde import from_json, SerdeError
from pydantic import ValidationError
import pytest

# Fields of each part that readers of the state rely on.


@pytest.mark.parametrize('bad', [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize(
    'make',
    [
        lambda bad: Telemetry(now_s=bad),
        lambda bad: Reading(received_s=bad),
        lambda bad: Reading(received_s=0.0, value={'a': [{'b': bad}]}),
        lambda bad: RobotState(battery_pct=bad),
        lambda bad: RobotState(ages_s={'battery': bad}),
        lambda bad: WorldState(obstacles=[{'distance_m': bad}]),
        lambda bad: HCIState(interrupt_payload={'a': bad}),
        lambda bad: QueuedTask(task_id='t', goal='', deadline=bad),
        lambda bad: SkillDef(name='s', interface_type='internal', timeout_s=bad),
    ],
)
def test_nan_and_infinity_are_refused(make: Any, bad: float) -> None:
    with pytest.raises(ValidationError):
        make(bad)


@pytest.mark.parametrize(
    'make',
    [
        lambda bad: WorldState(summary=bad),
        lambda bad: WorldState(zones=[bad]),
        lambda bad: WorldState(obstacles=[{bad: 1}]),
        lambda bad: RobotState(ages_s={bad: 1.0}),
        lambda bad: SkillsState(registry={bad: SkillDef(name='s', interface_type='internal')}),
        lambda bad: SkillDef(name='s', interface_type='internal', error_map={'e': bad}),
    ],
)
def test_text_that_is_no_unicode_is_refused(make: Any) -> None:
    with pytest.raises(ValidationError):
        make('\ud800')


@pytest.mark.parametrize('huge', [2**63, -(2**63) - 1, 10**4000])
def test_counts_are_bounded_so_that_any_reader_takes_them(huge: int) -> None:
    with pytest.raises(ValidationError):
        QueuedTask(task_id='t', goal='', priority=huge)


@pytest.mark.parametrize(
    'line',
    ['', '[]', '{"mode": 1}', '{"robot": {"battery_pct": NaN}}', '{"tasks": {"mode": "RUN"}}'],
)
def test_json_of_something_else_is_refused(line: str) -> None:
    with pytest.raises(SerdeError, match='BrainState'):
        from_json(BrainState, line)


def test_a_state_is_frozen() -> None:
    with pytest.raises(ValidationError, match='frozen'):
        BrainState().tasks.preempt_flag = True  # type: ignore[misc]
