# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The rule model's decision: the next tool call, by rules. Pure: equal views, equal decisions.

Each rule is a function that returns a decision, or None to pass. ``decide`` evaluates the rules in
order of priority: safety before the goal, observation before driving.
"""

from __future__ import annotations

from curiosity_rosa_demo.agent.rule_model.beliefs import Mast
from curiosity_rosa_demo.agent.rule_model.decision import (
    Decision,
    FinalAnswer,
    MAX_ATTEMPTS,
    Rule,
    ToolCall,
    TurnView,
)
from curiosity_rosa_demo.agent.rule_model.explore import EXPLORE_RULES, report_a_good_capture
from curiosity_rosa_demo.agent.rule_model.orders import (
    carry_out,
    DEFAULT_DRIVE_S,
    driven_before,
    limit_refusal,
)
from curiosity_rosa_demo.agent.rule_model.texts import broken_text, result_text, steps_text
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.domain.skills import MOTIONS

_MISSING = {'number': 'a_number', 'backward': 'no_reverse', 'mast': 'mast_excludes'}
MAX_CALLS = 76  # per turn; a stop of the rover may add up to MAX_ATTEMPTS
MAX_INTERRUPTIONS = 8  # of a tool since its last success, by the agent's end


def decide(view: TurnView) -> Decision:
    """The next call, the plan of an order, or the answer that ends the turn."""
    if view.intent.kind not in RULES:
        return what_was_not_understood(view)
    decisions = (rule(view) for rule in RULES[view.intent.kind])
    decision = next(decision for decision in decisions if decision is not None)
    if isinstance(decision, ToolCall) and decision.tool not in view.tools:
        return view.answer('no_tool', tool=decision.tool)
    return decision


def what_was_not_understood(view: TurnView) -> FinalAnswer:
    """Nothing is done: what was understood, what is missing, and the nearest that can be done."""
    intent = view.intent
    understood = steps_text(intent.understood, view.language)
    nearest = understood or view.say('examples')
    if intent.kind == 'unknown':
        text = f'{view.say("unknown")} {view.say("nearest", nearest=nearest)}'
        return FinalAnswer(text, ok=False)
    if intent.kind != 'unclear':
        return view.answer(intent.kind)
    missing = intent.missing or view.say('what_is_meant')
    if missing in _MISSING:
        missing = view.say(_MISSING[missing])
    return view.answer(
        'missing',
        understood=understood or view.say('none'),
        missing=missing,
        nearest=nearest,
    )


# --- safety and faults, for every intent that acts --------------------------------------------


def obey_the_operator(view: TurnView) -> Decision | None:
    last = view.steps[-1] if view.steps else None
    if last and last.code == RefusalCode.REJECTED:
        return view.answer('operator', reason=last.reason)
    return None


def stop_what_moves(view: TurnView) -> Decision | None:
    if not view.beliefs.must_stop:
        return None
    last = view.last('move_stop')
    if last and view.failures('move_stop') >= MAX_ATTEMPTS:
        return view.answer('cannot_stop', reason=last.reason)
    return view.call('move_stop', 'stop_first')


def stow_what_sticks_out(view: TurnView) -> Decision | None:
    """Stow the appendage for which the adapter refused a motion."""
    tool = view.beliefs.stow_first
    tries = sum(view.failures(tool, refused=refused) for refused in (False, True))
    if tool not in view.tools or tries >= MAX_ATTEMPTS:
        return None
    return view.call(tool, 'stow_the_part')


def give_up_on_what_is_broken(view: TurnView) -> Decision | None:
    """End the turn when a tool that the goal needs has failed too often since its last success.

    A call during which the agent ended says little of the tool: it counts as a failure only when
    it happens again and again, or when the user requested this one motion.
    """
    requested = view.intent.tool
    # The user requested one motion: do not repeat it after a failure.
    motion_tries = 1 if requested in MOTIONS else MAX_ATTEMPTS
    needed = [('capture_and_score',), ('mast_open',), ('mast_close',), MOTIONS]
    if requested and requested not in MOTIONS:
        needed.append((requested,))
    for tools in needed:
        last = view.last(*tools)
        tries = motion_tries if tools == MOTIONS else MAX_ATTEMPTS
        if last and _is_refused_for_good(view, last.code, tools):
            return view.answer('refused', tool=last.tool, reason=last.reason, **view.figures())
        interruptions = view.interruptions(*tools)
        pardoned = (
            0 if requested in MOTIONS or interruptions > MAX_INTERRUPTIONS else interruptions
        )
        if last and view.failures(*tools) - pardoned >= tries:
            text = broken_text(view.language, last, view.figures())
            return FinalAnswer(text, ok=False)
    return None


def _is_refused_for_good(view: TurnView, code: str, tools: tuple[str, ...]) -> bool:
    """Nothing less is left to ask for: budget or charge is used up, the user asked for exactly
    this motion, or too much was refused in a row.
    """
    times = view.failures(*tools, refused=True)
    exact = view.intent.tool in MOTIONS and code == RefusalCode.GEOFENCE
    if exact or code in (RefusalCode.BUDGET, RefusalCode.ENERGY):
        return times > 0
    return times >= MAX_ATTEMPTS


def end_an_endless_turn(view: TurnView) -> Decision | None:
    calls = len(view.steps)
    return None if calls < MAX_CALLS else view.answer('too_long', calls=calls, **view.figures())


def check_after_a_fault(view: TurnView) -> Decision | None:
    if not view.beliefs.in_doubt or 'get_status' not in view.tools:
        return None
    return view.call('get_status', 'ask_after_a_fault')


# --- direct commands and questions -----------------------------------------------------------


def report_the_command(view: TurnView) -> Decision | None:
    last = view.last(view.intent.tool or '')
    return (
        FinalAnswer(result_text(view.language, last.tool, last.data)) if last and last.ok else None
    )


def drive_as_asked(view: TurnView) -> Decision | None:
    tool, mast = view.intent.tool, view.beliefs.mast
    if tool not in MOTIONS:
        return None
    if (ended := driven_before(view)) is not None:
        return ended
    if mast is Mast.UNASKED and 'get_status' in view.tools:
        return view.call('get_status', 'is_the_mast_closed')
    if not mast.is_stowed:
        return view.call('mast_close', 'close_to_drive')
    if (part := view.beliefs.sticks_out) in view.tools:
        return view.call(part, 'stow_the_part')
    seconds = view.seconds(view.intent.duration_s or DEFAULT_DRIVE_S)
    arguments = {'duration_s': seconds}
    return view.call(tool, 'asked_for_seconds', arguments, seconds=f'{seconds:g}')


def do_as_asked(view: TurnView) -> Decision:
    tool, mast = view.intent.tool or '', view.beliefs.mast
    if tool == 'capture_and_score':
        return view.capture('asked_for_a_picture')
    if tool == 'mast_rotate' and mast in (Mast.UNKNOWN, Mast.CLOSED, Mast.UNASKED):
        return view.call('mast_open', 'open_before_turning')
    return view.call(tool, 'measure' if tool == 'get_status' else 'asked')


SAFETY_RULES: tuple[Rule, ...] = (obey_the_operator, stop_what_moves, stow_what_sticks_out)
FAULT_RULES: tuple[Rule, ...] = (
    give_up_on_what_is_broken,
    end_an_endless_turn,
    check_after_a_fault,
)
RULES: dict[str, tuple[Rule, ...]] = {
    'explore': (*SAFETY_RULES, report_a_good_capture, *FAULT_RULES, *EXPLORE_RULES),
    'orders': (*SAFETY_RULES, limit_refusal, carry_out),
    'command': (
        *SAFETY_RULES,
        limit_refusal,
        report_the_command,
        *FAULT_RULES,
        drive_as_asked,
        do_as_asked,
    ),
    'status': (obey_the_operator, report_the_command, give_up_on_what_is_broken, do_as_asked),
}
