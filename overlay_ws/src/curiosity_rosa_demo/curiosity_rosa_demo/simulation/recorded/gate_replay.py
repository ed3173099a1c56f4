# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Replay the agent's gate: what it refused and what it let pass, on the recorded status.

The rules of mast, motion, SAFE, charge, fence and energy read the adapter's status, the battery
and the kernel's mode, which a recording holds. The rules of the budget, of resources, of repeated
refusals and of approval read the turn, which it does not hold.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from curiosity_rosa_demo.agent.react.guardrails.rules import first_refusal, RULES
from curiosity_rosa_demo.agent.react.guardrails.situation import (
    Limits,
    Proposal,
    Situation,
    situation_of_facts,
)
from curiosity_rosa_demo.domain.brain_state import Mode, Spent
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.domain.operation import Operation
from curiosity_rosa_demo.domain.plan.plan import RiskLevel
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.domain.skills import MAST_SKILLS, MOTIONS
from curiosity_rosa_demo.simulation.recorded.decisions import (
    compared,
    Comparison,
    undecidable,
)
from curiosity_rosa_demo.simulation.recorded.kernel_replay import KernelReplay
from curiosity_rosa_demo.simulation.recorded.recording import Recording

DECIDABLE = frozenset(
    {'safety', 'charging', 'mast_closed', 'still_for_mast', 'geofence', 'energy_home'}
)
SITUATION_RULES = tuple(rule for rule in RULES if rule.__name__ in DECIDABLE)
BASE = frozenset({'base'})
MOVING_SKILLS = MAST_SKILLS | frozenset(MOTIONS)
PASSES = 'passes'
RECENT_S = 1.5  # a status is due every second
NOT_RECORDED = 'the rule reads the turn, which is not recorded'


class GateReplay:
    def __init__(self, recording: Recording, kernel: KernelReplay) -> None:
        """``kernel``: after its replay."""
        self._recording, self._kernel = recording, kernel
        self._limits = Limits.of(recording.config)

    def comparisons(self) -> Iterator[Comparison]:
        for at_s, event in self._recording.events:
            data = event.data or {}
            name = event.tool_name or ''
            if event.kind is TraceKind.ACT and name in MOVING_SKILLS:
                arguments = data.get('arguments')
                op = Operation(name, arguments if isinstance(arguments, dict) else {})
                yield self._dispatched(at_s, op)
            elif (refusal := refusal_in(event)) is not None:
                yield self._refused(at_s, refusal)

    def _dispatched(self, at_s: float, op: Operation) -> Comparison:
        situation = self._situation(at_s)
        if situation is None:
            return undecidable(at_s, 'gate: passes', PASSES, 'no status is recorded there')
        refused = first_refusal(SITUATION_RULES, _proposal(op), situation, self._limits)
        own = PASSES if refused is None else f'{refused.rule}: {refused.reason}'
        return compared(at_s, 'gate: passes', PASSES, own, f'{op.text} in {_shown(situation)}')

    def _refused(self, at_s: float, refusal: Mapping[str, Any]) -> Comparison:
        rule, code = str(refusal['rule']), str(refusal['code'])
        name, text = f'gate: {rule}', f'{rule}: {code}'
        op, situation = operation_in(str(refusal.get('asked', ''))), self._situation(at_s)
        if rule not in DECIDABLE:
            return undecidable(at_s, name, text, NOT_RECORDED)
        if op is None or situation is None:
            return undecidable(at_s, name, text, 'the call or the status is not recorded')
        rules = tuple(each for each in SITUATION_RULES if each.__name__ == rule)
        refused = first_refusal(rules, _proposal(op), situation, self._limits)
        own = PASSES if refused is None else f'{refused.rule}: {refused.code.value}'
        return compared(at_s, name, text, own, f'{op.text} in {_shown(situation)}')

    def _situation(self, at_s: float) -> Situation | None:
        """The newest status before ``at_s``, with battery and mode of that time."""
        near = [each for each in self._recording.statuses if at_s - RECENT_S <= each[0] <= at_s]
        if not near:
            return None
        status = near[-1][1]
        battery = [each for time_s, each in self._recording.battery if time_s <= at_s]
        kernel = self._kernel.latch_at(at_s)
        latch = str(status.get('agent_safe_reason') or '')
        mode = kernel.mode if kernel is not None and kernel.mode is Mode.CHARGE else Mode.EXEC
        facts = {
            'x': status.get('rover_x'),
            'y': status.get('rover_y'),
            'yaw_rad': status.get('yaw_rad'),
            'mast': status.get('mast'),
            'moving': status.get('moving'),
            'battery_pct': 100.0 * battery[-1] if battery else None,
            'mode': Mode.SAFE.value if latch else mode.value,
            'safety_latch': latch,
        }
        return situation_of_facts(facts, spent=Spent())


def _proposal(op: Operation) -> Proposal:
    resources = BASE if op.skill in MOTIONS else frozenset[str]()
    return Proposal(op, resources, RiskLevel.LOW, 0.0)


def _shown(situation: Situation) -> str:
    return (
        f'mode {situation.mode}, mast {situation.mast}, moving {situation.moving}, '
        f'x {situation.x}, y {situation.y}, battery {situation.battery}'
    )


def refusal_in(event: TraceEvent) -> Mapping[str, Any] | None:
    """The gate's refusal that an event holds; None without one."""
    data = event.data or {}
    for found in (data, data.get('refusal')):
        if isinstance(found, dict) and isinstance(found.get('rule'), str) and found['rule']:
            codes = {each.value for each in RefusalCode}
            return found if found.get('code') in codes else None
    return None


def operation_in(text: str) -> Operation | None:
    """The operation that a text such as ``turn_left(duration_s=4)`` shows; None: no such text."""
    try:
        call = ast.parse(text, mode='eval').body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            return None
        arguments = {str(each.arg): ast.literal_eval(each.value) for each in call.keywords}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return Operation(call.func.id, arguments)
