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
from curiosity_rosa_demo.domain.serde import from_json, SerdeError, to_json
from examples import examples
from hypothesis import example, given, settings
from pydantic import ValidationError
import pytest
from strategies import whole_model

PARTS = {'hci', 'world', 'robot', 'tasks', 'skills', 'react', 'trace', 'telemetry'}
# Fields of each part that readers of the state rely on.
REQUIRED = {
    'hci': {'user_utterance', 'user_interrupt', 'interrupt_payload', 'approval_response'},
    'world': {'summary', 'zones', 'obstacles'},
    'robot': {'pose', 'twist', 'battery_pct', 'battery_state', 'resources', 'distance_to_target'},
    'tasks': {'inbox', 'queue', 'active_task_id', 'mode', 'preempt_flag', 'preempt_reason'},
    'skills': {'registry', 'running', 'last_result'},
    'react': {'iter', 'observation', 'decision', 'proposed_ops', 'stop_reason'},
    'trace': {'log', 'metrics'},
}

many = settings(max_examples=examples(60), deadline=None)

states = whole_model(BrainState)


@given(states)
@many
def test_a_state_has_every_part_and_every_field(state: BrainState) -> None:
    """Property 1."""
    assert set(BrainState.model_fields) >= PARTS
    for part, fields in REQUIRED.items():
        held = getattr(state, part)
        assert isinstance(held, BrainState.model_fields[part].annotation)
        assert set(type(held).model_fields) >= fields
    # Strict: every value has the type of its field, also those in lists and objects.
    assert BrainState.model_validate_json(to_json(state), strict=True) == state


@given(states)
@example(BrainState(messages=[{'n': 10**4200, 'text': '\x00\u2028😀', 'deep': [[{'a': [None]}]]}]))
@many
def test_a_state_comes_back_from_json_as_it_was(state: BrainState) -> None:
    """Property 2."""
    line = to_json(state)
    again = from_json(BrainState, line)
    assert again == state
    assert to_json(again) == line  # -0.0 == 0.0 and True == 1, but their texts differ
    assert '\n' not in line


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
