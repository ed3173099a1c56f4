# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What binds everybody, who is asked, what a yes is good for; the fence and the way home."""

from __future__ import annotations

from collections.abc import Iterator
import dataclasses
from itertools import pairwise
import math
from pathlib import Path
from typing import Any

from curiosity_rosa_demo.agent.react.fence import (
    geofence_reason,
    metres_ahead,
    reach_of,
)
from curiosity_rosa_demo.agent.react.gate import call_refusal, order_verdict
from curiosity_rosa_demo.agent.react.guardrails import (
    Ask,
    CALL_RULES,
    drive_refusal,
    energy_home,
    first_refusal,
    Rule,
    RULES,
    what_to_ask,
)
from curiosity_rosa_demo.agent.react.situation import Limits, Proposal, Situation
from curiosity_rosa_demo.agent.skills.paths import NavigationGoal, plan_drive
from curiosity_rosa_demo.agent.tasks import LifecycleState, Task
from curiosity_rosa_demo.agent.tasks.origin import Approval, Order, task_origin, with_origin
from curiosity_rosa_demo.domain.brain_state import Spent
from curiosity_rosa_demo.domain.geometry import along
from curiosity_rosa_demo.domain.geometry import Place as RoverPlace
from curiosity_rosa_demo.domain.operation import Operation
from curiosity_rosa_demo.domain.origin import Origin
from curiosity_rosa_demo.domain.refusal import Refusal, RefusalCode
from curiosity_rosa_demo.infra.config.limits import Geofence, Origins
from curiosity_rosa_demo.infra.config_loader import ConfigError, load_config
from examples import examples
from guardrails_world import (
    all_limits,
    DRIVES,
    fences,
    FREE,
    MAST,
    OTHERS,
    proposals,
    propose,
    READY,
    SHIPPED,
    situations,
    STOPS,
    with_approval,
    with_fence,
)
from hypothesis import assume, example, given, HealthCheck, settings
from hypothesis import strategies as st
import pytest

some = settings(max_examples=examples(200), deadline=None)
FREE_TO_PASS = ('console', 'page', 'http', 'action')
FACTS = {'mode': 'EXEC', 'mast': 'closed', 'moving': False, 'x': 0.0, 'y': 0.0, 'yaw_rad': 0.0}
FORWARD = Operation('move_forward', {'duration_s': 2.0})

origins = st.sampled_from(Origin)
tables = st.builds(
    Origins,
    **{
        name: st.sampled_from(
            ['ask', 'refuse', 'pass'] if name in FREE_TO_PASS else ['ask', 'refuse']
        )
        for name in Origins.model_fields
    },
)
orders = st.builds(Order, origins)
open_situations = situations() | situations(**{**FREE, 'moving': False})
asking_skills = st.lists(st.sampled_from([*DRIVES, *MAST, *STOPS, *OTHERS]), max_size=6)


@st.composite
def bound_limits(draw: st.DrawFn) -> Limits:
    limits: Limits = draw(all_limits)
    approval = limits.approval.model_copy(update={'skills': draw(asking_skills)})
    return dataclasses.replace(limits, approval=approval, origins=draw(tables))


@some
@given(
    proposals(*DRIVES, *MAST, *OTHERS),
    open_situations,
    bound_limits(),
    orders,
    st.sampled_from([RULES, CALL_RULES]),
)
def test_the_rules_bind_every_origin_and_who_is_bound_never_slips_through(
    proposal: Proposal, situation: Situation, limits: Limits, order: Order, rules: tuple[Rule, ...]
) -> None:
    refused = first_refusal(rules, proposal, situation, limits)
    verdict = order_verdict(proposal, situation, limits, order, rules)
    binding = limits.origins.binding(order.origin)
    if refused is not None:
        assert verdict == refused
    elif isinstance(verdict, Refusal):
        assert binding == 'refuse'
        assert verdict.code in (RefusalCode.NOT_APPROVED, RefusalCode.GEOFENCE)
    elif isinstance(verdict, Ask):
        assert binding != 'refuse'
        assert verdict.reasons
    else:
        ask = what_to_ask(proposal, situation, limits)
        assert binding == 'pass' or not ask.reasons
        assert not ask.fence


@some
@given(proposals(*STOPS), situations(), bound_limits(), orders)
def test_a_stop_passes_from_everywhere(
    proposal: Proposal, situation: Situation, limits: Limits, order: Order
) -> None:
    assert order_verdict(proposal, situation, limits, order) is None


@some
@given(proposals('mast_close'), situations(), bound_limits(), orders)
def test_stowing_asks_nobody(
    proposal: Proposal, situation: Situation, limits: Limits, order: Order
) -> None:
    """Only the rules that keep the mast itself safe may refuse it, the same for every origin."""
    proposal = dataclasses.replace(proposal, skill_resources=frozenset({'mast'}))
    verdict = order_verdict(proposal, situation, limits, order, CALL_RULES)
    assert verdict == first_refusal(CALL_RULES, proposal, situation, limits)


@some
@given(
    st.sampled_from(['move_forward', 'turn_left', 'turn_right', 'mast_open', 'mast_rotate']),
    st.floats(0.1, 20.0),
    st.floats(-10.0, 10.0),
    bound_limits(),
    origins,
    st.sampled_from([None, 'patrol', 'navigate_to_pose']),
)
def test_a_call_without_a_yes_passes_only_where_none_is_needed(
    name: str, seconds: float, x: float, limits: Limits, origin: Origin, within: str | None
) -> None:
    """Also within a longer skill, and for a thread that has lost its order."""
    arguments = {} if name.startswith('mast') else {'duration_s': seconds}
    order = Order(origin, Operation(within, {}) if within else None)
    refused = call_refusal(name, arguments, {**FACTS, 'x': x}, Spent(), limits, order)
    if refused is None:
        proposal = dataclasses.replace(propose(name, **arguments), cost=0.0)
        situation = Situation(mode='EXEC', mast='closed', moving=False, x=x, y=0.0, yaw_rad=0.0)
        listed = name in limits.approval.skills
        assert not listed or limits.origins.binding(origin) == 'pass'
        assert not what_to_ask(proposal, situation, limits).fence


LISTED = with_approval(skills=['move_forward'])
FENCED = with_fence(LISTED, leaving='ask', x_max=3.0)


def test_a_yes_is_for_one_dispatch_of_one_call_for_the_reasons_that_were_told() -> None:
    for limits, leaves_fence, asked, first in (
        (LISTED, False, 2.0, None),  # one dispatch uses it up
        (LISTED, False, 3.0, RefusalCode.NOT_APPROVED),  # it is for this call alone
        (FENCED, False, 2.0, RefusalCode.NOT_APPROVED),  # the fence was not named
        (FENCED, True, 2.0, None),
    ):
        op = Operation('move_forward', {'duration_s': asked})
        order = Order(Origin.MODEL, op, Approval(FORWARD, leaves_fence))
        for code in (first, RefusalCode.NOT_APPROVED):
            told = call_refusal(op.skill, op.arguments, FACTS, Spent(), limits, order)
            assert (told and told.code) == code


RECOVERING = Task('mast_open', state=LifecycleState.RECOVERING)


@pytest.mark.parametrize(
    ('task', 'origin'),
    [
        (Task('react', metadata={'text': 'go'}), Origin.MODEL),
        (with_origin(Task('react', metadata={'text': 'go'}), Origin.CONSOLE), Origin.MODEL),
        (Task('react', metadata={'text': 'go', 'plan': {'steps': []}}), Origin.PLAN),
        (with_origin(Task('react', metadata={'plan': {}}), Origin.AUTONOMY), Origin.AUTONOMY),
        (with_origin(Task('move_forward'), Origin.CONSOLE), Origin.CONSOLE),
        (with_origin(Task('move_forward'), Origin.HTTP), Origin.HTTP),
        (with_origin(RECOVERING, Origin.HTTP), Origin.RECOVERY),
        (Task('move_forward'), Origin.RECOVERY),  # of an earlier version
        (Task('move_forward', metadata={'origin': 'me'}), Origin.RECOVERY),
        (with_origin(Task('charge'), Origin.HTTP), Origin.CHARGE),
    ],
)
def test_a_task_says_who_orders(task: Task, origin: Origin) -> None:
    assert task_origin(task) is origin


def test_the_table_lets_nobody_pass_whom_no_person_has_ordered(tmp_path: Path) -> None:
    rows = [(name, 'refuse', True) for name in Origins.model_fields]
    rows += [(name, 'pass', name in FREE_TO_PASS) for name in Origins.model_fields]
    for key, value, ok in (*rows, ('http', 'never', False)):
        (tmp_path / 'guardrails.yaml').write_text(f'origins: {{{key}: {value}}}')
        if ok:
            assert getattr(load_config(tmp_path).guardrails.origins, key) == value
        else:
            with pytest.raises(ConfigError, match=rf'guardrails.yaml: origins.{key}'):
                load_config(tmp_path)


many = settings(max_examples=examples(500), deadline=None)
MOTIONS = ('move_forward', 'turn_left', 'turn_right')
SAMPLES = 12
Place = tuple[float, float, float]
World = tuple[Limits, Situation]


def arc(place: Place, speed: float, rate: float, seconds: float) -> Iterator[Place]:
    """The way of a unicycle, exact at every sample."""
    for sample in range(1, SAMPLES + 1):
        time = seconds * sample / SAMPLES
        yield along(*place, speed * time, rate * time)


@st.composite
def drives(
    draw: st.DrawFn, place: Place, seconds: float, fastest: float, turns: bool
) -> list[Place]:
    """Any way that takes ``seconds``, no faster than ``fastest``, in two pieces."""
    way, first = [place], draw(st.floats(0.0, 1.0))
    for part in (first, 1.0 - first):
        rate = draw(st.sampled_from([0.0, -0.4, 0.4]) | st.floats(-3.0, 3.0)) if turns else 0.0
        speed = fastest * draw(st.just(1.0) | st.floats(0.0, 1.0))
        way += arc(way[-1], speed, rate, seconds * part)
    return way


def assert_inside(fence: Geofence, way: list[Place]) -> None:
    """The margin is kept, too."""
    for x, y, _ in way:
        assert fence.x_min + fence.margin_m - 1e-6 <= x <= fence.x_max - fence.margin_m + 1e-6
        assert fence.y_min + fence.margin_m - 1e-6 <= y <= fence.y_max - fence.margin_m + 1e-6


@st.composite
def worlds(draw: st.DrawFn) -> tuple[Limits, Situation]:
    """Limits and a rover in the middle of nowhere; the fence is put around it later."""
    limits = dataclasses.replace(
        SHIPPED, geofence=draw(fences(enabled=True)), reaction_s=draw(st.floats(0.0, 5.0))
    )
    where = st.floats(-100.0, 100.0)
    yaw = draw(st.floats(-7.0, 7.0))
    return limits, dataclasses.replace(READY, x=draw(where), y=draw(where), yaw_rad=yaw)


def box_around(points: list[tuple[float, float]], margin: float) -> dict[str, float]:
    xs, ys = zip(*points, strict=True)
    ends = (min(xs) - margin, max(xs) + margin, min(ys) - margin, max(ys) + margin)
    return dict(zip(('x_min', 'x_max', 'y_min', 'y_max'), ends, strict=True))


def fence_around(proposal: Proposal, situation: Situation, limits: Limits) -> Limits:
    """``limits`` with the smallest fence that holds where the motion may lead."""
    reach = reach_of(proposal, situation, limits)
    assert reach is not None
    grown = reach.radius + limits.geofence.margin_m + 1e-9  # for rounding
    around: Limits = with_fence(limits, **box_around(list(reach.points), grown))
    assert not geofence_reason(proposal, situation, around)
    return around


def place_of(situation: Situation) -> Place:
    assert situation.x is not None
    assert situation.y is not None
    assert situation.yaw_rad is not None
    return situation.x, situation.y, situation.yaw_rad


@many
@given(worlds(), st.sampled_from(MOTIONS), st.floats(0.01, 20.0), st.booleans(), st.data())
def test_a_motion_that_passes_never_leads_outside(
    world: World, name: str, duration_s: float, still: bool, data: st.DataObject
) -> None:
    limits, situation = world
    situation = dataclasses.replace(situation, moving=False if still else None)
    proposal = propose(name, duration_s=duration_s)
    limits = fence_around(proposal, situation, limits)
    fastest, way = limits.geofence.max_speed_mps, [place_of(situation)]
    if not still:  # it ends what it does, however that turns
        way = data.draw(drives(way[-1], limits.reaction_s, fastest, True))
    seconds = duration_s + limits.reaction_s
    way += data.draw(drives(way[-1], seconds, fastest, name != 'move_forward'))
    assert_inside(limits.geofence, way)


@some
@given(
    worlds(),
    st.tuples(st.floats(-30.0, 30.0), st.floats(-30.0, 30.0)),
    st.sampled_from([-1, 1]),
    st.floats(0.1, 1.0),
    st.floats(0.0, math.tau),
)
def test_a_navigation_of_unknown_path_arcs_towards_its_goal_and_never_leads_outside(
    world: World, offset: tuple[float, float], side: int, part: float, end_turn: float
) -> None:
    limits, situation = world
    limits = dataclasses.replace(limits, max_detour=None)  # by Nav2
    place = place_of(situation)
    goal = place[0] + offset[0], place[1] + offset[1]
    proposal = propose('navigate_to_pose', x=goal[0], y=goal[1])
    limits = fence_around(proposal, situation, limits)
    radius = limits.turn_radius_m * part
    across = place[2] + side * math.pi / 2
    centre = place[0] + radius * math.cos(across), place[1] + radius * math.sin(across)
    distance = math.dist(centre, goal)
    assume(distance > radius * 1.001)  # no tangent leads to a goal inside the turning circle
    to_goal = math.atan2(goal[1] - centre[1], goal[0] - centre[0])
    heading = to_goal + side * math.asin(radius / distance)
    turn = side * (heading - place[2]) % math.tau
    way = [place, *arc(place, radius, side, turn)]
    way += arc(way[-1], math.dist(way[-1][:2], goal), 0.0, 1.0)
    assert math.dist(way[-1][:2], goal) < 1e-3
    way += arc(way[-1], radius, side, end_turn)
    way += arc(way[-1], limits.geofence.max_speed_mps, 0.0, limits.reaction_s)
    assert_inside(limits.geofence, way)


OFFSETS = st.tuples(st.floats(-40.0, 40.0), st.floats(-40.0, 40.0))
HEADINGS = st.none() | st.floats(-4.0, 4.0)


def navigation(situation: Situation, offset: tuple[float, float], yaw: float | None) -> Proposal:
    x, y, _ = place_of(situation)
    heading = {} if yaw is None else {'yaw_rad': yaw}
    return propose('navigate_to_pose', x=x + offset[0], y=y + offset[1], **heading)


def driven_plan(proposal: Proposal, situation: Situation, limits: Limits) -> list[Place]:
    """The way that the skill itself plans from a standstill."""
    assert limits.max_detour is not None
    goal = NavigationGoal(*(proposal.op.arguments.get(key) for key in ('x', 'y', 'yaw_rad')))
    start, radius = RoverPlace(*place_of(situation)), limits.turn_radius_m
    way = [place_of(situation)]
    if goal.is_reached(start):
        return way
    plan = plan_drive(start, goal, radius, longest_m=limits.max_detour * goal.distance(start))
    for letter, amount in plan.segments:
        rate = {'S': 0.0, 'L': 1.0, 'R': -1.0}[letter]
        way += arc(way[-1], radius if rate else 1.0, rate, amount)
    return way


# Three arcs, whose middle one leads far away from both ends.
LOOP = (
    dataclasses.replace(
        SHIPPED, geofence=SHIPPED.geofence.model_copy(update={'margin_m': 0.0}), reaction_s=0.0
    ),
    dataclasses.replace(READY, yaw_rad=0.29),
)


@some
@given(worlds(), OFFSETS, HEADINGS, st.floats(0.1, 20.0), st.booleans())
@example(LOOP, (0.75, -11.13), -1.63, 7.4, False)
@example(LOOP, (0.0, 0.0), 3.4, 1.0, False)  # about face on the spot: more than one circle
def test_a_navigation_that_passes_keeps_its_planned_way_inside(
    world: World, offset: tuple[float, float], yaw: float | None, radius: float, still: bool
) -> None:
    limits, situation = world
    limits = dataclasses.replace(limits, turn_radius_m=radius)
    situation = dataclasses.replace(situation, moving=False if still else None)
    proposal = navigation(situation, offset, yaw)
    limits = fence_around(proposal, situation, limits)
    assert not geofence_reason(proposal, situation, limits)
    ahead = metres_ahead(proposal, situation, limits)
    assert ahead is not None
    way = driven_plan(proposal, situation, limits)
    metres = sum(math.dist(a[:2], b[:2]) for a, b in pairwise(way))
    if ahead > limits.geofence.max_speed_mps * limits.reaction_s:  # it drives
        assert metres <= ahead
        way += arc(way[-1], limits.geofence.max_speed_mps, 0.0, limits.reaction_s)
        assert_inside(limits.geofence, way)


@some
@given(worlds(), OFFSETS, HEADINGS, st.floats(1.0, 20.0))
def test_a_navigation_is_refused_only_where_its_way_or_a_stop_on_it_leads_outside(
    world: World, offset: tuple[float, float], yaw: float | None, radius: float
) -> None:
    limits, situation = world
    limits = dataclasses.replace(limits, turn_radius_m=radius)
    proposal = navigation(situation, offset, yaw)
    way = driven_plan(proposal, situation, limits)
    goal = (proposal.op.arguments['x'], proposal.op.arguments['y'])
    margin = limits.geofence.margin_m + limits.geofence.max_speed_mps * limits.reaction_s
    margin += 0.05 * radius  # between two points of the way
    box = box_around([*(place[:2] for place in way), goal], margin)
    assert not geofence_reason(proposal, situation, with_fence(limits, **box))


@some
@given(worlds(), st.sampled_from(MOTIONS), st.floats(0.01, 20.0))
def test_a_fence_that_is_passed_by_a_millimetre_refuses(
    world: World, name: str, duration_s: float
) -> None:
    limits, situation = world
    proposal = propose(name, duration_s=duration_s)
    limits = fence_around(proposal, situation, limits)
    assume(situation.x is not None and limits.geofence.x_max - situation.x > 0.01)
    fence = limits.geofence
    assume(fence.x_max - fence.x_min > 2 * fence.margin_m + 0.01)
    why = geofence_reason(proposal, situation, with_fence(limits, x_max=fence.x_max - 1e-3))
    assert why.startswith('GEOFENCE: ')
    assert 'beyond x_max' in why


@some
@given(
    fences(enabled=True),
    st.sampled_from([*MOTIONS, 'navigate_to_pose']),
    st.floats(0.001, 100.0),
    st.sampled_from([(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)]),
)
def test_no_motion_passes_for_a_rover_that_is_outside(
    fence: Geofence, name: str, excess: float, side: tuple[float, float]
) -> None:
    """Not even one that leads back."""
    middle = (fence.x_min + fence.x_max) / 2, (fence.y_min + fence.y_max) / 2
    half = (fence.x_max - fence.x_min) / 2, (fence.y_max - fence.y_min) / 2
    x, y = (middle[axis] + side[axis] * (half[axis] - fence.margin_m + excess) for axis in (0, 1))
    inwards = math.atan2(-side[1], -side[0])
    situation = dataclasses.replace(READY, x=x, y=y, yaw_rad=inwards)
    proposal = propose(name, duration_s=0.1, x=middle[0], y=middle[1])
    limits = dataclasses.replace(SHIPPED, geofence=fence)
    assert 'a person must drive it back' in geofence_reason(proposal, situation, limits)


INSIDE = {'duration_s': 2.0, 'x': 1.0, 'y': 0.0}
AT_THE_FENCE = {'x': 98.5, 'yaw_rad': 0.0}
WAY, AHEAD, LEFT = 'navigate_to_pose', 'move_forward', 'turn_left'
BEYOND = (
    'GEOFENCE: may lead to x 112, beyond x_max 100 and its margin 1; '
    'drive for less time or another way'
)
UNKNOWN = 'GEOFENCE: the pose or the goal is unknown'


@pytest.mark.parametrize(
    ('name', 'arguments', 'facts', 'limits', 'why'),
    [
        (AHEAD, {}, {}, SHIPPED, ''),
        (WAY, {}, {}, SHIPPED, ''),
        *((name, {}, {axis: None}, SHIPPED, UNKNOWN) for name in (*MOTIONS, WAY) for axis in 'xy'),
        (LEFT, {}, {'x': None}, with_fence(enabled=False), ''),
        (AHEAD, {}, {}, with_fence(x_min=-5.0), ''),
        (AHEAD, {}, {'yaw_rad': None}, with_fence(x_min=-5.0), 'GEOFENCE: may lead to x -5.5'),
        (AHEAD, {'duration_s': 10.0}, {**AT_THE_FENCE, 'yaw_rad': math.pi}, SHIPPED, ''),
        (AHEAD, {'duration_s': 10.0}, AT_THE_FENCE, SHIPPED, BEYOND),
        *((WAY, {'y': odd}, {}, SHIPPED, UNKNOWN) for odd in (None, 'far', math.nan)),
        ('mast_open', {}, {}, with_fence(x_max=3.0), ''),
    ],
)
def test_what_is_unknown_is_outside_and_what_leads_away_is_not(
    name: str, arguments: dict[str, Any], facts: dict[str, Any], limits: Limits, why: str
) -> None:
    proposal = propose(name, **{**INSIDE, **arguments})
    told = geofence_reason(proposal, dataclasses.replace(READY, **facts), limits)
    assert told.startswith(why)
    assert bool(told) is bool(why)


coordinates = st.floats(-80.0, 80.0)
parts = st.floats(0.0, 1.0)
STANDING = situations(**FREE, moving=False)
DRIVING = situations(**FREE, moving=True) | situations(**FREE, moving=None)


# of the situations far from home most are refused
@settings(
    max_examples=examples(300), deadline=None, suppress_health_check=[HealthCheck.filter_too_much]
)
@given(
    st.sampled_from(['move_forward', 'turn_left', 'turn_right', 'navigate_to_pose']),
    st.fixed_dictionaries(
        {'duration_s': st.floats(0.1, 20.0), 'x': coordinates, 'y': coordinates}
    ),
    STANDING | DRIVING,
    all_limits,
    st.tuples(parts, parts, st.floats(0.0, math.tau)),
)
def test_what_passes_leaves_the_charge_for_the_way_home_or_leads_home(
    name: str,
    arguments: dict[str, float],
    situation: Situation,
    limits: Limits,
    way: tuple[float, float, float],
) -> None:
    """Wherever in its reach the motion ends, by a path as long as it may be."""
    limits = dataclasses.replace(limits, energy=limits.energy.model_copy(update={'enabled': True}))
    proposal, charge = propose(name, **arguments), situation.battery
    assume(charge is not None and energy_home(proposal, situation, limits) is None)
    reach, metres = (rule(proposal, situation, limits) for rule in (reach_of, metres_ahead))
    assert charge is not None
    assert reach is not None
    assert metres is not None
    home = (limits.energy.home_x, limits.energy.home_y)
    (x, y), (end_x, end_y) = reach.points[0], reach.points[-1]
    along, aside, direction = way
    end = (
        x + along * (end_x - x) + aside * reach.radius * math.cos(direction),
        y + along * (end_y - y) + aside * reach.radius * math.sin(direction),
    )
    least = limits.battery_low + limits.energy.reserve
    left = charge - limits.energy.charge_per_m * (metres + math.dist(end, home))
    if left >= least - 1e-9:
        return
    assert situation.moving is False
    if name.startswith('turn'):
        bearing = math.atan2(home[1] - y, home[0] - x) - (situation.yaw_rad or 0.0)
        side = math.sin(bearing) * (1.0 if name == 'turn_left' else -1.0)
        assert side > 0.0 or math.cos(bearing) < 0.0
    else:
        on_line = (x + along * (end_x - x), y + along * (end_y - y))
        assert math.dist(on_line, home) <= math.dist((x, y), home) + 1e-9


@settings(max_examples=examples(50), deadline=None)
@given(coordinates, coordinates, st.floats(-4.0, 4.0))
def test_a_rover_with_too_little_charge_still_comes_home(x: float, y: float, yaw: float) -> None:
    """By legs of one second, a turn of 0.4 rad or a metre, with a charge that never suffices."""
    home = propose('navigate_to_pose', x=0.0, y=0.0)
    assume(math.hypot(x, y) > 3.0)
    start = dataclasses.replace(READY, x=x, y=y, yaw_rad=yaw, battery=0.21)
    assert first_refusal(RULES, home, start, SHIPPED) is None
    for _ in range(300):
        if math.hypot(x, y) < 3.0:
            return
        facts = {'mode': 'EXEC', 'mast': 'closed', 'moving': False, 'battery_pct': 21.0}
        facts |= {'x': x, 'y': y, 'yaw_rad': yaw}
        bearing = math.remainder(math.atan2(-y, -x) - yaw, math.tau)
        name = 'move_forward'
        if abs(bearing) > 0.4:
            name = 'turn_left' if bearing > 0.0 else 'turn_right'
        assert drive_refusal(name, 1.0, facts, Spent(), SHIPPED) is None
        if name != 'move_forward':
            yaw += math.copysign(0.4, bearing)
        x, y = x + math.cos(yaw), y + math.sin(yaw)
    pytest.fail(f'not at home but at {x}, {y}')
