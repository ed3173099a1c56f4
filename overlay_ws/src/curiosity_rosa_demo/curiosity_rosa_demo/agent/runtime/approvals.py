# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Open approvals: the questions of turns, and the tasks that need approval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
import re
import time
import unicodedata

from curiosity_rosa_demo.agent.react.ask import (
    ApprovalAnswer,
    ApprovalQueue,
    QuestionNotFound,
)
from curiosity_rosa_demo.agent.react.texts import question_text, short_id
from curiosity_rosa_demo.agent.tasks import SkillRunner, Task
from curiosity_rosa_demo.agent.tasks.texts import task_summary
from curiosity_rosa_demo.domain.brain_state import ApprovalAction, Json, Question
from curiosity_rosa_demo.domain.operation import full_call_text
from curiosity_rosa_demo.domain.origin import named_caller
from curiosity_rosa_demo.domain.rehearsal import Rehearsal
from curiosity_rosa_demo.domain.text import clip, printable, visible
from curiosity_rosa_demo.trace.events import QuestionAnswered, QuestionAsked
from curiosity_rosa_demo.trace.reporter import TraceFunction

NO_QUESTION_TEXT = 'No question is open.'
TASK_NEEDS_APPROVAL_TEXT = 'the task waits for approval'
# Part of the ID of a question or of a task. Such a word is never taken as a reason.
_ID_PATTERN = re.compile(r'q[0-9a-f]+|(?=.*[0-9])(?=.*[a-f])[0-9a-f-]{3,}')
_DONE_TEXTS = {
    ApprovalAction.APPROVE: 'approved',
    ApprovalAction.EDIT: 'edited',
    ApprovalAction.REJECT: 'rejected',
}


class Approvals:
    """Use it in the runtime's loop only, except for ``shown_questions``. ``say`` prints a text.
    ``check_arguments`` raises BadTask when a skill does not take these arguments. ``rehearse``:
    what a task would do; asked once for each question, and never blocks.
    """

    def __init__(
        self,
        approval_queue: ApprovalQueue,
        runner: SkillRunner,
        say: Callable[[str], None],
        trace: TraceFunction,
        check_arguments: Callable[[str, Json], object],
        rehearse: Callable[[Task], Rehearsal | None] = lambda task: None,
    ) -> None:
        self._queue, self._runner, self._say = approval_queue, runner, say
        self._trace, self._check_arguments = trace, check_arguments
        self._rehearse = rehearse
        self._rehearsals: dict[str, Rehearsal | None] = {}  # of the tasks that need approval
        # Questions that were printed and not answered, the oldest first. Any thread may read it.
        self.shown_questions: tuple[Question, ...] = ()

    def pending_question(self) -> Question | None:
        """The oldest open question; None: none. Prints each question that is new, and traces one
        about a task; those of turns trace theirs.
        """
        known = {question.id for question in self.shown_questions}
        self.shown_questions = tuple(self._open_questions())
        for question in self.shown_questions:
            if question.id not in known:
                deadline = self.deadline_of(question)
                left_s = None if deadline is None else max(0.0, deadline - time.time())
                self._say(question_text(question, left_s))
                if question.id == question.task_id:
                    self._trace_task_question(question)
        return next(iter(self.shown_questions), None)

    async def apply_answer(self, action: ApprovalAction, payload: Json) -> str:
        """Apply the operator's answer and return a text about it.

        ``payload`` as in kernel/actions.py Approve. Raises QuestionNotFound, TaskError.
        """
        question = self._open_question(str(payload.get('id', '')))
        # It is printed: a line break would look like a line of the agent itself.
        why = printable(str(payload.get('why', '')))
        by = printable(str(payload.get('by', '')))
        if question.id == question.task_id:
            if action is ApprovalAction.EDIT:
                raise QuestionNotFound(
                    f'{short_id(question)} is a task, which cannot be edited: approve it, or '
                    'reject it and submit another.'
                )
            by_whom = f' by {named}' if (named := named_caller(by)) else ''
            reason = f'not approved{by_whom}{why and ": "}{why}' if why or by_whom else ''
            await self._runner.approve(question.id, action is ApprovalAction.APPROVE, reason)
            done = question.text
            verb = action.value.lower()
            answered = QuestionAnswered(question.id, verb, why, by, asked=clip(done))
            self._trace(**answered.trace_fields())
        else:
            done = self._answer_turn(question, ApprovalAnswer(action, None, why, by), payload)
        self.shown_questions = tuple(
            each for each in self.shown_questions if each.id != question.id
        )
        return f'{_DONE_TEXTS[action]} {short_id(question)}: {visible(done)}'

    def _trace_task_question(self, question: Question) -> None:
        rehearsed = '' if question.rehearsal is None else question.rehearsal.text
        asked = QuestionAsked(question.id, rehearsed, question.id)
        text = f'Asking: {clip(question.text)} ({TASK_NEEDS_APPROVAL_TEXT})'
        self._trace(**asked.trace_fields(text))

    def _open_question(self, question_id: str) -> Question:
        """The question with this ID; empty: the oldest. A prefix is not accepted: it may match
        another question by now. Raises QuestionNotFound.
        """
        questions = self._open_questions()
        for each in questions:
            if question_id in ('', each.id):
                return each
        if not questions:
            raise QuestionNotFound(NO_QUESTION_TEXT)
        raise QuestionNotFound(
            f'{question_id[:8]} is not open any more; open: {_question_ids(questions)}.'
        )

    def _answer_turn(self, question: Question, answer: ApprovalAnswer, payload: Json) -> str:
        """``payload``: has the arguments of an EDIT."""
        arguments = payload.get('arguments')
        if answer.action is not ApprovalAction.EDIT:
            self._queue.answer(answer, question.id)
            return question.text
        if not isinstance(arguments, dict):
            raise QuestionNotFound(f'To edit {short_id(question)} the new arguments are needed.')
        if question.op is not None:
            # Values that the loop would refuse must not use the question up.
            self._check_arguments(question.op.skill, arguments)
        self._queue.answer(replace(answer, arguments=arguments), question.id)
        assert question.op is not None  # otherwise the queue would have raised
        call = full_call_text(question.op.skill, arguments)
        return f'{call}, which is checked again'

    def _open_questions(self) -> list[Question]:
        """All open questions, the oldest first."""
        waiting = [task for task in self._runner.live() if task.needs_approval]
        self._rehearsals = {
            task.id: self._rehearsals[task.id]
            if task.id in self._rehearsals
            else self._rehearse(task)
            for task in waiting
        }
        tasks = [_question_of_task(each, self._rehearsals[each.id]) for each in waiting]
        return sorted([*self._queue.questions, *tasks], key=lambda each: each.asked_at)

    def deadline_of(self, question: Question) -> float | None:
        """The time of automatic rejection, in seconds since the epoch. None: never, since a task
        that waits for approval has no time-out. Any thread may ask.
        """
        is_of_task = question.id == question.task_id
        return None if is_of_task else question.asked_at + self._queue.timeout_s


def find_question(questions: Sequence[Question], start: str) -> Question:
    """The question whose ID begins with ``start``; the first one when ``start`` is empty.

    Raises QuestionNotFound.
    """
    if not questions:
        raise QuestionNotFound(NO_QUESTION_TEXT)
    found = [each for each in questions if each.id == start] or [
        each for each in questions if each.id.startswith(start)
    ]
    if found and (not start or len(found) == 1):
        return found[0]
    matches = f'{len(found)} questions begin' if found else 'No open question begins'
    raise QuestionNotFound(f'{matches} with {start[:40]!r}; open: {_question_ids(questions)}.')


def split_id_and_reason(words: str, questions: Sequence[Question]) -> tuple[str, str]:
    """Split ``[id] [why...]``. The first word is an ID when it begins an open question's ID, or
    looks like an ID.
    """
    first, _, why = words.partition(' ')
    start = unicodedata.normalize('NFKC', first).lower()
    if start and (
        any(each.id.startswith(start) for each in questions) or _ID_PATTERN.fullmatch(start)
    ):
        return start, why.strip()
    return '', words


def _question_ids(questions: Sequence[Question]) -> str:
    return ', '.join(map(short_id, questions))


def _whole_text(task: Task) -> str:
    """All that the task would do: its summary, if nothing else is in its metadata."""
    if set(task.metadata) in ({'text'}, {'arguments'}, set()):
        return visible(task_summary(task))
    return full_call_text(task.name, task.metadata)


def _question_of_task(task: Task, rehearsal: Rehearsal | None) -> Question:
    return Question(
        id=task.id,
        text=_whole_text(task),
        reasons=[TASK_NEEDS_APPROVAL_TEXT],
        asked_at=task.created_at.timestamp(),
        rehearsal=rehearsal,
        task_id=task.id,
    )
