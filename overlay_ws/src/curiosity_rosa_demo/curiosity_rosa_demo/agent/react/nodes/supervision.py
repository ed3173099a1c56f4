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
import re
import threading
import time
from typing import Any

from curiosity_rosa_demo.agent.language.grammar import TOOLS
from curiosity_rosa_demo.agent.language.understand import Intent, understand
from curiosity_rosa_demo.agent.react.nodes.compile_ops import BY, ROUTINE
from curiosity_rosa_demo.agent.react.nodes.observe_result import comparable_result
from curiosity_rosa_demo.agent.react.turn.context import TurnContext
from curiosity_rosa_demo.agent.react.turn.messages import result_of
from curiosity_rosa_demo.domain.brain_state import BrainState, DecisionType, Json
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.domain.skills import ANALYZE, CAPTURE, MOTIONS
from curiosity_rosa_demo.domain.text import clip, count_text
from curiosity_rosa_demo.infra.config.limits import Patience
from curiosity_rosa_demo.trace.reporter import finite_float
from langchain_core.callbacks import BaseCallbackHandler

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
    intent = understand(goal).intent
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
    verb = _last_verb(understand(goal).intent)
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
            self._text += text_of(token)
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


def text_of(content: Any) -> str:
    """A message's content as text: a string, or the text parts of a list of blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = (part.get('text', '') if isinstance(part, dict) else part for part in content)
        return ''.join(str(part) for part in parts)
    return ''


# -----------------------------------------------------------------------------------------------
# The error map's answer to the last failure: a retry by the loop, or a hint to the model. Pure
#
# The loop retries a call once, and only when that is harmless: a skill that leads to a state
# (``repeatable``), or a skill that did not start because another one held its resource.


RETRY_WAIT_S = 0.5  # before a retry
RETRY_OF = 'retry_of'  # in the entry of a retry: the ID of the first call


def last_failure(state: BrainState, turn: TurnContext) -> tuple[Json, DecisionType] | None:
    """The last call and the error map's decision on its failure; None when it did not fail, or
    the map has no entry for the failure.
    """
    if not state.messages:
        return None
    call = state.messages[-1]
    result = result_of(call)
    if result is None or result.ok:
        return None
    decision = turn.registry.error_decision(str(call['tool']), result.error_reason)
    return None if decision is None else (call, decision)


def call_to_retry(state: BrainState, turn: TurnContext) -> Json | None:
    """The call that the loop retries now, without the model; None for no retry."""
    failure = last_failure(state, turn)
    if failure is None or failure[1] is not DecisionType.RETRY or RETRY_OF in failure[0]:
        return None
    call = failure[0]
    result = result_of(call)
    if result is not None and result.error_code == RefusalCode.RESOURCE_CONFLICT:
        return call
    if 'op' not in call:
        return None
    return call if turn.registry.get(str(call['tool'])).repeatable else None
