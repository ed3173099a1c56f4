# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The agent's questions to the operator: how each is put, waits in a queue, and is answered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
import threading
import time
import uuid

from curiosity_rosa_demo.agent.tasks.origin import current_order
from curiosity_rosa_demo.domain.brain_state import ApprovalAction, Json, Question
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.operation import Operation
from curiosity_rosa_demo.domain.rehearsal import Rehearsal
from curiosity_rosa_demo.domain.text import visible
from curiosity_rosa_demo.infra.spans import span
from curiosity_rosa_demo.trace.events import QuestionAnswered, QuestionAsked
from curiosity_rosa_demo.trace.reporter import TraceFunction


class QuestionNotFound(Exception):
    """No such question is open, or it takes no EDIT; the message says which."""


@dataclass(frozen=True)
class ApprovalAnswer:
    """``arguments``: of an EDIT, to replace the operation's own. ``why``: text for the model.
    ``by``: who answered, for people; '' when unknown.
    """

    action: ApprovalAction
    arguments: Json | None = None
    why: str = ''
    by: str = ''


NOBODY_ANSWERS = ApprovalAnswer(ApprovalAction.REJECT, why='nobody is there to answer')


class ApprovalQueue:
    """Thread-safe. ``on_change`` is called after a question is added or removed, in the thread of
    ask(). ``is_attended`` False: no operator can answer.
    """

    def __init__(
        self,
        *,
        timeout_s: float,
        on_change: Callable[[], None] = lambda: None,
        is_attended: bool = True,
    ) -> None:
        self.timeout_s, self.on_change = timeout_s, on_change
        self._lock = threading.Condition()
        self._open: dict[str, Question] = {}  # by ID; replaced, never changed
        self._answers: dict[str, ApprovalAnswer] = {}
        self.is_attended = is_attended

    @property
    def questions(self) -> list[Question]:
        """The open questions, the oldest first."""
        return [*self._open.values()]

    def reject_all(self) -> None:
        """Reject all open and future questions, because no operator is left."""
        with self._lock:
            self.is_attended = False
            self._lock.notify_all()

    def ask(self, question: Question, cancellation: Cancellation) -> ApprovalAnswer:
        """Wait for the answer; the timeout is a REJECT. Raises TurnCancelled.

        The timeout counts from ``question.asked_at``; a time in the future counts as now.
        """
        cancellation.check()
        if not self.is_attended:
            return NOBODY_ANSWERS
        waited_s = min(max(0.0, time.time() - question.asked_at), self.timeout_s)
        until_s = time.monotonic() + self.timeout_s - waited_s
        with self._lock:
            self._open = {**self._open, question.id: question}
        try:
            self.on_change()
            with (
                span('approval', {'curiosity.approval.question': question.id}) as wait,
                cancellation.call_when_pressed(self._notify),
                self._lock,
            ):
                answer = self._wait_for_answer(question, until_s, cancellation)
                wait.set({'curiosity.approval.answer': answer.action.value})
                return answer
        finally:
            with self._lock:
                self._remove(question)
                self._answers.pop(question.id, None)
            self.on_change()

    def answer(self, answer: ApprovalAnswer, question_id: str = '') -> Question:
        """Answer the question, by default the oldest. Only its first answer counts.
        Raises QuestionNotFound.
        """
        with self._lock:
            if not self._open:
                raise QuestionNotFound('No question is open.')
            question = self._open.get(question_id or next(iter(self._open)))
            if question is None:
                known = ', '.join(self._open)
                raise QuestionNotFound(f'No question {question_id[:40]!r} is open, but {known}.')
            if answer.action is ApprovalAction.EDIT and question.op is None:
                raise QuestionNotFound(f'{question.id} is a plain question: approve or reject it.')
            self._answers[question.id] = answer
            self._remove(question)
            self._lock.notify_all()
            return question

    def _wait_for_answer(
        self, question: Question, until_s: float, cancellation: Cancellation
    ) -> ApprovalAnswer:
        """The answer. The lock is released only while waiting. A stop overrides an answer."""
        while True:
            cancellation.check()
            if (answer := self._answers.get(question.id)) is not None:
                return answer
            if not self.is_attended:
                self._remove(question)
                return NOBODY_ANSWERS
            left_s = until_s - time.monotonic()
            if left_s <= 0.0:
                # Under the lock of answer(): an answer came before this, or finds no question.
                self._remove(question)
                why = f'no answer within {self.timeout_s:g} s'
                return ApprovalAnswer(ApprovalAction.REJECT, why=why)
            self._lock.wait(left_s)

    def _remove(self, question: Question) -> None:
        self._open = {name: each for name, each in self._open.items() if each is not question}

    def _notify(self) -> None:
        with self._lock:
            self._lock.notify_all()


# --- A question of the order of this context ---------------------------------------------------


def put(
    trace: TraceFunction,
    text: str,
    reasons: Sequence[str] = (),
    op: Operation | None = None,
    rehearsal: Rehearsal | None = None,
    *,
    leaves_fence: bool = False,
) -> Question:
    """A new question, which is told in the trace. ``op`` waits for its answer."""
    question = Question(
        id=f'q{uuid.uuid4().hex[:8]}',
        text=visible(text if op is None else op.full_text),
        op=op,
        reasons=[visible(reason) for reason in reasons],
        asked_at=time.time(),
        rehearsal=rehearsal,
        leaves_fence=leaves_fence,
        task_id=current_order().task_id,
    )
    why = f' ({"; ".join(question.reasons)})' if question.reasons else ''
    asked = QuestionAsked(question.id, '' if rehearsal is None else rehearsal.text)
    trace(**asked.trace_fields(f'Asking: {text}{why}'))
    return question


def wait_for_answer(
    question: Question, queue: ApprovalQueue, trace: TraceFunction, cancellation: Cancellation
) -> ApprovalAnswer:
    """Wait for the answer, and tell it in the trace. Raises TurnCancelled."""
    answer = queue.ask(question, cancellation)
    told = QuestionAnswered(question.id, answer.action.value.lower(), answer.why, by=answer.by)
    trace(**told.trace_fields())
    return answer
