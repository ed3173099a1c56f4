# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The rules of an exploration: plan the next look, drive there and capture, until one is good.

Each rule returns a decision, or None to pass to the next rule. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
import math
from typing import Any

from curiosity_rosa_demo.agent.rule_model.beliefs import Beliefs, beliefs_from, Mast, TurnView
from curiosity_rosa_demo.agent.rule_model.decision import (
    Decision,
    FinalAnswer,
    MAX_ATTEMPTS,
    RuleContext,
)
from curiosity_rosa_demo.agent.rule_model.light_belief import LightBelief
from curiosity_rosa_demo.agent.rule_model.look_planner import next_look
from curiosity_rosa_demo.agent.rule_model.motion_search import Motions
from curiosity_rosa_demo.agent.rule_model.steering import first_at_most, motions_of, search_motion
from curiosity_rosa_demo.agent.rule_model.texts import ground_text
from curiosity_rosa_demo.domain.geometry import DIRECTIONS, finite_float, Place
from curiosity_rosa_demo.domain.ground import GROUND_UNKNOWN
from curiosity_rosa_demo.domain.operation import Exchange
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.domain.skills import ANALYZE, CAPTURE, MOTIONS

FORWARD = 'move_forward'
HOPELESS = 0.9  # the probability of no light at which the search ends
LOOK_TOOLS = ('mast_open', 'mast_close', 'capture_and_score')
POSE_KNOWN = {'condition': {'x_above': -1e6}}
POSE_WAIT_S = 10.0  # of one wait
STUCK_M = 0.05  # a shorter motion did not move the rover


def report_a_good_capture(context: RuleContext) -> Decision | None:
    captures = context.beliefs.captures
    if not captures or not captures[-1].is_good:
        return None
    pose = context.beliefs.poses.get(captures[-1].motions_before) or captures[-1].taken_at
    asked = any(step.verb == 'explore' for step in context.intent.steps)
    analysis = analyze_or_report(context, context.view.steps) if asked else ''
    if not isinstance(analysis, str):
        return analysis
    place = context.say('at_place', x=pose.x, y=pose.y) if pose else context.say('place_unknown')
    counts = {'looks': len(captures), 'calls': len(context.view.steps)}
    found = context.say('found', place=place, **counts, **context.figures())
    return FinalAnswer(f'{found} {analysis}'.strip())


def analyze_or_report(context: RuleContext, steps: Sequence[Exchange]) -> Decision | str:
    """The call of the analysis of the last good capture among ``steps``, what it answered, or the
    end of a turn whose ground it refused; empty: there is no such skill.
    """
    if ANALYZE not in context.view.tools:
        return ''
    after = list(takewhile(lambda step: step.tool != CAPTURE, reversed(steps)))
    tried = [step for step in after if step.tool == ANALYZE]  # the newest first
    if tried and tried[0].ok:
        return ground_text(context.language, tried[0].data)
    refused = tried and tried[0].code == RefusalCode.GROUND_UNKNOWN
    if refused or len(tried) >= MAX_ATTEMPTS:
        reason = tried[0].reason.removeprefix(f'{GROUND_UNKNOWN}: ')
        return context.answer('not_analyzed', reason=reason)
    return context.call(ANALYZE, 'analyze')


def look_while_it_is_cheap(context: RuleContext) -> Decision | None:
    """A first look costs one call, unless the mast is known to be down, and may end the search."""
    facts = context.beliefs
    if facts.captures or facts.moves or facts.mast in (Mast.CLOSED, Mast.UNKNOWN):
        return None
    cost = context.view.cost('capture_and_score')
    return context.capture('cheap_look', cost=f'{cost:g}')


def find_out_where_i_am(context: RuleContext) -> Decision | None:
    view, facts = context.view, context.beliefs
    is_pointless = facts.asked_here or view.failures('get_status') >= MAX_ATTEMPTS
    if facts.pose or is_pointless or 'get_status' not in view.tools:
        return None
    return context.call('get_status', 'where_am_i')


def wait_for_the_pose(context: RuleContext) -> Decision | None:
    """TF may be late for a while, and no fence lets a rover drive that does not know its place."""
    view = context.view
    if context.beliefs.pose is not None or 'wait_until' not in view.tools:
        return None
    if view.failures('wait_until') >= MAX_ATTEMPTS:
        return None
    last = view.steps[-1].tool if view.steps else ''
    if last == 'wait_until' and view.steps[-1].ok:
        return context.call('get_status', 'where_am_i')
    return context.call(
        'wait_until', 'wait_for_the_pose', {**POSE_KNOWN, 'timeout_s': POSE_WAIT_S}
    )


def end_when_stuck(context: RuleContext) -> Decision | None:
    recent = [move.distance_m for move in context.beliefs.moves[-MAX_ATTEMPTS:]]
    if len(recent) < MAX_ATTEMPTS or any(m is None or m >= STUCK_M for m in recent):
        return None
    return context.answer('not_moving', **context.figures())


def search_without_a_pose(context: RuleContext) -> Decision | None:
    """Hop and look: the planner needs to know where the rover is."""
    if context.beliefs.pose is not None:
        return None
    motion = search_motion(context.view, context.beliefs)
    if motion is None or (context.beliefs.new_view and not context.beliefs.moves):
        return context.capture('drove_as_planned')
    why = context.why(motion.why, gain=f'{motion.gain:.2f}')
    return _drive(context, motion.tool, motion.duration_s, why)


def go_to_the_next_look(context: RuleContext) -> Decision:
    """Look where the least further cost is expected until a good capture."""
    view, facts = context.view, context.beliefs
    pose = facts.pose
    assert pose is not None  # search_without_a_pose
    start = facts.poses[min(facts.poses)]
    belief = LightBelief(start, view.bright_x, facts.samples)
    prices = {tool: view.cost(tool) for tool in (*MOTIONS, *LOOK_TOOLS)}
    motions = motions_of(view, facts)
    look = next_look(
        pose,
        facts.mast,
        belief,
        motions,
        prices,
        obstacles=tuple(facts.obstacles),
        first_at_most=first_at_most(motions, facts),
        seen_here=any(capture.motions_before == facts.spot for capture in facts.captures),
    )
    if look is None or belief.no_light > HOPELESS:
        return context.answer('no_light', **context.figures())
    if not look.tool:
        return context.capture('arrived')
    where = {'x': f'{look.x:.1f}', 'y': f'{look.y:.1f}'}
    why = context.why('planned_look', **where, chance=f'{100 * look.good:.0f}')
    return _drive(context, look.tool, view.seconds(look.seconds), why)


def _drive(context: RuleContext, tool: str, seconds: float, why: str) -> Decision:
    if not context.beliefs.mast.is_stowed:
        return context.call('mast_close', 'stow_to_drive', why=why)
    if (part := context.beliefs.sticks_out) in context.view.tools:
        return context.call(part, 'stow_the_part')
    return context.call(tool, 'drive', {'duration_s': seconds}, why=why)


EXPLORE_RULES = (
    look_while_it_is_cheap,
    find_out_where_i_am,
    wait_for_the_pose,
    end_when_stuck,
    search_without_a_pose,
    go_to_the_next_look,
)


# --- what a proposed motion costs beyond the planner's best one ---------------------------------


def detour_cost(
    view: TurnView, tool: str, arguments: Mapping[str, Any], measured: Place | None = None
) -> float:
    """The price of this call, at most that of a drive, and what the planner expects of the search
    after it, less what it expects now; 0 for what it cannot compare: no search, no pose, no
    motion. ``measured``: the pose, for a turn that has not asked for it.
    """
    facts = beliefs_from(view)
    pose = facts.pose or measured
    if pose is None or view.said.intent.kind != 'explore':
        return 0.0
    after = _pose_after(pose, tool, arguments, motions_of(view, facts))
    if after is None:
        return 0.0
    start = facts.poses[min(facts.poses)] if facts.poses else pose
    belief = LightBelief(start, view.bright_x, facts.samples)
    seen = any(capture.motions_before == facts.spot for capture in facts.captures)
    now = _expected(view, facts, belief, pose, facts.mast, seen_here=seen)
    stowed = facts.mast if facts.mast is Mast.NONE else Mast.CLOSED
    then = _expected(view, facts, belief, after, stowed, seen_here=False)
    if now is None:
        return 0.0
    price = min(view.cost(tool), view.cost(FORWARD))  # a ride is dear for its length
    return math.inf if then is None else price + then - now


def _expected(
    view: TurnView,
    facts: Beliefs,
    belief: LightBelief,
    pose: Place,
    mast: Mast,
    *,
    seen_here: bool,
) -> float | None:
    look = next_look(
        pose,
        mast,
        belief,
        motions_of(view, facts),
        {name: view.cost(name) for name in (*MOTIONS, *LOOK_TOOLS)},
        obstacles=tuple(facts.obstacles),
        seen_here=seen_here,
    )
    return None if look is None else look.expected


def _pose_after(
    pose: Place, tool: str, arguments: Mapping[str, Any], motions: Motions
) -> Place | None:
    """Where the call leads as the rover's motions were measured; None: it is no motion."""
    seconds = finite_float(arguments.get('duration_s'))
    if tool in DIRECTIONS and seconds is not None:
        speed = motions.turn_speed if DIRECTIONS[tool] else motions.speed
        turn = DIRECTIONS[tool] * motions.turn_rate * seconds
        return pose.after(speed * seconds, turn)
    metres = finite_float(arguments.get('distance_m'))
    if tool == 'drive_distance' and metres is not None:
        return pose.after(metres, 0.0)
    degrees = finite_float(arguments.get('angle_deg'))
    if tool == 'turn_angle' and degrees is not None:
        turn = math.radians(degrees)
        return pose.after(abs(turn) * motions.radius_m, turn)
    x, y = finite_float(arguments.get('x')), finite_float(arguments.get('y'))
    if tool == 'navigate_to_pose' and x is not None and y is not None:
        return Place(x, y, math.atan2(y - pose.y, x - pose.x))
    return None
