# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the HTTP API asks of an agent, from a loop of its own, of a real runtime and console."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
import threading
from typing import Any

from curiosity_rosa_demo.agent.react.turn.approval_queue import QuestionNotFound
from curiosity_rosa_demo.agent.runtime import robot_service
from curiosity_rosa_demo.agent.runtime.robot import LineResult, RobotBusy
from curiosity_rosa_demo.agent.runtime.robot_service import NOT_READY_TEXT
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.agent.tasks.task import BadTask, TaskError
from curiosity_rosa_demo.domain.brain_state import ApprovalAction, Question
from curiosity_rosa_demo.domain.skills import Outcome
from examples import examples
from hypothesis import given, HealthCheck, settings
from hypothesis import strategies as st
import pytest
from robot_service_world import RobotServiceBench, run
from runtime_world import RuntimeBench, WAIT_S


@pytest.fixture
def world(tmp_path: Path) -> Iterator[RobotServiceBench]:
    with RuntimeBench(tmp_path) as bench:
        yield RobotServiceBench(bench)


@pytest.fixture
def early(tmp_path: Path) -> Iterator[RobotServiceBench]:
    """Before the other nodes are up."""
    with RuntimeBench(tmp_path, ready=False) as bench:
        yield RobotServiceBench(bench)


def say(world: RobotServiceBench, text: str) -> LineResult:
    return run(lambda: world.robot.say(text))


def test_a_loop_that_does_not_answer_or_has_ended_is_told_and_the_work_does_not_come_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done, late = list[str](), Task('react', metadata={'text': 'late'})

    async def ask() -> None:
        await world.robot.call(asyncio.to_thread(done.append, 'work'))

    with RuntimeBench(tmp_path) as bench:
        world = RobotServiceBench(bench)
        with monkeypatch.context() as quick:
            quick.setattr(robot_service, 'CALL_TIMEOUT_S', 0.2)
            for work in (ask, lambda: world.robot.submit(late)):
                with bench.blocked_loop(), pytest.raises(RobotBusy, match=r'within 0\.2 s'):
                    run(work)
        run(lambda: world.robot.submit(Task('react', metadata={'text': 'in time'})))  # behind it
        assert (done, list(bench.tasks())) == ([], ['in time'])
    with pytest.raises(TaskError, match='The agent ends'):
        run(ask)


def test_nothing_is_submitted_before_tasks_may_run(early: RobotServiceBench) -> None:
    assert early.robot.not_ready_reason() == NOT_READY_TEXT
    with pytest.raises(TaskError, match='not up yet'):
        run(lambda: early.robot.submit(Task('capture_and_score')))
    assert early.bench.runtime.list_tasks() == []
    result = say(early, ':forward 1')
    assert (result.ok, result.task) == (True, None)
    assert 'queued until the other nodes are up' in result.text
    early.bench.session.release.set()
    early.service.startup_failure = 'The agent cannot begin: no database'
    assert early.robot.not_ready_reason() == 'The agent cannot begin: no database'
    early.service.startup_failure = ''
    early.bench.begin()
    assert early.robot.not_ready_reason() == ''
    early.bench.becomes('move_forward', 'COMPLETED')
    assert early.bench.console.last_outcome is None
    run(lambda: early.robot.submit(Task('capture_and_score')))


def test_a_task_that_a_stop_overtakes_is_not_submitted(world: RobotServiceBench) -> None:
    async def both() -> Task:
        with world.bench.blocked_loop():
            submitting = asyncio.ensure_future(world.robot.submit(Task('capture_and_score')))
            await asyncio.sleep(0)  # it reads how many stops there were
            await world.robot.stop('a test')
        return await submitting

    with pytest.raises(TaskError, match='A stop came first'):
        run(both)
    assert world.bench.session.ran == []


def hanging(entered: threading.Semaphore, go_on: threading.Event) -> Callable[..., Any]:
    """Something that does not come back until it is let go."""

    def hang(*_: Any) -> Outcome:
        entered.release()
        assert go_on.wait(WAIT_S)
        return Outcome(True, 'late')

    return hang


def test_no_stop_waits_for_another_stop(world: RobotServiceBench) -> None:
    entered, go_on = threading.Semaphore(0), threading.Event()
    world.bench.session.stop_rover = hanging(entered, go_on)

    async def many() -> list[Outcome]:
        stops = [world.robot.stop(f'caller {n}') for n in range(40)]
        answers = asyncio.gather(*stops)
        await asyncio.sleep(0)
        # All of them are with the rover before one has its answer.
        for _ in stops:
            assert await asyncio.to_thread(entered.acquire, timeout=WAIT_S)
        go_on.set()
        return await answers

    assert all(outcome.ok for outcome in run(many))


def test_no_stop_waits_for_what_somebody_says(
    world: RobotServiceBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    entered, go_on = threading.Semaphore(0), threading.Event()
    monkeypatch.setattr(world.bench.session, 'rover_status', hanging(entered, go_on))

    async def both() -> Outcome:
        saying = [asyncio.ensure_future(world.robot.say(':status')) for _ in range(40)]
        await asyncio.to_thread(entered.acquire, timeout=WAIT_S)
        by_word = await world.robot.say('stop!')
        assert by_word.ok
        outcome = await world.robot.stop('a test')
        assert not any(each.done() for each in saying)
        go_on.set()
        await asyncio.gather(*saying, return_exceptions=True)
        return outcome

    assert run(both).ok
    assert world.bench.session.stops == 2


SAID = [
    (':tasks', True, 'no tasks'),
    (':mode', True, 'IDLE'),
    (':auto', True, 'auto is off'),
    (':cancel abc', False, "no task with an ID that begins with 'abc'"),
    (':dance', False, ':dance'),
    (':forward 900', False, '900'),
    (':approve', False, 'No question is open.'),
    (':submit nothing', False, 'nothing'),
    ('', False, 'The line is empty'),
    ('  \n', False, 'The line is empty'),
    ('resume', True, 'nothing is paused'),
    ('x' * 10_001, False, '10001 characters; a line may have 10000'),
    ('stop ' * 50_000, False, '250000 characters'),
    (':quit', False, 'for the operator'),
    (':run /etc/passwd', False, 'only at the console'),
    (':tree /tmp/x.svg', False, 'only at the console'),
]


def test_what_is_said_is_answered_in_words(world: RobotServiceBench) -> None:
    wrong = []
    for text, ok, words in SAID:
        result = say(world, text)
        if (result.ok, result.task, words in result.text) != (ok, None, True):
            wrong.append((text[:40], result))
    assert wrong == []


def test_the_operators_last_outcome_is_not_that_of_somebody_else(world: RobotServiceBench) -> None:
    bench = world.bench
    bench.session.release.set()
    bench.console.handle_line(':cap')
    bench.finish()
    for text in (':forward 1', ':dance', ':mode', 'hello', 'stop'):
        say(world, text)
    bench.until(lambda: 'did answer: hello' in bench.said or bench.session.stops, 'the end')
    assert bench.console.last_outcome == Outcome(True, 'did capture_and_score')


@settings(
    deadline=None,
    max_examples=examples(60),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    text=st.one_of(
        st.text(max_size=30),
        st.sampled_from([':', '：', ':ed', ':quit ', ':edit {', '\x00', ':why 0', 'yes', 'pause']),
    )
)
def test_whatever_is_said_is_answered(world: RobotServiceBench, text: str) -> None:
    world.bench.session.release.set()
    result = say(world, text)
    assert result.task is not None or result.text
    assert world.bench.console.last_outcome is None
    assert not world.bench.console.busy


DRIVE = Question(
    id='q1a2b', text='Drive?', op={'skill': 'move_forward', 'arguments': {'duration_s': 9}}
)


@pytest.fixture
def asking(world: RobotServiceBench) -> RobotServiceBench:
    bench = world.bench
    bench.session.asks = [DRIVE.model_copy(update={'asked_at': 4e9})]
    bench.session.release.set()
    bench.console.handle_line('go')
    bench.asked(DRIVE)
    return world


@pytest.mark.parametrize(
    ('action', 'arguments', 'why', 'words'),
    [
        (ApprovalAction.APPROVE, None, '', 'approved q1a2b: Drive?'),
        (ApprovalAction.REJECT, None, 'too far', 'rejected q1a2b: Drive?'),
        (ApprovalAction.EDIT, {'duration_s': 2}, '', 'edited q1a2b: move_forward'),
    ],
)
def test_a_question_is_answered(
    asking: RobotServiceBench,
    action: ApprovalAction,
    arguments: dict[str, Any] | None,
    why: str,
    words: str,
) -> None:
    robot, session = asking.robot, asking.bench.session
    (question,) = robot.questions()
    timeout_s = session.approval_queue.timeout_s
    assert robot.approval_deadline(question) == question.asked_at + timeout_s
    for which in ('', 'q9'):
        with pytest.raises(QuestionNotFound, match=r'open: q1a2b|Its id is missing'):
            run(lambda which=which: robot.answer(which, ApprovalAction.APPROVE, None, ''))
    assert not run(lambda: robot.answer('q1a2b', ApprovalAction.EDIT, None, '')).ok
    for wrong in ({'duration_s': 'long'}, {'duration_s': -1}, {'speed': 3}, {}):
        with pytest.raises(BadTask):
            run(lambda wrong=wrong: robot.answer('q1a2b', ApprovalAction.EDIT, wrong, ''))
    outcome = run(lambda: robot.answer('q1a2b', action, arguments, why, by='Anna (page)'))
    assert outcome.ok
    assert words in outcome.answer
    asking.bench.until(lambda: session.answers_to, 'the answer')
    ((_, answer),) = session.answers_to
    assert (answer.action, answer.arguments, answer.why) == (action, arguments, why)
    assert answer.by == 'Anna (page)'
    assert robot.questions() == ()
    with pytest.raises(QuestionNotFound, match='No question is open'):
        run(lambda: robot.answer('q1a2b', ApprovalAction.APPROVE, None, ''))
    assert any(
        line.startswith('(http)') and line.endswith('q1a2b, by Anna (page)')
        for line in asking.bench.said
    )


def test_the_trail_follows_the_odometry(world: RobotServiceBench) -> None:
    def drive(x: float) -> None:
        world.bench.hear(
            'odometry',
            **{'x': x, 'y': 0.0, 'z': 0.0, 'orientation_z': 0.0, 'orientation_w': 1.0},
            **{'linear_x': 0.1, 'angular_z': 0.0},
        )
        state = lambda: world.bench.runtime.state.robot.pose.x == x  # noqa: E731
        world.bench.until(state, f'x = {x}')
        world.service.record_tick()

    world.service.record_tick()
    assert world.robot.trail() == ()  # nobody knows where it is
    for x in (1.0, 1.001, 1.5, 1.5, 2.0):
        drive(x)
    assert world.robot.trail() == ((1.0, 0.0), (1.5, 0.0), (2.0, 0.0))


def test_the_health_of_the_kernel_and_the_tasks(
    world: RobotServiceBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def health() -> dict[str, bool]:
        return {each.name: each.ok for each in world.robot.node_statuses()}

    assert health() == {'adapter': True, 'kernel': False, 'tasks': True}  # it has never ticked
    world.service.record_tick()
    assert health() == {'adapter': True, 'kernel': True, 'tasks': True}
    now = robot_service.time.monotonic()
    with monkeypatch.context() as later:
        later.setattr(robot_service.time, 'monotonic', lambda: now + 2.5)
        assert health() == {'adapter': True, 'kernel': False, 'tasks': True}  # it hangs
    monkeypatch.setattr(world.bench.runtime, 'failure', 'an internal error')
    assert health()['kernel'] is False
    assert world.robot.not_ready_reason() == 'an internal error'
