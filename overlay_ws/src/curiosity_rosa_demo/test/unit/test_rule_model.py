# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The rule model: messages in, one call or an answer out; plans, and the search for the light."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
import json
import math
from typing import Any

from curiosity_rosa_demo.agent.language.grammar import Step
from curiosity_rosa_demo.agent.language.tables import detect_language, say
from curiosity_rosa_demo.agent.language.understand import understand
from curiosity_rosa_demo.agent.react.deciders import RuleDecider
from curiosity_rosa_demo.agent.rule_model.beliefs import (
    Beliefs,
    LEGS,
    Mast,
    MotionBelief,
    RoverFigures,
)
from curiosity_rosa_demo.agent.rule_model.decision import (
    Decision,
    FinalAnswer,
    MAX_ATTEMPTS,
    ToolCall,
    TurnView,
)
from curiosity_rosa_demo.agent.rule_model.light_belief import LightBelief
from curiosity_rosa_demo.agent.rule_model.look_planner import next_look
from curiosity_rosa_demo.agent.rule_model.motion_search import layers, Motions, X, Y, YAW
from curiosity_rosa_demo.agent.rule_model.orders import plan_steps
from curiosity_rosa_demo.agent.rule_model.orders import SEARCH as LIGHT
from curiosity_rosa_demo.agent.rule_model.rules import decide, MAX_CALLS, MAX_INTERRUPTIONS
from curiosity_rosa_demo.agent.rule_model.steering import motions_of
from curiosity_rosa_demo.agent.rule_model.texts import (
    broken_text,
    done_text,
    status_text,
    step_text,
)
from curiosity_rosa_demo.domain.geometry import MotionSpeeds, Place, XY
from curiosity_rosa_demo.domain.ground import GROUND_UNKNOWN
from curiosity_rosa_demo.domain.models import INTERRUPTED_TEXT, NEED_TO_CLOSE_MAST, ToolResult
from curiosity_rosa_demo.domain.operation import Exchange
from curiosity_rosa_demo.domain.plan import Plan, StepStatus
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.domain.skills import CAPTURE, MAST_SKILLS, MOTIONS
from curiosity_rosa_demo.domain.text import printable
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_stand_in.kinematics import Pose as Start
from examples import examples, fields
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from tool_rover import failed, run_tool, SimulatedRover, with_figures
from turn_world import finish, NINE, Nodes, REGISTRY, SHIPPED

COSTS = {name: SHIPPED.tool_costs.of(name) for name in NINE}
LONGEST_S = SHIPPED.agent.turn.max_motion_s
FIGURES = RoverFigures.of(SHIPPED)
PROFILE = FIGURES.speeds
DEMO = '地面のテクスチャを調査して（Analyze the ground texture）'
ENGLISH = 'Analyze the ground texture'


def step_of(tool: str, args: dict[str, Any], result: ToolResult) -> Exchange:
    return Exchange(tool=tool, input=json.dumps(args), result=result)


def with_capture(**changes: Any) -> Config:
    return SHIPPED.changed(thresholds={'capture': changes})


@dataclass
class Rover(SimulatedRover):
    """Behind its tools, in the light of a half-plane. They fail with the reason that ``broken``
    has for a tool, or ``glitches`` for the number of a call; ``late``: a glitch hides a call that
    did take effect. The agent ends in so many motions as there are ``restarts``.
    """

    mast_is_open: bool | None = True
    x: float = 0.0
    y: float = 0.0
    yaw: float = 0.0
    moving: bool = False
    speed: float = PROFILE.straight
    x_min: float = 0.0
    x_good: float = 5.0
    stuck: bool = False
    has_mast: bool = True
    broken: Mapping[str, str] = field(default_factory=dict)
    glitches: Mapping[int, str] = field(default_factory=dict)
    late: bool = False
    restarts: int = 0

    def __post_init__(self) -> None:
        self.figures = with_figures(
            SHIPPED.thresholds,
            forward_mps=self.speed,
            turn_mps=self.speed * PROFILE.arc / PROFILE.straight,
            turn_radius_m=PROFILE.radius_m,
        )
        self.origin = Start(self.x, self.y, self.yaw)
        super().__post_init__()
        self.mast_is_open = self.mast_is_open if self.has_mast else False
        self.demo.body.set_slip(float(self.stuck))
        if self.moving:
            self.begin('move_forward')
        self.steps: list[Exchange] = []
        self._config = with_capture(require_open_mast=self.has_mast)

    @property
    def score(self) -> float:
        return min(1.0, max(0.0, (self.state.pose.x - self.x_min) / (self.x_good - self.x_min)))

    @property
    def names(self) -> list[str]:
        return [step.tool for step in self.steps]

    def begin(self, motion: str) -> None:
        self.demo.call(motion)
        self.motion = motion

    def use(self, tool: str, args: dict[str, Any]) -> ToolResult:
        assert tool not in MOTIONS or 1.0 <= args['duration_s'] <= LONGEST_S, (tool, args)
        assert self.has_mast or tool not in MAST_SKILLS, tool
        if self.motion:
            self.clock.seconds += 1.0
        is_drive = tool in MOTIONS and self.mast_is_open is False
        reason = self.broken.get(tool) or self.glitches.get(len(self.steps))
        if is_drive and self.restarts:
            self.restarts, reason = self.restarts - 1, INTERRUPTED_TEXT
        if not reason or self.late:
            self.light = self.score
            result = run_tool(self, tool, config=self._config, **args)
        if reason:
            if tool in MAST_SKILLS:
                self.mast_is_open = None
            if is_drive and self.state:  # it started, and the answer was lost
                self.begin(tool)
            result = failed(reason, cost=COSTS[tool])
        self.steps.append(step_of(tool, args, result))
        return result


def view_of(text: str, *steps: Exchange, bright_x: float | None = 5.0, **more: Any) -> TurnView:
    """A turn in which these steps were made."""
    known: dict[str, Any] = {'tools': frozenset(COSTS), 'costs': COSTS, 'longest_s': LONGEST_S}
    return TurnView(FIGURES, understand(text), steps, bright_x=bright_x, **{**known, **more})


def run_turn(
    rover: Rover, text: str = DEMO, *, bright_x: float | None = 5.0, limit: int = 90
) -> str:
    """One turn through the real rules; its answer. AssertionError after ``limit`` calls."""
    tools = frozenset(name for name in COSTS if rover.has_mast or name not in MAST_SKILLS)
    for _ in range(limit):
        made = decide(view_of(text, *rover.steps, bright_x=bright_x, tools=tools))
        assert not isinstance(made, Plan)
        words = made.text if isinstance(made, FinalAnswer) else made.thought
        assert words.strip(), 'a call without a thought, or no answer'
        assert detect_language(words) == detect_language(text), words
        if isinstance(made, FinalAnswer):
            return words
        rover.use(made.tool, dict(made.args))
    raise AssertionError(f'no answer within {limit} calls')


def test_the_rules_see_the_turn_and_the_skills_as_they_are() -> None:
    nodes = Nodes(finish())
    nodes.begin(DEMO)
    nodes.turn.exchanges = [done('get_status'), Exchange(tool='fly', input='3')]
    view = RuleDecider(nodes.env).view(nodes.turn)
    assert (view.said.text, view.bright_x, view.longest_s) == (DEMO, 5.0, LONGEST_S)
    assert {name: view.cost(name) for name in COSTS} == COSTS
    assert view.steps == (done('get_status'),)
    assert view.tools == {skill.definition.name for skill in REGISTRY.for_model()}
    blind = SHIPPED.changed(prompts={'robot_system_prompts': {'relevant_context': ''}})
    nodes = Nodes(finish(), config=blind)
    assert RuleDecider(nodes.env).view(nodes.turn).bright_x is None
    answer = decide(view_of(ENGLISH, tools=frozenset()))
    assert answer == FinalAnswer('I cannot do that: there is no tool capture_and_score.', ok=False)


TOLD = ['score', 'is_good', 'x', 'y', 'yaw_rad', 'rover_x', 'distance_m', 'duration_s', 'moving']
ODD_VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([10**400, -1, 0]),
    st.text(max_size=3),
)
CONTENTS = st.one_of(
    st.just(ToolResult.success(score=1.0, is_good=True, image_topic='/c', cost=1)),
    st.text(max_size=20).filter(str.strip).map(ToolResult.failure),
    st.dictionaries(st.sampled_from([*TOLD, 'mast_is_open']), ODD_VALUES).map(
        lambda data: ToolResult.success(**data)
    ),
)


@given(
    st.lists(st.tuples(st.sampled_from([*sorted(COSTS), 'unknown_tool']), CONTENTS), max_size=12),
    st.sampled_from([DEMO, 'status?', 'forward 5 s', 'take a picture', 'rotate the mast', 'stop']),
)
def test_no_turn_breaks_it(results: list[tuple[str, ToolResult]], text: str) -> None:
    made = decide(view_of(text, *(step_of(tool, {}, result) for tool, result in results)))
    assert not isinstance(made, Plan)
    assert isinstance(made, FinalAnswer) or made.tool in COSTS
    assert (made.text if isinstance(made, FinalAnswer) else made.thought).strip()


# --- turns ---------------------------------------------------------------------------------------


def test_a_turn_calls_and_answers_as_it_is_written() -> None:
    for start, text, calls, words in fields('turns.tsv'):
        values = json.loads(start)
        glitches = {int(at): reason for at, reason in values.pop('glitches', {}).items()}
        rover = Rover(**values, glitches=glitches)
        answer = run_turn(rover, text)
        wanted = [] if calls == '-' else calls.split()
        assert rover.names[-len(wanted) :] == wanted, (text, start, rover.names, answer)
        assert [each for each in words.split('|') if each not in answer] == [], answer


@given(st.text(), st.sampled_from(['en', 'ja', 'zh']))
def test_texts_of_others_are_only_values(text: str, lang: str) -> None:
    facts = {'captures': 1, 'moves': 0, 'metres': '0.0', 'score': '0.00', 'summary': ''}
    failed = Exchange(tool='mast_open', input='{}', result=ToolResult.failure(f'{text}!'))
    assert text in broken_text(lang, failed, facts)
    assert text in say('answer.operator', lang, reason=text)
    assert printable(text) in status_text(lang, {'last_error_reason': text})


# --- orders of several steps --------------------------------------------------------------------

SKILLS = (
    *(*NINE, 'speak', 'wait', 'wait_until', 'query_world', 'navigate_to_pose', 'drive_distance'),
    *('turn_angle', 'drill'),
)
HERE = {'x': 1.0, 'y': 2.0, 'home_x': -1.0, 'home_y': 0.5, 'mast': 'open', 'battery_pct': 60.0}
WORDS = (
    *(('drill a hole', 'drill'), ('打个洞', 'drill')),
    *(('open the arm', 'arm_open'), ('stow the arm', 'arm_close')),
)
NOT_STOWED = failed(RefusalCode.NOT_STOWED.text(part='arm', stow='arm_close'))


def done(tool: str, args: dict[str, Any] | None = None, **data: Any) -> Exchange:
    return step_of(tool, args or {}, ToolResult.success(**data))


def decision(
    text: str, *steps: Exchange, arm: bool = False, plan: Plan | None = None, **facts: Any
) -> Decision:
    tools = frozenset({*SKILLS, *(('arm_close', 'arm_open') if arm else ())})
    stows = ('arm_close',) if arm else ()
    known: dict[str, Any] = {'stows': stows, 'facts': {**HERE, **facts}, 'plan': plan}
    return decide(
        TurnView(FIGURES, understand(text, WORDS), steps, tools, longest_s=20.0, **known)
    )


def planned(text: str, **more: Any) -> Plan:
    made = decision(text, **more)
    assert isinstance(made, Plan), made
    return made


IN_PLACE = (
    'spin around on the spot so you face the way you came',
    '原地掉个头',
    'その場で左に一回転して',
    'gira a la izquierda 90 grados en el sitio',
)


@pytest.mark.parametrize('text', IN_PLACE)
def test_a_turn_on_the_spot_is_refused_by_a_rover_that_drives_arcs(text: str) -> None:
    made = decision(text)
    assert isinstance(made, FinalAnswer), made
    assert not made.ok
    assert f'{FIGURES.speeds.radius_m:.1f} m' in made.text.replace('米', 'm')
    nimble = replace(FIGURES, speeds=replace(FIGURES.speeds, arc=0.0))
    view = TurnView(nimble, understand(text), (), frozenset(SKILLS), facts=HERE)
    assert isinstance(decide(view), Plan)


def ops(plan: Plan) -> str:
    """Its steps: the name, the arguments' values, and in brackets the precondition."""
    told = []
    for step in plan.steps:
        values = (str(value) for value in step.parameters.values())
        told.append(' '.join([step.action, *values]))
        told[-1] += f' [{json.dumps(step.preconditions)[1:-1]}]' if step.preconditions else ''
    return ' > '.join(told)


def told_of(text: str, *ended: Exchange | str, **facts: Any) -> FinalAnswer:
    """The answer once the steps of the order have ended so, and the others not begun. A text: by
    their precondition, or of a search.
    """
    plan, exchanges = planned(text), list[Exchange]()
    for step, end in zip(plan.steps, ended, strict=False):
        if isinstance(end, Exchange):
            exchanges.append(end.model_copy(update={'plan_step': step.step_id}))
            step.status = StepStatus.SUCCESS if end.ok else StepStatus.FAILED
        elif end:
            step.status, step.metadata['told'] = StepStatus.SUCCESS, end
        else:
            step.status = StepStatus.FAILED
    made = decision(text, *exchanges, plan=plan, **facts)
    assert isinstance(made, FinalAnswer), made
    return made


def test_an_order_becomes_a_plan_of_skills_or_is_refused_with_the_reason() -> None:
    for more, text, wanted in fields('plans.tsv'):
        made = decision(text, arm=more == 'arm')
        if wanted.startswith('!'):
            assert isinstance(made, FinalAnswer), text
            assert (made.ok, wanted[1:] in made.text) == (False, True), made
        else:
            assert isinstance(made, Plan), text
            assert ops(made) == wanted, text
            assert all(step.description for step in made.steps)
            assert made.reasoning.strip()
    lost = decision('return to base', home_x=None)
    assert isinstance(lost, FinalAnswer)
    assert not lost.ok


STEPS = st.builds(
    Step,
    st.sampled_from(['forward', 'goto', 'home', 'back', 'open', 'close', 'picture', 'around',
                     'rotate', 'light', 'explore', 'wait', 'status']),
    amount=st.floats(0.1, 50.0),
    unit=st.sampled_from(['', 's', 'm']),
    count=st.integers(0, 3),
    condition=st.sampled_from(['', '', 'dark', 'bright', 'battery>50', 'mast open']),
)  # fmt: skip
OPEN_FOR, CLOSED_FOR = ('capture_and_score', 'mast_rotate'), ('move_forward', *LEGS)


@given(st.lists(STEPS, min_size=1, max_size=8), st.booleans())
def test_every_order_keeps_its_sequence_its_conditions_and_the_mast(
    ordered: list[Step], arm: bool
) -> None:
    stows = ('arm_close',) if arm else ()
    view = TurnView(FIGURES, understand('go'), tools=frozenset(SKILLS), stows=stows)
    places = {'home': (0.0, 0.0), 'back': (1.0, 0.0)}
    made = list(plan_steps(tuple(ordered), places, view))
    whats = iter([step.description for step in made])
    assert all(text in whats for text, _ in groupby(step_text(step, 'en') for step in ordered))
    mast, stowed = '', not arm
    for step in made:
        mast = step.action if step.action in ('mast_open', 'mast_close') else mast
        stowed = stowed or step.action == 'arm_close'
        assert step.action not in OPEN_FOR or mast == 'mast_open'
        assert step.action not in CLOSED_FOR or (mast == 'mast_close' and stowed)
        if step.action == LIGHT:
            mast, stowed = '', not arm
    befores = ['', *(step.condition for step in ordered)]
    changes = [now for now, before in zip(befores[1:], befores, strict=False)
               if now not in ('', before)]  # fmt: skip
    assert [step.metadata['condition'] for step in made if step.preconditions] == changes
    for at, step in enumerate(made):
        assert not step.preconditions.keys() & {'is_good'} or made[at - 1].action == CAPTURE


ENDS: list[tuple[str, list[Exchange | str], dict[str, Any], bool, str]] = [
    ('drive 2 m', [done('mast_close'), done('drive_distance', distance_m=2.06)], {}, True,
     '2.1 m'),
    ('drive 2 m, then take a picture',
     [done('mast_close'), step_of('drive_distance', {}, ToolResult.failure('a rock'))], {}, False,
     'drive forward 2 m failed (a rock)'),
    ('if the mast is closed, drive 2 m', [''], {}, True, 'does not hold (the mast is closed)'),
    ('if the battery is above 50 % drive 2 m', [''], {'battery_pct': None}, False, 'find out'),
    ('go to the light and say "found it"', ['It is bright.', done('speak')], {}, True,
     'It is bright.'),
    ('go to the light and say "found it"', [], {}, True, 'Done'),
]  # fmt: skip


def test_the_answer_says_what_was_really_done_or_why_it_was_not() -> None:
    for order, ended, facts, ok, words in ENDS:
        end = told_of(order, *ended, **facts)
        assert (end.ok, words in end.text) == (ok, True), end
    for tool, turned_deg, metres, told in DRIVEN:
        result = {'turned_deg': turned_deg, 'distance_m': metres}
        assert done_text(tool, result, 'en') == told
    why = 'no free patch of ground: rocks or the rover cover what is near'
    dark = step_of('analyze_ground', {}, failed(f'{GROUND_UNKNOWN}: {why}'))
    steps = (done('capture_and_score', score=0.9, is_good=True), dark)
    made = decide(view_of(ENGLISH, *steps, tools=frozenset({*NINE, dark.tool})))
    assert isinstance(made, FinalAnswer), made
    told = f'The light is here, but the ground could not be analyzed: {why}.'
    assert (made.ok, made.text.startswith(told)) == (False, True), made


DRIVEN = [
    ('drive_distance', -0.2, 1.0, 'drove 1.0 m'),
    ('drive_distance', 3.0, 1.0, 'turned left 3 degrees, 1.0 m driven'),
    ('turn_angle', -90.0, 2.5, 'turned right 90 degrees, 2.5 m driven'),
    ('turn_angle', 0.0, None, 'turned right 0 degrees, 0.0 m driven'),
]


def test_a_motion_that_an_arm_forbids_is_preceded_by_stowing_it() -> None:
    for tries, stows in ((1, True), (4, False)):
        steps = [done('get_status', mast_is_open=False), step_of('move_forward', {}, NOT_STOWED)]
        steps += [step_of('arm_close', {}, ToolResult.failure('jammed'))] * (tries - 1)
        made = decision('drive forward', *steps, arm=True)
        assert (isinstance(made, ToolCall) and made.tool == 'arm_close') is stows
    place = {'rover_x': 1.0, 'rover_y': 2.0, 'yaw_rad': 0.0}
    out = done('get_status', **place, mast_is_open=False, moving=False, stow='arm_close')
    for text in ('drive forward', ENGLISH):
        looked = done('capture_and_score', score=0.0, is_good=False)
        seen = (looked, out) if text == ENGLISH else (out,)
        ways = [decision(text, *seen, *more, arm=True) for more in ((), (done('arm_close'),))]
        tools = [each.tool for each in ways if isinstance(each, ToolCall)]
        assert tools[0] == 'arm_close'
        assert tools[1] in MOTIONS
    photo = decision('take a picture', out, arm=True)
    assert isinstance(photo, ToolCall)
    assert photo.tool != 'arm_close'


# --- whole explorations: the real model drives a small simulated rover ------------------------

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
ROVERS = {
    'x': st.floats(-8.0, 8.0),
    'y': st.floats(-8.0, 8.0),
    'yaw': st.floats(-math.pi, math.pi),
    'mast_is_open': st.sampled_from([True, False, None]),
    'moving': st.booleans(),
    'speed': st.floats(0.2, 1.5),
    'late': st.booleans(),
    'glitches': st.dictionaries(st.integers(0, 20), st.sampled_from(FAULTS), max_size=2),
}


def rovers(**fixed: Any) -> st.SearchStrategy[Rover]:
    drawn = st.fixed_dictionaries({name: ROVERS[name] for name in ROVERS if name not in fixed})
    return drawn.map(lambda values: Rover(**values, **fixed))


def check_manners(rover: Rover) -> None:
    """What holds for every turn, however it ends."""
    steps = rover.steps
    assert len(steps) <= MAX_CALLS + MAX_ATTEMPTS
    refused = [step.reason == NEED_TO_CLOSE_MAST for step in steps]
    for i, step in enumerate(steps):
        if step.tool in MOTIONS:
            facts = view_of('', *steps[:i]).beliefs
            assert facts.mast is Mast.CLOSED, 'a motion although the mast may be open'
            assert not facts.must_stop, 'a motion before the stop'
            assert not (i and refused[i - 1] and refused[i])
        if i and steps[i - 1].tool in MOTIONS and not (steps[i - 1].ok or steps[i - 1].refused):
            assert step.tool == 'move_stop'


@settings(max_examples=examples(20))
@given(rover=rovers(has_mast=False, moving=False, glitches={}))
def test_a_rover_without_a_mast_looks_and_drives(rover: Rover) -> None:
    answer = run_turn(rover)
    assert rover.score >= 0.8, answer
    assert set(rover.names) <= {'capture_and_score', 'get_status', *MOTIONS}


@settings(max_examples=examples(20))
@given(rovers() | rovers(x_good=9.0, speed=0.5))
def test_from_any_state_through_two_faults_and_a_wrong_hint_it_reaches_a_good_capture(
    rover: Rover,
) -> None:
    answer = run_turn(rover)
    check_manners(rover)
    assert rover.names[-1] == 'capture_and_score'
    end = rover.steps[-1].result.data
    assert end['is_good'] is True
    assert f'{end["score"]:.2f}' in answer


@settings(max_examples=examples(10))
@given(st.floats(1.0, 4.5), st.floats(-math.pi, math.pi), st.floats(0.3, 0.7))
@example(x=2.2774628383354214, yaw=2.125, speed=0.3)  # each hop seemed as good as a way back
def test_without_a_hint_the_slope_of_the_score_leads_to_the_light(
    x: float, yaw: float, speed: float
) -> None:
    assume(abs(math.cos(yaw)) > 0.3)  # driving across the slope, a hop measures next to nothing
    rover = Rover(x=x, yaw=yaw, speed=speed)
    run_turn(rover, bright_x=None)
    check_manners(rover)
    assert rover.steps[-1].result.data.get('is_good') is True


@settings(max_examples=examples(10))
@given(rovers(), st.sampled_from([None, 5.0]), st.booleans())
def test_every_turn_ends_with_manners(
    rover: Rover, bright_x: float | None, tells_pose: bool
) -> None:
    rover.tells_pose = tells_pose
    run_turn(rover, bright_x=bright_x)
    check_manners(rover)


@pytest.mark.parametrize('text', [ENGLISH, 'turn left for 3 s'])
def test_the_agents_end_in_a_drive_is_not_a_broken_drive_unless_it_recurs(text: str) -> None:
    for restarts in (0, 1, MAX_INTERRUPTIONS, MAX_INTERRUPTIONS + 1):
        rover = Rover(x=-3.0, mast_is_open=False, restarts=restarts)
        answer = run_turn(rover, text)
        once = text.startswith('turn')  # an interrupted motion is not repeated
        assert ('does not work' in answer) is (restarts > (0 if once else MAX_INTERRUPTIONS))
        assert once or (rover.score >= 0.8) is (restarts <= MAX_INTERRUPTIONS)


def test_darkness_without_end_is_reported() -> None:
    rover = Rover(x_min=1000.0, x_good=1001.0)
    answer = run_turn(rover, ENGLISH)
    assert 'no good picture' in answer or 'there is none' in answer
    assert ' m driven' in answer
    check_manners(rover)


# --- the planner of the next look -------------------------------------------------------------

SEARCH = Motions(
    {name: COSTS[name] for name in MOTIONS},
    longest_s=LONGEST_S,
    speeds=PROFILE,
    rover=FIGURES,
)
ORIGIN = Place(0.0, 0.0, 0.0)
metres = st.floats(-15.0, 15.0)
poses = st.builds(Place, metres, metres, st.floats(-math.pi, math.pi))
samples = st.lists(st.tuples(poses, st.floats(0.0, 0.79)), max_size=6)


@settings(max_examples=examples(50))
@given(poses, st.none() | metres, samples, st.lists(poses, min_size=1, max_size=5))
def test_a_belief_is_a_probability(
    start: Place, hint: float | None, told: list[tuple[Place, float]], places: list[Place]
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
    refuted = LightBelief(ORIGIN, 5.0, [(Place(5.5, 0.0, 0.0), 0.0)])
    after = refuted.edges.outcomes(beyond, np.zeros(1)).good.sum()
    assert before > 0.6
    assert after < 0.2


@pytest.mark.parametrize(
    ('obstacle', 'refused'),
    [((1.2 * PROFILE.radius_m, 0.0), {}), (None, {'move_forward': 0.0})],
    ids=['an obstacle ahead', 'a refusal'],
)
def test_it_plans_around_what_is_in_the_way(
    obstacle: XY | None, refused: dict[str, float]
) -> None:
    bright_x = 2.0 * PROFILE.radius_m
    belief = LightBelief(ORIGIN, bright_x, [(ORIGIN, 0.0)])
    rocks = (obstacle,) if obstacle else ()
    way: Any = {'obstacles': rocks, 'first_at_most': refused, 'seen_here': True}
    look = next_look(ORIGIN, Mast.OPEN, belief, SEARCH, COSTS, **way)
    assert look is not None
    assert look.tool in ('turn_left', 'turn_right')
    assert look.x > bright_x - 0.2 * 10.0


@given(st.floats(4.5, 12.0), st.floats(-3.0, 3.0))
@settings(max_examples=examples(20))
def test_no_motion_ends_where_an_obstacle_leaves_no_way_on(ahead: float, beside: float) -> None:
    """Straight ahead and both arcs blocked: a rover that cannot reverse never leaves."""
    half = FIGURES.half_m
    for cost, reached in layers(ORIGIN, SEARCH, ((ahead, beside),), {}):
        if cost > 8.0:
            break
        for row in reached if cost else ():
            dx, dy = ahead - row[X], beside - row[Y]
            x = dx * math.cos(row[YAW]) + dy * math.sin(row[YAW])
            y = dy * math.cos(row[YAW]) - dx * math.sin(row[YAW])
            before_it = 0.0 < x < 4.0
            assert not (before_it and abs(y) < half / 2), (row, x, y)


# --- what it measures of its own motions --------------------------------------------------------

VIEW = view_of('explore', bright_x=None, costs={}, tools=frozenset(MOTIONS), longest_s=10.0)
START = Place(1.0, -2.0, 0.5)


@given(
    st.floats(0.05, 1.5), st.floats(1.0, 20.0), st.floats(0.0, 100.0),
    st.sampled_from([1.0, -1.0]), st.floats(0.02, 0.3), st.floats(1.0, 10.0),
)  # fmt: skip
def test_speeds_and_rate_are_those_between_the_poses_whatever_path_is_told(
    speed: float, seconds: float, told_m: float, side: float, rate: float, radius: float
) -> None:
    def measured(tool: str, seconds: float, metres: float, turned: float) -> MotionSpeeds:
        way = START.yaw_rad + turned / 2.0
        x, y = START.x + metres * math.cos(way), START.y + metres * math.sin(way)
        end = Place(x, y, math.remainder(START.yaw_rad + turned, math.tau))
        moved = MotionBelief(tool, seconds, START, end, told_m, 0)
        return motions_of(VIEW, Beliefs(FIGURES, pose=end, moves=[moved])).speeds

    metres = speed * seconds
    assume(abs(metres - 0.2) > 1e-6)
    straight = measured('move_forward', seconds, metres, 0.0).straight
    assert straight == pytest.approx(speed if metres > 0.2 else PROFILE.straight)
    chord = 2.0 * radius * math.sin(1.5 / 2.0)
    tool = 'turn_left' if side > 0.0 else 'turn_right'
    turn = measured(tool, 1.5 / rate, chord, 1.5 * side)
    assert (turn.turn, turn.arc) == pytest.approx((rate, radius * rate))
    # Of a rover that slips in a turn, the drive straight ahead is expected to slip as much.
    assert turn.straight == pytest.approx(PROFILE.straight * radius * rate / PROFILE.arc)


def test_a_motion_that_ended_early_counts_with_its_way() -> None:
    cut = ToolResult.failure('E', RefusalCode.OBSTACLE.value, duration_s=4.0, distance_m=3.0)
    never_begun, done = ToolResult.failure('E'), ToolResult.success(distance_m=1.0)
    order = {'duration_s': 10.0}
    steps = (step_of('move_forward', order, each) for each in (cut, never_begun, done))
    figures = view_of('explore', *steps).figures()
    assert (figures['moves'], figures['metres']) == (2, '4.0')
