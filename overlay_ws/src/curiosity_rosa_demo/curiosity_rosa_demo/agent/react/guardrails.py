# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The guardrails that an operation must pass before its dispatch: one function each, ``RULES`` has
their order, gate.py asks them. Pure. The rules of the rover's motion are adapter/rules.py.

Safety comes first. A rule returns its refusal, or None. A stop passes all rules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
import math

from curiosity_rosa_demo.agent.react.fence import (
    geofence_reason,
    geofence_refusal,
    metres_ahead,
    motion_seconds,
    reach_of,
)
from curiosity_rosa_demo.agent.react.situation import (
    Limits,
    NAVIGATE_SKILL,
    Proposal,
    Situation,
    situation_of_facts,
    STOP_SKILLS,
    STOW_SKILL,
)
from curiosity_rosa_demo.domain.brain_state import Mode, Spent, STOWED_MAST
from curiosity_rosa_demo.domain.geometry import DIRECTIONS
from curiosity_rosa_demo.domain.operation import Operation
from curiosity_rosa_demo.domain.plan import RiskLevel
from curiosity_rosa_demo.domain.refusal import POSE_UNKNOWN, Refusal, RefusalCode
from curiosity_rosa_demo.domain.skills import MOTIONS
from curiosity_rosa_demo.domain.text import count_text

# -----------------------------------------------------------------------------------------------
# Whether the charge is enough for a motion and for the way from its end home. Pure
#
# Home is the charging place of guardrails.yaml. The longest path of the motion and the straight
# way home from the farthest place that it may reach must leave ``reserve`` above ``battery.low``:
# at that level the rover stops and charges where it stands, and does not come home.
#
# With less, only what leads home passes:
#
# - a straight drive or a way whose end is nearer to home than the rover. The distance to a point
# is convex along a line, so no place on the line is farther from home than the rover is now;
# - a turn to the side where home lies, or to any side while home lies behind.
#
# An unknown charge refuses nothing: the rover may have no battery topic. A skill that drives by
# motions of its own is not checked as a whole, because each of its motions passes this rule.


BEHIND_RAD = 0.75 * math.pi  # from this bearing of home on, a turn to either side leads home


def energy_home(proposal: Proposal, situation: Situation, limits: Limits) -> Refusal | None:
    """The charge is enough for this motion and the way home after it, or the motion leads home."""
    energy, charge = limits.energy, situation.battery
    if not energy.enabled or charge is None or proposal.skill not in limits.motions:
        return None
    least = limits.battery_low + energy.reserve
    needed = needed_charge(proposal, situation, limits)
    if needed is None:
        return _short(POSE_UNKNOWN, least, limits, 'wait for the pose')
    if charge >= needed or _leads_home(proposal, situation, limits):
        return None
    why = f'the battery is at {charge:.1%}, this motion and the way home need {needed:.1%}'
    return _short(why, least, limits, 'charge first: stand with the mast stowed; or drive home')


def needed_charge(proposal: Proposal, situation: Situation, limits: Limits) -> float | None:
    """The charge, 0.0 to 1.0 or more, with which the motion may begin; None: unknown pose."""
    ahead, reach = metres_ahead(proposal, situation, limits), reach_of(proposal, situation, limits)
    if ahead is None or reach is None:
        return None
    if situation.moving is not False:  # it may drive on until a stop ends that motion
        ahead += limits.geofence.max_speed_mps * limits.reaction_s
    farthest = max(math.dist(point, _home(limits)) for point in reach.points) + reach.radius
    least = limits.battery_low + limits.energy.reserve
    return least + limits.energy.charge_per_m * (ahead + farthest)


def _leads_home(proposal: Proposal, situation: Situation, limits: Limits) -> bool:
    reach, yaw = reach_of(proposal, situation, limits), situation.yaw_rad
    if reach is None or situation.moving is not False:
        return False
    (x, y), end, home = reach.points[0], reach.points[-1], _home(limits)
    if proposal.skill == NAVIGATE_SKILL or (
        not DIRECTIONS.get(proposal.skill) and yaw is not None
    ):
        return math.dist(end, home) < math.dist((x, y), home)
    if yaw is None or (x, y) == home:
        return False
    bearing = math.remainder(math.atan2(home[1] - y, home[0] - x) - yaw, math.tau)
    return DIRECTIONS[proposal.skill] * bearing > 0.0 or abs(bearing) >= BEHIND_RAD


def _home(limits: Limits) -> tuple[float, float]:
    return (limits.energy.home_x, limits.energy.home_y)


def _short(why: str, least: float, limits: Limits, way_out: str) -> Refusal:
    x, y = _home(limits)
    allowed = f'a motion after which {least:.0%} are left at home, x {x:g}, y {y:g}'
    return Refusal(RefusalCode.ENERGY, why, allowed, way_out)


Rule = Callable[[Proposal, Situation, Limits], 'Refusal | None']
MAX_QUOTE = 80  # characters of a text from outside
MODES_THAT_MAY_ACT = frozenset({Mode.EXEC.value, Mode.IDLE.value})


def safety(proposal: Proposal, situation: Situation, limits: Limits) -> Refusal | None:
    """No motion under a safety latch, in SAFE, or while the mode is unknown."""
    if not (limits.may_move_base(proposal) or proposal.moves_mast):
        return None
    code, allowed = RefusalCode.SAFE_MODE, 'a stop; nothing else moves in SAFE'
    if situation.safety_latch:
        why = f'the safety latch is set ({situation.safety_latch[:MAX_QUOTE]})'
        return Refusal(code, why, allowed, 'a person must clear it')
    if situation.mode not in MODES_THAT_MAY_ACT | {Mode.CHARGE.value}:
        why = f'the mode is {situation.mode[:MAX_QUOTE] or "unknown"}, nothing may move'
        return Refusal(code, why, allowed, 'wait until it is EXEC')
    return None


def charging(proposal: Proposal, situation: Situation, limits: Limits) -> Refusal | None:
    """In CHARGE the rover stands with its mast stowed; stowing it is allowed."""
    if situation.mode != Mode.CHARGE.value or proposal.skill == STOW_SKILL:
        return None
    if not (limits.may_move_base(proposal) or proposal.moves_mast):
        return None
    return Refusal(
        RefusalCode.BATTERY_CRITICAL,
        'the mode is CHARGE, only mast_close may move',
        STOW_SKILL,
        'wait until it is charged',
    )


def mast_closed(proposal: Proposal, situation: Situation, limits: Limits) -> Refusal | None:
    """The base moves only while the mast, if there is one, is known to be closed."""
    if limits.may_move_base(proposal) and situation.mast not in STOWED_MAST:
        code, allowed = RefusalCode.MAST_NOT_CLOSED, 'a motion while the mast is closed'
        return Refusal(code, '', allowed, f'{STOW_SKILL} first')
    return None


def still_for_mast(proposal: Proposal, situation: Situation, limits: Limits) -> Refusal | None:
    """The mast moves only while the rover stands; stowing is allowed when that is unknown."""
    if not proposal.moves_mast or situation.moving is False:
        return None
    code, allowed = RefusalCode.MOVE_IN_PROGRESS, 'a motion of the mast while the rover stands'
    if situation.moving:
        return Refusal(code, 'the rover moves', allowed, 'move_stop first')
    if proposal.skill == STOW_SKILL:
        return None
    return Refusal(code, 'it is unknown whether the rover stands', allowed, 'get_status tells')


def resource_conflict(proposal: Proposal, situation: Situation, limits: Limits) -> Refusal | None:
    """A resource serves one running skill at a time."""
    for running in situation.running:
        shared = proposal.skill_resources.intersection(running.resources_occupied)
        if shared:
            names, holder = ', '.join(sorted(shared)), running.skill_name[:MAX_QUOTE]
            return Refusal(
                RefusalCode.RESOURCE_CONFLICT,
                f'{names[:MAX_QUOTE]} held by {holder}',
                'one running skill for each resource',
                'wait until it ends or stop it',
            )
    return None


def same_refused(proposal: Proposal, situation: Situation, limits: Limits) -> Refusal | None:
    """A call that was refused too often in this turn is refused without further checks."""
    times, most = situation.refused.get(proposal.op.text, 0), limits.patience.same_refused
    if times < most:
        return None
    return Refusal(
        RefusalCode.REFUSED_AGAIN,
        f'refused {count_text(times, "time")} already',
        f'{most} refusals of the same call',
        'do something else, or change arguments',
    )


def steps_left(proposal: Proposal, situation: Situation, limits: Limits) -> Refusal | None:
    """turn.max_steps of agent.yaml."""
    most = limits.max_steps
    if situation.spent.steps < most:
        return None
    why = f'the limit of {count_text(most, "step")} is reached'
    return _over_budget(why, count_text(most, 'step'), 'finish with the current results')


def cost_left(proposal: Proposal, situation: Situation, limits: Limits) -> Refusal | None:
    """budget.max_cost."""
    spent, most = situation.spent.cost, limits.budget.max_cost
    if spent + proposal.cost <= most:
        return None
    why = f'cost {proposal.cost:g} on top of {spent:g} exceeds {most:g}'
    return _over_budget(why, f'cost {most:g}', 'do something cheaper, or finish')


def metres_left(proposal: Proposal, situation: Situation, limits: Limits) -> Refusal | None:
    """budget.max_metres, with the longest path that the motion may take."""
    if not limits.may_move_base(proposal):
        return None
    ahead, spent = metres_ahead(proposal, situation, limits), situation.spent.metres
    most = limits.budget.max_metres
    if ahead is None:
        why = 'the pose or the goal is unknown, so is the way'
        return _over_budget(why, f'{most:g} m', 'wait for the pose')
    if spent + ahead <= most:
        return None
    why = f'up to {ahead:.1f} m on top of {spent:.1f} m exceed {most:g} m'
    return _over_budget(why, f'{most:g} m', 'drive less, or finish')


def seconds_left(proposal: Proposal, situation: Situation, limits: Limits) -> Refusal | None:
    """budget.max_seconds, with the longest time of a motion; navigation is timed leg by leg."""
    spent, most = situation.spent.seconds, limits.budget.max_seconds
    timed = limits.may_move_base(proposal) and proposal.skill != NAVIGATE_SKILL
    ahead = motion_seconds(proposal, limits) if timed else 0.0
    if spent + ahead <= most and spent < most:
        return None
    why = f'up to {ahead:.1f} s on top of {spent:.1f} s exceed {most:g} s'
    return _over_budget(why, f'{most:g} s', 'drive for less time, or finish')


def _over_budget(why: str, allowed: str, way_out: str) -> Refusal:
    return Refusal(RefusalCode.BUDGET, why, f'at most {allowed}', way_out)


def geofence(proposal: Proposal, situation: Situation, limits: Limits) -> Refusal | None:
    """The motion's reach is inside the fence. With ``leaving: ask`` the operator decides instead,
    except for navigate_to_pose: its legs run without questions.
    """
    if limits.geofence.leaving == 'ask' and proposal.skill != NAVIGATE_SKILL:
        return None
    return geofence_refusal(proposal, situation, limits)


RULES: tuple[Rule, ...] = (
    safety,
    charging,
    mast_closed,
    still_for_mast,
    resource_conflict,
    same_refused,
    steps_left,
    cost_left,
    metres_left,
    seconds_left,
    geofence,
    energy_home,
)
# These need a turn. Every other rule also binds each call of the rover, whatever its origin.
TURN_RULES = frozenset({resource_conflict, same_refused, steps_left, cost_left})
CALL_RULES = tuple(rule for rule in RULES if rule not in TURN_RULES)
# For one leg of a longer path the fence refuses in any case: a leg runs without questions.
LEG_RULES = (*CALL_RULES, geofence_refusal)


def drive_refusal(
    name: str, duration_s: float, facts: Mapping[str, object], spent: Spent, limits: Limits
) -> Refusal | None:
    """Why the motion ``name`` must not be driven now as one leg of a longer path; None: it may.

    The operator cannot be asked in the middle of a path, so a leg never leads outside the fence.
    """
    op = Operation(name, {'duration_s': duration_s})
    proposal = Proposal(op, frozenset({'base'}), RiskLevel.LOW, 0.0)
    return first_refusal(LEG_RULES, proposal, situation_of_facts(facts, spent=spent), limits)


def first_refusal(
    rules: tuple[Rule, ...], proposal: Proposal, situation: Situation, limits: Limits
) -> Refusal | None:
    """The refusal of the first of ``rules`` that refuses, with its rule's name and the call."""
    if proposal.is_stop:
        return None
    for rule in rules:
        refused = rule(proposal, situation, limits)
        if refused is not None:
            name = refused.rule or rule.__name__
            return replace(refused, rule=name, asked=proposal.op.text)
    return None


# --- Which operations need an operator's approval. Pure ----------------------------------------


NEVER_APPROVED_SKILLS = STOP_SKILLS | {STOW_SKILL, 'get_status'}


@dataclass(frozen=True)
class Ask:
    """The order needs an operator's yes, for these reasons, one line each; for none it needs no
    yes. ``fence``: the one of them by which the motion may leave the fence; '' without it.
    """

    reasons: tuple[str, ...]
    fence: str = ''


NOTHING = Ask(())


def what_to_ask(proposal: Proposal, situation: Situation, limits: Limits) -> Ask:
    if proposal.skill in NEVER_APPROVED_SKILLS:
        return NOTHING
    rules, reasons, fence = limits.approval, [], ''
    if proposal.skill in rules.skills:
        reasons.append(f'{proposal.skill} is in approval.skills')
    elif proposal.skill not in MOTIONS and limits.may_move_base(proposal):
        driven = [name for name in MOTIONS if name in rules.skills]
        if driven:
            reasons.append(f'it may drive by {driven[0]}, which is in approval.skills')
    if proposal.risk in rules.risk_levels:
        reasons.append(f'its risk is {proposal.risk.value} (approval.risk_levels)')
    if limits.may_move_base(proposal):
        if limits.geofence.leaving == 'ask':
            fence = geofence_reason(proposal, situation, limits)
        reasons += filter(None, (_battery(situation, limits), fence))
    return Ask(tuple(reasons), fence)


def _battery(situation: Situation, limits: Limits) -> str:
    """An unknown charge counts as below the limit; with the limit 0.0 nothing is below it."""
    least, battery = limits.approval.battery_below, situation.battery
    if least <= 0.0 or (battery is not None and battery >= least):
        return ''
    known = 'unknown' if battery is None else f'at {battery:.0%}'
    return f'the battery is {known}, the limit {least:.0%} (approval.battery_below)'
