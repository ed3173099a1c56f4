# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Which operations need an operator's approval. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from curiosity_rosa_demo.agent.react.guardrails.geofence import geofence_reason
from curiosity_rosa_demo.agent.react.guardrails.situation import (
    Limits,
    Proposal,
    Situation,
    STOP_SKILLS,
    STOW_SKILL,
)
from curiosity_rosa_demo.domain.skills import MOTIONS

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
        fence = _fence_reason(proposal, situation, limits)
        reasons += filter(None, (_battery(situation, limits), fence))
    return Ask(tuple(reasons), fence)


def _battery(situation: Situation, limits: Limits) -> str:
    """An unknown charge counts as below the limit; with the limit 0.0 nothing is below it."""
    least, battery = limits.approval.battery_below, situation.battery
    if least <= 0.0 or (battery is not None and battery >= least):
        return ''
    known = 'unknown' if battery is None else f'at {battery:.0%}'
    return f'the battery is {known}, the limit {least:.0%} (approval.battery_below)'


def _fence_reason(proposal: Proposal, situation: Situation, limits: Limits) -> str:
    if limits.geofence.leaving != 'ask':
        return ''
    return geofence_reason(proposal, situation, limits)
