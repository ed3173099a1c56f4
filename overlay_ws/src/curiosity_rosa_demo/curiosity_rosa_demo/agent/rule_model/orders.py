# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Orders of several steps, distances, angles, places and conditions: each is one plan. Pure, but
for the plan's new ID and time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from curiosity_rosa_demo.agent.language.grammar import Step, TOOLS
from curiosity_rosa_demo.agent.rule_model.beliefs import LEGS
from curiosity_rosa_demo.agent.rule_model.decision import Decision, FinalAnswer, TurnView
from curiosity_rosa_demo.agent.rule_model.texts import (
    condition_text,
    done_text,
    step_text,
    steps_text,
)
from curiosity_rosa_demo.domain.geometry import finite_float, XY
from curiosity_rosa_demo.domain.operation import Exchange
from curiosity_rosa_demo.domain.plan import Plan, PlanStep, StepStatus
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.domain.skills import CAPTURE, MOTIONS

MAX_TIMED_S = 120.0  # of one motion by seconds, in legs of the longest motion
MAX_DRIVE_M, MIN_DRIVE_M = 100.0, 0.05
MAX_TURN_DEG = 720.0
IN_PLACE_M = 0.5  # the radius of an arc that still counts as a turn on the spot
MAX_WAIT_S = 3600.0
DEFAULT_DRIVE_S = 3.0  # for a requested motion without a duration
AROUND_PICTURES = 3
TIMED = ('forward', 'left', 'right')
RELATIVE = (*MOTIONS, 'drive_distance', 'turn_angle')  # done twice, they lead farther
# Of a drive that had begun and tells no way.
CUT = (
    RefusalCode.INTERRUPTED,
    RefusalCode.NAV_BLOCKED,
    RefusalCode.SKILL_TIMEOUT,
    RefusalCode.UNKNOWN,
)
PLACES = {'home': ('home_x', 'home_y'), 'back': ('x', 'y')}  # facts; back: to where it is now
Op = tuple[str, dict[str, Any]]
MAX_OPS = 30  # with the calls before it a plan must fit into turn.max_steps
SEARCH = 'find_the_light'  # the action of a step that no skill does: the rules of the search do it
TOLD, CONDITION = 'told', 'condition'  # in a step's metadata: its end, for the answer; its "if"
SOURCE = 'routine'  # of the plan of an order


def limit_refusal(view: TurnView) -> Decision | None:
    """The refusal of a number that is beyond what the rover does at once, and of a turn on the
    spot by a rover that drives arcs; it names the limit.
    """
    radius_m = view.rover.speeds.radius_m
    for step in view.intent.steps:
        if step.in_place and radius_m > IN_PLACE_M:
            return view.answer('not_in_place', radius=f'{radius_m:.1f}')
        limit = _limit_broken(step)
        if limit:
            return view.answer('too_far', asked=step_text(step, view.language), limit=limit)
    return None


def _limit_broken(step: Step) -> str:
    most = {'s': MAX_TIMED_S, 'm': MAX_DRIVE_M, 'deg': MAX_TURN_DEG}
    if step.verb in TIMED and step.unit and step.amount > most[step.unit]:
        return f'{most[step.unit]:g} {step.unit}'
    if step.unit == 'm' and step.amount < MIN_DRIVE_M:
        return f'>= {MIN_DRIVE_M:g} m'
    return f'{MAX_WAIT_S:g} s' if step.verb == 'wait' and step.amount > MAX_WAIT_S else ''


def carry_out(view: TurnView) -> Decision:
    """The plan of the order; once it is over, the answer."""
    if view.plan is not None:
        return _outcome(view, view.plan)
    ordered = view.intent.steps
    places: dict[str, XY] = {}
    for verb in PLACES.keys() & {step.verb for step in ordered}:
        x, y = (finite_float(view.facts.get(key)) for key in PLACES[verb])
        if x is None or y is None:
            what = step_text(Step(verb), view.language)
            return _failed(view, what, view.say('place_unknown'))
        places[verb] = (round(x, 3), round(y, 3))
    told = steps_text(ordered, view.language)
    plan = Plan.create_new(view.said.text[:300], view.say('plan', steps=told), source=SOURCE)
    for step in plan_steps(ordered, places, view):
        if step.action not in (*view.tools, SEARCH):
            return view.answer('no_tool', tool=step.action)
        plan.add_step(step.model_copy(update={'step_id': plan.next_step_id()}))
    if any(step.action in RELATIVE for step in plan.steps) and (ended := driven_before(view)):
        return ended
    if len(plan.steps) > MAX_OPS:
        return view.answer('too_far', asked=told, limit=f'{MAX_OPS} steps')
    return plan


def driven_before(view: TurnView) -> FinalAnswer | None:
    """The end of an order to drive, in a turn that has driven: that was a model, and to drive it
    all again would drive too far.
    """
    drives = (each for each in view.steps if each.tool in (*RELATIVE, *LEGS))
    driven = [each for each in drives if each.ok or each.data.get('legs') or _is_cut(each)]
    if not driven:
        return None
    done = '; '.join(done_text(each.tool, each.data, view.language) for each in driven)
    what = steps_text(view.intent.steps, view.language)
    return _failed(view, what, view.say('driven_before'), done)


def _is_cut(drive: Exchange) -> bool:
    return 'duration_s' in drive.data or drive.code in CUT


def refused_text(view: TurnView, why: str) -> str:
    """The answer to an order whose plan may not begin."""
    return _failed(view, steps_text(view.intent.steps, view.language), why).text


def _failed(view: TurnView, what: str, reason: str, done: str = '') -> FinalAnswer:
    return view.answer('orders_failed', what=what, reason=reason, done=done or '-')


def _outcome(view: TurnView, plan: Plan) -> FinalAnswer:
    """What the plan has done, in measured numbers, and why it failed if it did."""
    told: list[str] = []
    for step in plan.steps:
        calls = [each for each in view.steps if each.plan_step == step.step_id]
        said = str(step.metadata.get(TOLD, ''))
        if step.status is StepStatus.SUCCESS:
            said = said or done_text(step.action, calls[-1].data, view.language)
            told += [said] if said else []
        if step.status is not StepStatus.FAILED:
            continue
        if CONDITION in step.metadata and not (calls or said):
            return _not_met(view, step, told)
        reason = said or (calls[-1].reason if calls else view.say('not_known'))
        return _failed(view, step.description, reason, '; '.join(told))
    what = steps_text(view.intent.steps, view.language)
    return FinalAnswer(view.say('orders_done', done='; '.join(told) or what))


def _not_met(view: TurnView, step: PlanStep, told: list[str]) -> FinalAnswer:
    """The end by a condition: what it says does not hold, or nobody knows."""
    condition = str(step.metadata[CONDITION])
    said = condition_text(condition, view.language)
    if view.facts.get(_condition(condition)[0]) in (None, 'unknown'):
        return view.answer('condition_unknown', condition=said)
    text = view.say('condition_not_met', condition=said)
    return FinalAnswer(f'{text} {"; ".join(told)}'.strip())


# --- The steps of the plan ----------------------------------------------------------------------


def plan_steps(
    ordered: tuple[Step, ...], places: Mapping[str, XY], view: TurnView
) -> Iterator[PlanStep]:
    """The steps that carry out ``ordered``, with the mast, if there is one, as each needs it, and
    each of ``view.stows``, the skills that stow an appendage, before a drive. Each tells for what
    it is done; the first one under a condition has it as its precondition.
    """
    mast, stowed, before, language = '', False, '', view.language
    for step in ordered:
        found: list[PlanStep] = []
        condition, why = step.condition, step_text(step, language)
        if condition not in ('', before) and condition in ('dark', 'bright'):
            look = step_text(Step('picture'), language)
            if view.has_mast and mast != 'mast_open':
                yield PlanStep(0, 'mast_open', description=look)
            yield PlanStep(0, CAPTURE, fallback=CAPTURE, description=look)
            mast = 'mast_open'
        for skill, arguments in _operations(step, places, view.longest_s):
            needs = _mast_needed(skill)
            if needs == 'mast_close' != skill and not stowed:
                found += [PlanStep(0, part, description=why) for part in view.stows]
                stowed = True
            elif step.verb == 'skill' or skill == SEARCH:
                stowed = False  # it may move an appendage
            if view.has_mast and needs and needs != mast:
                mast = needs
                found += [] if skill == needs else [PlanStep(0, needs, description=why)]
            mast = '' if skill == SEARCH else mast
            found.append(PlanStep(0, skill, arguments, description=why))
        if condition not in ('', before):
            fact, suffix, value = _condition(condition)
            found[0].preconditions = {f'{fact}{suffix}': value}
            found[0].metadata = {CONDITION: condition}
        before = condition
        yield from found


def _condition(condition: str) -> tuple[str, str, Any]:
    """The fact of a condition like ``battery>50``, how it is compared (domain/conditions.py), and
    with which value.
    """
    if condition in ('dark', 'bright'):
        return 'is_good', '', condition == 'bright'
    if condition.startswith('battery'):
        return 'battery_pct', '_above' if condition[7] == '>' else '_below', float(condition[8:])
    return 'mast', '', condition.removeprefix('mast ')


def _mast_needed(skill: str) -> str:
    if skill in ('capture_and_score', 'mast_rotate', 'mast_open'):
        return 'mast_open'
    return 'mast_close' if skill in (*MOTIONS, *LEGS, 'mast_close') else ''


def _operations(step: Step, places: Mapping[str, XY], longest_s: float) -> Iterator[Op]:
    verb, skill = step.verb, TOOLS.get(step.verb, step.text)
    if verb in TIMED and step.unit == 'm':
        yield 'drive_distance', {'distance_m': step.amount}
    elif verb in TIMED and step.unit == 'deg':
        yield 'turn_angle', {'angle_deg': step.amount if verb == 'left' else -step.amount}
    elif verb in TIMED:
        left = step.amount if step.unit else DEFAULT_DRIVE_S
        legs = max(1, -int(-left // longest_s))
        yield from [(skill, {'duration_s': round(left / legs, 2)})] * legs
    elif verb in ('light', 'explore'):
        yield SEARCH, {'analyze': verb == 'explore'}
    elif verb in (*PLACES, 'goto'):
        x, y = places.get(verb, (step.x, step.y))
        yield 'navigate_to_pose', {'x': x, 'y': y}
    elif verb == 'around':
        for i in range(step.count or AROUND_PICTURES):
            if i:
                yield 'mast_rotate', {}
            yield 'capture_and_score', {}
    elif verb == 'wait':
        yield skill, {'duration_s': step.amount}
    elif verb == 'say':
        yield skill, {'text': step.text}
    else:
        yield from [(skill, {})] * (step.count if verb == 'picture' and step.count else 1)
