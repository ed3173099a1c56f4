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
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal

from curiosity_rosa_demo.agent.interfaces.http import cursor as cursors
from curiosity_rosa_demo.agent.interfaces.http.connections import Caller, Door
from curiosity_rosa_demo.agent.interfaces.http.models import (
    CancelledTaskView,
    EXAMPLE_ID,
    HealthView,
    HistoryView,
    Interruption,
    NewPriority,
    NewTask,
    TaskView,
)
from curiosity_rosa_demo.agent.interfaces.http.openapi import problems, ResponseSpecs
from curiosity_rosa_demo.agent.interfaces.http.problems import Problem
from curiosity_rosa_demo.agent.interfaces.http.session import RunnerAccess
from curiosity_rosa_demo.agent.runtime.execution.task_origin import with_origin, with_traceparent
from curiosity_rosa_demo.agent.runtime.robot import Robot
from curiosity_rosa_demo.agent.tasks import LifecycleState, SkillRunner, Task
from curiosity_rosa_demo.agent.tasks.task import (
    BadTask,
    OrderRefused,
    TaskError,
    UnknownTask,
)
from curiosity_rosa_demo.domain.origin import Origin
from fastapi import APIRouter, Header, Path, Query, Request, Response

MAX_PAGE_SIZE = 1000  # tasks in one list
MAX_PAGE_BYTES = 4_000_000  # of their JSON, but at least one task
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


class TaskEndpoints:
    """The work of the routes. The nested functions run in the runner's loop."""

    def __init__(self, access: RunnerAccess, robot: Robot | None) -> None:
        self._do, self._robot = access.call, robot

    async def health(self) -> HealthView:
        async def read_health(runner: SkillRunner) -> HealthView:
            active = [TaskView.of(each) for each in runner.live() if each.state.running]
            failed = runner.failed
            return HealthView.model_construct(
                status='ok' if failed is None else 'degraded',
                detail='' if failed is None else str(failed),
                active_task=next(iter(active), None),
                active_tasks=active,
            )

        return await self._do(read_health)

    async def task_page(
        self,
        is_wanted: Callable[[Task], bool],
        after: int | None,
        limit: int,
        *,
        newest_first: bool = False,
    ) -> tuple[list[TaskView], int | None]:
        """At most ``limit`` tasks and MAX_PAGE_BYTES after ``after``, in the order of submission
        or the reverse, and the ``seq`` after which the next page begins.
        """

        def is_before(seq: int) -> bool:
            return after is not None and (seq >= after if newest_first else seq <= after)

        async def read_page(runner: SkillRunner) -> tuple[list[TaskView], int | None]:
            tasks = runner.list_tasks()
            found: list[TaskView] = []
            seq, size = after, 0
            for task in reversed(tasks) if newest_first else tasks:
                if is_before(task.seq) or not is_wanted(task):
                    continue
                if len(found) == limit:
                    return found, seq
                view = TaskView.of(task)
                size += len(view.model_dump_json().encode())
                if found and size > MAX_PAGE_BYTES:
                    return found, seq
                found.append(view)
                seq = task.seq
                await asyncio.sleep(0)  # a task's metadata may be large; let other work run
            return found, None

        return await self._do(read_page)

    async def submit(
        self,
        new: NewTask,
        key: str | None,
        traceparent: str | None = None,
        *,
        by: str,
        door: Origin = Origin.HTTP,
    ) -> tuple[TaskView, bool]:
        """The task, and whether it had been submitted before under the same key."""
        task = self._task(new.name, new.metadata, key, door)
        task.priority, task.max_retries = new.priority, new.max_retries
        task.blocked_by = tuple(new.blocked_by)
        task.deadline_s, task.not_before = new.deadline_s, new.not_before
        task.needs_approval = new.needs_approval
        with_traceparent(task, traceparent)
        if self._robot is None:
            return await self._task_view(task, await self._do(lambda runner: runner.submit(task)))

        async def check(runner: SkillRunner) -> None:
            if runner.failed is not None:
                raise runner.failed
            for each in task.blocked_by:
                if runner.get_task(each) is None:
                    raise BadTask(f'blocked_by names {each!r}, and there is no such task')

        await self._do(check)  # the kernel would refuse it only with a text, without a typed error
        return await self._task_view(task, await self._robot.submit(task, by=by))

    async def interrupt(self, new: Interruption, key: str | None) -> tuple[TaskView, bool]:
        task = self._task(new.name, new.metadata, key)
        task.priority, task.max_retries = new.priority, new.max_retries
        task.deadline_s = new.deadline_s
        self._refuse_in_safe(task.name)
        return await self._task_view(task, await self._do(lambda runner: runner.interrupt(task)))

    async def resume(self, task_id: str) -> TaskView:
        self._refuse_in_safe('')
        return await self.change(task_id, lambda runner: runner.resume(task_id))

    def _refuse_in_safe(self, skill: str) -> None:
        """Raises OrderRefused. Without a robot, nothing moves."""
        if self._robot is not None and (why := self._robot.order_refusal(skill)):
            raise OrderRefused(why)

    def _task(
        self,
        name: str,
        metadata: dict[str, Any],
        key: str | None,
        door: Origin = Origin.HTTP,
    ) -> Task:
        """A new task. A robot checks its arguments. Raises BadTask, Problem."""
        if self._robot is None:
            task = Task(name, metadata=metadata)
        else:
            if why := self._robot.not_ready_reason():
                raise Problem(503, f'Nothing can run yet: {why}', headers={'Retry-After': '1'})
            task = self._robot.make_task(name, arguments_of(metadata))
            with_origin(task, door)
        # The prefix keeps the keys of clients apart from the agent's own.
        task.idempotency_key = None if key is None else f'http/{key}'
        return task

    async def _task_view(self, new: Task, known: Task) -> tuple[TaskView, bool]:
        async def read_task(runner: SkillRunner) -> TaskView:
            return TaskView.of(known)

        if known is not new:
            for part in ('text', 'arguments'):
                if known.name != new.name or known.metadata.get(part) != new.metadata.get(part):
                    raise Problem(422, f'This Idempotency-Key was used for the task {known.id}')
        return await self._do(read_task), known is new

    async def change(
        self, task_id: str, work: Callable[[SkillRunner], Awaitable[object]] | None = None
    ) -> TaskView:
        """The task after ``work``. Raises UnknownTask, TaskError."""

        async def run(runner: SkillRunner) -> TaskView:
            if work is not None:
                await work(runner)
            task = runner.get_task(task_id)
            if task is None:
                raise UnknownTask(task_id)
            return TaskView.of(task)

        return await self._do(run)

    async def cancel(self, task_id: str, by: str) -> CancelledTaskView:
        async def cancel(runner: SkillRunner) -> None:
            if await runner.cancel(task_id, f'cancelled by {by}'):
                return
            task = runner.get_task(task_id)
            if task is not None and task.state is not LifecycleState.CANCELLED:
                raise TaskError(f'The task has ended before: {task.state.name}')

        ended = await self.change(task_id, cancel)
        return CancelledTaskView.model_construct(**dict(ended))

    async def history(self, task_id: str) -> list[HistoryView]:
        async def read_history(runner: SkillRunner) -> list[HistoryView]:
            return [HistoryView.of(row) for row in runner.history(task_id)]

        return await self._do(read_history)


def arguments_of(metadata: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a skill in a task's metadata. Raises BadTask."""
    if 'arguments' not in metadata:
        return metadata
    arguments = metadata['arguments']
    if len(metadata) > 1 or not isinstance(arguments, dict):
        raise BadTask('metadata must be {"arguments": {...}}, or the arguments alone')
    return arguments


def task_routes(access: RunnerAccess, robot: Robot | None) -> APIRouter:
    endpoints = TaskEndpoints(access, robot)
    router = APIRouter(tags=['tasks'])

    def made(result: tuple[TaskView, bool], response: Response) -> TaskView:
        view, new = result
        response.status_code = 201 if new else 200
        response.headers['Location'] = f'/tasks/{view.id}'
        return view

    again: ResponseSpecs = {
        200: {'model': TaskView, 'description': 'The earlier task with this Idempotency-Key'},
    }

    @router.get('/health', responses=problems())
    async def health() -> HealthView:
        """Whether tasks can be stored, and the running tasks."""
        return await endpoints.health()

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

        def wanted(task: Task) -> bool:
            return (
                (not state or task.state in state)
                and name in (None, task.name)
                and live in (None, not task.terminal)
            )

        try:
            after = None if cursor is None else cursors.decode(cursor)
        except ValueError as error:
            raise Problem(422, f'cursor: {error}') from None
        found, seq = await endpoints.task_page(
            wanted, after, limit, newest_first=order == 'newest'
        )
        if seq is not None:
            url = request.url.include_query_params(cursor=cursors.encode(seq))
            response.headers['Link'] = f'<{url.path}?{url.query}>; rel="next"'
        return found

    @router.post('/tasks', status_code=201, responses={**again, **problems(409, 422)})
    async def submit_task(
        new: NewTask,
        response: Response,
        by: Caller,
        door: Door,
        key: IdempotencyKey = None,
        traceparent: Traceparent = None,
    ) -> TaskView:
        """Queue a task. The response comes after the task is stored."""
        return made(await endpoints.submit(new, key, traceparent, by=by, door=door), response)

    @router.get('/tasks/{task_id}', responses=problems(404, 422))
    async def get_task(task_id: TaskId) -> TaskView:
        return await endpoints.change(task_id)

    @router.patch('/tasks/{task_id}', responses=problems(404, 409, 422))
    async def change_task(task_id: TaskId, new: NewPriority) -> TaskView:
        """Change the priority of a task that does not run."""
        priority = new.priority
        return await endpoints.change(
            task_id, lambda runner: runner.reprioritise(task_id, priority)
        )

    @router.delete('/tasks/{task_id}', responses=problems(404, 409, 422))
    async def cancel_task(task_id: TaskId, by: Caller) -> CancelledTaskView:
        """Cancel a task. The response comes after its skill has cleaned up. 409: it had ended
        already, or its running skill cannot be cancelled.
        """
        return await endpoints.cancel(task_id, by)

    @router.post('/tasks/{task_id}/pause', responses=problems(404, 409, 422))
    async def pause_task(task_id: TaskId, by: Caller) -> TaskView:
        return await endpoints.change(
            task_id, lambda runner: runner.pause(task_id, f'paused by {by}')
        )

    @router.post('/tasks/{task_id}/resume', responses=problems(404, 409, 422))
    async def resume_task(task_id: TaskId) -> TaskView:
        """Let a paused or held task run again. 409: the mode is SAFE."""
        return await endpoints.resume(task_id)

    @router.get('/tasks/{task_id}/history', responses=problems(404, 422))
    async def get_history(task_id: TaskId) -> list[HistoryView]:
        return await endpoints.history(task_id)

    @router.post('/interrupt', status_code=201, responses={**again, **problems(409, 422)})
    async def interrupt(
        new: Interruption, response: Response, key: IdempotencyKey = None
    ) -> TaskView:
        """Start a task at once. Tasks with its resources are paused before the response."""
        return made(await endpoints.interrupt(new, key), response)

    return router
