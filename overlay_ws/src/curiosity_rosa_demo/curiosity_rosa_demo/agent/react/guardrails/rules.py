# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The rules that an operation must pass before its dispatch: one function each. Pure.

Safety comes first. A rule returns its reason to refuse, one line that starts with a stable word,
or ''. A stop passes all rules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from curiosity_rosa_demo.agent.react.guardrails.geofence import (
    geofence_reason,
    metres_ahead,
    motion_seconds,
)
from curiosity_rosa_demo.agent.react.guardrails.situation import (
    Limits,
    NAVIGATE_SKILL,
    Proposal,
    Situation,
    situation_of_facts,
)
from curiosity_rosa_demo.domain.brain_state import Mode, Spent
from curiosity_rosa_demo.domain.models import MOVE_IN_PROGRESS, NEED_TO_CLOSE_MAST
from curiosity_rosa_demo.domain.operation import Operation
from curiosity_rosa_demo.domain.plan.plan import RiskLevel
from curiosity_rosa_demo.domain.text import one_line

Rule = Callable[[Proposal, Situation, Limits], str]
MAX_QUOTE = 80  # characters of a text from outside
MODES_THAT_MAY_ACT = frozenset({Mode.EXEC.value, Mode.IDLE.value})


@dataclass(frozen=True)
class Refusal:
    rule: str  # name of the rule
    reason: str


def safety(proposal: Proposal, situation: Situation, limits: Limits) -> str:
    """No motion under a safety latch, in SAFE, or while the mode is unknown."""
    if not (limits.may_move_base(proposal) or proposal.moves_mast):
        return ''
    if situation.safety_latch:
        latch = situation.safety_latch[:MAX_QUOTE]
        return f'SAFE_MODE: the safety latch is set ({latch}); a person must clear it'
    if situation.mode not in MODES_THAT_MAY_ACT | {Mode.CHARGE.value}:
        mode = situation.mode[:MAX_QUOTE] or 'unknown'
        return f'SAFE_MODE: the mode is {mode}, nothing may move; wait until it is EXEC'
    return ''


def charging(proposal: Proposal, situation: Situation, limits: Limits) -> str:
    """In CHARGE the rover stands with its mast stowed; stowing it is allowed."""
    if situation.mode != Mode.CHARGE.value or proposal.skill == 'mast_close':
        return ''
    if not (limits.may_move_base(proposal) or proposal.moves_mast):
        return ''
    return (
        'BATTERY_CRITICAL: the mode is CHARGE, only mast_close may move; wait until it is charged'
    )


def mast_closed(proposal: Proposal, situation: Situation, limits: Limits) -> str:
    """The base moves only while the mast is known to be closed."""
    if limits.may_move_base(proposal) and situation.mast != 'closed':
        return NEED_TO_CLOSE_MAST
    return ''


def still_for_mast(proposal: Proposal, situation: Situation, limits: Limits) -> str:
    """The mast moves only while the rover stands; stowing is allowed when that is unknown."""
    if not proposal.moves_mast or situation.moving is False:
        return ''
    if situation.moving:
        return f'{MOVE_IN_PROGRESS}: the rover moves; move_stop first'
    if proposal.skill == 'mast_close':
        return ''
    return f'{MOVE_IN_PROGRESS}: it is unknown whether the rover stands; get_status tells'


def resource_conflict(proposal: Proposal, situation: Situation, limits: Limits) -> str:
    """A resource serves one running skill at a time."""
    for running in situation.running:
        shared = proposal.skill_resources.intersection(running.resources_occupied)
        if shared:
            names, holder = ', '.join(sorted(shared)), running.skill_name[:MAX_QUOTE]
            return (
                f'RESOURCE_CONFLICT: {names[:MAX_QUOTE]} held by {holder}; wait until it ends '
                'or stop it'
            )
    return ''


def same_refused(proposal: Proposal, situation: Situation, limits: Limits) -> str:
    """A call that was refused too often in this turn is refused without further checks."""
    times = situation.refused.get(proposal.op.text, 0)
    if times < limits.patience.same_refused:
        return ''
    return f'REFUSED_AGAIN: refused {times} times already: do something else, or change arguments'


def steps_left(proposal: Proposal, situation: Situation, limits: Limits) -> str:
    """turn.max_steps of agent.yaml."""
    if situation.spent.steps < limits.max_steps:
        return ''
    used = f'BUDGET: all {limits.max_steps} steps of this turn are used'
    return f'{used}; finish with the current results'


def cost_left(proposal: Proposal, situation: Situation, limits: Limits) -> str:
    """budget.max_cost."""
    spent, most = situation.spent.cost, limits.budget.max_cost
    if spent + proposal.cost <= most:
        return ''
    return (
        f'BUDGET: cost {proposal.cost:g} on top of {spent:g} exceeds {most:g}; '
        'do something cheaper, or finish'
    )


def metres_left(proposal: Proposal, situation: Situation, limits: Limits) -> str:
    """budget.max_metres, with the longest path that the motion may take."""
    if not limits.may_move_base(proposal):
        return ''
    ahead, spent = metres_ahead(proposal, situation, limits), situation.spent.metres
    if ahead is None:
        return 'BUDGET: the pose or the goal is unknown, so is the way; wait for the pose'
    if spent + ahead <= limits.budget.max_metres:
        return ''
    return (
        f'BUDGET: up to {ahead:.1f} m on top of {spent:.1f} m exceed '
        f'{limits.budget.max_metres:g} m; drive less, or finish'
    )


def seconds_left(proposal: Proposal, situation: Situation, limits: Limits) -> str:
    """budget.max_seconds, with the longest time of a motion; navigation is timed leg by leg."""
    spent, most = situation.spent.seconds, limits.budget.max_seconds
    timed = limits.may_move_base(proposal) and proposal.skill != NAVIGATE_SKILL
    ahead = motion_seconds(proposal, limits) if timed else 0.0
    if spent + ahead <= most and spent < most:
        return ''
    return (
        f'BUDGET: up to {ahead:.1f} s on top of {spent:.1f} s exceed {most:g} s; '
        'drive for less time, or finish'
    )


def geofence(proposal: Proposal, situation: Situation, limits: Limits) -> str:
    """The motion's reach is inside the fence. With ``leaving: ask`` the operator decides instead,
    except for navigate_to_pose: its legs run without questions.
    """
    if limits.geofence.leaving == 'ask' and proposal.skill != NAVIGATE_SKILL:
        return ''
    return geofence_reason(proposal, situation, limits)


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
)
# These need a turn. Every other rule also binds each call of the rover, whatever its origin.
TURN_RULES = frozenset({resource_conflict, same_refused, steps_left, cost_left})
CALL_RULES = tuple(rule for rule in RULES if rule not in TURN_RULES)
# For one leg of a longer path the fence refuses in any case: a leg runs without questions.
LEG_RULES = (*(rule for rule in CALL_RULES if rule is not geofence), geofence_reason)


def find_refusal(proposal: Proposal, situation: Situation, limits: Limits) -> Refusal | None:
    """The first rule that refuses; None when all let the proposal pass."""
    return _first_refusal(RULES, proposal, situation, limits)


def drive_refusal(
    name: str, duration_s: float, facts: Mapping[str, object], spent: Spent, limits: Limits
) -> str:
    """Why the motion ``name`` must not be driven now as one leg of a longer path; '' when it may.

    The operator cannot be asked in the middle of a path, so a leg never leads outside the fence.
    """
    return call_refusal(name, {'duration_s': duration_s}, facts, spent, limits, LEG_RULES)


def call_refusal(
    name: str,
    arguments: Mapping[str, Any],
    facts: Mapping[str, object],
    spent: Spent,
    limits: Limits,
    rules: tuple[Rule, ...] = CALL_RULES,
) -> str:
    """Why the rover's tool ``name`` must not be called now, for any origin; '' when it may.

    With ``leaving: ask`` CALL_RULES do not apply the fence: a turn has asked before.
    """
    resources = frozenset({'base'} if name in limits.motions else ())
    proposal = Proposal(Operation(name, dict(arguments)), resources, RiskLevel.LOW, 0.0)
    refused = _first_refusal(rules, proposal, situation_of_facts(facts, spent=spent), limits)
    return refused.reason if refused else ''


def _first_refusal(
    rules: tuple[Rule, ...], proposal: Proposal, situation: Situation, limits: Limits
) -> Refusal | None:
    if proposal.is_stop:
        return None
    for rule in rules:
        reason = rule(proposal, situation, limits)
        if reason:
            return Refusal(rule.__name__, one_line(reason))
    return None
