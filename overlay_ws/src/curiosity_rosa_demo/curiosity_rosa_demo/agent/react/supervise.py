# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Whether a model gets on with the goal: when the rule model steps in, which call is made again,
and which answer ends the turn.

Only a goal that the rule model reads as an action is judged. A gain is the first successful call
that fits the goal, or a better picture. The rule model decides one step; then the model is asked
again, until ``patience.takeovers``. Its proposals pass the same guardrails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
import re
import threading
import time
from typing import Any

from curiosity_rosa_demo.agent.language.grammar import TOOLS
from curiosity_rosa_demo.agent.language.sentence import Intent
from curiosity_rosa_demo.agent.react.turn import Turn, TurnEnvironment
from curiosity_rosa_demo.agent.rule_model.rules import RULES
from curiosity_rosa_demo.domain.brain_state import DecisionType, Json
from curiosity_rosa_demo.domain.geometry import finite_float
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.domain.operation import Exchange
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.domain.skills import ANALYZE, CAPTURE, MOTIONS
from curiosity_rosa_demo.domain.text import clip, count_text
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage

STOPS = ('move_stop', 'stop_base')
LIGHT = ('light', 'explore')  # verbs whose goal is a good picture
GOOD_PICTURE = 'good picture'
RESERVE = 0.5  # the share of each budget of a turn that is kept for the rule model
REPEATS = 2  # equal calls that succeed: the second shows that the first has changed nothing
RETRY_WAIT_S = 0.5  # before a retry
_NO_NEWS = ('cost', 'note', 'image_stamp_s')  # in a result: each picture has its own stamp
_ACTS = {
    **TOOLS,
    **dict.fromkeys(('goto', 'home', 'back'), MOTIONS[0]),
    **dict.fromkeys(('around', *LIGHT), CAPTURE),
    'status': '',  # an answer in text tells it
}
Resources = Callable[[str], Iterable[str]]  # those that a skill claims


def rules_may_decide(turn: Turn, env: TurnEnvironment) -> bool:
    """Whether the rule model may decide: it understands the goal, no plan is under way, and the
    operator's last answer was not a no.
    """
    understood = env.fallback is not None and env.said.intent.kind in RULES
    return understood and not (turn.plan_is_open or turn.was_rejected)


def refused_too_often(turn: Turn, env: TurnEnvironment) -> bool:
    return turn.refused_in_a_row >= env.config.guardrails.patience.refused_in_a_row


def refusals_text(turn: Turn, proposer: str = 'The model') -> str:
    calls = count_text(turn.refused_in_a_row, 'call')
    proposed = f'{proposer} proposed {calls} in a row that were refused'
    return f'{proposed}; the last: {turn.last_reason}'


def exchange_to_retry(turn: Turn, env: TurnEnvironment) -> Exchange | None:
    """The call that the loop retries now, as the error map says, without the model; None for no
    retry. It retries a call once, and only when that is harmless: a skill that leads to a state
    (``repeatable``), or one that did not start because another one held its resource.
    """
    call = turn.exchanges[-1] if turn.exchanges else None
    if call is None or call.retry_of or env.registry.decision_on(call) is not DecisionType.RETRY:
        return None
    if call.code == RefusalCode.RESOURCE_CONFLICT:
        return call
    again = call.op and env.registry.get(call.tool).settings.repeatable
    return call if again else None


# --- What the goal asks for, and what has come of it -------------------------------------------


def asked_act(intent: Intent) -> str:
    """The tool that the rule model reads in the goal; empty for a question and for a goal that it
    does not understand.
    """
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


def _resources_of(env: TurnEnvironment) -> Resources:
    return lambda tool: env.registry.get(tool).definition.resources_required


def missing_act(turn: Turn, env: TurnEnvironment) -> str:
    """What must succeed before an answer in text ends the turn: a tool, or a good picture where
    the light was asked for, and for the ground an analysis, successful or not; empty for nothing.
    """
    act, verb = asked_act(env.said.intent), _last_verb(env.said.intent)
    acted = [each for each in turn.exchanges if each.op]
    fitting = [each for each in acted if each.ok and fits(act, each.tool, _resources_of(env))]
    if verb not in LIGHT:
        return '' if fitting else act
    if not any(each.data.get('is_good') is True for each in fitting):
        return GOOD_PICTURE
    tried = any(each.tool == ANALYZE for each in acted)
    return ANALYZE if verb == 'explore' and not tried else ''


def stuck_reason(turn: Turn, env: TurnEnvironment) -> str:
    """Why the model makes no progress, or has had its share; empty while it may go on."""
    if why := _share_reason(turn, env):
        return why
    patience, resources = env.config.guardrails.patience, _resources_of(env)
    idle = _since_gain(asked_act(env.said.intent), turn.exchanges, resources)
    if not idle:
        return ''
    last = idle[-1]
    same = sum(_is_same(last, each) for each in _since_motion(idle, resources))
    if same >= (REPEATS if last.ok else max(2, patience.no_progress // 2)):
        times = count_text(same, 'time')
        return f'The model called {clip(last.tool)} {times} with the same result.'
    failed = len(list(takewhile(lambda each: not each.ok, reversed(idle))))
    if failed >= max(2, patience.failures_in_a_row // 2):  # before they end the turn
        return f'{count_text(failed, "call")} of the model in a row failed.'
    if len(idle) >= patience.idle_steps:
        return f'{count_text(len(idle), "call")} of the model brought the goal no nearer.'
    cost = sum(finite_float(each.data.get('cost')) or 0.0 for each in idle)
    if cost >= patience.idle_cost:
        return f'Calls of the model for a cost of {cost:g} brought the goal no nearer.'
    return ''


def is_repeat(turn: Turn, call: Exchange, env: TurnEnvironment) -> bool:
    """Whether the last call was the same, and led the rover to a state or took this picture."""
    last = turn.last_op
    if last is None or not last.ok or (last.tool, last.arguments) != (call.tool, call.arguments):
        return False
    skill = env.registry.get(call.tool)
    return skill.settings.repeatable and bool(skill.definition.resources_required)


def _share_reason(turn: Turn, env: TurnEnvironment) -> str:
    """The budget of which a search for the light has used the model's share; empty for none."""
    if missing_act(turn, env) != GOOD_PICTURE:
        return ''
    budget = env.config.guardrails.budget
    for used, most, name in (
        (turn.spent.steps, env.config.agent.turn.max_steps, 'steps'),
        (turn.spent.cost, budget.max_cost, 'cost'),
        (turn.spent.metres, budget.max_metres, 'path'),
        (turn.spent.seconds, budget.max_seconds, 'time'),
    ):
        if used > most * (1.0 - RESERVE):
            return f'The rest of the {name} of this turn is kept for the rule model.'
    return ''


def _since_gain(act: str, exchanges: Sequence[Exchange], resources: Resources) -> list[Exchange]:
    """The model's calls after the last gain and after the last step of the rule model. Those of a
    plan are left out: it may order the same call again and again.
    """
    idle: list[Exchange] = []
    best: float | None = None
    for each in exchanges:
        if each.result is None or each.declined:
            continue
        gained = False
        if each.op and each.ok and act and fits(act, each.tool, resources):
            value = finite_float(each.data.get('score')) or 0.0
            gained, best = best is None or value > best, max(value, best or 0.0)
        if gained or each.by:
            idle = []
        elif each.plan_step is None:
            idle.append(each)
    return idle


def _since_motion(entries: list[Exchange], resources: Resources) -> list[Exchange]:
    """The entries after the last motion: from another place the same result is news."""
    moved = [
        index
        for index, each in enumerate(entries)
        if each.ok and each.op and fits(MOTIONS[0], each.tool, resources)
    ]
    return entries[moved[-1] + 1 :] if moved else entries


def _is_same(one: Exchange, other: Exchange) -> bool:
    if (one.tool, one.input) != (other.tool, other.input) or not (one.result and other.result):
        return False
    return comparable(one.result) == comparable(other.result)


def comparable(result: ToolResult) -> tuple[bool, str, Json]:
    """The part of a result that two equal calls share when nothing has changed."""
    data = {
        key: round(value, 2) if isinstance(value, float) else value
        for key, value in result.data.items()
        if key not in _NO_NEWS
    }
    return result.ok, result.error_reason, data


# --- Splits a model's streamed text into sentences ---------------------------------------------


_SENTENCE_END = re.compile(r'[.!?]\s|[。！？\n]')


LONGEST_WAIT_S, LONGEST_PIECE = 2.0, 200  # of text without the end of a sentence; characters


class SentenceStream(BaseCallbackHandler):
    """Calls ``on_sentence`` with each sentence once more text follows it, and with the words so
    far of one that is long or slow. The last one is held back until ``finish``: it may be the
    turn's answer, which is traced as such. ``steady``: a steady clock in seconds.
    """

    def __init__(
        self, on_sentence: Callable[[str], None], steady: Callable[[], float] = time.monotonic
    ) -> None:
        self._on_sentence, self._clock = on_sentence, steady
        self._since_s = 0.0  # when the text that is held back began
        self._text = ''
        self._emitted = 0  # characters of _text
        self._closed = False
        self._lock = threading.Lock()  # an abandoned call continues in its thread

    def on_llm_new_token(self, token: Any, **_: Any) -> None:
        with self._lock:
            if self._closed:
                return
            if not self._text[self._emitted :].strip():
                self._since_s = self._clock()
            self._text += AIMessage(token).text()
            while True:
                found = _SENTENCE_END.search(self._text, self._emitted)
                if found is None or not self._text[found.end() :].strip():
                    break
                self._flush(found.end())
            if found is None:
                self._flush_words()

    def finish(self, text: str) -> None:
        """Emit the rest. ``text`` is the whole text, for a model that does not stream."""
        with self._lock:
            if not self._emitted:
                self._text = text
            self._flush(len(self._text))

    def close(self) -> None:
        """Emit nothing from now on."""
        with self._lock:
            self._closed = True

    def _flush_words(self) -> None:
        """Emit the whole words of a sentence without an end that has become long or old."""
        held = len(self._text) - self._emitted
        if held < LONGEST_PIECE and self._clock() - self._since_s < LONGEST_WAIT_S:
            return
        blank = max(self._text.rfind(' ', self._emitted), self._text.rfind('\t', self._emitted))
        if blank > self._emitted or held >= LONGEST_PIECE:
            self._flush(blank if blank > self._emitted else len(self._text))

    def _flush(self, to: int) -> None:
        sentence, self._emitted = self._text[self._emitted : to].strip(), to
        self._since_s = self._clock()
        if sentence:
            self._on_sentence(sentence)
