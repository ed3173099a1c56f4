# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The action ``run_task``: each goal becomes a task in the agent's queue. A stop does not queue.

A goal that cannot become a task is accepted and then aborted, because only an abort carries a
message. The task belongs to the agent: it goes on when the client or the action server is gone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
import logging
import time
from typing import Any

from curiosity_rosa_demo.agent.interfaces.action_server.ros_server import Goal, GoalHandles
from curiosity_rosa_demo.agent.interfaces.terminal.commands import is_short_stop
from curiosity_rosa_demo.agent.kernel.hear import STOP_OVERTOOK_TEXT
from curiosity_rosa_demo.agent.robot import Robot
from curiosity_rosa_demo.agent.skills.skill import PROGRESS
from curiosity_rosa_demo.agent.tasks import Event, EventType, LifecycleState, Task
from curiosity_rosa_demo.agent.tasks.origin import with_origin, with_traceparent
from curiosity_rosa_demo.agent.tasks.task import BadTask, TaskError
from curiosity_rosa_demo.domain.models import read_json_object, TraceEvent
from curiosity_rosa_demo.domain.origin import Origin
from curiosity_rosa_demo.domain.skills import CANCELLED, Outcome, outcome_of
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.spans import is_traceparent, TRACEPARENT
from curiosity_rosa_demo.trace.events import SkillProgressed
from curiosity_rosa_interfaces.action import RunTask

CLIENT_NAME = 'the action'
CLOSE_TIMEOUT_S = 3.0  # a loop that hangs longer does not end the goals; end_goals() then does
CHECK_PERIOD_S = 2.0  # an event tells the end of a task at once; this only bounds a lost one
READY_POLL_PERIOD_S = 0.2
CANCELLED_TEXT = 'Cancelled by the client of the action'
SERVER_CLOSED = 'The agent ends; the task is kept for its next run'
MAX_TEXT_CHARS = 20_000  # of a text or of arguments; enough for a plan
TEXT_OR_SKILL_RULE = 'give either text or skill'
EXAMPLE = 'such as skill "move_forward" with arguments_json {"duration_s": 2.0}'
ENDED_EVENTS = (EventType.TASK_COMPLETE, EventType.TASK_FAIL, EventType.TASK_CANCEL)

_log = logging.getLogger('curiosity_rosa.run_task')


class RunTaskServer:
    """Serves goals while the node of ``handles`` spins, until ``end_goals``. Close the handles
    after that.

    A goal that arrives while the agent starts waits ``ready_wait_s`` at most, then is aborted; a
    stop aborts it at once. A goal that says stop waits for nothing, not even for the loop.
    """

    def __init__(self, config: Config, robot: Robot, *, ready_wait_s: float = 30.0) -> None:
        self._robot, self._ready_wait_s = robot, ready_wait_s
        self._goals: set[Goal] = set()  # those that wait for an outcome
        self._closing = False
        self._jobs = robot.jobs(_failure)
        self.handles = GoalHandles(
            config.topics.agent.run_task,
            begin=self._begin,
            cancel=lambda goal: self._jobs.call_soon(self._cancel, goal),
            failed=_failure,
        )

    def end_goals(self) -> None:
        """End all open goals and reject further ones. Their tasks continue."""
        self._closing = True
        self.handles.refuse()
        with suppress(TimeoutError, RuntimeError):  # the loop hangs, or has ended
            self._jobs.call(self._jobs.cancel_jobs(), CLOSE_TIMEOUT_S)
        for goal in tuple(self._goals):
            self.handles.finish(goal, Outcome(False, SERVER_CLOSED))

    # --- in rclpy's thread ------------------------------------------------------------------

    def _begin(self, goal: Goal) -> None:
        goal.stops, text = self._robot.stop_count, goal.ros.request.text
        if not is_short_stop(text):
            self._jobs.call_soon(self._accept, goal)
            return
        outcome = self._robot.stop(CLIENT_NAME)
        outcome.add_done_callback(lambda done: self.handles.finish(goal, _stop_result(done)))

    # --- in the loop ------------------------------------------------------------------------

    def _accept(self, goal: Goal) -> None:
        if self._closing:  # the goal was accepted just before refuse()
            self.handles.finish(goal, Outcome(False, SERVER_CLOSED))
            return
        self._goals.add(goal)
        self._jobs.start_job(self._execute(goal))

    def _cancel(self, goal: Goal) -> None:
        if goal in self._goals:
            goal.cancelled = True
            if goal.task is not None:  # otherwise _outcome_of() cancels it after its submission
                self._jobs.start_job(self._robot.cancel_when_possible(goal.task, CANCELLED_TEXT))

    async def _execute(self, goal: Goal) -> None:
        outcome = Outcome(False, SERVER_CLOSED)
        try:
            outcome = await self._outcome_of(goal)
        except TaskError as error:
            outcome = Outcome(False, str(error))
        except Exception as error:
            outcome = Outcome(False, f'Internal error: {error!r}')
            raise
        finally:
            self._goals.discard(goal)
            self.handles.finish(goal, outcome)

    async def _outcome_of(self, goal: Goal) -> Outcome:
        request = parse_goal(goal.ros.request)
        await self._wait_until_ready(goal)
        if goal.cancelled:
            return Outcome(False, CANCELLED_TEXT, code=CANCELLED)
        after = self._robot.event_bus.last_number
        if request.skill:
            task = self._robot.make_task(request.skill, request.arguments or {})
            with_traceparent(with_origin(task, Origin.ACTION), request.traceparent)
            task = await self._robot.order(task, stops=goal.stops)
        else:
            said = await self._robot.say(request.text, Origin.ACTION, stops=goal.stops)
            if said.task is None:
                return Outcome(said.ok, said.text or ('done' if said.ok else 'refused'))
            task = said.task
        goal.task = task
        if goal.cancelled:
            self._jobs.start_job(self._robot.cancel_when_possible(task, CANCELLED_TEXT))
        with self._robot.follow(task, after) as following:
            while not task.terminal:
                self._tell(goal, task, await following.news(CHECK_PERIOD_S))
            self._tell(goal, task, following.read())
        return outcome_of(task.state, task.metadata, task.reason)

    def _tell(self, goal: Goal, task: Task, news: Sequence[Event | TraceEvent]) -> None:
        """Send each state of the task as feedback, and what is traced while it runs."""
        for event in news:
            if isinstance(event, TraceEvent):
                if goal.runs:
                    step = self._robot.state().react.iter if task.name == 'react' else 0
                    kind = PROGRESS if SkillProgressed.of(event) else event.kind.value
                    self.handles.feedback(goal, event.message, kind, step)
            elif event.type in ENDED_EVENTS:
                goal.runs = False
            else:
                state = event.payload.get('after', LifecycleState.PENDING)
                reason = event.payload.get('reason', '')
                self.handles.feedback(goal, reason, state.name, 0)
                goal.runs = state.running
                if goal.runs:
                    self.handles.execute(goal)

    async def _wait_until_ready(self, goal: Goal) -> None:
        """Wait until tasks can run. Raises TaskError with the reason after ``ready_wait_s``, and
        when a stop came since the goal was accepted.
        """
        until_s = time.monotonic() + self._ready_wait_s
        while not goal.cancelled:
            if self._robot.stop_count != goal.stops:
                raise TaskError(STOP_OVERTOOK_TEXT)
            if not (why := self._robot.not_ready_reason()):
                return
            if time.monotonic() >= until_s:
                raise TaskError(f'Nothing can run yet: {why}')
            await asyncio.sleep(READY_POLL_PERIOD_S)


def _stop_result(outcome: Future[Outcome]) -> Outcome:
    if (error := outcome.exception()) is not None:
        return Outcome(False, f'Internal error: {error!r}')
    return outcome.result()


def _failure(error: BaseException) -> None:
    _log.error('event=action_failed error=%r', error)


# --- A goal ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GoalArguments:
    """Either a ``text``, or the name of a skill and its arguments. ``traceparent``: of the caller,
    from the arguments, if it is one.
    """

    text: str = ''
    skill: str = ''
    arguments: dict[str, Any] | None = None
    traceparent: str = ''


def parse_goal(request: RunTask.Goal) -> GoalArguments:
    """Check the goal and read its arguments. Raises BadTask, whose message gives the rule."""
    text, skill, arguments = request.text.strip(), request.skill.strip(), request.arguments_json
    for name, given in (('text', text), ('skill', skill), ('arguments_json', arguments)):
        if len(given) > MAX_TEXT_CHARS:
            raise BadTask(f'{name} has {len(given)} characters; {MAX_TEXT_CHARS} are allowed')
    if text and skill:
        raise BadTask(
            f'The goal has text {text[:40]!r} and skill {skill[:40]!r}; {TEXT_OR_SKILL_RULE}'
        )
    if skill:
        given_arguments = _arguments(arguments)
        traceparent = _taken_traceparent(given_arguments)
        return GoalArguments('', skill, given_arguments, traceparent)
    if not text:
        raise BadTask(f'The goal is empty; {TEXT_OR_SKILL_RULE}, {EXAMPLE}')
    if arguments.strip():
        raise BadTask(f'arguments_json goes with skill, not with text; {EXAMPLE}')
    return GoalArguments(text=text)


def _taken_traceparent(arguments: dict[str, Any]) -> str:
    """The W3C header in ``arguments``, which then loses it; '' for none. No skill has such an
    argument, so another value is left for its check to refuse.
    """
    if not is_traceparent(arguments.get(TRACEPARENT)):
        return ''
    return str(arguments.pop(TRACEPARENT))


def _arguments(text: str) -> dict[str, Any]:
    try:
        return read_json_object(text if text.strip() else '{}')
    except ValueError as error:
        raise BadTask(f'arguments_json {text[:80]!r} cannot be read: {error}; {EXAMPLE}') from None
