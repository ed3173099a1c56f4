# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The routes of the tasks. Bodies and status codes are those of the first design, extended."""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
import re
from typing import Annotated, Any, Literal, TypeVar

from curiosity_rosa_demo.agent.interfaces.http.access import PAGE_SESSION
from curiosity_rosa_demo.agent.interfaces.http.models import (
    CancelledTaskView,
    EXAMPLE_ID,
    HealthView,
    Interruption,
    NewPriority,
    NewTask,
    TaskView,
)
from curiosity_rosa_demo.agent.interfaces.http.problems import (
    Problem,
    problems,
    ResponseSpecs,
    RETRY_SOON,
)
from curiosity_rosa_demo.agent.runtime.robot import Robot
from curiosity_rosa_demo.agent.tasks import LifecycleState, SkillRunner, Task
from curiosity_rosa_demo.agent.tasks.origin import with_origin, with_traceparent
from curiosity_rosa_demo.agent.tasks.store import HistoryRow
from curiosity_rosa_demo.agent.tasks.task import (
    BadTask,
    OrderRefused,
    StoreError,
    TaskError,
    UnknownTask,
)
from curiosity_rosa_demo.domain.origin import caller_text, Origin
from fastapi import APIRouter, Depends, Header, Path, Query, Request, Response

T = TypeVar('T')
MAX_PAGE_SIZE = 1000  # tasks in one list
MAX_PAGE_BYTES = 4_000_000  # of their JSON, but at least one task
MAX_CURSOR_CHARS = 40


Operator = Annotated[
    str, Query(description='your name, for the others to see; at most 40 characters are shown')
]
Client = Annotated[
    str, Query(description='what you use, such as page; lower-case letters, digits and hyphens')
]


async def _caller(operator: Operator = '', client: Client = '') -> str:
    """No value is refused: that could block a stop. A coroutine, since others need a thread."""
    return caller_text(client, operator)


# Who makes a request, as its query says: for display only.
Caller = Annotated[str, Depends(_caller)]


async def _door(request: Request) -> Origin:
    """An order of a page, which has the session, is the page's, not that of a script."""
    return Origin.PAGE if request.scope.get(PAGE_SESSION) else Origin.HTTP


Door = Annotated[Origin, Depends(_door)]
TaskId = Annotated[str, Path(min_length=1, max_length=200, examples=[EXAMPLE_ID])]
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias='Idempotency-Key',
        min_length=1,
        max_length=200,
        pattern=r'^[\x21-\x7e]+$',
        description='A second request with the same key makes no second task.',
    ),
]
Traceparent = Annotated[
    str | None,
    Header(
        description='W3C Trace Context: the spans of the task belong to the trace of the caller. '
        'An invalid value counts as none.'
    ),
]
AGAIN: ResponseSpecs = {
    200: {'model': TaskView, 'description': 'The earlier task with this Idempotency-Key'},
}


class RunnerAccess:
    """With a ``robot``, the runner belongs to the robot's loop, in another thread.

    Without one, the runner belongs to the server's loop. The first request starts it if needed, so
    that tasks can be submitted and queried without a lifespan. Tasks run only in a lifespan.
    """

    def __init__(self, runner: SkillRunner, robot: Robot | None) -> None:
        self._runner, self._robot = runner, robot
        self._starting: asyncio.Task[bool] | None = None

    async def call(self, work: Callable[[SkillRunner], Awaitable[T]]) -> T:
        """Run ``work`` in the runner's loop; returns its result or raises its exception."""

        async def run() -> T:
            return await work(self._runner)

        if self._robot is not None:
            return await self._robot.call(run())
        await self._start()
        return await run()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run the tasks within the context, then stop the runner. Ignores a foreign runner."""
        if self._robot is not None or not await self._start():
            yield
            return
        loop = asyncio.create_task(self._runner.run_loop())
        try:
            yield
        finally:
            await self._runner.stop()
            await loop

    async def _start(self) -> bool:
        """Start the runner, once. False: other code had started it already. Raises StoreError."""

        async def start() -> bool:
            try:
                await self._runner.start()
            except StoreError:
                raise
            except TaskError:
                return False
            return True

        if self._starting is None:
            self._starting = asyncio.create_task(start())
        return await asyncio.shield(self._starting)


# --- The cursor of a list: the ``seq`` of its last task, opaque to clients ----------------------


def encode_cursor(seq: int) -> str:
    return base64.urlsafe_b64encode(f'after {seq}'.encode()).decode().rstrip('=')


def decode_cursor(cursor: str) -> int:
    """The ``seq`` in ``cursor``. Raises Problem if encode_cursor() did not make it."""
    text = ''
    if cursor and len(cursor) <= MAX_CURSOR_CHARS:
        padded = cursor + '=' * (-len(cursor) % 4)
        try:
            text = base64.b64decode(padded, altchars=b'-_', validate=True).decode()
        except (binascii.Error, ValueError):
            text = ''
    found = re.fullmatch(r'after (0|-?[1-9][0-9]{0,18})', text, re.ASCII)
    if found is None or encode_cursor(int(found[1])) != cursor:
        why = f'{cursor[:MAX_CURSOR_CHARS]!r} is no cursor; take it from the Link header of a list'
        raise Problem(422, f'cursor: {why}')
    return int(found[1])


# --- Tasks from requests -----------------------------------------------------------------------


def new_task(
    robot: Robot | None,
    new: NewTask | Interruption,
    key: str | None,
    door: Origin = Origin.HTTP,
) -> Task:
    """The task that a request asks for, not yet submitted. Raises BadTask, Problem."""
    if robot is None:
        task = Task(new.name, metadata=new.metadata)
    elif why := robot.not_ready_reason():
        raise Problem(503, f'Nothing can run yet: {why}', headers=RETRY_SOON)
    else:
        task = robot.make_task(new.name, arguments_of(new.metadata))
        with_origin(task, door)
    for field in type(new).model_fields.keys() - {'name', 'metadata'}:
        setattr(task, field, getattr(new, field))
    # The prefix keeps the keys of clients apart from the agent's own.
    task.idempotency_key = None if key is None else f'http/{key}'
    return task


def arguments_of(metadata: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a skill in a task's metadata. Raises BadTask."""
    if 'arguments' not in metadata:
        return metadata
    arguments = metadata['arguments']
    if len(metadata) > 1 or not isinstance(arguments, dict):
        raise BadTask('metadata must be {"arguments": {...}}, or the arguments alone')
    return arguments


def task_routes(access: RunnerAccess, robot: Robot | None) -> APIRouter:
    """The functions that take a ``runner`` run in its loop."""
    router = APIRouter(tags=['tasks'])

    async def stored(
        task: Task, submit: Callable[[SkillRunner], Awaitable[Task]], response: Response
    ) -> TaskView:
        async def store(runner: SkillRunner) -> TaskView:
            known = await submit(runner)
            for part in ('text', 'arguments'):
                if known.name != task.name or known.metadata.get(part) != task.metadata.get(part):
                    raise Problem(422, f'This Idempotency-Key was used for the task {known.id}')
            return TaskView.of(known)

        view = await access.call(store)
        response.status_code = 201 if view.id == task.id else 200
        response.headers['Location'] = f'/tasks/{view.id}'
        return view

    async def changed(
        task_id: str, work: Callable[[SkillRunner], Awaitable[object]] | None = None
    ) -> TaskView:
        """The task after ``work``. Raises UnknownTask, TaskError."""

        async def change(runner: SkillRunner) -> TaskView:
            if work is not None:
                await work(runner)
            if (task := runner.get_task(task_id)) is None:
                raise UnknownTask(task_id)
            return TaskView.of(task)

        return await access.call(change)

    def refuse_in_safe(skill: str) -> None:
        """Raises OrderRefused. Without a robot, nothing moves."""
        if robot is not None and (why := robot.order_refusal(skill)):
            raise OrderRefused(why)

    @router.get('/health', responses=problems())
    async def health() -> HealthView:
        """Whether tasks can be stored, and the running tasks."""

        async def read(runner: SkillRunner) -> HealthView:
            active = [TaskView.of(each) for each in runner.live() if each.state.running]
            return HealthView(
                status='ok' if runner.failed is None else 'degraded',
                detail=str(runner.failed or ''),
                active_task=next(iter(active), None),
                active_tasks=active,
            )

        return await access.call(read)

    @router.get('/tasks', responses=problems(422))
    async def list_tasks(
        request: Request,
        response: Response,
        state: Annotated[list[LifecycleState] | None, Query()] = None,
        name: Annotated[str | None, Query(max_length=200)] = None,
        live: Annotated[bool | None, Query(description='Those that have not ended')] = None,
        order: Annotated[Literal['oldest', 'newest'], Query(description='Which first')] = 'oldest',
        limit: Annotated[int, Query(ge=1, le=MAX_PAGE_SIZE)] = MAX_PAGE_SIZE,
        cursor: Annotated[str | None, Query(description='From the Link header')] = None,
    ) -> list[TaskView]:
        """The unfinished tasks and the last ended ones, in the order of submission or the reverse.
        The header ``Link`` names the next page, if there is one.
        """
        after = None if cursor is None else decode_cursor(cursor)
        way = -1 if order == 'newest' else 1

        def is_wanted(task: Task) -> bool:
            return (
                (after is None or way * task.seq > way * after)
                and (not state or task.state in state)
                and name in (None, task.name)
                and live in (None, not task.terminal)
            )

        async def read(runner: SkillRunner) -> tuple[list[TaskView], int | None]:
            """A page, and the ``seq`` after which the next one begins."""
            found: list[TaskView] = []
            seq, size = None, 0
            for task in filter(is_wanted, runner.list_tasks()[::way]):
                view = TaskView.of(task)
                size += len(view.model_dump_json().encode())
                if len(found) == limit or (found and size > MAX_PAGE_BYTES):
                    return found, seq
                found.append(view)
                seq = task.seq
                await asyncio.sleep(0)  # a task's metadata may be large; let other work run
            return found, None

        found, seq = await access.call(read)
        if seq is not None:
            url = request.url.include_query_params(cursor=encode_cursor(seq))
            response.headers['Link'] = f'<{url.path}?{url.query}>; rel="next"'
        return found

    @router.post('/tasks', status_code=201, responses={**AGAIN, **problems(409, 422)})
    async def submit_task(
        new: NewTask,
        response: Response,
        by: Caller,
        door: Door,
        key: IdempotencyKey = None,
        traceparent: Traceparent = None,
    ) -> TaskView:
        """Queue a task. The response comes after the task is stored."""
        task = with_traceparent(new_task(robot, new, key, door), traceparent)
        stops = 0 if robot is None else robot.stop_count  # a later one overtakes it

        async def submit(runner: SkillRunner) -> Task:
            if robot is None:
                return await runner.submit(task)
            # The kernel would refuse these only with a text, without a typed error.
            if runner.failed is not None:
                raise runner.failed
            for each in task.blocked_by:
                if runner.get_task(each) is None:
                    raise BadTask(f'blocked_by names {each!r}, and there is no such task')
            return await robot.submit(task, stops=stops, by=by)

        return await stored(task, submit, response)

    @router.get('/tasks/{task_id}', responses=problems(404, 422))
    async def get_task(task_id: TaskId) -> TaskView:
        return await changed(task_id)

    @router.patch('/tasks/{task_id}', responses=problems(404, 409, 422))
    async def change_task(task_id: TaskId, new: NewPriority) -> TaskView:
        """Change the priority of a task that does not run."""
        return await changed(task_id, lambda runner: runner.reprioritise(task_id, new.priority))

    @router.delete('/tasks/{task_id}', responses=problems(404, 409, 422))
    async def cancel_task(task_id: TaskId, by: Caller) -> CancelledTaskView:
        """Cancel a task. The response comes after its skill has cleaned up. 409: it had ended
        already, or its running skill cannot be cancelled.
        """

        async def cancel(runner: SkillRunner) -> None:
            if await runner.cancel(task_id, f'cancelled by {by}'):
                return
            task = runner.get_task(task_id)
            if task is not None and task.state is not LifecycleState.CANCELLED:
                raise TaskError(f'The task has ended before: {task.state.name}')

        return CancelledTaskView.model_construct(**dict(await changed(task_id, cancel)))

    @router.post('/tasks/{task_id}/pause', responses=problems(404, 409, 422))
    async def pause_task(task_id: TaskId, by: Caller) -> TaskView:
        return await changed(task_id, lambda runner: runner.pause(task_id, f'paused by {by}'))

    @router.post('/tasks/{task_id}/resume', responses=problems(404, 409, 422))
    async def resume_task(task_id: TaskId) -> TaskView:
        """Let a paused or held task run again. 409: the mode is SAFE."""
        refuse_in_safe('')
        return await changed(task_id, lambda runner: runner.resume(task_id))

    @router.get('/tasks/{task_id}/history', responses=problems(404, 422))
    async def get_history(task_id: TaskId) -> list[HistoryRow]:
        """The changes of state; ``before`` is null for the submission."""

        async def read(runner: SkillRunner) -> list[HistoryRow]:
            return runner.history(task_id)

        return await access.call(read)

    @router.post('/interrupt', status_code=201, responses={**AGAIN, **problems(409, 422)})
    async def interrupt(
        new: Interruption, response: Response, key: IdempotencyKey = None
    ) -> TaskView:
        """Start a task at once. Tasks with its resources are paused before the response."""
        task = new_task(robot, new, key)
        refuse_in_safe(task.name)
        return await stored(task, lambda runner: runner.interrupt(task), response)

    return router
