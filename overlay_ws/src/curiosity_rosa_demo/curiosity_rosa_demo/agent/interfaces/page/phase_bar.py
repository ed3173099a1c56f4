# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The time of a turn by phase, as one bar: thinking, checking, acting, asking. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.drawing.svg import (
    drawing,
    element,
    first_fitting_label,
    Svg,
    title,
)
from curiosity_rosa_demo.trace.events import QuestionAsked, TurnAnswered, TurnStarted

PHASES = ('thinking', 'checking', 'acting', 'asking')
WIDTH, HEIGHT, BAR = 520.0, 46.0, 20.0
MARGIN = 4.0
MAX_EVENTS = 200  # only the newest events are drawn
MIN_DURATION_S, MAX_DURATION_S = 1e-6, 1e7  # of a span; clocks may jump
LABEL_PADDING = 4.0  # beside a label in a bar


@dataclass(frozen=True)
class PhaseSpan:
    """A span of a turn. ``detail``: the tool of the span."""

    phase: str
    seconds: float
    detail: str


def phase_spans(events: Sequence[TraceEvent]) -> list[PhaseSpan]:
    """The spans between the events of one turn, the oldest first.

    Thinking lasts until a DECIDE, checking until the ACT, acting until the RESULT or ERROR. Asking
    lasts from a question to its answer. What is not part of a turn is idle, and no span.
    """
    steps: list[PhaseSpan] = []
    events = events[-MAX_EVENTS:]
    phase, about, in_turn = 'thinking', '', events[:1] != [] and _begins(events[0])
    for event, following in pairwise(events):
        in_turn = _in_turn_after(event, in_turn)
        phase, about = _phase_after(event, phase, in_turn), event.tool_name or about
        seconds = min(following.ts - event.ts, MAX_DURATION_S)
        if not phase or seconds < MIN_DURATION_S:
            continue
        if steps and (steps[-1].phase, steps[-1].detail) == (phase, about):
            seconds += steps.pop().seconds
        steps.append(PhaseSpan(phase, seconds, about))
    return steps


def phase_bar(events: Sequence[TraceEvent], *, width: float = WIDTH) -> Svg:
    """The spans side by side, as wide as their durations, and the sums per phase as text."""
    steps = phase_spans(events)
    total = sum(step.seconds for step in steps)
    sums = {phase: sum(s.seconds for s in steps if s.phase == phase) for phase in PHASES}
    words = ' · '.join(f'{phase} {duration_text(each)}' for phase, each in sums.items() if each)
    words = f'{duration_text(total)}: {words}' if words else 'no steps yet'
    return drawing(
        'steps',
        width,
        HEIGHT,
        f'Time of the turn: {words}',
        *(_bars(steps, total, width - 2 * MARGIN) if total else ()),
        *first_fitting_label(
            (words, words.split(': ')[0]), MARGIN, HEIGHT - 8.0, width - 2 * MARGIN
        ),
        role='img',
    )


def duration_text(seconds: float) -> str:
    """``0.4 ms``, ``812 ms``, ``3.2 s``, ``125 s``."""
    if seconds < 0.01:
        return f'{1000 * seconds:.1f} ms'
    if seconds < 0.9995:
        return f'{1000 * seconds:.0f} ms'
    return f'{seconds:.1f} s' if seconds < 99.95 else f'{seconds:.0f} s'


def _begins(event: TraceEvent) -> bool:
    return event.kind in (TraceKind.OBSERVE, TraceKind.HYPOTHESIZE)


def _in_turn_after(event: TraceEvent, in_turn: bool) -> bool:
    """Whether a turn goes on: the time after its end, and after a command of a person, is idle."""
    if TurnStarted.of(event) or event.kind is TraceKind.DECIDE:
        return True
    if TurnAnswered.of(event) or (event.kind is TraceKind.ERROR and event.tool_name is None):
        return False
    return in_turn


def _phase_after(event: TraceEvent, phase: str, in_turn: bool) -> str:
    """'' is idle."""
    kind = event.kind
    if kind is TraceKind.DECIDE:
        return 'asking' if QuestionAsked.of(event) else 'checking'
    if kind is TraceKind.ACT:
        return 'acting'
    if not in_turn:
        return phase if phase == 'acting' and kind is TraceKind.OBSERVE else ''
    if kind in (TraceKind.RESULT, TraceKind.ERROR):
        return 'thinking'
    if kind is TraceKind.OBSERVE and phase == 'asking':
        return 'checking'
    return phase or 'thinking'


def _bars(steps: Sequence[PhaseSpan], total: float, whole: float) -> Iterator[Svg]:
    left = MARGIN
    for step in steps:
        width = whole * step.seconds / total
        about = f' {step.detail}' if step.detail else ''
        words = f'{step.phase}{about}: {duration_text(step.seconds)}'
        box = element('rect', x=left, y=4.0, width=width, height=BAR)
        inside = first_fitting_label(
            (words, duration_text(step.seconds)),
            left + LABEL_PADDING,
            18.0,
            width - 2 * LABEL_PADDING,
        )
        yield element('g', title(words), box, *inside, class_=f'cr-bar cr-{step.phase}')
        left += width
