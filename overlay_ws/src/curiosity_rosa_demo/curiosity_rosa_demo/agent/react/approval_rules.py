"""What a person must allow first. Pure."""

from __future__ import annotations

from curiosity_rosa_demo.agent.react.geofence import outside
from curiosity_rosa_demo.agent.react.situation import STOPS, Limits, Proposal, Situation

NEVER_ASKED = STOPS | {'get_status'}


def reasons_to_ask(proposal: Proposal, situation: Situation, limits: Limits) -> list[str]:
    """Why this needs a yes, each in one line; none when it needs none."""
    if proposal.skill in NEVER_ASKED:
        return []
    rules, reasons = limits.approval, []
    if proposal.skill in rules.skills:
        reasons.append(f'{proposal.skill} is in approval.skills')
    if proposal.risk in rules.risk_levels:
        reasons.append(f'its risk is {proposal.risk.value} (approval.risk_levels)')
    if limits.drives(proposal):
        reasons += filter(
            None, (_battery(situation, limits), _leaving(proposal, situation, limits))
        )
    return reasons


def _battery(situation: Situation, limits: Limits) -> str:
    """An unknown charge counts as below the limit; with the limit 0.0 nothing is below it."""
    least, battery = limits.approval.battery_below, situation.battery
    if least <= 0.0 or (battery is not None and battery >= least):
        return ''
    known = 'unknown' if battery is None else f'at {battery:.0%}'
    return f'the battery is {known}, the limit {least:.0%} (approval.battery_below)'


def _leaving(proposal: Proposal, situation: Situation, limits: Limits) -> str:
    if limits.geofence.leaving != 'ask':
        return ''
    return outside(proposal, situation, limits)
