# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The rules of an exploration: capture, turn the mast and drive until a capture is good.

Each rule returns a decision, or None to pass to the next rule. Pure.
"""

from __future__ import annotations

from curiosity_rosa_demo.agent.rule_model.beliefs import Mast, SCORE_TOLERANCE
from curiosity_rosa_demo.agent.rule_model.context import (
    Decision,
    FinalAnswer,
    MAX_ATTEMPTS,
    RuleContext,
)
from curiosity_rosa_demo.agent.rule_model.reasons import reason
from curiosity_rosa_demo.agent.rule_model.steering import motion_along
from curiosity_rosa_demo.agent.rule_model.texts import found_text

MAX_DARK_HOPS = 5  # consecutive hops without a better score
STUCK_M = 0.05  # a shorter motion did not move the rover


def report_a_good_capture(context: RuleContext) -> Decision | None:
    captures = context.beliefs.captures
    if not captures or not captures[-1].is_good:
        return None
    pose = context.beliefs.poses.get(captures[-1].motions_before)
    turned = context.view.last('mast_rotate')
    trouble = turned.result.error_reason if turned else ''
    return FinalAnswer(
        found_text(
            context.language, pose, trouble, calls=len(context.view.steps), **context.figures()
        )
    )


def capture_here(context: RuleContext) -> Decision | None:
    """Capture a new view, or at the end of a drive; pass while the drive goes on."""
    facts = context.beliefs
    if not facts.new_view:
        if not facts.moves_since_capture or motion_along(context.view, facts) is not None:
            return None
        return context.capture('drove_as_planned')
    if facts.rotations:
        return context.capture('mast_turned')
    cost = context.view.cost('capture_and_score')
    return context.capture('cheap_look', cost=f'{cost:g}')


def capture_around(context: RuleContext) -> Decision | None:
    """Turn the mast once per spot; after the first turn only if turning has changed a score and
    costs less than a hop.
    """
    view, facts = context.view, context.beliefs
    here = [look for look in facts.captures if look.motions_before == facts.spot]
    turned = len({look.rotations for look in here}) > 1
    tries = max(view.failures('mast_rotate', refused=refused) for refused in (False, True))
    if not here or turned or tries >= MAX_ATTEMPTS or 'mast_rotate' not in view.tools:
        return None
    around = view.cost('mast_rotate', 'capture_and_score')
    hop = view.cost('mast_close', 'move_forward', 'mast_open', 'capture_and_score')
    if facts.rotations and not (facts.view_matters and around < hop):
        return None
    costs = {'score': f'{here[-1].score:.2f}', 'around': f'{around:g}', 'hop': f'{hop:g}'}
    if facts.mast is not Mast.OPEN:
        return context.call('mast_open', 'open_to_turn', why=reason('dark_here', **costs))
    return context.call('mast_rotate', 'dark_here', **costs)


def find_out_where_i_am(context: RuleContext) -> Decision | None:
    view, facts = context.view, context.beliefs
    is_pointless = facts.asked_here or view.failures('get_status') >= MAX_ATTEMPTS
    if facts.pose or is_pointless or 'get_status' not in view.tools:
        return None
    return context.call('get_status', 'where_am_i')


def end_when_stuck(context: RuleContext) -> Decision | None:
    recent = [move.distance_m for move in context.beliefs.moves[-MAX_ATTEMPTS:]]
    if len(recent) < MAX_ATTEMPTS or any(m is None or m >= STUCK_M for m in recent):
        return None
    return context.answer('not_moving', **context.figures())


def end_without_progress(context: RuleContext) -> Decision | None:
    scores = list({look.motions_before: look.score for look in context.beliefs.captures}.values())
    recent, before = scores[-MAX_DARK_HOPS:], scores[:-MAX_DARK_HOPS]
    if not before or max(recent) >= max(before) + SCORE_TOLERANCE:
        return None
    return context.answer('no_progress', hops=MAX_DARK_HOPS, **context.figures())


def drive_to_the_light(context: RuleContext) -> Decision:
    motion = motion_along(context.view, context.beliefs)
    if motion is None:
        return context.capture('arrived')
    if context.beliefs.mast is not Mast.CLOSED:
        return context.call('mast_close', 'stow_to_drive', why=motion.why)
    return context.call(motion.tool, 'drive', {'duration_s': motion.duration_s}, why=motion.why)


EXPLORE_RULES = (
    capture_here,
    capture_around,
    find_out_where_i_am,
    end_when_stuck,
    end_without_progress,
    drive_to_the_light,
)
