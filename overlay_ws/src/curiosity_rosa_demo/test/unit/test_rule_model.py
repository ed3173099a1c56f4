# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The rule model: messages in, one call or an answer out; plans, and the search for the light."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
import json
import math
from typing import Any

from coded_failures import failed
from curiosity_rosa_demo.agent.rule_model.beliefs import (
    Beliefs,
    beliefs_from,
    Mast,
    MotionBelief,
    Obstacle,
    Pose,
)
from curiosity_rosa_demo.agent.rule_model.light_belief import LightBelief
from curiosity_rosa_demo.agent.rule_model.look_planner import Look, next_look
from curiosity_rosa_demo.agent.rule_model.model import read_result, read_view, RuleChatModel
from curiosity_rosa_demo.agent.rule_model.motion_search import (
    layers,
    Motions,
    SECONDS,
    X,
    Y,
    YAW,
)
from curiosity_rosa_demo.agent.rule_model.parser import (
    Decision,
    FinalAnswer,
    MAX_ATTEMPTS,
    ToolCall,
)
from curiosity_rosa_demo.agent.rule_model.rules import decide, MAX_CALLS, MAX_INTERRUPTIONS
from curiosity_rosa_demo.agent.rule_model.steering import motions_of, search_motion
from curiosity_rosa_demo.agent.rule_model.step_texts import done_text
from curiosity_rosa_demo.agent.rule_model.texts import (
    broken_text,
    status_text,
    text_for,
)
from curiosity_rosa_demo.agent.rule_model.turn_view import ToolStep, TurnView
from curiosity_rosa_demo.domain.models import NEED_TO_CLOSE_MAST, need_to_stow, ToolResult
from curiosity_rosa_demo.domain.serde import to_json
from curiosity_rosa_demo.domain.text import printable
from examples import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.utils.function_calling import convert_to_openai_tool
import numpy as np
from orders_world import fields
import pytest
from rule_model_rover import (
    COSTS,
    DEMO,
    FIGURES,
    HINT,
    LONGEST_S,
    MOTIONS,
    PROFILE,
    Rover,
    run_turn,
    tools,
)

MODEL = RuleChatModel(rover=FIGURES).bind_tools(tools())
ODD_VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([10**400, -1, 0]),
    st.text(max_size=3),
)
GOOD = {'score': 1.0, 'is_good': True, 'image_topic': '/c', 'cost': 1}


def asked(text: str, *results: tuple[str, str]) -> list[BaseMessage]:
    """A turn: the question, then calls with the contents of their tool messages."""
    messages: list[BaseMessage] = [SystemMessage(HINT), HumanMessage(text)]
    for i, (tool, content) in enumerate(results):
        call = {'name': tool, 'args': {}, 'id': f'c{i}', 'type': 'tool_call'}
        messages.append(AIMessage('', tool_calls=[call]))
        messages.append(ToolMessage(content, tool_call_id=f'c{i}'))
    return messages


def called(message: BaseMessage) -> str | None:
    assert isinstance(message, AIMessage)
    assert len(message.tool_calls) <= 1
    return message.tool_calls[0]['name'] if message.tool_calls else None


# --- as LangChain sees it ---------------------------------------------------------------------


def test_it_calls_one_tool_with_a_thought_and_a_new_id_in_each_way_of_asking() -> None:
    messages = [MODEL.invoke(asked(DEMO)), *MODEL.stream(asked(DEMO))]
    messages.append(asyncio.run(MODEL.ainvoke(asked(DEMO))))
    assert [called(message) for message in messages] == ['capture_and_score'] * 3
    assert all(message.content for message in messages)
    assert len({m.tool_calls[0]['id'] for m in messages if isinstance(m, AIMessage)}) == 3


def test_without_a_question_or_tools_it_answers() -> None:
    assert called(MODEL.invoke([SystemMessage('hello')])) is None
    message = RuleChatModel(rover=FIGURES).invoke(asked('Analyze the ground'))
    assert message.content == 'I cannot do that: there is no tool capture_and_score.'


def test_it_reads_hints_costs_and_limits_as_any_model_would() -> None:
    view = read_view(FIGURES, asked(DEMO), [convert_to_openai_tool(tool) for tool in tools()])
    assert view.bright_x == 5.0
    assert view.costs == COSTS
    assert view.longest_s == LONGEST_S
    assert view.tools == set(COSTS)
    assert read_view(FIGURES, [HumanMessage(DEMO)]).bright_x is None


def test_an_unreadable_result_is_a_failure_with_its_text() -> None:
    nan, short, strange = (
        '{"ok": true, "data": {"x": NaN}}',
        '{"ok": false}',
        '{"ok": true, "a": 1}',
    )
    for content in ('', 'Error: boom', '[]', nan, short, strange):
        failure = ToolResult.failure(content or 'Empty result')
        assert read_result('move_stop', content) == failure
    assert not read_result('capture_and_score', '{"ok": true, "data": {"score": true}}').ok


def test_a_motion_of_which_nothing_readable_is_known_is_followed_by_a_stop() -> None:
    assert called(MODEL.invoke(asked(DEMO, ('move_forward', 'Traceback ...')))) == 'move_stop'
    assert called(MODEL.invoke(asked(DEMO, ('turn_left', '{}'))[:-1])) == 'move_stop'


@given(
    st.lists(
        st.tuples(
            st.sampled_from([*sorted(COSTS), 'unknown_tool']),
            st.one_of(
                st.just(to_json(ToolResult.success(**GOOD))),
                st.text(max_size=20),
                st.dictionaries(
                    st.sampled_from(
                        ['score', 'is_good', 'x', 'y', 'yaw_rad', 'rover_x', 'distance_m',
                         'duration_s', 'moving', 'mast_is_open']
                    ),
                    ODD_VALUES,
                ).map(lambda data: json.dumps({'ok': True, 'data': data})),
            ),
        ),
        max_size=12,
    ),
    st.sampled_from([DEMO, 'status?', 'forward 5 s', 'take a picture', 'rotate the mast', 'stop']),
)  # fmt: skip
def test_no_conversation_breaks_it(results: list[tuple[str, str]], text: str) -> None:
    message = MODEL.invoke(asked(text, *results))
    assert called(message) in {*COSTS, None}
    assert str(message.content).strip()


# --- turns ---------------------------------------------------------------------------------------


def test_a_turn_calls_and_answers_as_it_is_written() -> None:
    for start, text, calls, words in fields('turns.tsv'):
        values = json.loads(start)
        glitches = {int(at): reason for at, reason in values.pop('glitches', {}).items()}
        rover = Rover(**values, glitches=glitches)
        answer = run_turn(rover, text)
        called = [tool for tool, _, _ in rover.calls]
        wanted = [] if calls == '-' else calls.split()
        assert called[-len(wanted) :] == wanted, (text, start, called, answer)
        assert [each for each in words.split('|') if each not in answer] == [], answer


@given(st.text(), st.sampled_from(['en', 'ja', 'zh']))
def test_texts_of_others_are_only_values(text: str, lang: str) -> None:
    facts = {'captures': 1, 'moves': 0, 'metres': '0.0', 'score': '0.00'}
    assert text in broken_text(lang, 'mast_open', text, facts)
    assert text in text_for('operator', lang, reason=text)
    assert printable(text) in status_text(lang, {'last_error_reason': text})


# --- orders of several steps --------------------------------------------------------------------

_TOOLS = """
capture_and_score mast_open mast_close mast_rotate move_forward turn_left turn_right move_stop
get_status speak wait wait_until query_world navigate_to_pose drive_distance turn_angle drill
decide
"""
TOOLS = frozenset(_TOOLS.split())
HERE = {'rover_x': 1.0, 'rover_y': 2.0, 'yaw_rad': 0.0, 'mast_is_open': True, 'moving': False}


def done(tool: str, args: dict[str, Any] | None = None, **data: Any) -> ToolStep:
    return ToolStep(tool, args or {}, ToolResult.success(**data))


def decision(text: str, steps: Sequence[ToolStep] = ()) -> Decision:
    return decide(TurnView(FIGURES, text, tuple(steps), TOOLS, longest_s=20.0), ())


def call(text: str, steps: Sequence[ToolStep] = ()) -> ToolCall:
    made = decision(text, steps)
    assert isinstance(made, ToolCall), made
    return made


def answer(text: str, steps: Sequence[ToolStep] = ()) -> FinalAnswer:
    made = decision(text, steps)
    assert isinstance(made, FinalAnswer), made
    return made


def ops(plan: ToolCall) -> list[str]:
    """The operations of a proposed plan: the name, and the arguments' values."""
    assert plan.tool == 'decide'
    assert plan.args['plan_patch']['action'] == 'propose'
    steps = plan.args['plan_patch']['plan']['steps']
    return [' '.join([s['action'], *map(str, s['parameters'].values())]) for s in steps]


def carried_out(plan: ToolCall, **data: Any) -> list[ToolStep]:
    """The steps of a turn in which ``plan`` was carried out."""
    steps = plan.args['plan_patch']['plan']['steps']
    results = [done(s['action'], s['parameters'], **data) for s in steps]
    return [done('decide', dict(plan.args)), *results]


def test_the_way_back_leads_to_where_the_turn_began_and_home_to_the_first_pose() -> None:
    text = 'drive 2 m and come back'
    assert call(text).tool == 'get_status'
    assert ops(call(text, [done('get_status', **HERE)]))[-1] == 'navigate_to_pose 1.0 2.0'
    measured = call('return to base')
    assert (measured.tool, measured.args) == ('query_world', {'query': 'home'})
    home = done('query_world', home_x=-1.0, home_y=0.5)
    assert ops(call('return to base', [home])) == ['mast_close', 'navigate_to_pose -1.0 0.5']


DRIVEN = [
    ('drive_distance', -0.2, 1.0, 'drove 1.0 m'),
    ('drive_distance', 3.0, 1.0, 'turned left 3 degrees, 1.0 m driven'),
    ('turn_angle', -90.0, 2.5, 'turned right 90 degrees, 2.5 m driven'),
    ('turn_angle', 0.0, None, 'turned right 0 degrees, 0.0 m driven'),
]


def test_the_answer_says_what_was_really_driven() -> None:
    end = answer('drive 2 m', carried_out(call('drive 2 m'), distance_m=2.06))
    assert (end.ok, '2.1 m' in end.text) == (True, True)
    for tool, turned_deg, metres, told in DRIVEN:
        result = {'turned_deg': turned_deg, 'distance_m': metres}
        assert done_text(tool, result, 'en') == told


def test_a_plan_that_fails_is_no_success() -> None:
    plan = call('drive 2 m, then take a picture')
    blocked = ToolStep('drive_distance', {}, ToolResult.failure('NAV_BLOCKED: a rock'))
    steps = [*carried_out(plan)[:2], blocked]
    end = answer('drive 2 m, then take a picture', steps)
    assert not end.ok
    assert 'a rock' in end.text


@pytest.mark.parametrize(
    ('text', 'measure', 'data', 'then'),
    [
        ('if the mast is open, close it', 'get_status', HERE, 'decide'),
        ('if the mast is closed, drive 2 m', 'get_status', HERE, ''),
        ('如果电量大于50%就前进2米', 'query_world', {'battery_pct': 60.0}, 'decide'),
        ('如果电量大于50%就前进2米', 'query_world', {'battery_pct': 50.0}, ''),
        ('if the battery is above 50 % drive 2 m', 'query_world', {'battery_pct': None}, ''),
    ],
)
def test_a_condition_is_measured_first(
    text: str, measure: str, data: dict[str, Any], then: str
) -> None:
    assert call(text).tool == measure
    following = decision(text, [done(measure, **data)])
    assert (following.tool if isinstance(following, ToolCall) else '') == then


def test_after_the_light_comes_the_rest() -> None:
    text = 'go to the light and say "found it"'
    found = [done('capture_and_score', score=0.9, is_good=True)]
    assert call(text).tool == 'capture_and_score'
    assert ops(call(text, found)) == ['speak found it']


WORDS = (
    *(('drill a hole', 'drill'), ('打个洞', 'drill')),
    *(('open the arm', 'arm_open'), ('stow the arm', 'arm_close')),
)
NOT_STOWED = failed(need_to_stow('arm', 'arm_close'))


def with_an_arm(text: str, *steps: ToolStep) -> Decision:
    tools = frozenset({*TOOLS, 'arm_close', 'arm_open'})
    view = TurnView(FIGURES, text, steps, tools, longest_s=20.0, stows=('arm_close',))
    return decide(view, WORDS)


def test_an_order_becomes_a_plan_of_skills_or_is_refused_with_the_reason() -> None:
    for more, text, wanted in fields('plans.tsv'):
        view = TurnView(FIGURES, text, (), TOOLS, longest_s=20.0)
        made = with_an_arm(text) if more == 'arm' else decide(view, WORDS)
        if wanted.startswith('!'):
            assert isinstance(made, FinalAnswer), text
            assert (made.ok, wanted[1:] in made.text) == (False, True), made
        else:
            assert isinstance(made, ToolCall), text
            assert ' > '.join(ops(made)) == wanted, text
    assert not answer('drill a hole').ok


def test_a_motion_that_an_arm_forbids_is_preceded_by_stowing_it() -> None:
    for tries, stows in ((1, True), (4, False)):
        steps = [done('get_status', mast_is_open=False), ToolStep('move_forward', {}, NOT_STOWED)]
        steps += [ToolStep('arm_close', {}, ToolResult.failure('jammed'))] * (tries - 1)
        made = with_an_arm('drive forward', *steps)
        assert (isinstance(made, ToolCall) and made.tool == 'arm_close') is stows


FAULTS = [
    'Service unavailable: /adapter/mast_close',
    'Service timeout: /adapter/move_forward',
    'No image received',
    'Image is stale: 4.2 s old',
    'Image cannot be decoded: truncated',
    'TF unavailable: odom -> base_footprint',
    'One tool call at a time',
    'something new',
]


@st.composite
def rovers(draw: st.DrawFn, /, **fixed: Any) -> Rover:
    up = draw(st.booleans())
    glitches: Mapping[int, str] = draw(
        st.dictionaries(st.integers(0, 20), st.sampled_from(FAULTS), max_size=2)
    )
    values: dict[str, Any] = {
        'x': draw(st.floats(-8.0, 8.0)),
        'y': draw(st.floats(-8.0, 8.0)),
        'yaw': draw(st.floats(-math.pi, math.pi)),
        'is_up': up,
        'known': draw(st.sampled_from([up, None])),
        'moving': draw(st.booleans()),
        'speed': draw(st.floats(0.2, 1.5)),
        'late': draw(st.booleans()),
        'glitches': glitches,
    }
    return Rover(**(values | fixed))


def check_manners(rover: Rover) -> None:
    """What holds for every turn, however it ends."""
    steps = [ToolStep(tool, args, result) for tool, args, result in rover.calls]
    assert len(steps) <= MAX_CALLS + MAX_ATTEMPTS
    refused = [step.result.error_reason == NEED_TO_CLOSE_MAST for step in steps]
    for i, step in enumerate(steps):
        if step.tool in MOTIONS:
            facts = beliefs_from(TurnView(FIGURES, '', tuple(steps[:i])))
            assert facts.mast is Mast.CLOSED, 'a motion although the mast may be open'
            assert not facts.must_stop, 'a motion before the stop'
            assert not (i and refused[i - 1] and refused[i])
        if i and steps[i - 1].tool in MOTIONS and steps[i - 1].fault:
            assert step.tool == 'move_stop'


def names(rover: Rover) -> list[str]:
    return [tool for tool, _, _ in rover.calls]


# --- whole explorations: the real model drives a small simulated rover ------------------------


@settings(max_examples=examples(20))
@given(rover=rovers(has_mast=False, moving=False, glitches={}))
def test_a_rover_without_a_mast_looks_and_drives(rover: Rover) -> None:
    answer = run_turn(rover)
    assert rover.score >= rover.threshold, answer
    assert set(names(rover)) <= {'capture_and_score', 'get_status', *MOTIONS}


@settings(max_examples=examples(10))
@given(rovers())
def test_from_any_state_and_through_two_faults_it_reaches_a_good_capture(rover: Rover) -> None:
    answer = run_turn(rover)
    check_manners(rover)
    tool, _, result = rover.calls[-1]
    assert tool == 'capture_and_score'
    assert result.data['is_good'] is True
    assert f'{result.data["score"]:.2f}' in answer


@settings(max_examples=examples(10))
@given(rovers(x_good=9.0, speed=0.5))
def test_a_hint_that_is_too_near_is_corrected_by_measuring(rover: Rover) -> None:
    run_turn(rover)
    check_manners(rover)
    assert rover.calls[-1][2].data.get('is_good') is True


@settings(max_examples=examples(10))
@given(st.floats(1.0, 4.5), st.floats(-math.pi, math.pi), st.floats(0.3, 0.7))
def test_without_a_hint_the_slope_of_the_score_leads_to_the_light(
    x: float, yaw: float, speed: float
) -> None:
    assume(abs(math.cos(yaw)) > 0.3)  # driving across the slope, a hop measures next to nothing
    rover = Rover(x=x, yaw=yaw, speed=speed)
    run_turn(rover, prompt='')
    check_manners(rover)
    assert rover.calls[-1][2].data.get('is_good') is True


@settings(max_examples=examples(10))
@given(rovers(), st.sampled_from(['', 'X >= 5.0']), st.booleans())
def test_every_turn_ends_with_manners(rover: Rover, prompt: str, tells_pose: bool) -> None:
    rover.tells_pose = tells_pose
    run_turn(rover, prompt=prompt)
    check_manners(rover)


@pytest.mark.parametrize('text', ['Analyze the ground texture', 'turn left for 3 s'])
def test_the_agents_end_in_a_drive_is_not_a_broken_drive_unless_it_recurs(text: str) -> None:
    for restarts in (0, 1, MAX_INTERRUPTIONS, MAX_INTERRUPTIONS + 1):
        rover = Rover(x=-3.0, is_up=False, known=False, restarts=restarts)
        answer = run_turn(rover, text)
        once = text.startswith('turn')  # an interrupted motion is not repeated
        assert ('does not work' in answer) is (restarts > (0 if once else MAX_INTERRUPTIONS))
        assert once or (rover.score >= 0.8) is (restarts <= MAX_INTERRUPTIONS)


def test_darkness_without_end_is_reported() -> None:
    rover = Rover(x_min=1000.0, x_good=1001.0)
    answer = run_turn(rover, 'Analyze the ground texture')
    assert 'no good picture' in answer or 'there is none' in answer
    assert ' m driven' in answer
    check_manners(rover)


# --- the planner of the next look -------------------------------------------------------------

PRICES = {
    'capture_and_score': 1.0,
    'mast_open': 2.0,
    'mast_close': 2.0,
    'move_forward': 5.0,
    'turn_left': 2.0,
    'turn_right': 2.0,
}
SEARCH = Motions(
    {name: PRICES[name] for name in ('move_forward', 'turn_left', 'turn_right')},
    longest_s=20.0,
    speed=PROFILE.straight,
    turn_speed=PROFILE.arc,
    turn_rate=PROFILE.turn,
    rover=FIGURES,
)
ORIGIN = Pose(0.0, 0.0, 0.0)
metres = st.floats(-15.0, 15.0)
poses = st.builds(Pose, metres, metres, st.floats(-math.pi, math.pi))
samples = st.lists(st.tuples(poses, st.floats(0.0, 0.79)), max_size=6)
hints = st.none() | metres


def plan(belief: LightBelief, pose: Pose = ORIGIN, **options: object) -> Look:
    look = next_look(pose, Mast.OPEN, belief, SEARCH, PRICES, **options)  # type: ignore[arg-type]
    assert look is not None
    return look


@settings(max_examples=examples(50))
@given(poses, hints, samples, st.lists(poses, min_size=1, max_size=5))
def test_a_belief_is_a_probability(
    start: Pose, hint: float | None, told: list[tuple[Pose, float]], places: list[Pose]
) -> None:
    belief = LightBelief(start, hint, told)
    x, y = (np.array([getattr(place, axis) for place in places]) for axis in 'xy')
    seen = belief.edges.outcomes(x, y)
    assert 0.0 <= belief.no_light <= 1.0
    assert (seen.good >= 0.0).all()
    assert (seen.lit >= seen.good - 1e-9).all()
    assert (seen.missing_m >= 0.0).all()
    assert (seen.lit.sum(axis=0) + belief.no_light <= 1.0 + 1e-6).all()
    for place in places:
        left = belief.edges.dark_at(place.x, place.y).outcomes(x, y)
        assert (left.lit <= seen.lit + 1e-9).all()


def test_a_dark_look_where_it_was_said_to_be_bright_refutes_the_hint() -> None:
    beyond = np.array([6.0])
    before = LightBelief(ORIGIN, 5.0, []).edges.outcomes(beyond, np.zeros(1)).good.sum()
    refuted = LightBelief(ORIGIN, 5.0, [(Pose(5.5, 0.0, 0.0), 0.0)])
    after = refuted.edges.outcomes(beyond, np.zeros(1)).good.sum()
    assert before > 0.6
    assert after < 0.2


@settings(max_examples=examples(20))
@given(poses)
def test_dark_looks_all_around_leave_no_light(start: Pose) -> None:
    ring = [
        (Pose(start.x + r * math.cos(a), start.y + r * math.sin(a), 0.0), 0.0)
        for r in (8.0, 16.0, 26.0)
        for a in np.linspace(0.0, math.tau, 12, endpoint=False)
    ]
    assert LightBelief(start, None, ring).no_light > 0.5


@settings(max_examples=examples(10))
@given(poses)
def test_the_layers_come_in_order_of_cost_and_of_what_the_motions_reach(start: Pose) -> None:
    last = -1.0
    for cost, reached in layers(start, SEARCH, (), {}):
        if cost > 7.0:
            break
        assert cost > last
        last = cost
        away = np.hypot(reached[:, X] - start.x, reached[:, Y] - start.y)
        assert (away <= SEARCH.speed * reached[:, SECONDS] + 1e-6).all()
        turned = np.abs(reached[:, YAW] - start.yaw)
        assert (turned <= SEARCH.turn_rate * reached[:, SECONDS] + 1e-6).all()


@pytest.mark.parametrize(
    ('obstacle', 'refused'),
    [(Obstacle(1.2 * PROFILE.radius_m, 0.0), {}), (None, {'move_forward': 0.0})],
    ids=['an obstacle ahead', 'a refusal'],
)
def test_it_plans_around_what_is_in_the_way(
    obstacle: Obstacle | None, refused: dict[str, float]
) -> None:
    bright_x = 2.0 * PROFILE.radius_m
    belief = LightBelief(ORIGIN, bright_x, [(ORIGIN, 0.0)])
    look = plan(
        belief,
        obstacles=(obstacle,) if obstacle else (),
        first_at_most=refused,
        seen_here=True,
    )
    assert look.tool in ('turn_left', 'turn_right')
    assert look.x > bright_x - 0.2 * 10.0


@given(st.floats(4.5, 12.0), st.floats(-3.0, 3.0))
@settings(max_examples=examples(20))
def test_no_motion_ends_where_an_obstacle_leaves_no_way_on(ahead: float, beside: float) -> None:
    """Straight ahead and both arcs blocked: a rover that cannot reverse never leaves."""
    rock, half = Obstacle(ahead, beside), FIGURES.half_m
    for cost, reached in layers(ORIGIN, SEARCH, (rock,), {}):
        if cost > 8.0:
            break
        for row in reached if cost else ():
            dx, dy = rock.x - row[X], rock.y - row[Y]
            x = dx * math.cos(row[YAW]) + dy * math.sin(row[YAW])
            y = dy * math.cos(row[YAW]) - dx * math.sin(row[YAW])
            before_it = 0.0 < x < 4.0
            assert not (before_it and abs(y) < half / 2), (row, x, y)


@settings(max_examples=examples(30))
@given(poses, st.floats(6.0, 15.0))
def test_with_a_hint_it_looks_beyond_the_edge(pose: Pose, ahead_m: float) -> None:
    belief = LightBelief(pose, pose.x + ahead_m, [(pose, 0.0)])
    look = plan(belief, pose, seen_here=True)
    assert look.x >= pose.x + ahead_m - 0.2 * 10.0
    assert look.tool


# --- what it measures of its own motions --------------------------------------------------------

VIEW = TurnView(FIGURES, 'explore', tools=frozenset({'move_forward', 'turn_left', 'turn_right'}))
START = Pose(1.0, -2.0, 0.5)


def moved(tool: str, seconds: float, end: Pose, told_m: float = 0.0) -> Beliefs:
    return Beliefs(FIGURES, pose=end, moves=[MotionBelief(tool, seconds, START, end, told_m, 0)])


@given(st.floats(0.05, 1.5), st.floats(1.0, 20.0), st.floats(0.0, 100.0))
def test_the_speed_is_that_between_the_poses_whatever_path_is_told(
    speed: float, seconds: float, told_m: float
) -> None:
    metres = speed * seconds
    assume(abs(metres - 0.2) > 1e-6)
    end = Pose(START.x + metres * math.cos(0.5), START.y + metres * math.sin(0.5), 0.5)
    measured = motions_of(VIEW, moved('move_forward', seconds, end, told_m)).speed
    assert measured == pytest.approx(speed if metres > 0.2 else PROFILE.straight)


@given(st.sampled_from([1.0, -1.0]), st.floats(0.02, 0.3), st.floats(1.0, 10.0))
def test_a_turn_tells_its_rate_and_the_speed_along_its_arc(
    side: float, rate: float, radius: float
) -> None:
    seconds, turned = 1.5 / rate, 1.5
    chord, middle = 2.0 * radius * math.sin(turned / 2.0), 0.5 + side * turned / 2.0
    end = Pose(
        START.x + chord * math.cos(middle),
        START.y + chord * math.sin(middle),
        math.remainder(0.5 + side * turned, math.tau),
    )
    tool = 'turn_left' if side > 0.0 else 'turn_right'
    measured = motions_of(VIEW, moved(tool, seconds, end))
    assert measured.turn_rate == pytest.approx(rate)
    assert measured.turn_speed == pytest.approx(radius * rate)
    # Of a rover that slips in a turn, the drive straight ahead is expected to slip as much.
    assert measured.speed == pytest.approx(PROFILE.straight * radius * rate / PROFILE.arc)


@given(st.floats(1.0, 60.0), st.integers(0, 3))
def test_every_hop_without_a_pose_is_one_that_the_tools_accept(longest: float, hops: int) -> None:
    view = TurnView(FIGURES, 'explore', longest_s=longest)
    moves = [MotionBelief('move_forward', 6.0, None, None, None, 0) for _ in range(hops)]
    motion = search_motion(view, Beliefs(FIGURES, moves=moves))
    assert motion is None or 1.0 <= motion.duration_s <= longest
