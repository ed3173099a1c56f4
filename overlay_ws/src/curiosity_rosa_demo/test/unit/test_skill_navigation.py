# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""Trips: by arcs to a pose, by a distance or an angle, and by Nav2."""

from __future__ import annotations

from collections.abc import Callable
import math
import random
import sys
from types import SimpleNamespace
from typing import Any

from curiosity_rosa_demo.agent.skills import drive
from curiosity_rosa_demo.agent.skills import nav2 as nav2_skill
from curiosity_rosa_demo.agent.skills.executor import GRACE_S
from curiosity_rosa_demo.agent.skills.nav2 import make_navigate_skill
from curiosity_rosa_demo.agent.skills.paths import (
    dubins_plans,
    NavigationGoal,
    plan_drive,
    plans_to_place,
    TOLERANCE_M,
    TOLERANCE_RAD,
)
from curiosity_rosa_demo.agent.skills.registry import make_registry
from curiosity_rosa_demo.agent.skills.skill import progress_text
from curiosity_rosa_demo.domain.cancellation import Cancellation, TurnCancelled
from curiosity_rosa_demo.domain.geometry import Place
from curiosity_rosa_demo.domain.models import (
    AGENT_IS_GONE,
    NEED_TO_CLOSE_MAST,
    RoverPose,
    ToolResult,
)
from curiosity_rosa_demo.domain.refusal import Refusal
from curiosity_rosa_demo.infra.config_loader import ConfigError
from curiosity_stand_in.drivers import DemoRover
from curiosity_stand_in.kinematics import Pose
from examples import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
from missions.rover_twin import OwnedClock
import pytest
from rclpy.task import Future
from skill_world import call_of, SHIPPED, StillWorld
from tool_rover import ended_early, failed, Hurry, MAST_OUT, OUTSIDE, STOP_LATE_S, with_figures

angles = st.floats(-math.pi, math.pi)
metres = st.floats(-8.0, 8.0)
places = st.builds(Place, metres, metres, angles)
trips = st.tuples(metres, metres, st.none() | angles)
goals = trips.map(lambda trip: NavigationGoal(*trip))
TripGoal = tuple[float, float, float | None]
DETOUR = SHIPPED.agent.navigation.max_detour
RADIUS_M = SHIPPED.thresholds.obstacles.turn_radius_m
LEASH_S = SHIPPED.thresholds.motion.max_duration_s
PROFILE = SHIPPED.thresholds.speeds
LETTER = {name: letter for letter, name in drive.MOTION_OF.items()}
Trip = Callable[..., ToolResult]
Goal = tuple[float, ...]


class ArcWorld(StillWorld):
    """DemoRover's body with figures of its own. ``noise``: each leg's speed and radius are off by
    up to this part. ``coast_s``: each leg's stop comes so late.
    """

    def __init__(
        self,
        *,
        forward_mps: float = PROFILE.straight,
        arc_mps: float = PROFILE.arc,
        radius_m: float = PROFILE.radius_m,
        noise: float = 0.0,
        coast_s: float = 0.0,
        seed: int = 0,
        config: Any = SHIPPED,
    ) -> None:
        super().__init__(config)
        self.at = Place(0.0, 0.0, 0.0)
        self.speeds = {'S': forward_mps, 'L': arc_mps, 'R': arc_mps}
        self.radius_m, self.noise, self.coast_s = radius_m, noise, coast_s
        self.random = random.Random(seed)
        self.blind_after = self.fence_x = math.inf  # legs, metres
        self.button: Cancellation | None = None  # pressed after each leg
        self.looks, self.sees_every = 0, 1
        self.answers: dict[int, ToolResult] = {}  # of the leg of that number
        self.driven_m = 0.0

    def pose(self) -> RoverPose | None:
        self.looks += 1
        if len(self.tools) >= self.blind_after or self.looks % self.sees_every:
            return None
        yaw = math.remainder(self.at.yaw_rad, math.tau)
        return RoverPose(x=self.at.x, y=self.at.y, yaw_rad=yaw, frame_id='odom')

    def tool(self, name: str, cancellation: Cancellation, **arguments: Any) -> ToolResult:
        """As RoverWorld's, it asks the gate before each motion."""
        refused = OUTSIDE if self.at.x > self.fence_x else self.refuses
        if refused is not None:
            return refused.result()
        super().tool(name, cancellation, **arguments)
        off = self.noise
        speed = self.speeds[LETTER[name]] * (1 + self.random.uniform(-off, off))
        radius = self.radius_m * (1 + self.random.uniform(-off, off))
        figures = with_figures(
            SHIPPED.thresholds, forward_mps=speed, turn_mps=speed, turn_radius_m=radius
        )
        rover = DemoRover(figures, pose=Pose(self.at.x, self.at.y, self.at.yaw_rad))
        rover.call(name)
        rover.advance_to(arguments['duration_s'] + self.coast_s)
        rover.call('move_stop')
        state = rover.advance_to(rover.seconds + STOP_LATE_S)
        there = Place(state.pose.x, state.pose.y, state.pose.yaw)
        turned = abs(math.remainder(there.yaw_rad - self.at.yaw_rad, math.tau))
        ahead_m = math.hypot(there.x - self.at.x, there.y - self.at.y)
        driven = turned * radius if turned else ahead_m
        self.at = there
        self.driven_m += driven
        if self.button is not None:
            self.button.cancel('Stopped by a test')
        return self.answers.get(len(self.tools), ToolResult.success(distance_m=driven))


def with_detour(factor: float) -> Any:
    return SHIPPED.changed(agent={'navigation': {'max_detour': factor}})


def checked(world: ArcWorld, skill: Trip, *goal: float | None) -> ToolResult:
    """Run the skill; what holds for every trip is asserted: no leg is longer than it may be."""
    heard: list[Any] = []
    result = skill(call_of(world, Hurry(OwnedClock()), heard), *goal)
    legs = [(name, arguments['duration_s']) for name, arguments in world.tools]
    assert all(name in LETTER and 0.0 < s <= min(drive.MAX_LEG_S, LEASH_S) for name, s in legs)
    assert result.data['legs'] == len(legs) <= drive.MAX_LEGS
    if skill is not drive.navigate_to_pose:
        return result
    x, y, yaw = (*goal, None)[:3]
    assert x is not None
    assert y is not None
    assert [each['legs'] for each in heard] == list(range(len(heard)))
    assert all(each['distance_m'] > 0.0 for each in heard)
    coasted_m = world.coast_s * max(world.speeds.values()) * (1 + world.noise)
    bound_m = world.config.agent.navigation.max_detour * math.hypot(x, y)
    assert world.driven_m <= bound_m * (1 + world.noise) + coasted_m
    if result.error_reason.startswith('NAV_TOO_LONG') and not legs:
        assert result.data['refusal']['way_out']
    if result.ok:
        assert math.hypot(world.at.x - x, world.at.y - y) <= TOLERANCE_M
        turned = 0.0 if yaw is None else math.remainder(world.at.yaw_rad - yaw, math.tau)
        assert abs(turned) <= TOLERANCE_RAD + 1e-9
        assert result.data['distance_m'] == pytest.approx(world.driven_m)
        assert (result.data['x'], result.data['y']) == (world.at.x, world.at.y)
    return result


def checked_trip(world: ArcWorld, *goal: float | None) -> ToolResult:
    return checked(world, drive.navigate_to_pose, *goal)


@given(trips, st.booleans())
@example((0.375, 0.34375, None), True)
@settings(max_examples=examples(100), deadline=None)
def test_it_arrives_within_the_bound_or_says_that_the_way_is_too_long(
    trip: TripGoal, wide: bool
) -> None:
    world, away_m = ArcWorld(config=with_detour(100.0 if wide else DETOUR)), math.hypot(*trip[:2])
    result = checked_trip(world, *trip)
    assert wide or world.driven_m <= DETOUR * away_m
    assert result.ok or result.error_reason.startswith('NAV_TOO_LONG: ')
    # A loop takes up to 47 m, and a first plan must leave a tenth of the bound.
    assert result.ok or not wide or away_m <= 1.1 * TOLERANCE_M


rovers = {
    'forward_mps': st.floats(0.2, 1.0),
    'arc_mps': st.floats(0.1, 0.5),
    'radius_m': st.floats(0.8, 4.0),
    'coast_s': st.floats(0.0, 0.5),
    'noise': st.just(0.0) | st.floats(0.0, 0.4),
    'seed': st.integers(0, 2**32),
}


@given(trip=trips, rover=st.fixed_dictionaries(rovers))
@settings(max_examples=examples(80), deadline=None)
def test_a_rover_of_other_speeds_is_learned_and_with_noise_it_arrives_or_says_why(
    trip: TripGoal, rover: dict[str, Any]
) -> None:
    arc_mps, noise = rover['arc_mps'], rover['noise']
    result = checked_trip(ArcWorld(**rover), *trip[:2], trip[2] if noise else None)
    # Round the circle takes more legs than there are.
    slow = arc_mps / rover['radius_m'] < 0.08 or arc_mps < 0.2
    codes = ('NAV_TOO_LONG: ', 'NAV_TIMEOUT: ', 'NAV_BLOCKED: ')
    codes = codes if noise else codes[: 1 + slow]
    assert result.ok or result.error_reason.startswith(codes)


TIMED_OUT = 'Service timeout: /adapter/move_forward'
ENDED_EARLY = 'Motion ended early: E-stop'
BESIDE_M = 1.04 * RADIUS_M
BESIDE = (BESIDE_M * math.cos(1.4), BESIDE_M * math.sin(1.4))  # almost abreast
CLOSE_M = 0.4 * RADIUS_M
CLOSE = (CLOSE_M * math.cos(1.4), CLOSE_M * math.sin(1.4))  # too near for a loop, as shipped


@pytest.mark.parametrize('coast_s', [0.0, 0.3])
def test_a_goal_that_needs_a_loop_says_so_before_it_drives_one(coast_s: float) -> None:
    world, heard = ArcWorld(coast_s=coast_s, config=with_detour(20.0)), list[Any]()
    result = drive.navigate_to_pose(call_of(world, Hurry(OwnedClock()), heard), *BESIDE)
    assert result.ok
    assert world.driven_m <= 6.0 * RADIUS_M  # a new shortest path a leg drove two
    first, later = heard[0], heard[1:]
    assert (first['legs'], first['fraction']) == (0, 0.0)
    assert heard[-1]['fraction'] > 0.7
    assert first['straight_m'] == pytest.approx(BESIDE_M, abs=0.1)
    assert first['loop_m'] == pytest.approx(first['distance_m'], abs=0.1)
    assert first['loop_m'] > 4.0 * RADIUS_M
    assert all(each['loop_m'] == first['loop_m'] == result.data['loop_m'] for each in later)
    assert progress_text('navigate_to_pose', first) == (
        f'navigate_to_pose: needs a loop of {first["loop_m"]:.0f} m '
        f'for a goal {first["straight_m"]:.1f} m away'
    )


ENDS = [  # x of the goal, the second leg's answer, what is told, the legs
    (0.2, '', '', 0),  # it stands there already
    (1000.0, '', f'NAV_TIMEOUT: not there after {drive.MAX_LEGS} legs', drive.MAX_LEGS),
    (8.0, NEED_TO_CLOSE_MAST, NEED_TO_CLOSE_MAST, 2),
    (8.0, TIMED_OUT, TIMED_OUT, 2),
    (8.0, ENDED_EARLY, f'NAV_BLOCKED: {ENDED_EARLY}', 2),
]


def test_a_trip_ends_in_the_words_of_what_ended_it() -> None:
    for x, answer, told, legs in ENDS:
        world = ArcWorld()
        if answer:
            world.answers[2] = failed(answer)
        result = checked_trip(world, x, -0.2 if x < 1.0 else 0.0)
        assert (result.ok, len(world.tools)) == (told == '', legs)
        assert result.error_reason.startswith(told)
    for goal in ((0.0, 2.0 * RADIUS_M), (1.2 * RADIUS_M, 1.2 * RADIUS_M)):
        world = ArcWorld(radius_m=3.0 * RADIUS_M)  # it stops once it has measured that
        result = checked_trip(world, *goal)
        assert f'the rover turns on {3.0 * RADIUS_M:.1f} m' in result.error_reason
        assert len(world.tools) == 1
    world = ArcWorld()
    world.fence_x = 2.0
    result = checked_trip(world, 8.0, 0.0)
    assert result.error_reason == f'NAV_BLOCKED: {OUTSIDE.reason}'
    assert result.data['x'] == world.at.x < 8.0
    world = ArcWorld()
    world.sees_every = drive.POSE_ATTEMPTS  # a pose that is missing for a moment is waited for
    assert checked_trip(world, 4.0, 0.0).ok
    world = ArcWorld(config=SHIPPED.changed(agent={'turn': {'max_motion_s': 1.25}}))
    assert checked_trip(world, 1.6 * RADIUS_M, 0.8 * RADIUS_M).ok
    assert max(arguments['duration_s'] for _, arguments in world.tools) == 1.25


@example(start=Place(1.0, 0.0, 1.8125), goal=Place(1.0, 0.0, 0.0), radius=1.0)  # there already
@given(start=places, goal=places, radius=st.floats(0.2, 8.0))
@settings(max_examples=examples(100), deadline=None)
def test_every_way_leads_to_its_goal_and_to_a_place_the_shortest_with_any_heading(
    start: Place, goal: Place, radius: float
) -> None:
    found = list(dubins_plans(start, goal, radius))
    assert len(found) >= 2
    ways = list(plans_to_place(start, goal.x, goal.y, radius))
    for way in (*found, *ways):
        assert all(amount > 0.0 for _, amount in way.segments)
        end = way.end(start, radius)
        assert math.hypot(end.x - goal.x, end.y - goal.y) < 1e-5
        assert way in ways or abs(math.remainder(end.yaw_rad - goal.yaw_rad, math.tau)) < 1e-5
    shortest = min(way.length(radius) for way in ways)
    for part in range(24):
        there = Place(goal.x, goal.y, math.tau * part / 24)
        assert all(
            way.length(radius) >= shortest - 1e-5 for way in dubins_plans(start, there, radius)
        )


def test_a_loop_that_is_too_long_is_refused_with_its_length_and_the_way_out() -> None:
    world = ArcWorld()
    result = checked_trip(world, *CLOSE)
    assert not world.tools
    assert f'for a point {CLOSE_M:.1f} m from the start' in result.error_reason
    assert 'another heading, or a point farther away or straighter ahead' in result.error_reason
    assert result.data['refusal']['code'] == 'NAV_TOO_LONG'
    assert result.data['loop_m'] > DETOUR * result.data['straight_m']
    raised = result.data['refusal']['way_out'].split('max_detour to ')[1].split(',')[0]
    assert checked_trip(ArcWorld(config=with_detour(float(raised))), *CLOSE).ok


@given(start=places, goal=goals, radius=st.floats(0.2, 8.0), bound=st.floats(0.0, 60.0))
@settings(max_examples=examples(50), deadline=None)
def test_a_plan_leads_to_its_goal_and_is_kept_while_it_does(
    start: Place, goal: NavigationGoal, radius: float, bound: float
) -> None:
    plan = plan_drive(start, goal, radius, longest_m=bound)
    assert goal.is_reached(plan.end(start, radius))
    assert plan.length(radius) >= goal.distance(start) - TOLERANCE_M
    kept = plan_drive(start, goal, radius, longest_m=plan.length(radius), current=plan)
    assert kept.length(radius) == plan.length(radius)


@given(distance=st.floats(0.05, 30.0), speed=st.floats(0.2, 1.0))
@settings(max_examples=examples(60))
def test_it_drives_the_distance_whatever_the_speed(distance: float, speed: float) -> None:
    world = ArcWorld(forward_mps=speed)
    result = checked(world, drive.drive_distance, distance)
    assert result.ok
    assert abs(world.driven_m - distance) <= drive.NEAR_ENOUGH_M + speed * drive.MIN_LEG_S
    assert {name for name, _ in world.tools} == {'move_forward'}


@pytest.mark.parametrize('start_s', [0.0, 0.25, 0.75])
def test_a_leg_is_so_much_longer_as_the_profiles_rover_starts_late(start_s: float) -> None:
    world = ArcWorld(config=SHIPPED.changed(thresholds={'body': {'start_s': start_s}}))
    checked(world, drive.drive_distance, 0.5 * SHIPPED.guardrails.geofence.max_speed_mps)
    assert world.tools[0][1]['duration_s'] == pytest.approx(0.5 + start_s)


@given(
    angle=st.floats(-720.0, 720.0).filter(lambda angle: abs(angle) > 5.0),
    speed=st.floats(0.1, 0.5),
    radius=st.floats(0.4 * PROFILE.radius_m, 1.6 * PROFILE.radius_m),
)
@settings(max_examples=examples(60))
def test_it_turns_by_the_angle_to_its_side(angle: float, speed: float, radius: float) -> None:
    world = ArcWorld(arc_mps=speed, radius_m=radius)
    result = checked(world, drive.turn_angle, angle)
    turned = result.data['turned_deg']
    slow = drive.MIN_LEG_S * speed / radius
    if result.ok:
        assert abs(turned - angle) <= math.degrees(drive.NEAR_ENOUGH_RAD + slow)
    else:  # two whole turns of a slow rover take more legs than there are
        assert result.error_reason.startswith('NAV_TIMEOUT')
    assert {name for name, _ in world.tools} == {'turn_left' if angle > 0.0 else 'turn_right'}


each_skill = pytest.mark.parametrize(
    ('skill', 'goal'),
    [
        (drive.navigate_to_pose, (8.0, 0.0)),
        (drive.drive_distance, (4.0,)),
        (drive.turn_angle, (90.0,)),
    ],
)


@each_skill
@pytest.mark.parametrize(
    ('refused', 'code'), [(MAST_OUT, ''), (OUTSIDE, 'NAV_GOAL_REJECTED: GEOFENCE: outside')]
)
def test_what_may_not_drive_does_not_begin(
    skill: Trip, goal: Goal, refused: Refusal, code: str
) -> None:
    world = ArcWorld()
    world.refuses = refused
    result = checked(world, skill, *goal)
    assert (result.ok, world.tools) == (False, [])
    assert refused.reason in result.error_reason
    assert skill is not drive.navigate_to_pose or result.error_reason.startswith(code)


EARLY = ended_early('Obstacle ahead', distance_m=0.1)
MISSED = ended_early(f'{AGENT_IS_GONE}: the rover was stopped')
# Answers of legs, after how many it is blind, the speed; the legs driven, what is told; '': done.
TROUBLES: list[tuple[list[ToolResult], int | None, dict[str, float], int, str]] = [
    ([EARLY], None, {}, 1, 'Obstacle ahead'),
    ([MISSED], None, {}, 0, ''),
    ([MISSED] * drive.MAX_LOST_LEGS, None, {}, 0, ''),
    ([MISSED] * (drive.MAX_LOST_LEGS + 1), None, {}, drive.MAX_LOST_LEGS + 1, AGENT_IS_GONE),
    ([], 0, {}, 0, drive.NO_POSE_TEXT),
    ([], 1, {}, 1, drive.NO_POSE_TEXT),
    ([EARLY], 1, {}, 1, 'Obstacle ahead'),
    (
        [],
        None,
        {'forward_mps': 0.0, 'arc_mps': 0.0},
        drive.MAX_STUCK_LEGS,
        'the rover hardly moved in ',
    ),
]


@each_skill
def test_a_trip_in_trouble_ends_or_makes_up_for_it(skill: Trip, goal: Goal) -> None:
    for answers, blind_after, speeds, legs, told in TROUBLES:
        world = ArcWorld(**speeds)
        world.answers.update(enumerate(answers, 1))
        if blind_after is not None:
            world.blind_after = blind_after
        result = checked(world, skill, *goal)
        assert result.ok is (not told)
        assert told in result.error_reason
        assert result.ok or len(world.tools) == legs
        if told == drive.NO_POSE_TEXT and skill is drive.navigate_to_pose:
            code = 'NAV_BLOCKED: ' if legs else 'NAV_GOAL_REJECTED: '
            assert result.error_reason.startswith(code)


@each_skill
def test_a_stop_ends_it_before_the_next_leg(skill: Trip, goal: Goal) -> None:
    world = ArcWorld()
    world.button = button = Hurry(OwnedClock())
    with pytest.raises(TurnCancelled):
        skill(call_of(world, button), *goal)
    assert len(world.tools) == 1


Look = tuple[bool | None, float | None]


class ScriptedNav2:
    def __init__(self, *looks: Look, refuses: str = '') -> None:
        self.looks, self.refuses = list(looks), refuses
        self.goal: tuple[Any, ...] | None = None
        self.cancelled = self.closed = self.is_sent = False

    def connected(self, action: str) -> ScriptedNav2:
        self.action = action
        return self

    def send(self, frame: str, x: float, y: float, yaw_rad: float, _: Cancellation) -> str:
        self.goal = (frame, x, y, yaw_rad)
        self.is_sent = not self.refuses or 'timeout' in self.refuses
        return self.refuses

    def wait_for_result(self, seconds: float) -> Look:
        return self.looks.pop(0)

    def cancel(self) -> None:
        self.cancelled = True

    def close(self) -> None:
        self.closed = True


class PosedWorld(StillWorld):
    def pose(self) -> RoverPose | None:
        return RoverPose(x=1.0, y=1.0, frame_id='odom')


def drove(
    nav2: ScriptedNav2, world: StillWorld, button: Cancellation | None = None, **more: Any
) -> tuple[ToolResult, list[Any]]:
    heard: list[Any] = []
    run = make_navigate_skill('/nav', nav2.connected)
    result = run(call_of(world, button, heard), 1.0, 3.0, **more)
    assert nav2.closed
    return result, heard


NAV2_ENDS: list[tuple[list[Look], str, str]] = [
    ([(None, 2.0), (None, 1.0), (True, 0.0)], '', ''),
    ([(None, 2.0), (False, 2.0)], '', 'NAV_BLOCKED: Nav2 gave up'),
    ([], 'Service unavailable: /nav', 'NAV_GOAL_REJECTED: Service unavailable: /nav'),
    ([], 'Service timeout: /nav', 'NAV_GOAL_REJECTED: Service timeout: /nav'),
]


@pytest.mark.parametrize('yaw', [None, -1.0])
@pytest.mark.parametrize(('looks', 'refuses', 'told'), NAV2_ENDS)
def test_a_goal_of_nav2_ends_as_it_says_and_what_fails_stops_the_rover(
    looks: list[Look], refuses: str, told: str, yaw: float | None
) -> None:
    nav2, world = ScriptedNav2(*looks, refuses=refuses), PosedWorld()
    result, heard = drove(nav2, world, yaw_rad=yaw)
    assert result.error_reason == told
    assert nav2.goal == ('odom', 1.0, 3.0, pytest.approx(yaw or math.pi / 2))
    assert [each['distance_m'] for each in heard] == [left for _, left in looks]
    gave_up = bool(told) and nav2.is_sent
    assert (nav2.cancelled, world.tools) == (gave_up, [('move_stop', {})] * gave_up)
    if result.ok:
        assert (result.data['x'], result.data['y']) == (1.0, 1.0)


def test_nav2_drives_nothing_that_is_refused_nowhere_or_stopped() -> None:
    class Fenced(PosedWorld):
        asked = 0

        def may_drive(self, name: str, duration_s: float) -> str:
            self.asked += 1
            return OUTSIDE.reason if self.asked == 3 else ''

    for world in (PosedWorld(), StillWorld()):
        nav2, world.refuses = ScriptedNav2(), OUTSIDE
        assert drove(nav2, world)[0].error_reason.startswith('NAV_GOAL_REJECTED: ')
        assert nav2.goal is None
    nav2, world = ScriptedNav2((None, 2.0), (None, 1.0)), Fenced()
    assert drove(nav2, world)[0].error_reason == f'NAV_BLOCKED: {OUTSIDE.reason}'
    assert (nav2.cancelled, world.tools) == (True, [('move_stop', {})])
    button, nav2, world = Cancellation(), ScriptedNav2((None, 2.0)), PosedWorld()
    nav2.is_sent = True
    nav2.send = lambda *goal: button.cancel('Stopped by a test') or ''  # type: ignore
    with pytest.raises(TurnCancelled):
        drove(nav2, world, button)
    assert nav2.cancelled
    assert nav2.closed
    assert world.tools == [('move_stop', {})]


@pytest.mark.parametrize('accepted', [True, False, None, 'stopped'])  # None: Nav2 never answers
def test_a_goal_that_nav2_takes_late_or_without_an_answer_is_cancelled(
    accepted: bool | str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is stopped while Nav2 is not there yet is never sent."""
    log, clock, asked_at = list[str](), OwnedClock(), list[float]()
    answer, never, button = Future(), Future(), Cancellation()

    class Client:
        def __init__(self, *_: Any) -> None: ...

        def wait_for_server(self, seconds: float) -> bool:
            if accepted == 'stopped':
                button.cancel('Stopped by a test')
            return True

        def send_goal_async(self, goal: Any, feedback_callback: Any) -> Future:
            log.append('goal')
            return answer

        def destroy(self) -> None:
            log.append('closed')

    class Executor:
        def __init__(self) -> None:
            self.add_node = self.shutdown = lambda *_: None

        def spin_once(self, timeout_sec: float) -> None:
            clock.seconds += timeout_sec
            if 'cancel all' in log and accepted is not None and not answer.done():
                handle = SimpleNamespace(accepted=accepted)
                handle.cancel_goal_async = lambda: log.append('cancel') or never
                answer.set_result(handle)

    def cancel_all(request: Any) -> Future:
        assert not any(request.goal_info.goal_id.uuid)
        log.append('cancel all')
        asked_at.append(clock.seconds)
        return never

    class World(PosedWorld):
        def tool(self, name: str, *_: Any, **__: Any) -> ToolResult:
            log.append(name)
            assert clock.seconds - asked_at[0] < GRACE_S
            return ToolResult.success()

    node = SimpleNamespace(
        create_client=lambda kind, name: SimpleNamespace(call_async=cancel_all),
        destroy_node=lambda: None,
    )
    place = SimpleNamespace(position=SimpleNamespace(), orientation=SimpleNamespace())
    pose = SimpleNamespace(header=SimpleNamespace(), pose=place)
    action = SimpleNamespace(Goal=lambda: SimpleNamespace(pose=pose))
    for name in ('nav2_msgs', 'nav2_msgs.action'):
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(NavigateToPose=action))
    monkeypatch.setattr('rclpy.create_node', lambda name: node)
    monkeypatch.setattr('rclpy.action.ActionClient', Client)
    monkeypatch.setattr('rclpy.executors.SingleThreadedExecutor', Executor)
    monkeypatch.setattr(nav2_skill, 'time', SimpleNamespace(monotonic=lambda: clock.seconds))
    navigate = make_navigate_skill('/nav', nav2_skill.Nav2Goal)
    if accepted == 'stopped':
        with pytest.raises(TurnCancelled):
            navigate(call_of(World(), button), 1.0, 3.0)
        assert log == ['closed']
        return
    result = navigate(call_of(World()), 1.0, 3.0)
    assert result.error_reason == 'NAV_GOAL_REJECTED: Service timeout: /nav'
    assert log == ['goal', 'cancel all', *['cancel'] * bool(accepted), 'move_stop', 'closed']


def test_without_its_package_the_way_out_is_told() -> None:
    with pytest.raises(ConfigError, match='the package nav2_msgs is missing; install'):
        make_registry(SHIPPED.changed(agent={'navigation': {'provider': 'nav2'}}))
