# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The rules of an exploration: look, look around, drive to the light, until a capture is good.

Each rule decides or passes (None). Pure.
"""

from __future__ import annotations

from curiosity_rosa_demo.agent.rule_model.beliefs import Mast, SAME_SCORE
from curiosity_rosa_demo.agent.rule_model.context import Answer, Call, Case, Decision, MAX_TRIES
from curiosity_rosa_demo.agent.rule_model.steering import steer
from curiosity_rosa_demo.agent.rule_model.texts import found

MAX_DARK_HOPS = 5  # hops in a row that brought no light
STUCK_M = 0.05  # a motion that drove less did not move the rover


def report_a_good_capture(case: Case) -> Decision | None:
    looks = case.facts.looks
    if not looks or not looks[-1].is_good:
        return None
    pose = case.facts.poses.get(looks[-1].spot)
    turned = case.view.last('mast_rotate')
    trouble = turned.result.error_reason if turned else ''
    return Answer(found(case.lang, pose, trouble, calls=len(case.view.steps), **case.found_out()))


def look_here(case: Case) -> Decision | None:
    """Capture when nothing was seen yet from here and driving on would not be better."""
    facts = case.facts
    if not facts.new_view:
        if not facts.moves_since_look or steer(case.view, facts) is not None:
            return None
        return case.capture('I have driven as far as planned: look again.')
    if facts.rotations:
        return case.capture('Look again, now that the mast has turned.')
    cost = case.view.cost('capture_and_score')
    return case.capture(f'A capture costs only {cost:g}: look first.')


def look_around(case: Case) -> Decision | None:
    """Turn the mast once; at later spots only if it ever changed the score and costs less."""
    view, facts = case.view, case.facts
    here = [look for look in facts.looks if look.spot == facts.spot]
    turned = len({look.rotations for look in here}) > 1
    tries = max(view.failures('mast_rotate', refused=refused) for refused in (False, True))
    if not here or turned or tries >= MAX_TRIES or 'mast_rotate' not in view.tools:
        return None
    around = view.cost('mast_rotate', 'capture_and_score')
    hop = view.cost('mast_close', 'move_forward', 'mast_open', 'capture_and_score')
    if facts.rotations and not (facts.view_matters and around < hop):
        return None
    why = f'Score {here[-1].score:.2f} is dark; looking around costs {around:g}, a hop {hop:g}.'
    if facts.mast is not Mast.OPEN:
        return Call('mast_open', f'{why} The mast must be open to turn.')
    return Call('mast_rotate', why)


def find_out_where_i_am(case: Case) -> Decision | None:
    view, facts = case.view, case.facts
    no_use = facts.asked_here or view.failures('get_status') >= MAX_TRIES
    if facts.pose or no_use or 'get_status' not in view.tools:
        return None
    return Call('get_status', 'I need my position, heading and mast before I drive.')


def end_when_stuck(case: Case) -> Decision | None:
    recent = [move.distance_m for move in case.facts.moves[-MAX_TRIES:]]
    if len(recent) < MAX_TRIES or any(m is None or m >= STUCK_M for m in recent):
        return None
    return case.answer('not_moving', **case.found_out())


def end_without_progress(case: Case) -> Decision | None:
    scores = list({look.spot: look.score for look in case.facts.looks}.values())
    recent, before = scores[-MAX_DARK_HOPS:], scores[:-MAX_DARK_HOPS]
    if not before or max(recent) >= max(before) + SAME_SCORE:
        return None
    return case.answer('no_progress', hops=MAX_DARK_HOPS, **case.found_out())


def drive_to_the_light(case: Case) -> Decision:
    motion = steer(case.view, case.facts)
    if motion is None:
        return case.capture('I have arrived where the light should be: look again.')
    if case.facts.mast is not Mast.CLOSED:
        return Call('mast_close', f'It is dark here: stow the mast to drive, since {motion.why}.')
    return Call(motion.tool, f'Drive, since {motion.why}.', {'duration_s': motion.duration_s})


EXPLORE = (
    look_here,
    look_around,
    find_out_where_i_am,
    end_when_stuck,
    end_without_progress,
    drive_to_the_light,
)
