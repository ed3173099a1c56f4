# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""The rule model steps in when the language model makes no progress, and only then."""

from __future__ import annotations

import json
from typing import Any

from chat_server import call, Reply, Say
from curiosity_rosa_demo.agent.llm.answers import holds_tool_call
from curiosity_rosa_demo.agent.react.nodes.supervision import (
    fits,
    missing_act,
    REPEATS,
    stuck_reason,
)
from curiosity_rosa_demo.domain.brain_state import Json
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.domain.serde import to_json
from hypothesis import given
from hypothesis import strategies as st
import pytest
from react_world import REGISTRY, with_rules
from turn_world import BY_ROUTINE, KEY, OFFERED, SHIPPED, World

PATIENCE = SHIPPED.guardrails.patience
EXPLORE, DRIVE, OPEN = 'Analyze the ground texture', 'Drive forward for 2 s.', 'Open the mast.'


def resources(tool: str) -> list[str]:
    return REGISTRY.get(tool).definition.resources_required


def entry(tool: str, error: str = '', *, by: str = '', op: bool = True, **data: Any) -> Json:
    result = ToolResult.failure(error, **data) if error else ToolResult.success(**data)
    made: Json = {'tool': tool, 'input': '{}', 'result': to_json(result)}
    return {**made, **({'op': tool} if op else {}), **({'by': by} if by else {})}


def stuck(goal: str, *messages: Json) -> str:
    return stuck_reason(goal, messages, PATIENCE, resources)


# --- which answer ends a turn ---------------------------------------------------------------


GOOD = entry('capture_and_score', score=0.9, is_good=True)


@pytest.mark.parametrize(
    ('goal', 'messages', 'missing'),
    [
        (EXPLORE, [], 'good picture'),
        (EXPLORE, [entry('mast_open')], 'good picture'),
        (EXPLORE, [entry('capture_and_score', 'no image')], 'good picture'),
        (EXPLORE, [entry('capture_and_score', score=0.1, is_good=False)], 'good picture'),
        (EXPLORE, [entry('capture_and_score', score=0.9, is_good=True)], 'analyze_ground'),
        (EXPLORE, [GOOD, entry('analyze_ground')], ''),
        (EXPLORE, [GOOD, entry('analyze_ground', 'Ground cannot be analyzed: blurred')], ''),
        ('Go to the light.', [GOOD], ''),
        ('Take a picture.', [entry('analyze_ground')], 'capture_and_score'),
        ('Take a picture.', [entry('capture_and_score', score=0.1, is_good=False)], ''),
        (DRIVE, [entry('turn_left')], ''),
        (DRIVE, [entry('navigate_to_pose')], ''),
        (DRIVE, [entry('mast_close')], 'move_forward'),
        (OPEN, [entry('mast_close')], 'mast_open'),
        (OPEN, [entry('mast_open', op=False)], 'mast_open'),
        ('Turn left 90 degrees, then take a picture.', [entry('turn_angle')], 'capture_and_score'),
        ('If it is dark, drive 2 m.', [], ''),
        ('Stop!', [entry('stop_base')], ''),
        ('What is the rover status?', [], ''),
        ('Write a poem about dust.', [], ''),
    ],
)
def test_an_order_ends_with_a_successful_call_that_fits(
    goal: str, messages: list[Json], missing: str
) -> None:
    assert missing_act(goal, messages, resources) == missing


@pytest.mark.parametrize(
    ('act', 'tool'), [('move_stop', 'move_forward'), ('move_forward', 'stop_base')]
)
def test_a_stop_is_no_motion(act: str, tool: str) -> None:
    assert not fits(act, tool, lambda _: ['base'])


@pytest.mark.parametrize(
    ('text', 'holds'),
    [
        ('{"name": "mast_open", "arguments": {}}', True),
        ('{"tool_calls": [{"function": {"name": "mast_open", "arguments": "{}"}}]}', True),
        ('Now:\n```json\n{"action": "mast_open"}\n```', True),
        ("{'name': 'drive', 'parameters': {}}", True),
        ('{"name": "mast_open", "arguments": {"dur', True),
        ('<function=mast_open>{}</function>', True),
        ('[TOOL_CALLS][]', True),
        ('move_forward(duration_s=2)', True),
        ('I called mast_open() and saw sand.', False),
        ('{"ok":true,"data":{"mast_is_open":false}}', False),
        ('The mast (open) is fine.', False),
        ('', False),
    ],
)  # fmt: skip
def test_a_call_in_words_is_told_from_an_answer(text: str, holds: bool) -> None:
    assert holds_tool_call(text, OFFERED) is holds


# --- progress -------------------------------------------------------------------------------

HALF_FAILED = PATIENCE.failures_in_a_row // 2
LOOP = [entry('mast_close'), entry('move_forward'), entry('mast_open')]


@pytest.mark.parametrize(
    ('messages', 'why'),
    [
        ([entry('get_status')] * REPEATS, 'The model called get_status 2 times with the same'),
        ([entry('get_status')] * (REPEATS - 1), ''),
        ([entry('mast_open'), entry('mast_close')] * REPEATS, 'The model called mast_close 2'),
        ([entry('get_status', n=n) for n in range(6)], ''),
        ([entry('fly', f'no {n}', op=False) for n in range(HALF_FAILED)], '4 calls of the'),
        ([entry('fly', 'One at a time', op=False, error_code=RefusalCode.DECLINED)] * 9, ''),
        (LOOP * 3, ''),
        (LOOP * 4, '12 calls of the model brought the goal no nearer.'),
        ([*LOOP * 3, entry('capture_and_score', score=0.1), *LOOP * 3], ''),
        ([entry('wait_until', n=n, cost=100.0) for n in range(3)], 'Calls of the model for a'),
        ([*[entry('get_status')] * 3, entry('get_status', by='routine')], ''),
        ([entry('capture_and_score', score=n / 10) for n in range(30)], ''),
        ([entry('capture_and_score', score=0.1)] * 4, 'The model called capture'),
    ],
    ids=range(13),
)  # fmt: skip
def test_a_model_is_stuck_without_a_gain_and_only_then(messages: list[Json], why: str) -> None:
    reason = stuck(EXPLORE, *messages)
    assert reason.startswith(why)
    assert bool(reason) is bool(why)


tools = st.sampled_from([name for name in OFFERED if name != 'decide'])
entries = st.builds(
    lambda tool, error, by, score: entry(tool, error, by=by, score=score),
    tools,
    st.sampled_from(['', '', 'no']),
    st.sampled_from(['', 'routine']),
    st.floats(0.0, 1.0),
)


@given(st.lists(entries, max_size=40), st.sampled_from([EXPLORE, DRIVE, OPEN]))
def test_after_the_routines_step_and_after_a_gain_patience_is_new(
    messages: list[Json], goal: str
) -> None:
    assert stuck(goal, *messages, entry('get_status', by='routine')) == ''
    if goal == EXPLORE:
        assert stuck(goal, *messages, entry('capture_and_score', score=2.0)) == ''
    idle = [entry('get_status', n=n) for n in range(PATIENCE.idle_steps)]
    assert stuck(goal, *messages, *idle)


# --- in a turn ------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', KEY)


WEAK: dict[str, tuple[Reply, ...]] = {
    'repeats': (call('get_status'),),
    'is refused': (call('fly'),),
    'talks': (Say('I will look.'),),
    'waits': (call('decide', type='CONTINUE', reason='Hm.'),),
    'wastes': (call('mast_open'), call('mast_rotate'), call('mast_close')) * 9,
}


@pytest.mark.parametrize('script', WEAK.values(), ids=WEAK)
def test_the_routine_ends_the_turn_of_a_weak_model_well(script: tuple[Reply, ...]) -> None:
    with World(*script) as world:
        world.rover.light = 0.9
        last = world.turn(EXPLORE)
        assert (last.ok, last.is_good) == (True, True)
        reasons = [e.error_reason for e in world.events if e.message.startswith(BY_ROUTINE)]
        assert reasons
        ending = 'It has stepped in 2 times and finishes the turn.'
        assert set(reasons[2:]) <= {ending}


def test_a_model_that_gets_on_is_left_alone() -> None:
    steps = [call('mast_open'), call('capture_and_score'), call('get_status')]
    steps += [call('analyze_ground'), Say('Sand.')]
    with World(*steps) as world:
        assert world.turn(EXPLORE).answer == 'Sand.'
        assert not [e for e in world.events if e.message.startswith(BY_ROUTINE)]


@pytest.mark.parametrize('takeovers', [1, 5])
def test_how_often_it_steps_in_before_it_finishes_is_configured(takeovers: int) -> None:
    config = with_rules(patience={'takeovers': takeovers})
    with World(call('get_status'), config=config) as world:
        assert world.turn('Open the mast.').ok
        assert world.reacts[-1].takeovers <= takeovers


def test_without_a_fallback_patience_ends_as_ever() -> None:
    with World(call('get_status'), fallback='none') as world:
        last = world.turn(EXPLORE)
        assert last.answer == 'get_status() had the same result 6 times in a row'


def test_the_state_of_a_turn_keeps_the_count() -> None:
    with World(call('get_status')) as world:
        world.turn(EXPLORE)
        assert json.loads(world.reacts[-1].model_dump_json())['takeovers'] >= 2
