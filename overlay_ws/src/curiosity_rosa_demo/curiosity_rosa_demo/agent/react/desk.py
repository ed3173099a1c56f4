"""Where the agent asks and a person answers. One question at a time, from any thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from curiosity_rosa_demo.agent.cancellation import Cancellation
from curiosity_rosa_demo.domain.brain import ApprovalAction, Json, Question

POLL_S = 0.2


class NoQuestion(Exception):
    """No such question is open; the message says which there are."""


@dataclass(frozen=True)
class Answer:
    """``arguments``: those of an EDIT, in place of the operation's own. ``why``: for the model."""

    action: ApprovalAction
    arguments: Json | None = None
    why: str = ''


class Desk:
    """``changed`` is called, in any thread, whenever a question is put or is gone."""

    def __init__(self, *, timeout_s: float, changed: Callable[[], None] = lambda: None) -> None:
        self._timeout_s, self.changed = timeout_s, changed
        self._lock = threading.Condition()
        self._question: Question | None = None
        self._answer: Answer | None = None
        self.attended = True  # False: nobody is there who could answer

    @property
    def question(self) -> Question | None:
        """The one that is open."""
        return self._question

    def ask(self, question: Question, cancellation: Cancellation) -> Answer:
        """Wait for the answer; none within the time-out is a REJECT. Raises TurnCancelled.

        The time-out counts from ``question.asked_at``, at most in full.
        """
        if not self.attended:
            return Answer(ApprovalAction.REJECT, why='nobody is there to answer')
        with self._lock:
            self._question, self._answer = question, None
        self.changed()
        waited_s = min(max(0.0, time.time() - question.asked_at), self._timeout_s)
        until_s = time.monotonic() + self._timeout_s - waited_s
        try:
            with cancellation.calling(self._wake), self._lock:
                while self._answer is None:
                    cancellation.check()
                    left_s = until_s - time.monotonic()
                    if left_s <= 0.0:
                        why = f'no answer within {self._timeout_s:g} s'
                        return Answer(ApprovalAction.REJECT, why=why)
                    self._lock.wait(min(left_s, POLL_S))
                return self._answer
        finally:
            with self._lock:
                self._question = None
            self.changed()

    def answer(self, answer: Answer, start: str = '') -> Question:
        """Answer the question whose ID begins with ``start``. Raises NoQuestion."""
        with self._lock:
            question = self._question
            if question is None:
                raise NoQuestion('No question is open.')
            if not question.id.startswith(start):
                raise NoQuestion(f'No question {start[:40]!r} is open, but {question.id}.')
            if answer.action is ApprovalAction.EDIT and question.op is None:
                raise NoQuestion(f'{question.id} is a plain question: approve or reject it.')
            self._answer = answer
            self._lock.notify_all()
            return question

    def _wake(self) -> None:
        with self._lock:
            self._lock.notify_all()
