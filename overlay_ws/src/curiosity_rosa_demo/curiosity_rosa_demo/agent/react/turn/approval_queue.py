# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Where the agent asks and a person answers, from any thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import threading
import time

from curiosity_rosa_demo.domain.brain_state import ApprovalAction, Json, Question
from curiosity_rosa_demo.domain.cancellation import Cancellation


class NoQuestion(Exception):
    """No such question is open; the message says which there are."""


@dataclass(frozen=True)
class Answer:
    """``arguments``: those of an EDIT, in place of the operation's own. ``why``: for the model."""

    action: ApprovalAction
    arguments: Json | None = None
    why: str = ''


NOBODY = Answer(ApprovalAction.REJECT, why='nobody is there to answer')


@dataclass(eq=False)
class _Slip:
    """A question on the desk; it is taken away with its one answer, or without."""

    question: Question
    answer: Answer | None = None


class Desk:
    """``changed`` is called, in any thread, whenever a question is put or is gone."""

    def __init__(self, *, timeout_s: float, changed: Callable[[], None] = lambda: None) -> None:
        self.timeout_s, self.changed = timeout_s, changed
        self._lock = threading.Condition()
        self._open: tuple[_Slip, ...] = ()
        self.attended = True  # False: nobody is there who could answer

    @property
    def questions(self) -> list[Question]:
        """Those that are open, in the order in which they were put."""
        return [slip.question for slip in self._open]

    @property
    def question(self) -> Question | None:
        """The one that is open, or that has been for longest."""
        return next(iter(self.questions), None)

    def leave(self) -> None:
        """Nobody is there any more: what is open, and what is asked from now on, is a REJECT."""
        with self._lock:
            self.attended = False
            self._lock.notify_all()

    def ask(self, question: Question, cancellation: Cancellation) -> Answer:
        """Wait for the answer; none within the time-out is a REJECT. Raises TurnCancelled.

        The time-out counts from ``question.asked_at``, at most in full.
        """
        cancellation.check()
        if not self.attended:
            return NOBODY
        waited_s = min(max(0.0, time.time() - question.asked_at), self.timeout_s)
        until_s = time.monotonic() + self.timeout_s - waited_s
        slip = _Slip(question)
        with self._lock:
            self._open = (*self._open, slip)
        try:
            self.changed()
            with cancellation.calling(self._wake), self._lock:
                return self._wait(slip, until_s, cancellation)
        finally:
            with self._lock:
                self._take_away(slip)
            self.changed()

    def answer(self, answer: Answer, question_id: str = '') -> Question:
        """Answer this question, the oldest when none is named; no other answer to it counts.
        Raises NoQuestion.
        """
        with self._lock:
            if not self._open:
                raise NoQuestion('No question is open.')
            slips = [s for s in self._open if question_id in ('', s.question.id)]
            if not slips:
                there_are = ', '.join(slip.question.id for slip in self._open)
                raise NoQuestion(f'No question {question_id[:40]!r} is open, but {there_are}.')
            slip = slips[0]
            if answer.action is ApprovalAction.EDIT and slip.question.op is None:
                raise NoQuestion(f'{slip.question.id} is a plain question: approve or reject it.')
            slip.answer = answer
            self._take_away(slip)
            self._lock.notify_all()
            return slip.question

    def _wait(self, slip: _Slip, until_s: float, cancellation: Cancellation) -> Answer:
        """The answer; the lock is held but while waiting. A stop counts before an answer."""
        while True:
            cancellation.check()
            if slip.answer is not None:
                return slip.answer
            if not self.attended:
                self._take_away(slip)
                return NOBODY
            left_s = until_s - time.monotonic()
            if left_s <= 0.0:
                # Under the same lock as the decision: an answer comes before it, or finds nothing.
                self._take_away(slip)
                why = f'no answer within {self.timeout_s:g} s'
                return Answer(ApprovalAction.REJECT, why=why)
            self._lock.wait(left_s)

    def _take_away(self, slip: _Slip) -> None:
        self._open = tuple(each for each in self._open if each is not slip)

    def _wake(self) -> None:
        with self._lock:
            self._lock.notify_all()
