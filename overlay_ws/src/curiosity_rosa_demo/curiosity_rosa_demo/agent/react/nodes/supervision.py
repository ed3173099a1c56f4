# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""Whether a model gets on with the goal: when the rule model steps in, and which answer ends the
turn. Pure.

Only a goal that the rule model reads as an action is judged. A gain is the first successful call
that fits the goal, or a better picture.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile

from curiosity_rosa_demo.agent.react.nodes.observe_result import comparable_result
from curiosity_rosa_demo.agent.react.nodes.rule_step import BY, ROUTINE
from curiosity_rosa_demo.agent.react.turn.messages import result_of
from curiosity_rosa_demo.agent.rule_model.language.frames import TOOLS
from curiosity_rosa_demo.agent.rule_model.parser import Intent, parse_intent
from curiosity_rosa_demo.domain.brain_state import Json
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.domain.skills import ANALYZE, CAPTURE, MOTIONS
from curiosity_rosa_demo.domain.text import clip, count_text
from curiosity_rosa_demo.infra.config.guardrails import Patience
from curiosity_rosa_demo.trace.reporter import finite_float

STOPS = ('move_stop', 'stop_base')
LIGHT = ('light', 'explore')  # verbs whose goal is a good picture
GOOD_PICTURE = 'good picture'
REPEATS = 2  # equal calls that succeed: the second shows that the first has changed nothing
_ACTS = {
    **TOOLS,
    **dict.fromkeys(('goto', 'home', 'back'), MOTIONS[0]),
    **dict.fromkeys(('around', *LIGHT), CAPTURE),
    'status': '',  # an answer in text tells it
}
Resources = Callable[[str], Iterable[str]]  # those that a skill claims


def asked_act(goal: str) -> str:
    """The tool that the rule model reads in the goal; empty for a question and for a goal that it
    does not understand.
    """
    intent = parse_intent(goal)
    if intent.kind in ('explore', 'orders'):
        return _ACTS.get(_last_verb(intent), '')
    return (intent.tool or '') if intent.kind == 'command' else ''


def _last_verb(intent: Intent) -> str:
    """The last step for which no condition has to hold; empty without one."""
    verbs = [step.verb for step in intent.steps if not step.condition]
    return verbs[-1] if verbs else ''


def fits(act: str, tool: str, resources: Resources) -> bool:
    """Whether a call of ``tool`` is what was asked for: the same tool, another stop, or another
    skill that drives or takes pictures.
    """
    if ANALYZE in (act, tool):  # it looks at a picture and takes none
        return act == tool
    if act in STOPS or tool in STOPS:
        return act in STOPS and tool in STOPS
    claimed = {CAPTURE: 'camera', **dict.fromkeys(MOTIONS, 'base')}.get(act, '')
    return tool == act or claimed in resources(tool)


def missing_act(goal: str, messages: Sequence[Json], resources: Resources) -> str:
    """What must succeed before an answer in text ends the turn: a tool, or a good picture where
    the light was asked for, and for the ground an analysis, successful or not; empty for nothing.
    """
    act = asked_act(goal)
    results = [
        result
        for each, result in _acted(messages)
        if result.ok and fits(act, str(each['tool']), resources)
    ]
    verb = _last_verb(parse_intent(goal))
    if verb not in LIGHT:
        return '' if results else act
    if not any(each.data.get('is_good') is True for each in results):
        return GOOD_PICTURE
    tried = any(each['tool'] == ANALYZE for each, _ in _acted(messages))
    return ANALYZE if verb == 'explore' and not tried else ''


def stuck_reason(
    goal: str, messages: Sequence[Json], patience: Patience, resources: Resources
) -> str:
    """Why the model makes no progress; empty while it does."""
    idle = _since_gain(asked_act(goal), messages, resources)
    if not idle:
        return ''
    last, result = idle[-1]
    same = sum(_is_same(last, result, *each) for each in _since_motion(idle, resources))
    if same >= (REPEATS if result.ok else max(2, patience.no_progress // 2)):
        times = count_text(same, 'time')
        return f'The model called {clip(str(last["tool"]))} {times} with the same result.'
    failed = len(list(takewhile(lambda entry: not entry[1].ok, reversed(idle))))
    if failed >= max(2, patience.failures_in_a_row // 2):  # before they end the turn
        return f'{count_text(failed, "call")} of the model in a row failed.'
    if len(idle) >= patience.idle_steps:
        return f'{count_text(len(idle), "call")} of the model brought the goal no nearer.'
    cost = sum(finite_float(result.data.get('cost')) or 0.0 for _, result in idle)
    if cost >= patience.idle_cost:
        return f'Calls of the model for a cost of {cost:g} brought the goal no nearer.'
    return ''


Entry = tuple[Json, ToolResult]


def _finished(messages: Sequence[Json]) -> list[Entry]:
    results = ((each, result_of(each)) for each in messages)
    return [
        (each, result)
        for each, result in results
        if result is not None and result.error_code != RefusalCode.DECLINED
    ]


def _acted(messages: Sequence[Json]) -> list[Entry]:
    return [(each, result) for each, result in _finished(messages) if 'op' in each]


def _since_gain(act: str, messages: Sequence[Json], resources: Resources) -> list[Entry]:
    """The model's calls after the last gain and after the last step of the rule model."""
    idle: list[Entry] = []
    best: float | None = None
    for each, result in _finished(messages):
        gained = False
        if 'op' in each and result.ok and act and fits(act, str(each['tool']), resources):
            value = finite_float(result.data.get('score')) or 0.0
            gained, best = best is None or value > best, max(value, best or 0.0)
        idle = [] if gained or each.get(BY) == ROUTINE else [*idle, (each, result)]
    return idle


def _since_motion(entries: list[Entry], resources: Resources) -> list[Entry]:
    """The entries after the last motion: from another place the same result is news."""
    moved = [
        index
        for index, (each, result) in enumerate(entries)
        if result.ok and 'op' in each and fits(MOTIONS[0], str(each['tool']), resources)
    ]
    return entries[moved[-1] + 1 :] if moved else entries


def _is_same(each: Json, result: ToolResult, other: Json, other_result: ToolResult) -> bool:
    same_call = (each['tool'], each['input']) == (other['tool'], other['input'])
    return same_call and comparable_result(result) == comparable_result(other_result)
