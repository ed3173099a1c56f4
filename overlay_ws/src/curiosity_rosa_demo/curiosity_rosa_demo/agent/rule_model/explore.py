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

from collections.abc import Mapping
from itertools import takewhile
import math
from types import MappingProxyType
from typing import Any

from curiosity_rosa_demo.agent.rule_model.beliefs import Mast
from curiosity_rosa_demo.agent.rule_model.decision import (
    Decision,
    FinalAnswer,
    MAX_ATTEMPTS,
    ToolCall,
    TurnView,
)
from curiosity_rosa_demo.agent.rule_model.light_belief import LightBelief
from curiosity_rosa_demo.agent.rule_model.look_planner import Look, next_look
from curiosity_rosa_demo.agent.rule_model.steering import first_at_most, motions_of, search_motion
from curiosity_rosa_demo.agent.rule_model.texts import ground_text
from curiosity_rosa_demo.domain.geometry import finite_float, MotionSpeeds, Place
from curiosity_rosa_demo.domain.ground import GROUND_UNKNOWN
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.domain.skills import ANALYZE, CAPTURE, MAST_SKILLS, MOTIONS

FORWARD = 'move_forward'
HOPELESS = 0.9  # the probability of no light at which the search ends
MASTS = {'mast_open': Mast.OPEN, 'mast_close': Mast.CLOSED}  # the others leave it as it is
LOOK_TOOLS = ('mast_open', 'mast_close', 'capture_and_score')
POSE_KNOWN = {'condition': {'x_above': -1e6}}
POSE_WAIT_S = 10.0  # of one wait
STUCK_M = 0.05  # a shorter motion did not move the rover


def report_a_good_capture(view: TurnView) -> Decision | None:
    captures = view.beliefs.captures
    if not captures or not captures[-1].is_good:
        return None
    pose = view.beliefs.poses.get(captures[-1].motions_before) or captures[-1].taken_at
    asked = any(step.verb == 'explore' for step in view.intent.steps)
    analysis = _analyze_or_report(view) if asked else ''
    if not isinstance(analysis, str):
        return analysis
    place = view.say('at_place', x=pose.x, y=pose.y) if pose else view.say('place_unknown')
    counts = {'looks': len(captures), 'calls': len(view.steps)}
    found = view.say('found', place=place, **counts, **view.figures())
    return FinalAnswer(f'{found} {analysis}'.strip())


def _analyze_or_report(view: TurnView) -> Decision | str:
    """The call of the analysis of the last good capture, what it answered, or the end of a turn
    whose ground it refused; empty: there is no such skill.
    """
    if ANALYZE not in view.tools:
        return ''
    after = takewhile(lambda step: step.tool != CAPTURE, reversed(view.steps))
    tried = [step for step in after if step.tool == ANALYZE]  # the newest first
    if tried and tried[0].ok:
        return ground_text(view.language, tried[0].data)
    refused = tried and tried[0].code == RefusalCode.GROUND_UNKNOWN
    if refused or len(tried) >= MAX_ATTEMPTS:
        reason = tried[0].reason.removeprefix(f'{GROUND_UNKNOWN}: ')
        return view.answer('not_analyzed', reason=reason)
    return view.call(ANALYZE, 'analyze')


def look_while_it_is_cheap(view: TurnView) -> Decision | None:
    """A first look costs one call, unless the mast is known to be down, and may end the search."""
    facts = view.beliefs
    if facts.captures or facts.moves or facts.mast in (Mast.CLOSED, Mast.UNKNOWN):
        return None
    cost = view.cost('capture_and_score')
    return view.capture('cheap_look', cost=f'{cost:g}')


def find_out_where_i_am(view: TurnView) -> Decision | None:
    facts = view.beliefs
    is_pointless = facts.asked_here or view.failures('get_status') >= MAX_ATTEMPTS
    if facts.pose or is_pointless or 'get_status' not in view.tools:
        return None
    return view.call('get_status', 'where_am_i')


def wait_for_the_pose(view: TurnView) -> Decision | None:
    """TF may be late for a while, and no fence lets a rover drive that does not know its place."""
    if view.beliefs.pose is not None or 'wait_until' not in view.tools:
        return None
    if view.failures('wait_until') >= MAX_ATTEMPTS:
        return None
    last = view.steps[-1].tool if view.steps else ''
    if last == 'wait_until' and view.steps[-1].ok:
        return view.call('get_status', 'where_am_i')
    return view.call('wait_until', 'wait_for_the_pose', {**POSE_KNOWN, 'timeout_s': POSE_WAIT_S})


def end_when_stuck(view: TurnView) -> Decision | None:
    recent = [move.distance_m for move in view.beliefs.moves[-MAX_ATTEMPTS:]]
    if len(recent) < MAX_ATTEMPTS or any(m is None or m >= STUCK_M for m in recent):
        return None
    return view.answer('not_moving', **view.figures())


def search_without_a_pose(view: TurnView) -> Decision | None:
    """Hop and look: the planner needs to know where the rover is."""
    if view.beliefs.pose is not None:
        return None
    motion = search_motion(view, view.beliefs)
    if motion is None or (view.beliefs.new_view and not view.beliefs.moves):
        return view.capture('drove_as_planned')
    return _drive(view, motion)


def go_to_the_next_look(view: TurnView) -> Decision:
    """Look where the least further cost is expected until a good capture."""
    facts, pose = view.beliefs, view.beliefs.pose
    assert pose is not None  # search_without_a_pose
    belief = _light(view, pose)
    look = _look_from(
        view, belief, pose, facts.mast, first_at_most(motions_of(view, facts), facts)
    )
    if look is None or belief.no_light > HOPELESS:
        return view.answer('no_light', **view.figures())
    if not look.tool:
        return view.capture('arrived')
    where = {'x': f'{look.x:.1f}', 'y': f'{look.y:.1f}'}
    chance = f'{100 * look.good:.0f}' if look.good >= 0.005 else '<1'
    why = view.why('planned_look', **where, chance=chance)
    return _drive(view, ToolCall(look.tool, why, {'duration_s': view.seconds(look.seconds)}))


def _light(view: TurnView, pose: Place) -> LightBelief:
    facts = view.beliefs
    start = facts.poses[min(facts.poses)] if facts.poses else pose
    return LightBelief(start, view.bright_x, facts.samples)


def _look_from(
    view: TurnView,
    belief: LightBelief,
    pose: Place,
    mast: Mast,
    at_most: Mapping[str, float] = MappingProxyType({}),
    *,
    moved: bool = False,
) -> Look | None:
    """``at_most``: seconds of a first motion. ``moved``: ``pose`` is not where the rover is."""
    facts = view.beliefs
    return next_look(
        pose,
        mast,
        belief,
        motions_of(view, facts),
        {tool: view.cost(tool) for tool in (*MOTIONS, *LOOK_TOOLS)},
        obstacles=tuple(facts.obstacles),
        first_at_most=at_most,
        seen_here=not moved and any(look.motions_before == facts.spot for look in facts.captures),
    )


def _drive(view: TurnView, motion: ToolCall) -> Decision:
    if not view.beliefs.mast.is_stowed:
        return view.call('mast_close', 'stow_to_drive', why=motion.thought)
    if (part := view.beliefs.sticks_out) in view.tools:
        return view.call(part, 'stow_the_part')
    return view.call(motion.tool, 'drive', motion.args, why=motion.thought)


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
    """The price of this call, of a ride that of as many drives as it is long, and what the planner
    expects of the search after it, less what it expects now; 0 for what it cannot compare: no
    pose, no motion of rover or mast. ``measured``: the pose, for a turn that has not asked for it.
    """
    facts = view.beliefs
    pose = facts.pose or measured
    if pose is None:
        return 0.0
    motions, mast = motions_of(view, facts), facts.mast
    if tool in MAST_SKILLS:
        after, mast, price = pose, MASTS.get(tool, mast), _mast_price(view, tool)
    elif moved := _pose_after(pose, tool, arguments, motions.speeds):
        drives = max(1.0, pose.away_m(moved) / (motions.speeds.straight * motions.longest_s))
        price = drives * min(view.cost(tool), view.cost(FORWARD))
        after, mast = moved, mast if mast is Mast.NONE else Mast.CLOSED
    else:
        return 0.0
    belief = _light(view, pose)
    now = _look_from(view, belief, pose, facts.mast)
    if now is None:
        return 0.0
    then = _look_from(view, belief, after, mast, moved=after is not pose)
    return math.inf if then is None else price + then.expected - now.expected


def _mast_price(view: TurnView, tool: str) -> float:
    """An open mast is closed some time: who opens it pays for that, too."""
    if tool == 'mast_open':
        return view.cost('mast_open', 'mast_close')
    return 0.0 if tool == 'mast_close' and view.beliefs.mast is Mast.OPEN else view.cost(tool)


def _pose_after(
    pose: Place, tool: str, arguments: Mapping[str, Any], speeds: MotionSpeeds
) -> Place | None:
    """Where the call leads as the rover's motions were measured; None: it is no motion."""
    way = speeds.way_of(tool, arguments)
    if way is not None:
        return pose.after(*way)
    x, y = finite_float(arguments.get('x')), finite_float(arguments.get('y'))
    if tool == 'navigate_to_pose' and x is not None and y is not None:
        return Place(x, y, math.atan2(y - pose.y, x - pose.x))
    return None
