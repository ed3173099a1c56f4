# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The action run_task over real DDS, before a robot in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import Future
import sys
import threading
from typing import Any

from action_msgs.msg import GoalStatus
from curiosity_rosa_demo.agent.interfaces.action_server.ros_server import MAX_GOALS
from curiosity_rosa_demo.agent.interfaces.action_server.server import (
    CANCELLED_TEXT,
    RunTaskServer,
    SERVER_CLOSED,
)
from curiosity_rosa_demo.agent.kernel.hear import STOP_OVERTOOK_TEXT
from curiosity_rosa_demo.agent.runtime.task_skills import store_outcome
from curiosity_rosa_demo.agent.tasks import LifecycleState, Task
from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.domain.skills import Outcome
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.infra.process import SpinThread
from curiosity_rosa_interfaces.action import RunTask
from fake_robot import FakeRobot
from harness import Sandbox, wait_until
import pytest
from rclpy.action import ActionClient, ActionServer
from rclpy.qos import QoSProfile

pytestmark = pytest.mark.ros

CONFIG = load_config()
KILLED_CLIENT = """
import sys
import rclpy
from rclpy.action import ActionClient
from curiosity_rosa_interfaces.action import RunTask

rclpy.init()
node = rclpy.create_node('client')
client = ActionClient(node, RunTask, '/agent/run_task')
client.wait_for_server()
while True:  # a first answer may be lost while the two are still getting to know each other
    goal = client.send_goal_async(RunTask.Goal(text='go to the light'))
    rclpy.spin_until_future_complete(node, goal, timeout_sec=5.0)
    if goal.done():
        break
print('accepted', goal.result().accepted, flush=True)
rclpy.spin(node)
"""


class Robot(FakeRobot):
    """Its turns end with an answer; what is cancelled cleans up once ``clean`` is set."""

    def __init__(self) -> None:
        super().__init__(step_s=0.005)
        self.clean = threading.Event()
        self.outcome = Outcome(True, 'It is bright.', 0.9)

    def stop(self, by: str) -> Future[Outcome]:
        """As that of the agent, it does not need the loop."""
        self.stops.append(by)
        stopped: Future[Outcome] = Future()
        stopped.set_result(self.stop_outcome)
        return stopped

    async def _turn(self, task: Task) -> None:
        try:
            await super()._turn(task)
        except asyncio.CancelledError:
            await asyncio.to_thread(self.clean.wait, 20.0)
            raise
        store_outcome(task, self.outcome)


async def running_loop() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


class Sent:
    """A goal, and what came of it."""

    def __init__(self, box: Sandbox, client: ActionClient, goal: RunTask.Goal) -> None:
        self.feedback: list[RunTask.Feedback] = []
        self._box = box
        self._future = box.ask(
            lambda: client.send_goal_async(
                goal, feedback_callback=lambda message: self.feedback.append(message.feedback)
            )
        )
        self._result: Any = None

    @property
    def handle(self) -> Any:
        wait_until(self._future.done, 'the goal to be answered')
        return self._future.result()

    def expect_result(self) -> Sent:
        self._result = self._box.ask(self.handle.get_result_async)
        return self

    def result(self) -> Any:
        """With its ``status`` and ``result``."""
        if self._result is None:
            self.expect_result()
        wait_until(self._result.done, 'the result', 30.0)
        return self._result.result()

    def wait_for(self, kind: str) -> RunTask.Feedback:
        found = wait_until(
            lambda: [each for each in self.feedback if each.kind == kind], f'feedback {kind}'
        )
        return found[0]

    @property
    def kinds(self) -> list[str]:
        return [each.kind for each in self.feedback]


class World:
    """The server before ``robot``, spun by a thread as the agent's is."""

    def __init__(self, sandbox: Sandbox, robot: Robot) -> None:
        self.sandbox, self.robot = sandbox, robot
        self._server = RunTaskServer(CONFIG, robot, ready_wait_s=30.0)
        node = self._server.handles.node
        self._spin = SpinThread('agent', node, on_crash=sandbox.crashes.append)
        self._open = True
        deep = QoSProfile(depth=1000)
        self.client = sandbox.action_client(
            RunTask, '/agent/run_task', feedback_sub_qos_profile=deep
        )
        sandbox.introduce(self.client, RunTask.Goal())

    def close(self) -> None:
        if self._open:
            self._open = False
            self._server.end_goals()
            self._server.handles.close()
            self._spin.close()
            self._server.handles.destroy()

    def send(self, **goal: str) -> Sent:
        return Sent(self.sandbox, self.client, RunTask.Goal(**goal))

    def task(self, task_id: str) -> Task:
        async def get() -> Task | None:
            return self.robot.runner.get_task(task_id)

        task = self.robot.do(get())
        assert task is not None
        return task

    def tasks(self) -> list[Task]:
        async def all_of_them() -> list[Task]:
            return self.robot.runner.list_tasks()

        return self.robot.do(all_of_them())


@pytest.fixture
def world(box: Sandbox) -> Iterator[World]:
    with Robot() as robot:
        made = World(box, robot)
        try:
            yield made
        finally:
            robot.paused = False
            robot.clean.set()
            made.close()
        assert not box.crashes


def test_a_sentence_becomes_a_task_the_trace_its_feedback_and_its_answer_the_result(
    world: World,
) -> None:
    world.robot.brain_state = world.robot.brain_state.model_copy(
        update={'react': world.robot.brain_state.react.model_copy(update={'iter': 3})}
    )
    sent = world.send(text='go to the light')
    done = sent.result()
    assert done.status == GoalStatus.STATUS_SUCCEEDED
    assert (done.result.ok, done.result.answer) == (True, 'It is bright.')
    assert done.result.score == pytest.approx(0.9)
    task = world.task(done.result.task_id)
    assert (task.name, task.metadata['text']) == ('react', 'go to the light')
    last = world.robot.event_bus.trace_events()[-1].message
    wait_until(lambda: sent.feedback[-1].trace_text == last, 'the last feedback')
    traced = [each for each in sent.feedback if each.kind in TraceKind.__members__]
    assert [(each.kind, each.trace_text) for each in traced] == [
        (event.kind.value, event.message) for event in world.robot.event_bus.trace_events()
    ]
    assert {each.step for each in traced} == {3}
    assert sent.kinds.index('ACTIVE') < sent.kinds.index('OBSERVE')

    world.robot.outcome = Outcome(False, 'It stayed dark.', 0.2)
    failed = world.send(text='go to the light').result()
    assert failed.status == GoalStatus.STATUS_ABORTED
    assert (failed.result.ok, failed.result.answer) == (False, 'It stayed dark.')


def test_what_others_do_is_no_feedback(world: World) -> None:
    world.robot.paused = True
    first = world.send(text='first')
    first.wait_for('ACT')
    second = world.send(text='second')
    second.wait_for('PENDING')
    for task in world.tasks():
        data = {'progress': {'fraction': 0.4}, 'fraction': 0.4, 'task_id': task.id}
        text = f'navigate_to_pose of {task.metadata["text"]}: 40 %'
        world.robot.trace(TraceKind.OBSERVE, text, tool_name='navigate_to_pose', data=data)
    world.robot.trace(TraceKind.OBSERVE, 'of the first')
    wait_until(
        lambda: 'of the first' in [each.trace_text for each in first.feedback], 'the feedback'
    )
    assert second.kinds == ['PENDING']
    progress = [each.trace_text for each in first.feedback if each.kind == 'PROGRESS']
    assert progress == ['navigate_to_pose of first: 40 %']
    world.robot.paused = False
    assert first.result().result.ok
    assert second.result().result.ok
    last = world.robot.event_bus.trace_events()[-1].message
    wait_until(lambda: second.feedback[-1].trace_text == last, 'the last feedback')
    assert 'of the first' not in [each.trace_text for each in second.feedback]
    assert 'User: first' not in [each.trace_text for each in second.feedback]
    assert 'User: second' not in [each.trace_text for each in first.feedback]


def test_a_stop_waits_for_no_loop(world: World) -> None:
    loop_goes_on = threading.Event()
    world.robot.do(running_loop()).call_soon_threadsafe(loop_goes_on.wait, 60.0)
    try:
        done = world.send(text='Stop!').result()
    finally:
        loop_goes_on.set()
    assert (done.status, done.result.answer) == (GoalStatus.STATUS_SUCCEEDED, 'stopped')
    assert world.robot.stops


def test_a_stop_ends_the_goals_that_wait_until_the_agent_is_ready(world: World) -> None:
    world.robot.not_ready = 'The other nodes are not up yet'
    goals = ({'text': 'go to the light'}, {'skill': 'move_forward'})
    waiting = [world.send(**goal).expect_result() for goal in goals]
    assert world.send(text='Stop!').result().result.ok
    world.robot.not_ready = ''
    for sent in waiting:
        done = sent.result()
        assert (done.status, done.result.answer) == (
            GoalStatus.STATUS_ABORTED,
            STOP_OVERTOOK_TEXT,
        )
    assert not world.tasks()


def test_a_failure_of_the_server_does_not_end_the_thread_that_spins(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(*_: Any) -> None:
        raise RuntimeError('failed to send response')

    with monkeypatch.context() as broken:
        broken.setattr(ActionServer, 'execute', fail)
        world.send(text='go')
        wait_until(lambda: 'failed to send response' in caplog.text, 'the failure')
    assert world.send(text='go').result().result.ok


def test_a_cancelled_goal_has_ended_when_its_task_has(world: World) -> None:
    world.robot.paused = True
    sent = world.send(text='go to the light').expect_result()
    sent.wait_for('ACT')
    cancelling = world.sandbox.ask(sent.handle.cancel_goal_async)
    wait_until(cancelling.done, 'the answer to a cancel request')
    assert cancelling.result().goals_canceling
    wait_until(lambda: sent.handle.status == GoalStatus.STATUS_CANCELING, 'the goal to cancel')
    (task,) = world.tasks()
    assert task.state is LifecycleState.ACTIVE  # it cleans up
    world.robot.clean.set()
    done = sent.result()
    assert done.status == GoalStatus.STATUS_CANCELED
    assert (done.result.ok, done.result.answer) == (False, CANCELLED_TEXT)
    assert world.task(done.result.task_id).state is LifecycleState.CANCELLED


def test_many_goals_are_tasks_one_after_the_other(world: World) -> None:
    world.robot.paused = True
    sent = [world.send(text=f'number {number}').expect_result() for number in range(MAX_GOALS)]
    wait_until(lambda: len(world.tasks()) == MAX_GOALS, 'all the tasks')
    assert sum(task.state is LifecycleState.ACTIVE for task in world.tasks()) == 1
    assert not world.send(text='one too many').handle.accepted
    world.robot.paused = False
    results = [each.result() for each in sent]
    assert all(each.status == GoalStatus.STATUS_SUCCEEDED for each in results)
    assert len({each.result.task_id for each in results}) == MAX_GOALS
    assert world.send(text='now there is room').result().result.ok


def test_a_stop_is_no_goal_too_many(world: World) -> None:
    world.robot.paused = True
    assert all(world.send(text=f'number {number}').handle.accepted for number in range(MAX_GOALS))
    assert world.send(text='Stop!').result().result.answer == 'stopped'


def test_a_client_that_is_killed_changes_nothing(world: World) -> None:
    world.robot.paused = True
    process = world.sandbox.run([sys.executable, '-c', KILLED_CLIENT], 'client')
    wait_until(lambda: 'accepted True' in process.output(), 'the goal to be accepted', 60.0)
    wait_until(
        lambda: any(task.state is LifecycleState.ACTIVE for task in world.tasks()), 'the task'
    )
    process.kill()
    tasks = world.tasks()
    assert not any(task.terminal for task in tasks)
    world.robot.paused = False
    wait_until(lambda: all(task.terminal for task in tasks), 'the task to end')
    assert {task.state for task in tasks} == {LifecycleState.COMPLETED}
    assert world.send(text='and another').result().result.ok


def test_an_agent_that_ends_ends_its_goals_and_keeps_their_tasks(world: World) -> None:
    world.robot.paused = True
    running = world.send(text='go to the light').expect_result()
    running.wait_for('ACT')
    queued = world.send(text='and back').expect_result()
    queued.wait_for('PENDING')
    world.close()
    for sent in (running, queued):
        done = sent.result()
        assert done.status == GoalStatus.STATUS_ABORTED
        assert done.result.answer == SERVER_CLOSED
    assert not any(task.terminal for task in world.tasks())
