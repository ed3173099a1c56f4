# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Orders of several steps, distances, angles, places and conditions: carried out as plans. Pure.

A sentence is a sequence of parts: conditions to check, drives to the light, and plans of skills
between. Each decision finds the first part that is not done yet, from the steps of the turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, NamedTuple

from curiosity_rosa_demo.agent.language.grammar import Step, TOOLS
from curiosity_rosa_demo.agent.rule_model.beliefs import beliefs_from
from curiosity_rosa_demo.agent.rule_model.decision import (
    Decision,
    FinalAnswer,
    MAX_ATTEMPTS,
    RuleContext,
    ToolCall,
)
from curiosity_rosa_demo.agent.rule_model.explore import analyze_or_report
from curiosity_rosa_demo.agent.rule_model.texts import (
    condition_text,
    done_text,
    step_text,
    steps_text,
)
from curiosity_rosa_demo.domain.geometry import finite_float
from curiosity_rosa_demo.domain.operation import DECIDE_TOOL, Exchange
from curiosity_rosa_demo.domain.skills import ANALYZE, CAPTURE, MOTIONS

MAX_TIMED_S = 120.0  # of one motion by seconds, in legs of the longest motion
MAX_DRIVE_M, MIN_DRIVE_M = 100.0, 0.05
MAX_TURN_DEG = 720.0
MAX_WAIT_S = 3600.0
DEFAULT_DRIVE_S = 3.0  # for a requested motion without a duration
AROUND_PICTURES = 3
TIMED = ('forward', 'left', 'right')
LEGS = ('drive_distance', 'turn_angle', 'navigate_to_pose')
NEEDS_PLACE = ('home', 'back')
Op = tuple[str, dict[str, Any]]
MAX_OPS = 30  # with the calls before it a plan must fit into turn.max_steps


class Part(NamedTuple):
    """``kind``: check (the condition), search (the light) or plan (the steps)."""

    kind: str
    steps: tuple[Step, ...] = ()
    condition: str = ''


@dataclass
class _Progress:
    """What the steps of the turn since ``at`` have done. ``told``: the results, for the answer."""

    steps: Sequence[Exchange]
    told: list[str]
    at: int = 0

    @property
    def rest(self) -> Sequence[Exchange]:
        return self.steps[self.at :]

    def find(self, *tools: str) -> Exchange | None:
        """The first success of one of these tools; None without one."""
        return next((s for s in self.rest if s.tool in tools and s.ok), None)

    def pass_by(self, step: Exchange) -> None:
        self.at = next(i for i in range(self.at, len(self.steps)) if self.steps[i] is step) + 1


def limit_refusal(context: RuleContext) -> Decision | None:
    """The refusal of a number that is beyond what the rover does at once; it names the limit."""
    for step in context.intent.steps:
        limit = _limit_broken(step)
        if limit:
            return context.answer('too_far', asked=step_text(step, context.language), limit=limit)
    return None


def _limit_broken(step: Step) -> str:
    most = {'s': MAX_TIMED_S, 'm': MAX_DRIVE_M, 'deg': MAX_TURN_DEG}
    if step.verb in TIMED and step.unit and step.amount > most[step.unit]:
        return f'{most[step.unit]:g} {step.unit}'
    if step.unit == 'm' and step.amount < MIN_DRIVE_M:
        return f'>= {MIN_DRIVE_M:g} m'
    return f'{MAX_WAIT_S:g} s' if step.verb == 'wait' and step.amount > MAX_WAIT_S else ''


def carry_out(context: RuleContext) -> Decision:
    """The next call of the order, or its end."""
    progress = _Progress(context.view.steps, [])
    for part in parts_of(context.intent.steps):
        decide = {'check': _check, 'search': _search, 'plan': _plan}[part.kind]
        decision = decide(context, part, progress)
        if decision is not None:
            return decision
    done = '; '.join(progress.told) or steps_text(context.intent.steps, context.language)
    return FinalAnswer(context.say('orders_done', done=done))


def parts_of(steps: Iterable[Step]) -> Iterator[Part]:
    """The parts of a sentence, in their order."""
    before = ''
    for condition, same in groupby(steps, lambda step: step.condition):
        if condition != before:
            yield Part('check', condition=condition)
        before = condition
        for is_search, part in groupby(same, lambda step: step.verb in ('light', 'explore')):
            if is_search:
                yield from (Part('search', (step,)) for step in part)
            else:
                yield Part('plan', tuple(part))


def _check(context: RuleContext, part: Part, progress: _Progress) -> Decision | None:
    """Measure the condition; end the turn if it does not hold."""
    condition, said = part.condition, condition_text(part.condition, context.language)
    arguments: dict[str, Any] = {}
    if condition in ('dark', 'bright'):
        tool, key = 'capture_and_score', 'is_good'
    elif condition.startswith('battery'):
        tool, key = 'query_world', 'battery_pct'
        arguments = {'query': key}
    else:
        tool, key = 'get_status', 'mast_is_open'
    measured = progress.find(tool)
    if measured is None:
        return _measure(context, progress, ToolCall(tool, '', arguments), said)
    progress.pass_by(measured)
    value = measured.data.get(key)
    holds: bool | None = None
    if key == 'is_good':
        holds = (value is True) == (condition == 'bright')
    elif key == 'mast_is_open':
        holds = value == (condition == 'mast open') if isinstance(value, bool) else None
    elif (charge := finite_float(value)) is not None:
        limit = float(condition[8:])
        holds = charge > limit if condition[7] == '>' else charge < limit
    if holds is None:
        return context.answer('condition_unknown', condition=said)
    if holds:
        return None
    text = context.say('condition_not_met', condition=said)
    return FinalAnswer(f'{text} {"; ".join(progress.told)}'.strip())


def _measure(
    context: RuleContext, progress: _Progress, call: ToolCall, condition: str
) -> Decision:
    tried = [step for step in progress.rest if step.tool in (call.tool, 'mast_open')]
    failed = [step for step in tried if not step.ok]
    if len(failed) >= MAX_ATTEMPTS:
        return _failed(context, condition, failed[-1].reason)
    thought = context.say('check_condition', condition=condition)
    shoots = call.tool == 'capture_and_score' and context.view.has_mast
    if shoots and progress.find('mast_open') is None:
        return ToolCall('mast_open', thought)
    return replace(call, thought=thought)


def _failed(context: RuleContext, what: str, reason: str, done: str = '') -> FinalAnswer:
    return context.answer('orders_failed', what=what, reason=reason, done=done or '-')


# --- the light ---------------------------------------------------------------------------------


def _search(context: RuleContext, part: Part, progress: _Progress) -> Decision | None:
    """Explore with the steps of this part only; None when the light is found."""
    captures = (step for step in progress.rest if step.tool == CAPTURE)
    good = next((each for each in captures if each.data.get('is_good') is True), None)
    if good is None:
        view = replace(context.view, steps=tuple(progress.rest))
        inner = replace(context, view=view, beliefs=beliefs_from(view))
        decisions = (rule(inner) for rule in context.explore_rules)
        return next(decision for decision in decisions if decision is not None)
    progress.pass_by(good)
    if part.steps[0].verb == 'explore':
        analysis = analyze_or_report(context, progress.rest)
        if isinstance(analysis, FinalAnswer):
            text = f'{analysis.text} {"; ".join(progress.told)}'
            return replace(analysis, text=text.strip())
        if not isinstance(analysis, str):
            return analysis
        if (done := progress.find(ANALYZE)) is not None:
            progress.pass_by(done)
        if analysis:
            progress.told.append(analysis)
            return None
    score = finite_float(good.data.get('score')) or 0.0
    progress.told.append(f'{step_text(part.steps[0], context.language)} ({score:.2f})')
    return None


# --- plans of skills ---------------------------------------------------------------------------


def _plan(context: RuleContext, part: Part, progress: _Progress) -> Decision | None:
    proposed = next((s for s in progress.rest if s.tool == DECIDE_TOOL), None)
    if proposed is not None:
        return _follow(context, proposed, progress)
    places: dict[str, tuple[float, float]] = {}
    for verb in NEEDS_PLACE:
        if any(step.verb == verb for step in part.steps):
            found = _place(context, verb)
            if not isinstance(found, tuple):
                return found
            places[verb] = found
    ordered = steps_text(part.steps, context.language)
    view = context.view
    ops = list(operations(part.steps, places, view.longest_s, view.stows, has_mast=view.has_mast))
    if missing := [name for name, _ in ops if name not in view.tools]:
        return context.answer('no_tool', tool=missing[0])
    if len(ops) > MAX_OPS:
        return context.answer('too_far', asked=ordered, limit=f'{MAX_OPS} steps')
    steps = [
        {'step_id': i, 'action': name, 'parameters': arguments, 'description': ''}
        for i, (name, arguments) in enumerate(ops, start=1)
    ]
    patch = {'action': 'propose', 'plan': {'goal': context.view.said.text[:300], 'steps': steps}}
    thought = context.say('plan', steps=ordered)
    return ToolCall(
        DECIDE_TOOL, thought, {'type': 'REPLAN', 'reason': thought, 'plan_patch': patch}
    )


def _place(context: RuleContext, verb: str) -> tuple[float, float] | Decision:
    """Where to go: home, or the place where the turn began."""
    if verb == 'home':
        tool, keys, arguments = 'query_world', ('home_x', 'home_y'), {'query': 'home'}
    else:
        tool, keys, arguments = 'get_status', ('rover_x', 'rover_y'), {}
    asked = [step for step in context.view.steps if step.tool == tool]
    for step in asked:
        x, y = (finite_float(step.data.get(key)) for key in keys)
        if step.ok and x is not None and y is not None:
            return round(x, 3), round(y, 3)
    if len(asked) >= MAX_ATTEMPTS:
        what = step_text(Step(verb), context.language)
        return _failed(context, what, context.say('place_unknown'))
    return ToolCall(tool, context.say('find_place'), arguments)


def _follow(context: RuleContext, proposed: Exchange, progress: _Progress) -> Decision | None:
    """The end of a plan: None when all its steps were done, else the answer that it failed."""
    progress.pass_by(proposed)
    wanted = proposed.arguments.get('plan_patch', {}).get('plan', {}).get('steps', [])
    if not proposed.ok:
        what = steps_text(context.intent.steps, context.language)
        return _failed(context, what, proposed.reason)
    for each in wanted:
        step = next((s for s in progress.rest if s.tool == each['action']), None)
        if step is None or not step.ok:
            why = step.reason if step else context.say('not_known')
            return _failed(context, each['action'], why, '; '.join(progress.told))
        progress.pass_by(step)
        told = done_text(step.tool, step.data, context.language)
        if told:
            progress.told.append(told)
    return None


# --- The calls of skills that carry out the steps of an order ----------------------------------


def operations(
    steps: Sequence[Step],
    places: Mapping[str, tuple[float, float]],
    longest_s: float,
    stows: Sequence[str] = (),
    *,
    has_mast: bool = True,
) -> Iterator[Op]:
    """The calls of skills that carry out ``steps``, with the mast, if there is one, as each needs
    it, and each of ``stows``, the skills that stow an appendage, before a drive.
    """
    mast, stowed = '', False
    for step in steps:
        for op in _operations(step, places, longest_s):
            needs = _mast_needed(op[0])
            if needs == 'mast_close' != op[0] and not stowed:
                yield from ((skill, {}) for skill in stows)
                stowed = True
            elif step.verb == 'skill':
                stowed = False  # it may move an appendage
            if has_mast and needs and needs != mast:
                mast = needs
                if op[0] != needs:
                    yield needs, {}
            yield op


def _mast_needed(skill: str) -> str:
    if skill in ('capture_and_score', 'mast_rotate', 'mast_open'):
        return 'mast_open'
    return 'mast_close' if skill in (*MOTIONS, *LEGS, 'mast_close') else ''


def _operations(
    step: Step, places: Mapping[str, tuple[float, float]], longest_s: float
) -> Iterator[Op]:
    verb, skill = step.verb, TOOLS.get(step.verb, step.text)
    if verb in TIMED and step.unit == 'm':
        yield 'drive_distance', {'distance_m': step.amount}
    elif verb in TIMED and step.unit == 'deg':
        yield 'turn_angle', {'angle_deg': step.amount if verb == 'left' else -step.amount}
    elif verb in TIMED:
        left = step.amount if step.unit else DEFAULT_DRIVE_S
        legs = max(1, -int(-left // longest_s))
        yield from [(skill, {'duration_s': round(left / legs, 2)})] * legs
    elif verb in (*NEEDS_PLACE, 'goto'):
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
