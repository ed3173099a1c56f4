# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Questions and their answers: the approval queue alone, then through console and kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
import threading
import time
from typing import Any

from curiosity_rosa_demo.agent.kernel.hear import Answered, Ordered, Said
from curiosity_rosa_demo.agent.react.ask import ApprovalAnswer, ApprovalQueue, QuestionNotFound
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.domain.brain_state import ApprovalAction, Question, ReactState, Spent
from curiosity_rosa_demo.domain.cancellation import Cancellation, TurnCancelled
from curiosity_rosa_demo.domain.models import MAX_DEPTH
from examples import examples
from harness import wait_until
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest
from runtime_world import CONFIG, RuntimeBench, WAIT_S

APPROVE, EDIT, REJECT = ApprovalAction.APPROVE, ApprovalAction.EDIT, ApprovalAction.REJECT
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
        self, queue: ApprovalQueue, asked: Question, cancellation: Cancellation | None = None
    ) -> None:
        self.cancellation, self.asked = cancellation or Cancellation(), asked
        self._pool = ThreadPoolExecutor(1)
        self._end = self._pool.submit(queue.ask, asked, self.cancellation)
        wait_until(lambda: asked in queue.questions or self._end.done(), 'the question')

    def end(self) -> ApprovalAnswer | str:
        """The answer, or who stopped it."""
        try:
            return self._end.result(WAIT_S)
        except TurnCancelled as cancelled:
            return str(cancelled)


def test_after_the_time_out_no_answer_is_taken_however_long_the_turn_takes_to_leave() -> None:
    approval_queue, waits = ApprovalQueue(timeout_s=0.1), threading.Event()
    turn = Asking(approval_queue, question(), Meanwhile(waits.set))
    assert waits.wait(WAIT_S)
    with turn.cancellation.hold_back():  # the turn cannot leave
        wait_until(lambda: not approval_queue.questions, 'the question to be gone', 2.0)
        with pytest.raises(QuestionNotFound, match=r'^No question is open\.$'):
            approval_queue.answer(YES)
    assert turn.end() == ApprovalAnswer(REJECT, why='no answer within 0.1 s')


def test_a_stopped_turn_does_not_ask_and_with_nobody_there_the_answer_is_no_at_once() -> None:
    heard: list[Question | None] = []
    approval_queue = ApprovalQueue(timeout_s=WAIT_S * 10)
    approval_queue.on_change = lambda: heard.append(next(iter(approval_queue.questions), None))
    no = ApprovalAnswer(REJECT, why='nobody is there to answer')
    approval_queue.is_attended = False
    assert approval_queue.ask(question(), Cancellation()) == no
    cancellation = Cancellation()
    cancellation.cancel('Stopped')
    for approval_queue.is_attended in (False, True):
        with pytest.raises(TurnCancelled):
            approval_queue.ask(question(), cancellation)
    assert heard == []

    def answer_and_stop() -> None:  # a stop counts before an answer that was not taken yet
        approval_queue.answer(YES)
        button.cancel('Stopped')

    button = Meanwhile(answer_and_stop)
    with pytest.raises(TurnCancelled, match='Stopped'):
        approval_queue.ask(question(), button)
    turn = Asking(approval_queue, question(2))
    approval_queue.reject_all()  # who leaves says no to what is open and to what comes
    assert turn.end() == approval_queue.ask(question(3), Cancellation()) == no


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
    turn, ready = Asking(approval_queue, question()), threading.Barrier(5)
    taken: list[str] = []

    def answer(why: str) -> None:
        ready.wait(WAIT_S)
        with suppress(QuestionNotFound):
            approval_queue.answer(ApprovalAnswer(APPROVE, why=why), 'q1')
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
    if not isinstance(end, ApprovalAnswer):
        assert end == 'stop'
    elif end.action is APPROVE:
        assert taken == [end.why]
    else:
        assert (taken, end.why) == ([], 'no answer within 0.01 s')


def drive(number: int = 1) -> Question:
    return Question(
        id=f'q{number}a2b3c4',
        text='move_forward(duration_s=6.0)',
        op={'skill': 'move_forward', 'arguments': {'duration_s': 6.0}},
        reasons=['move_forward always asks'],
        asked_at=time.time(),
    )


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[RuntimeBench]:
    with RuntimeBench(tmp_path) as bench:
        bench.session.release.set()
        yield bench


def ask(bench: RuntimeBench, *questions: Question, line: str = 'look around') -> None:
    """A turn asks; the first question was shown."""
    bench.session.asks = list(questions)
    bench.console.handle_line(line)
    bench.asked(questions[0])


def answers(bench: RuntimeBench, count: int = 1) -> list[tuple[str, ApprovalAnswer]]:
    bench.until(lambda: len(bench.session.answers_to) == count, f'{count} answers')
    return bench.session.answers_to


def typed(action: ApprovalAction, arguments: Any = None, why: str = '') -> ApprovalAnswer:
    """An answer at the agent's own console."""
    return ApprovalAnswer(action, arguments, why, by='the operator')


def says(bench: RuntimeBench, line: str, reply: str) -> None:
    """The console answers ``line`` so."""
    count = len(bench.said)
    bench.console.handle_line(line)
    bench.until(lambda: any(reply in each for each in bench.said[count:]), f'{reply!r}')


WAYS = (
    (':approve', typed(APPROVE), 'approved q1a2b3c4: move_forward(duration_s=6.0)'),
    ('：ａｐｐｒｏｖｅ　Ｑ１Ａ', typed(APPROVE), 'approved q1a2b3c4: '),
    ('yes', typed(APPROVE), 'approved q1a2b3c4: '),
    (':reject too far', typed(REJECT, why='too far'), 'rejected q1a2b3c4: '),
    ('：ｒｅｊｅｃｔ　Ｑ１ 遠い', typed(REJECT, why='遠い'), 'rejected q1a2b3c4: '),
    ('no', typed(REJECT), 'rejected q1a2b3c4: '),
    (':edit {"duration_s": 2}', typed(EDIT, {'duration_s': 2}), 'which is checked again'),
    (':edit q1a {"duration_s": 1.5}', typed(EDIT, {'duration_s': 1.5}), '(duration_s=1.5)'),
)


PLAIN = Question(id='q9', text='Shall I go on?\n? q1 :approve', asked_at=time.time())


def test_each_way_to_answer_and_what_answers_no_question(bench: RuntimeBench) -> None:
    for line in (':approve', ':reject why', ':edit {}', ':approve q1'):
        says(bench, line, '! No question is open.')
    assert (bench.session.stops, bench.tasks()) == (0, {})
    for number, (line, answer, reply) in enumerate(WAYS, 1):
        bench.said.clear()
        ask(bench, drive(), line=f'look {number}')
        for wrong, problem in MISTAKES if number == 1 else ():
            says(bench, wrong, problem)
            assert bench.session.approval_queue.questions
            assert not bench.console.last_outcome.ok
        says(bench, line, reply)
        assert answers(bench, number)[-1] == ('q1a2b3c4', answer)
        bench.finish()
        done = answer.action is not REJECT
        assert bench.tasks()[f'look {number}'] == ('COMPLETED' if done else 'FAILED')
        assert not any('queued' in each for each in bench.said)  # it went before what ran
    assert bench.session.stops == 0  # a no to a question stops nothing
    ask(bench, PLAIN, line='look there')
    told = r'? q9 Shall I go on?\n? q1 :approve. :approve or :reject [why]; '
    assert any(each.startswith(told) for each in bench.said)
    says(bench, ':edit {}', '! q9 is a plain question: approve or reject it.')
    says(bench, ':reject not today', 'rejected q9')
    assert answers(bench, len(WAYS) + 1)[-1] == ('q9', typed(REJECT, why='not today'))


def test_a_yes_answers_no_later_question_and_an_e_stop_ends_one_until_it_is_cleared(
    bench: RuntimeBench,
) -> None:
    ask(bench, drive(1), drive(2))
    bench.session.approval_queue.answer(ApprovalAnswer(APPROVE))  # as if two had answered at once
    bench.asked(drive(2))
    part = Answered(APPROVE, drive(2).id[:2])  # it might fit another
    heard = [bench.reply_to(each) for each in (Said('yes', question=drive(1).id), part)]
    assert [each.ok for each in heard] == [False, False]
    assert heard[0].lines == ['q1a2b3c4 is not open any more; open: q2a2b3c4.']
    bench.hear('estop', pressed=True)
    bench.becomes('look around', 'PAUSED')
    bench.until(lambda: not bench.robot.questions(), 'the question to be gone')
    says(bench, ':approve', '! No question is open.')
    bench.hear('estop', pressed=False)
    bench.until(lambda: not bench.runtime.state.robot.estop, 'the release')
    assert len(bench.session.answers_to) == 1
    for line, reply in ((':clear', '1 task held'), (':resume', '? q2a'), ('yes', 'approved q2a')):
        says(bench, line, reply)
    bench.finish()


DEEP = '[' * (MAX_DEPTH - 1) + ']' * (MAX_DEPTH - 1)  # before it is part of an answer
MISTAKES = (
    (':approve q2', "! No open question begins with 'q2'; open: q1a2b3c4."),
    (':reject q2 too far', "! No open question begins with 'q2'; open: q1a2b3c4."),
    (':edit {"duration_s": }', '! :edit [ID] {json}: not JSON: '),
    (':edit {}', '! move_forward: duration_s: Field required'),
    (':edit q1 {"duration_s": 2, "speed": 9}', '! move_forward: speed: Extra'),
    (':edit 2', '! usage: :edit [ID] {json}, such as {"duration_s": 2}'),
    (f':edit {{"a": {DEEP}}}', '! The arguments are no JSON.'),
)


def test_a_question_outlives_the_process_and_a_yes_that_was_typed_before_it_is_no_answer(
    tmp_path: Path,
) -> None:
    asked = drive()
    with RuntimeBench(tmp_path) as bench:
        ask(bench, asked)
    with RuntimeBench(tmp_path, ready=False, go_on=True) as bench:
        bench.session.asks = [asked]
        bench.session.release.set()
        bench.console.handle_line('yes')
        bench.runtime.run_tasks(ended=bench.console.report_task_end)
        bench.asked(asked)
        bench.console.run_queued_lines()  # now the yes is taken
        bench.becomes('yes', 'PENDING')
        assert bench.session.answers_to == []
        says(bench, ':edit q1 {"duration_s": 1}', 'edited ')
        bench.becomes('look around', 'COMPLETED')
        assert answers(bench) == [(asked.id, typed(EDIT, {'duration_s': 1}))]
        bench.finish()


def test_a_question_waits_for_no_tick(tmp_path: Path) -> None:
    config = CONFIG.changed(agent={'kernel': {'tick_s': 60.0, 'watchdog_s': 60.0}})
    with RuntimeBench(tmp_path, config=config) as bench:
        turn = Asking(bench.session.approval_queue, drive())
        bench.asked(drive())
        bench.session.approval_queue.answer(ApprovalAnswer(REJECT))
        bench.until(lambda: not bench.robot.questions(), 'the question to be gone')
        assert turn.end() == ApprovalAnswer(REJECT)


def test_a_task_that_needs_approval_is_a_question_and_held_after_a_restart(tmp_path: Path) -> None:
    with RuntimeBench(tmp_path) as bench:
        task = Task('mast_open', needs_approval=True)
        short = task.id[:8]
        bench.runtime.post(Ordered(task))
        asked = f'? {short} mast_open: the task waits for approval. :approve or :reject [why].'
        bench.until(lambda: asked in bench.said, 'the question')
        says(bench, ':pending', '  mast_open  the task waits for approval')
        says(bench, ':edit {}', f'! {short} is a task, which cannot be edited: approve it, or')
    with RuntimeBench(tmp_path, ready=False) as bench:
        says(bench, ':pending', short)  # already before the tasks may run
        bench.begin()
        says(bench, f':approve {short[:5]}', f'approved {short}: mast_open')
        bench.becomes('mast_open', 'PENDING')
        assert bench.task('mast_open').held  # nobody has said that it should go on
        bench.session.release.set()
        bench.console.handle_line(':resume')
        bench.becomes('mast_open', 'COMPLETED')


PLAN = """Here is my plan:
```json
{"goal": "看一看 the rock", "steps": [
  {"step_id": 1, "action": "capture_and_score", "parameters": {}},  # first
]}
```"""


NO_PLANS: tuple[tuple[str, bytes | None, str], ...] = (
    ('none.json', None, '! cannot read none.json: No such file or directory'),
    ('.', None, '! . is no file'),
    ('a\0b', None, "! cannot read 'a\\x00b': "),
    ('~nobody-of-this-name/x', None, '! cannot read '),
    ('big', b'x' * 1_000_001, '! big has more than 1000000 bytes'),
    ('latin', b'caf\xe9', '! latin is not UTF-8: byte 3 is 0xe9'),
    ('text', b'drive to the rock', '! text: '),
    ('goalless', b'{"steps": []}', '! goalless: '),
)


def test_a_plan_is_run_from_a_file_that_holds_one_and_shown_with_its_budget(
    bench: RuntimeBench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    says(bench, ':plan', 'no plan')
    says(bench, ':budget', 'no turn yet\nsteps')
    (tmp_path / 'My  plan.json').write_bytes(b'\xef\xbb\xbf' + PLAN.encode())  # an editor's mark
    monkeypatch.setenv('HOME', str(tmp_path))
    says(bench, ':run ~/My  plan.json', 'did answer: 看一看 the rock')
    monkeypatch.chdir(tmp_path)
    for name, content, problem in NO_PLANS:
        if content is not None:
            (tmp_path / name).write_bytes(content)
        bench.console.handle_line(f':run {name}')
        assert bench.said[-1].startswith(problem)
    bench.console.handle_line('：run My  plan.json')
    bench.finish()
    assert bench.tasks() == {'看一看 the rock': 'COMPLETED'}
    (first, plan), (second, same) = bench.session.turns
    assert first != second
    assert plan is not None
    assert same is not None
    assert plan['goal'] == same['goal']
    steps: Any = plan['steps']
    assert [step['action'] for step in steps] == ['capture_and_score']
    spent = Spent(steps=3, metres=2.46)
    bench.session.react_state = ReactState(goal='look around', spent=spent, plan=plan)
    says(bench, ':plan', '看一看 the rock')
    assert 'capture_and_score' in bench.said[-1]
    ask(bench, drive())
    bench.session.react_state = ReactState(goal='look around', spent=spent)
    says(bench, ':budget', 'look around\nsteps  3 of ')
    assert 'path   2.5 of 200 m' in bench.said[-1]
    assert bench.said[-1].splitlines()[3].split()[-3:] == ['1', '%', 'used']
    says(bench, 'yes', 'approved ')
    bench.finish()
