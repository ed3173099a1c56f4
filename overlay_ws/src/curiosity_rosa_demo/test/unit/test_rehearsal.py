# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The twin: its forecasts against a rover that drives, the gate, detours, what came of them."""

from __future__ import annotations

import dataclasses
from itertools import pairwise, takewhile
import math
from typing import Any

from chat_server import call, Say
from curiosity_rosa_demo.agent.language.understand import understand
from curiosity_rosa_demo.agent.react.ask import ApprovalAnswer
from curiosity_rosa_demo.agent.react.fence import fence_margin_m, geofence_refusal
from curiosity_rosa_demo.agent.react.forecast import Call, rehearse, Stage, Surroundings
from curiosity_rosa_demo.agent.react.rehearse import compared, comparison_text
from curiosity_rosa_demo.agent.rule_model.beliefs import RoverFigures
from curiosity_rosa_demo.agent.rule_model.decision import TurnView
from curiosity_rosa_demo.agent.rule_model.explore import detour_cost
from curiosity_rosa_demo.domain.brain_state import ApprovalAction, Json
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.geometry import MotionSpeeds, Place
from curiosity_rosa_demo.domain.operation import Operation
from curiosity_rosa_demo.domain.origin import Origin
from curiosity_rosa_demo.domain.plan import Plan
from curiosity_rosa_demo.domain.rehearsal import Rehearsal
from curiosity_rosa_demo.infra.obstacles import RoverShape
from examples import examples
from guardrails_world import (
    CONFIG,
    DRIVES,
    fences,
    FREE,
    proposals,
    SHIPPED,
    situations,
)
from hypothesis import example, given, settings
from hypothesis import strategies as st
import pytest
from tool_rover import SimulatedRover, START_LATE_S, with_figures
from turn_world import (
    Answering,
    BY_ROUTINE,
    REGISTRY,
    SimulatedRoverWorld,
    with_rules,
    World,
)

some = settings(max_examples=examples(60), deadline=None)
many = settings(max_examples=examples(300), deadline=None)
MOTIONS = ('move_forward', 'turn_left', 'turn_right')
SPEEDS = CONFIG.thresholds.speeds
HERE: dict[str, Any] = {'x': 0.0, 'y': 0.0, 'yaw_rad': 0.0, 'moving': False, 'battery_pct': 80.0}
DRIVE = Operation('move_forward', {'duration_s': 10.0})
NOTHING_SEEN = Surroundings(SPEEDS)
YES = ApprovalAnswer(ApprovalAction.APPROVE)


def stage(surroundings: Surroundings = NOTHING_SEEN, **changes: Any) -> Stage:
    made = Stage(CONFIG, REGISTRY, surroundings, Origin.PLAN, 'en')
    return dataclasses.replace(made, **changes)


def forecast(*ops: Operation, facts: dict[str, Any] = HERE, at: Stage | None = None) -> Rehearsal:
    found = rehearse([Call(op, n) for n, op in enumerate(ops, 1)], facts, at or stage())
    assert found is not None
    assert Rehearsal.model_validate_json(found.model_dump_json()) == found
    return found


@given(
    drives=st.lists(
        st.tuples(st.sampled_from(MOTIONS), st.floats(1.0, 8.0)), min_size=1, max_size=4
    ),
    speed=st.floats(0.2, 1.0),
    turn_speed=st.floats(0.2, 0.8),
    radius=st.floats(1.5, 4.0),
)
@some
@example(drives=[('turn_left', 5.1796875)], speed=0.5, turn_speed=0.5, radius=1.5)
def test_the_rover_drives_where_the_twin_has_been(
    drives: list[tuple[str, float]], speed: float, turn_speed: float, radius: float
) -> None:
    body = {'forward_mps': speed, 'turn_mps': turn_speed, 'turn_radius_m': radius}
    rover = SimulatedRover(figures=with_figures(CONFIG.thresholds, **body))
    world = SimulatedRoverWorld(rover, CONFIG)
    known = Surroundings(MotionSpeeds(speed, turn_speed, turn_speed / radius))
    ops = [Operation(name, {'duration_s': seconds}) for name, seconds in drives]
    expected = forecast(*ops, facts=world.facts(), at=stage(known))
    metres = 0.0
    for op in ops:
        result = world.tool(op.skill, Cancellation(), **op.arguments)
        assert result.ok, result
        metres += result.data['distance_m']
    end, fastest = expected.end, max(speed, turn_speed)
    assert end is not None
    late_m = START_LATE_S * fastest * len(ops)  # so late at most, and a stop somewhat less
    # Odometry measures the chords of an arc.
    assert abs(metres - expected.metres) <= late_m + 1e-3 * expected.metres
    swung_m = START_LATE_S * turn_speed / radius * len(ops) * expected.metres
    there = rover.state.pose
    assert math.dist((there.x, there.y), (end.x, end.y)) <= late_m + swung_m + 0.05
    learnt = world.surroundings().speeds  # and what it drove is known for the next time
    if {name for name, _ in drives} == {'move_forward'}:
        late_part = START_LATE_S / min(seconds for _, seconds in drives)
        assert learnt.straight == pytest.approx(speed, abs=late_part * speed + 0.02)


@given(proposals(*DRIVES), situations(**FREE), fences(enabled=True))
@many
def test_the_margin_is_below_zero_where_the_fence_refuses_and_only_there(
    proposal: Any, situation: Any, fence: Any
) -> None:
    limits = dataclasses.replace(SHIPPED, geofence=fence)
    margin = fence_margin_m(proposal, situation, limits)
    refused = geofence_refusal(proposal, situation, limits)
    assert (refused is not None) == (margin is None or margin < 0.0)


def test_figures_of_a_drive_and_what_is_not_forecast_of_another() -> None:
    seen = Surroundings(SPEEDS, obstacles=((12.0, 0.0),))
    found = forecast(DRIVE, Operation('mast_open', {}), at=stage(seen))
    way_m = 10.0 * SPEEDS.straight
    assert (found.metres, found.seconds) == pytest.approx((way_m, 11.0))
    assert found.end == Place(way_m, 0.0, 0.0)
    assert (found.energy_pct, found.battery_left_pct) == pytest.approx((0.5, 79.5))
    front_m = RoverShape.of(CONFIG.thresholds).front_m
    assert found.obstacle_margin_m == pytest.approx(12.0 - way_m - front_m)
    assert found.fence_margin_m == pytest.approx(99.0 - 10.0 - SHIPPED.reaction_s)
    assert found.path[0] == (0.0, 0.0)
    assert found.path[-1] == pytest.approx((way_m, 0.0), abs=1e-3)
    for facts, surroundings, why in (  # it says so instead of guessing
        ({**HERE, 'yaw_rad': None}, Surroundings(SPEEDS), 'pose_unknown'),
        (HERE, Surroundings(SPEEDS, stale=True), 'stale'),
        ({**HERE, 'moving': True}, Surroundings(SPEEDS), 'moving'),
    ):
        unknown = [
            forecast(DRIVE, facts=facts, at=stage(surroundings, language=language))
            for language in ('en', 'ja', 'zh')
        ]
        assert [(each.why_not, each.path, each.end) for each in unknown] == [(why, [], None)] * 3
        assert len({each.text for each in unknown}) == 3
    goal = Operation('react', {'text': 'go to the light'})  # it leads anywhere
    places = [Operation('navigate_to_pose', {'x': 0.0, 'y': each}) for each in (1e154, 1e155)]
    amounts = [('drive_distance', 'distance_m'), ('turn_angle', 'angle_deg')]
    huge = [Operation(skill, {name: 1.7e308}) for skill, name in amounts]  # no skill takes it
    for each in (goal, *places, *huge):
        found = forecast(DRIVE, each, DRIVE)
        assert ([step.step_id for step in found.steps], found.unknown_from) == ([1], each.text)
    ticks = iter([0.0, 0.1, 0.6])
    assert len(forecast(DRIVE, DRIVE, at=stage(clock=lambda: next(ticks))).steps) == 1
    assert rehearse([Call(Operation('mast_open', {}))], HERE, stage()) is None
    off = with_rules(rehearsal={'enabled': False})
    assert rehearse([Call(DRIVE)], HERE, stage(config=off)) is None
    near = {**HERE, 'x': 95.0}
    assert forecast(DRIVE, facts=near).steps[0].verdict == 'refuse'
    instead = rehearse([Call(DRIVE, 1, Operation('mast_close', {}))], near, stage())
    assert instead is not None
    assert instead.at_the_fence is None
    untaken = rehearse([Call(huge[0], 1, DRIVE), Call(DRIVE, 2)], {**HERE, 'x': 82.0}, stage())
    assert untaken is not None
    assert untaken.at_the_fence is untaken.steps[1]
    turn = forecast(Operation('turn_angle', {'angle_deg': 5.0}))
    assert turn.metres == pytest.approx(math.radians(5.0) * SPEEDS.radius_m)


GAPS: list[tuple[Place, float | None, list[str]]] = [
    (Place(4.8, 0.1, 0.05), 4.9, []),
    (Place(3.5, 0.0, 0.0), 3.5, ['distance', 'place']),  # 30 % slip
    (Place(5.0, 0.0, 0.7), None, ['heading']),
]


def test_a_gap_over_its_limit_is_told() -> None:
    limits = CONFIG.guardrails.rehearsal
    for real, driven_m, exceeded in GAPS:
        done = compared(forecast(DRIVE), real, limits, driven_m=driven_m, step_id=1)
        assert done is not None
        assert done.real is not None
        assert done.real.exceeded == exceeded
        for language, word in (('en', 'rehearsed'), ('ja', 'リハーサル'), ('zh', '预演')):
            assert word in comparison_text(done.real, language)


def fenced(queue: Answering | None = None, **fence: Any) -> World:
    config = with_rules(geofence={'x_max': 10.0, **fence})
    return World(Say('Done.'), config=config, approval_queue=queue)


def plan_of(*seconds: float) -> Json:
    steps = [
        {'step_id': n, 'action': 'move_forward', 'parameters': {'duration_s': each}}
        for n, each in enumerate(seconds, 1)
    ]
    return Plan.from_dict({'plan_id': 'p', 'goal': 'Drive', 'steps': steps}).to_dict()


def test_a_plan_that_would_leave_the_fence_moves_nothing() -> None:
    with fenced() as world:
        last = world.turn(plan=plan_of(2.0, 6.0))  # the gate would let the first step pass
        assert not last.ok
        assert 'GEOFENCE' in last.answer
        assert 'step 2' in last.answer
        assert world.calls == []
        told = [event for event in world.events if event.tool_name == 'rehearsal']
        assert [event.kind.value for event in told] == ['HYPOTHESIZE']
        assert 'beyond the fence' in told[0].message
        react = world.reacts[-1]
        assert react.rehearsal is not None
        assert react.rehearsal.end == Place(8.0 * SPEEDS.straight, 0.0, 0.0)
        assert (react.plan or {})['status'] == 'cancelled'


def test_where_leaving_asks_the_plan_is_asked_as_a_whole_and_the_gate_asks_again() -> None:
    queue, calls = Answering(YES, YES), list[list[str]]()
    with fenced(queue, leaving='ask') as world:
        answer = queue.answer
        queue.answer = lambda *given: calls.append(world.calls) or answer(*given)  # type: ignore
        assert world.turn(plan=plan_of(2.0, 6.0)).ok
        done = world.reacts[-1].rehearsal
    assert calls == [[], ['move_forward', 'move_stop']]
    whole, step = (each.rehearsal for each in queue.asked)
    assert whole is not None
    assert whole.end == Place(8.0 * SPEEDS.straight, 0.0, 0.0)
    assert step is not None
    learnt_m = 6.0 * SPEEDS.straight  # from the 2 s of the first step, with its late start
    assert step.metres == pytest.approx(learnt_m, rel=START_LATE_S / 2.0)
    assert any(reason.startswith('GEOFENCE') for reason in queue.asked[1].reasons)
    assert done is not None
    assert done.real is not None
    assert done.real.exceeded == []
    assert 'As rehearsed' in done.text


EXPLORE = 'Analyze the ground texture'
BRIGHT_X = 5.0
PRICES = CONFIG.tool_costs.tools
FORWARD, AWAY, TO_THE_LIGHT = 'move_forward', math.pi, 0.0


WAYS: list[tuple[str, float, dict[str, Any], bool]] = [
    (FORWARD, TO_THE_LIGHT, {'duration_s': 20.0}, False),
    (FORWARD, AWAY, {'duration_s': 20.0}, True),
    (FORWARD, AWAY, {'duration_s': 2.0}, False),
    ('turn_left', AWAY, {'duration_s': 20.0}, False),
    ('drive_distance', AWAY, {'distance_m': 30.0}, True),
    ('navigate_to_pose', TO_THE_LIGHT, {'x': 6.0, 'y': 0.0}, False),
    ('navigate_to_pose', TO_THE_LIGHT, {'x': -60.0, 'y': 0.0}, True),
    ('navigate_to_pose', TO_THE_LIGHT, {'x': 60.0, 'y': 0.0}, True),  # far behind its border
    ('mast_open', AWAY, {}, False),
    (FORWARD, AWAY, {'duration_s': 'long'}, False),
]


def test_a_long_way_from_the_light_is_a_detour() -> None:
    figures, tools, limit = (
        RoverFigures.of(CONFIG),
        frozenset(PRICES),
        CONFIG.guardrails.patience.detour_cost,
    )
    view = TurnView(figures, understand(EXPLORE), (), tools, PRICES, BRIGHT_X, longest_s=20.0)
    for tool, yaw, arguments, is_detour in WAYS:
        cost = detour_cost(view, tool, arguments, Place(0.0, 0.0, yaw))
        assert (cost > limit) is is_detour, (tool, yaw, arguments)


DETOURS = "The planner expects the model's detours to cost"
WASTED: list[tuple[str, dict[str, Any], str]] = [
    ('navigate_to_pose', {'x': -60.0, 'y': 0.0}, DETOURS),
    ('mast_open', {}, 'mast_open() has just succeeded'),
]


@pytest.mark.parametrize(('tool', 'arguments', 'why'), WASTED)
def test_a_waste_is_not_carried_out_and_the_routine_takes_the_step(
    tool: str, arguments: dict[str, Any], why: str
) -> None:
    with World(call('mast_close'), call(tool, **arguments)) as world:
        world.turn(EXPLORE)
        told = [e.error_reason for e in world.events if e.message.startswith(BY_ROUTINE)]
        assert told[0] is not None
        assert told[0].startswith(why)
        acts = [e.tool_name for e in world.events if e.kind == 'ACT']
        assert 'navigate_to_pose' not in acts
        assert (tool, tool) not in pairwise(acts)


def test_small_detours_add_up() -> None:
    turns = [call(f'turn_{side}', duration_s=9.0) for side in ('left', 'right')] * 9
    with World(call('mast_close'), *turns) as world:
        world.turn(EXPLORE)
        told = [e.error_reason for e in world.events if e.message.startswith(BY_ROUTINE)]
        assert told[0] is not None
        assert told[0].startswith(DETOURS)
        by_model = takewhile(lambda e: e.error_reason != told[0], world.events)
        turned = [e for e in by_model if e.kind == 'ACT' and str(e.tool_name).startswith('turn_')]
        assert 1 < len(turned) < len(turns)
