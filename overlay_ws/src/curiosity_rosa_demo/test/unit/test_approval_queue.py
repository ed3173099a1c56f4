# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The approval queue: each question gets exactly one answer, and a stop goes before any."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
import threading
import time
from typing import Any

from curiosity_rosa_demo.agent.react.turn.approval_queue import (
    ApprovalAnswer,
    ApprovalQueue,
    QuestionNotFound,
)
from curiosity_rosa_demo.domain.brain_state import ApprovalAction, Question
from curiosity_rosa_demo.domain.cancellation import Cancellation, TurnCancelled
from examples import examples
from harness import wait_until
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest

APPROVE, EDIT, REJECT = ApprovalAction.APPROVE, ApprovalAction.EDIT, ApprovalAction.REJECT
WAIT_S = 20.0
YES = ApprovalAnswer(APPROVE)


def question(number: int = 1, *, age_s: float = 0.0, plain: bool = False) -> Question:
    op: Any = None if plain else {'skill': 'move_forward', 'arguments': {'duration_s': 6.0}}
    return Question(id=f'q{number}', text='drive?', op=op, asked_at=time.time() - age_s)


class Meanwhile(Cancellation):
    """Does something once the turn has asked and before it waits."""

    def __init__(self, act: Callable[[], object]) -> None:
        super().__init__()
        self._act = act

    @contextmanager
    def call_when_pressed(self, callback: Callable[[], None]) -> Iterator[None]:
        with super().call_when_pressed(callback):
            self._act()
            yield


class Asking:
    """A turn that asks, in a thread of its own."""

    def __init__(
        self,
        approval_queue: ApprovalQueue,
        asked: Question,
        cancellation: Cancellation | None = None,
    ) -> None:
        self.cancellation, self.asked = cancellation or Cancellation(), asked
        self._end: Future[ApprovalAnswer] = Future()
        self._approval_queue = approval_queue
        thread = threading.Thread(target=self._ask, daemon=True)
        thread.start()
        wait_until(
            lambda: self.asked in approval_queue.questions or self._end.done(), 'the question'
        )

    def _ask(self) -> None:
        try:
            self._end.set_result(self._approval_queue.ask(self.asked, self.cancellation))
        except BaseException as error:
            self._end.set_exception(error)

    def end(self) -> ApprovalAnswer | str:
        """The answer, or who stopped it."""
        try:
            return self._end.result(WAIT_S)
        except TurnCancelled as cancelled:
            return str(cancelled)


@pytest.fixture
def approval_queue() -> ApprovalQueue:
    return ApprovalQueue(timeout_s=WAIT_S * 10)


def test_an_answer_to_another_question_is_refused_and_names_the_open_ones(
    approval_queue: ApprovalQueue,
) -> None:
    turns = [Asking(approval_queue, question(number)) for number in (1, 12)]
    with pytest.raises(QuestionNotFound, match=r"No question 'q' is open, but q1, q12\."):
        approval_queue.answer(YES, 'q')
    approval_queue.answer(YES, 'q12')
    assert turns[1].end() == YES
    assert approval_queue.questions == [turns[0].asked]
    approval_queue.answer(ApprovalAnswer(REJECT))
    assert turns[0].end() == ApprovalAnswer(REJECT)


def test_a_plain_question_cannot_be_edited_and_stays_open(approval_queue: ApprovalQueue) -> None:
    turn = Asking(approval_queue, question(plain=True))
    with pytest.raises(QuestionNotFound, match='q1 is a plain question: approve or reject it'):
        approval_queue.answer(ApprovalAnswer(EDIT, {}))
    approval_queue.answer(YES)
    assert turn.end() == YES


def test_after_the_time_out_no_answer_is_taken_however_long_the_turn_takes_to_leave() -> None:
    approval_queue, waits = ApprovalQueue(timeout_s=0.1), threading.Event()
    turn = Asking(approval_queue, question(), Meanwhile(waits.set))
    assert waits.wait(WAIT_S)
    with turn.cancellation.hold_back():  # the turn cannot leave
        wait_until(lambda: approval_queue.oldest_question is None, 'the question to be gone', 2.0)
        with pytest.raises(QuestionNotFound, match=r'^No question is open\.$'):
            approval_queue.answer(YES)
    assert turn.end() == ApprovalAnswer(REJECT, why='no answer within 0.1 s')


def test_the_time_out_goes_on_across_a_restart(approval_queue: ApprovalQueue) -> None:
    turn = Asking(approval_queue, question(age_s=approval_queue.timeout_s + 1.0))
    assert isinstance(turn.end(), ApprovalAnswer)
    # A clock that was set back does not make it longer.
    future = ApprovalQueue(timeout_s=0.05)
    assert isinstance(Asking(future, question(age_s=-1000.0)).end(), ApprovalAnswer)


def test_who_leaves_says_no_to_what_is_open_and_to_what_comes(
    approval_queue: ApprovalQueue,
) -> None:
    turn = Asking(approval_queue, question())
    approval_queue.reject_all()
    no = ApprovalAnswer(REJECT, why='nobody is there to answer')
    assert turn.end() == no
    assert approval_queue.oldest_question is None
    assert approval_queue.ask(question(2), Cancellation()) == no


@pytest.mark.parametrize(('stopped', 'attended'), [(True, True), (True, False), (False, False)])
def test_a_stopped_turn_does_not_ask_and_with_nobody_there_the_answer_is_no_at_once(
    approval_queue: ApprovalQueue, stopped: bool, attended: bool
) -> None:
    heard: list[Question | None] = []
    approval_queue.is_attended = attended
    approval_queue.on_change = lambda: heard.append(approval_queue.oldest_question)
    cancellation = Cancellation()
    if stopped:
        cancellation.cancel('Stopped')
        with pytest.raises(TurnCancelled):
            approval_queue.ask(question(), cancellation)
    else:
        no = ApprovalAnswer(REJECT, why='nobody is there to answer')
        assert approval_queue.ask(question(), cancellation) == no
    assert heard == []


def test_a_stop_counts_before_an_answer_that_was_not_taken_yet(
    approval_queue: ApprovalQueue,
) -> None:
    def answer_and_stop() -> None:
        approval_queue.answer(YES)
        button.cancel('Stopped')

    button = Meanwhile(answer_and_stop)
    with pytest.raises(TurnCancelled, match='Stopped'):
        approval_queue.ask(question(), button)


def test_every_question_and_its_end_are_told(approval_queue: ApprovalQueue) -> None:
    heard: list[list[str]] = []
    approval_queue.on_change = lambda: heard.append([each.id for each in approval_queue.questions])
    turn = Asking(approval_queue, question())
    approval_queue.answer(YES)
    turn.end()
    wait_until(lambda: len(heard) == 2, 'both changes')
    assert heard == [['q1'], []]


def test_a_question_does_not_stay_when_telling_of_it_fails(approval_queue: ApprovalQueue) -> None:
    def broken() -> None:
        raise RuntimeError('nobody listens')

    approval_queue.on_change = broken
    with pytest.raises(RuntimeError):
        approval_queue.ask(question(), Cancellation())
    assert approval_queue.oldest_question is None


STEPS = st.one_of(
    st.tuples(st.just('ask'), st.sampled_from(['plain', 'op', 'old'])),
    st.tuples(st.just('answer'), st.sampled_from([APPROVE, EDIT, REJECT]), st.integers(-1, 6)),
    st.tuples(st.just('stop'), st.integers(0, 6)),
)


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(STEPS, min_size=2, max_size=14))
def test_each_question_has_the_end_that_came_first(steps: list[tuple[Any, ...]]) -> None:
    approval_queue, turns = ApprovalQueue(timeout_s=1000.0), list[Asking]()
    ends: dict[int, object] = {}  # by number; of those that have one
    for step in steps:
        if step[0] == 'ask':
            kind = step[1]
            asked = question(len(turns), age_s=2000.0 * (kind == 'old'), plain=kind == 'plain')
            turns.append(Asking(approval_queue, asked))
            if kind == 'old':
                ends[len(turns) - 1] = ApprovalAnswer(REJECT, why='no answer within 1000 s')
                turns[-1].end()
            continue
        waiting = [number for number in range(len(turns)) if number not in ends]
        if step[0] == 'stop':
            if step[1] in waiting:
                turns[step[1]].cancellation.cancel(f'stop {step[1]}')
                ends[step[1]] = f'stop {step[1]}'
                turns[step[1]].end()
            continue
        _, action, number = step
        answer = ApprovalAnswer(action, {'step': len(ends)} if action is EDIT else None)
        named = waiting[:1] if number == -1 else [each for each in waiting if each == number]
        editable = named and (action is not EDIT or turns[named[0]].asked.op is not None)
        if editable:
            assert (
                approval_queue.answer(answer, '' if number == -1 else f'q{number}').id
                == f'q{named[0]}'
            )
            ends[named[0]] = answer
        else:
            with pytest.raises(QuestionNotFound):
                approval_queue.answer(answer, '' if number == -1 else f'q{number}')
        assert [each.id for each in approval_queue.questions] == [
            f'q{each}' for each in range(len(turns)) if each not in ends
        ]
    for number, turn in enumerate(turns):
        turn.cancellation.cancel(f'stop {number}')
        # A stop after the answer may still overtake it: then the turn is stopped, not approved.
        assert turn.end() in (ends.get(number), f'stop {number}')


@pytest.mark.parametrize('seed', range(12))
def test_of_many_who_answer_at_once_one_is_heard(seed: int) -> None:
    """Answers, a stop and the time-out race; whoever was told yes was heard, or it was stopped."""
    approval_queue = ApprovalQueue(timeout_s=0.01 if seed % 2 else WAIT_S)
    turn = Asking(approval_queue, question())
    taken: list[str] = []
    ready = threading.Barrier(5)

    def answer(why: str) -> None:
        ready.wait(WAIT_S)
        try:
            approval_queue.answer(ApprovalAnswer(APPROVE, why=why), 'q1')
        except QuestionNotFound:
            return
        taken.append(why)

    def stop() -> None:
        ready.wait(WAIT_S)
        if seed % 3 == 0:
            turn.cancellation.cancel('stop')

    threads = [threading.Thread(target=answer, args=(f'{number}',)) for number in range(4)]
    threads.append(threading.Thread(target=stop))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_S)
    end = turn.end()
    assert len(taken) <= 1
    if isinstance(end, ApprovalAnswer) and end.action is APPROVE:
        assert taken == [end.why]
    elif isinstance(end, ApprovalAnswer):
        assert taken == []
        assert end.why == 'no answer within 0.01 s'
    else:
        assert end == 'stop'
