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

from dataclasses import replace

from curiosity_rosa_demo.agent.language.sentence import Intent
from curiosity_rosa_demo.agent.rule_model.beliefs import beliefs_from, Mast, TurnView
from curiosity_rosa_demo.agent.rule_model.decision import (
    Decision,
    FinalAnswer,
    MAX_ATTEMPTS,
    Rule,
    RuleContext,
    ToolCall,
)
from curiosity_rosa_demo.agent.rule_model.explore import EXPLORE_RULES, report_a_good_capture
from curiosity_rosa_demo.agent.rule_model.orders import carry_out, DEFAULT_DRIVE_S, limit_refusal
from curiosity_rosa_demo.agent.rule_model.texts import (
    broken_text,
    result_text,
    status_text,
    steps_text,
)
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.domain.skills import MOTIONS

_MISSING = {'number': 'a_number', 'backward': 'no_reverse', 'mast': 'mast_excludes'}
MAX_CALLS = 76  # per turn; a stop of the rover may add up to MAX_ATTEMPTS
MAX_INTERRUPTIONS = 8  # of a tool since its last success, by the agent's end


def decide(view: TurnView) -> Decision:
    """The next call, or the answer that ends the turn."""
    intent = _as_orders(view.said.intent, view.longest_s)
    context = RuleContext(view, beliefs_from(view), intent, view.said.language, EXPLORE_ORDER)
    if context.intent.kind not in RULES:
        return what_was_not_understood(context)
    decisions = (rule(context) for rule in RULES[context.intent.kind])
    decision = next(decision for decision in decisions if decision is not None)
    if isinstance(decision, ToolCall) and decision.tool not in view.tools:
        return context.answer('no_tool', tool=decision.tool)
    return decision


def what_was_not_understood(context: RuleContext) -> FinalAnswer:
    """Nothing is done: what was understood, what is missing, and the nearest that can be done."""
    intent = context.intent
    understood = steps_text(intent.understood, context.language)
    nearest = understood or context.say('examples')
    if intent.kind == 'unknown':
        text = f'{context.say("unknown")} {context.say("nearest", nearest=nearest)}'
        return FinalAnswer(text, ok=False)
    if intent.kind != 'unclear':
        return context.answer(intent.kind)
    missing = intent.missing or context.say('what_is_meant')
    if missing in _MISSING:
        missing = context.say(_MISSING[missing])
    return context.answer(
        'missing',
        understood=understood or context.say('none'),
        missing=missing,
        nearest=nearest,
    )


def _as_orders(intent: Intent, longest_s: float) -> Intent:
    """A motion that is shorter or longer than one call drives is carried out as a plan."""
    seconds = intent.duration_s
    one_call = seconds is None or 1.0 <= seconds <= longest_s
    return intent if one_call else replace(intent, kind='orders')


# --- safety and faults, for every intent that acts --------------------------------------------


def obey_the_operator(context: RuleContext) -> Decision | None:
    last = context.view.steps[-1] if context.view.steps else None
    if last and last.code == RefusalCode.REJECTED:
        return context.answer('operator', reason=last.reason)
    return None


def stop_what_moves(context: RuleContext) -> Decision | None:
    if not context.beliefs.must_stop:
        return None
    last = context.view.last('move_stop')
    if last and context.view.failures('move_stop') >= MAX_ATTEMPTS:
        return context.answer('cannot_stop', reason=last.reason)
    return context.call('move_stop', 'stop_first')


def stow_what_sticks_out(context: RuleContext) -> Decision | None:
    """Stow the appendage for which the adapter refused a motion."""
    tool = context.beliefs.stow_first
    tries = sum(context.view.failures(tool, refused=refused) for refused in (False, True))
    if tool not in context.view.tools or tries >= MAX_ATTEMPTS:
        return None
    return context.call(tool, 'stow_the_part')


def give_up_on_what_is_broken(context: RuleContext) -> Decision | None:
    """End the turn when a tool that the goal needs has failed too often since its last success.

    A call during which the agent ended says little of the tool: it counts as a failure only when
    it happens again and again, or when the user requested this one motion.
    """
    requested = context.intent.tool
    # The user requested one motion: do not repeat it after a failure.
    motion_tries = 1 if requested in MOTIONS else MAX_ATTEMPTS
    needed = [('capture_and_score',), ('mast_open',), ('mast_close',), MOTIONS]
    if requested and requested not in MOTIONS:
        needed.append((requested,))
    for tools in needed:
        last = context.view.last(*tools)
        tries = motion_tries if tools == MOTIONS else MAX_ATTEMPTS
        if last and _is_refused_for_good(context, last.code, tools):
            return context.answer(
                'refused', tool=last.tool, reason=last.reason, **context.figures()
            )
        interruptions = context.view.interruptions(*tools)
        pardoned = (
            0 if requested in MOTIONS or interruptions > MAX_INTERRUPTIONS else interruptions
        )
        if last and context.view.failures(*tools) - pardoned >= tries:
            text = broken_text(context.language, last, context.figures())
            return FinalAnswer(text, ok=False)
    return None


def _is_refused_for_good(context: RuleContext, code: str, tools: tuple[str, ...]) -> bool:
    """Nothing less is left to ask for: budget or charge is used up, the user asked for exactly
    this motion, or too much was refused in a row.
    """
    times = context.view.failures(*tools, refused=True)
    exact = context.intent.tool in MOTIONS and code == RefusalCode.GEOFENCE
    if exact or code in (RefusalCode.BUDGET, RefusalCode.ENERGY):
        return times > 0
    return times >= MAX_ATTEMPTS


def end_an_endless_turn(context: RuleContext) -> Decision | None:
    calls = len(context.view.steps)
    return (
        None if calls < MAX_CALLS else context.answer('too_long', calls=calls, **context.figures())
    )


def check_after_a_fault(context: RuleContext) -> Decision | None:
    if not context.beliefs.in_doubt or 'get_status' not in context.view.tools:
        return None
    return context.call('get_status', 'ask_after_a_fault')


# --- direct commands and questions -----------------------------------------------------------


def report_the_command(context: RuleContext) -> Decision | None:
    last = context.view.last(context.intent.tool or '')
    return (
        FinalAnswer(result_text(context.language, last.tool, last.data))
        if last and last.ok
        else None
    )


def drive_as_asked(context: RuleContext) -> Decision | None:
    tool, mast = context.intent.tool, context.beliefs.mast
    if tool not in MOTIONS:
        return None
    if mast is Mast.UNASKED and 'get_status' in context.view.tools:
        return context.call('get_status', 'is_the_mast_closed')
    if not mast.is_stowed:
        return context.call('mast_close', 'close_to_drive')
    if (part := context.beliefs.sticks_out) in context.view.tools:
        return context.call(part, 'stow_the_part')
    seconds = context.view.seconds(context.intent.duration_s or DEFAULT_DRIVE_S)
    arguments = {'duration_s': seconds}
    return context.call(tool, 'asked_for_seconds', arguments, seconds=f'{seconds:g}')


def do_as_asked(context: RuleContext) -> Decision:
    tool, mast = context.intent.tool or '', context.beliefs.mast
    if tool == 'capture_and_score':
        return context.capture('asked_for_a_picture')
    if tool == 'mast_rotate' and mast in (Mast.UNKNOWN, Mast.CLOSED, Mast.UNASKED):
        return context.call('mast_open', 'open_before_turning')
    return context.call(tool, 'asked')


def report_the_status(context: RuleContext) -> Decision | None:
    last = context.view.last('get_status')
    return FinalAnswer(status_text(context.language, last.data)) if last and last.ok else None


def ask_for_the_status(context: RuleContext) -> Decision:
    return context.call('get_status', 'measure')


SAFETY_RULES: tuple[Rule, ...] = (obey_the_operator, stop_what_moves, stow_what_sticks_out)
FAULT_RULES: tuple[Rule, ...] = (
    give_up_on_what_is_broken,
    end_an_endless_turn,
    check_after_a_fault,
)
EXPLORE_ORDER: tuple[Rule, ...] = (report_a_good_capture, *FAULT_RULES, *EXPLORE_RULES)
RULES: dict[str, tuple[Rule, ...]] = {
    'explore': (*SAFETY_RULES, *EXPLORE_ORDER),
    'orders': (*SAFETY_RULES, limit_refusal, carry_out),
    'command': (
        *SAFETY_RULES,
        limit_refusal,
        report_the_command,
        *FAULT_RULES,
        drive_as_asked,
        do_as_asked,
    ),
    'status': (
        obey_the_operator,
        report_the_status,
        give_up_on_what_is_broken,
        ask_for_the_status,
    ),
}
