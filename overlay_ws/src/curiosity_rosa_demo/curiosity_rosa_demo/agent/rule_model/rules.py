# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The routine: which tool call comes next, by rules. Pure; the same view gives the same decision.

Each rule is a function that decides or passes (None). ``decide`` asks them in order of priority,
so safety comes before the goal, and observing before driving.
"""

from __future__ import annotations

import re

from curiosity_rosa_demo.agent.rule_model.beliefs import Mast, observe
from curiosity_rosa_demo.agent.rule_model.context import (
    Answer,
    Call,
    Case,
    Decision,
    MAX_TRIES,
    Rule,
)
from curiosity_rosa_demo.agent.rule_model.explore import EXPLORE, report_a_good_capture
from curiosity_rosa_demo.agent.rule_model.parser import language, understand
from curiosity_rosa_demo.agent.rule_model.texts import broken, done, status
from curiosity_rosa_demo.agent.rule_model.turn_view import View
from curiosity_rosa_demo.domain.skills import MOTIONS

MAX_CALLS = 32  # of one turn; stopping the rover may still add up to MAX_TRIES
DEFAULT_DRIVE_S = 3.0  # a motion that was asked for without a duration
_OPERATOR = re.compile(
    r'\b(stopped|rejected|denied|refused|cancell?ed) by (the|an) operator', re.I
)


def decide(view: View) -> Decision:
    """The next call, or the answer that ends the turn."""
    case = Case(view, observe(view.steps), understand(view.text), language(view.text))
    if case.intent.kind not in RULES:
        return case.answer(case.intent.kind)
    decisions = (rule(case) for rule in RULES[case.intent.kind])
    decision = next(decision for decision in decisions if decision is not None)
    if isinstance(decision, Call) and decision.tool not in view.tools:
        return case.answer('no_tool', tool=decision.tool)
    return decision


def understands(text: str) -> bool:
    """Whether it would act on ``text``, not only answer."""
    return understand(text).kind in RULES


# --- safety and trouble, for every intent that acts -------------------------------------------


def obey_the_operator(case: Case) -> Decision | None:
    last = case.view.steps[-1] if case.view.steps else None
    if last and _OPERATOR.search(last.result.error_reason):
        return case.answer('operator', reason=last.result.error_reason)
    return None


def stop_what_moves(case: Case) -> Decision | None:
    if not case.facts.must_stop:
        return None
    last = case.view.last('move_stop')
    if last and case.view.failures('move_stop') >= MAX_TRIES:
        return case.answer('cannot_stop', reason=last.result.error_reason)
    return Call('move_stop', 'A motion failed or something moves: stop before anything else.')


def give_up_on_what_is_broken(case: Case) -> Decision | None:
    """A tool that the goal needs failed too often in a row."""
    asked = case.intent.tool
    # A person asked for one motion: do not repeat it unasked after it went wrong.
    motion_tries = 1 if asked in MOTIONS else MAX_TRIES
    needed = [('capture_and_score',), ('mast_open',), ('mast_close',), MOTIONS]
    if asked and asked not in MOTIONS:
        needed.append((asked,))
    for tools in needed:
        last = case.view.last(*tools)
        tries = motion_tries if tools == MOTIONS else MAX_TRIES
        refused = case.view.failures(*tools, refused=True) >= MAX_TRIES
        if last and (refused or case.view.failures(*tools) >= tries):
            reason = last.result.error_reason
            return Answer(broken(case.lang, last.tool, reason, case.found_out()))
    return None


def end_an_endless_turn(case: Case) -> Decision | None:
    calls = len(case.view.steps)
    return None if calls < MAX_CALLS else case.answer('too_long', calls=calls, **case.found_out())


def check_after_a_fault(case: Case) -> Decision | None:
    if not case.facts.in_doubt or 'get_status' not in case.view.tools:
        return None
    return Call('get_status', 'That failed: ask what is true now before trying again.')


# --- direct commands and questions -----------------------------------------------------------


def report_the_command(case: Case) -> Decision | None:
    last = case.view.last(case.intent.tool or '')
    return (
        Answer(done(case.lang, last.tool, last.result.data)) if last and last.result.ok else None
    )


def drive_as_asked(case: Case) -> Decision | None:
    tool, mast = case.intent.tool, case.facts.mast
    if tool not in MOTIONS:
        return None
    if mast is Mast.UNASKED and 'get_status' in case.view.tools:
        return Call('get_status', 'I must know whether the mast is closed before I drive.')
    if mast is not Mast.CLOSED:
        return Call('mast_close', 'The mast must be closed before the rover drives.')
    seconds = case.view.seconds(case.intent.duration_s or DEFAULT_DRIVE_S)
    return Call(tool, f'The user asked for it: {seconds:g} s.', {'duration_s': seconds})


def do_as_asked(case: Case) -> Decision:
    tool, mast = case.intent.tool or '', case.facts.mast
    if tool == 'capture_and_score':
        return case.capture('The user asked for a picture.')
    if tool == 'mast_rotate' and mast in (Mast.UNKNOWN, Mast.CLOSED):
        return Call('mast_open', 'The mast must be open before it can turn.')
    return Call(tool, 'The user asked for it.')


def report_the_status(case: Case) -> Decision | None:
    last = case.view.last('get_status')
    return Answer(status(case.lang, last.result.data)) if last and last.result.ok else None


def ask_for_the_status(case: Case) -> Decision:
    return Call('get_status', 'The user asks how the rover is: measure, do not assume.')


SAFETY: tuple[Rule, ...] = (obey_the_operator, stop_what_moves)
TROUBLE: tuple[Rule, ...] = (give_up_on_what_is_broken, end_an_endless_turn, check_after_a_fault)
RULES: dict[str, tuple[Rule, ...]] = {
    'explore': (*SAFETY, report_a_good_capture, *TROUBLE, *EXPLORE),
    'command': (*SAFETY, report_the_command, *TROUBLE, drive_as_asked, do_as_asked),
    'status': (
        obey_the_operator,
        report_the_status,
        give_up_on_what_is_broken,
        ask_for_the_status,
    ),
}
