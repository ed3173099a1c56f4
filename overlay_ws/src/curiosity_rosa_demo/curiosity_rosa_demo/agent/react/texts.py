# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Texts of the open questions and of a turn's used budget. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from curiosity_rosa_demo.agent.tasks.texts import duration, table
from curiosity_rosa_demo.domain.brain_state import Question, ReactState
from curiosity_rosa_demo.domain.text import printable, visible
from curiosity_rosa_demo.drawing.columns import clip_columns
from curiosity_rosa_demo.infra.config.limits import Budget

MAX_ID_CHARS = 12  # characters; of a longer one the first 8 are shown
SUMMARY_COLUMNS = 60


def short_id(question: Question) -> str:
    return question.id if len(question.id) <= MAX_ID_CHARS else question.id[:8]


def question_text(question: Question, left_s: float | None) -> str:
    """The question, whole, and how to answer it; no answer within ``left_s`` seconds is a no."""
    text = ': '.join(filter(None, (_op_text(question), _reason_text(question))))
    end = '' if text.endswith(('.', '?', '!', '。', '？', '！')) else '.'
    ways = (
        ':approve, :edit {json} or :reject [why]' if question.op else ':approve or :reject [why]'
    )
    limit = '' if left_s is None else f'; no answer within {left_s:.0f} s is a no'
    asked = f'? {short_id(question)} {text}{end} {ways}{limit}.'
    rehearsal = question.rehearsal
    return asked if rehearsal is None else f'{asked}\n{indented(rehearsal.text)}'


def indented(text: str) -> str:
    """Lines below a question; none of them looks like a line of the agent itself."""
    return '\n'.join(f'  {printable(line)}' for line in text.splitlines())


def question_summary(question: Question) -> str:
    """The question as a permanent line of the screen; clipped, unlike ``question_text``."""
    ways = ':approve, :edit or :reject' if question.op else ':approve or :reject'
    return f'? {short_id(question)} {clip_columns(_op_text(question), SUMMARY_COLUMNS)}  {ways}'


def pending_table(questions: Iterable[Question], now_s: float) -> str:
    """One line for each question; ``for`` is how long it has been open at ``now_s`` seconds since
    the epoch.
    """
    rows = [
        (short_id(each), duration(now_s - each.asked_at), _op_text(each), _reason_text(each))
        for each in questions
    ]
    return table([('id', 'for', 'what', 'why'), *rows]) if rows else 'nothing waits for an answer'


def budget_text(react: ReactState, budget: Budget, max_steps: int) -> str:
    """The used budget of the turn, with its limits."""
    spent = react.spent
    rows = [
        ('steps', spent.steps, max_steps, ''),
        ('cost', spent.cost, budget.max_cost, ''),
        ('path', spent.metres, budget.max_metres, ' m'),
        ('time', spent.seconds, budget.max_seconds, ' s'),
    ]
    lines = [
        (name, f'{_number(used)} of {_number(limit)}{unit}', f'{_percent(used, limit)} used')
        for name, used, limit, unit in rows
    ]
    goal = clip_columns(printable(react.goal), SUMMARY_COLUMNS)
    return f'{goal or "no turn yet"}\n{table(lines)}'


def _op_text(question: Question) -> str:
    # Never clipped: the operator must see all that is approved.
    return visible(question.text)


def _reason_text(question: Question) -> str:
    return visible('; '.join(question.reasons))


def _number(value: float) -> str:
    return f'{value:.1f}'.removesuffix('.0')


def _percent(used: float, limit: float) -> str:
    return f'{100.0 * used / limit:.0f} %'
