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
from collections.abc import Awaitable
from typing import Annotated, Any, Literal

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
    RETRY_SOON,
)
from curiosity_rosa_demo.agent.robot import Robot
from curiosity_rosa_demo.agent.runtime.task_port import TaskPort
from curiosity_rosa_demo.agent.tasks import LifecycleState, Task
from curiosity_rosa_demo.agent.tasks.origin import with_origin, with_traceparent
from curiosity_rosa_demo.agent.tasks.store import HistoryRow
from curiosity_rosa_demo.agent.tasks.task import BadTask
from curiosity_rosa_demo.domain.origin import caller_text, Origin
from fastapi import APIRouter, Depends, Header, Path, Query, Request, Response

MAX_PAGE_SIZE = 1000  # tasks in one list
MAX_PAGE_BYTES = 4_000_000  # of their JSON, but at least one task
MAX_SEQ = 2**63 - 1


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
AGAIN: dict[int | str, dict[str, Any]] = {
    200: {'model': TaskView, 'description': 'The earlier task with this Idempotency-Key'},
}


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


def task_routes(port: TaskPort, robot: Robot | None) -> APIRouter:
    """``robot``: None for the tasks alone."""
    router = APIRouter(tags=['tasks'])

    async def stored(task: Task, known: Awaitable[Task], response: Response) -> TaskView:
        view = TaskView.of(await known)
        for part in ('text', 'expects', 'plan', 'arguments'):
            if view.name != task.name or view.metadata.get(part) != task.metadata.get(part):
                raise Problem(422, f'This Idempotency-Key was used for the task {view.id}')
        response.status_code = 201 if view.id == task.id else 200
        response.headers['Location'] = f'/tasks/{view.id}'
        return view

    @router.get('/health')
    async def health() -> HealthView:
        """Whether tasks can be stored, and the running tasks."""
        active = [TaskView.of(each) for each in await port.tasks() if each.state.running]
        return HealthView(
            status='degraded' if port.store_failure else 'ok',
            detail=port.store_failure,
            active_task=next(iter(active), None),
            active_tasks=active,
        )

    @router.get('/tasks')
    async def list_tasks(
        request: Request,
        response: Response,
        state: Annotated[list[LifecycleState] | None, Query()] = None,
        name: Annotated[str | None, Query(max_length=200)] = None,
        live: Annotated[bool | None, Query(description='Those that have not ended')] = None,
        order: Annotated[Literal['oldest', 'newest'], Query(description='Which first')] = 'oldest',
        limit: Annotated[int, Query(ge=1, le=MAX_PAGE_SIZE)] = MAX_PAGE_SIZE,
        cursor: Annotated[
            int | None, Query(ge=-MAX_SEQ, le=MAX_SEQ, description='From the Link header')
        ] = None,
    ) -> list[TaskView]:
        """The unfinished tasks and the last ended ones, in the order of submission or the reverse.
        The header ``Link`` names the next page, if there is one.
        """
        way = -1 if order == 'newest' else 1

        def is_wanted(task: Task) -> bool:
            return (
                (cursor is None or way * task.seq > way * cursor)
                and (not state or task.state in state)
                and name in (None, task.name)
                and live in (None, not task.terminal)
            )

        found: list[TaskView] = []
        seq, size = 0, 0  # of those found: the last one's, and all bytes
        for task in filter(is_wanted, (await port.tasks())[::way]):
            view = TaskView.of(task)
            size += len(view.model_dump_json().encode())
            if len(found) == limit or (found and size > MAX_PAGE_BYTES):
                url = request.url.include_query_params(cursor=seq)
                response.headers['Link'] = f'<{url.path}?{url.query}>; rel="next"'
                break
            found.append(view)
            seq = task.seq
            await asyncio.sleep(0)  # a task's metadata may be large; let other work run
        return found

    @router.post('/tasks', status_code=201, responses=AGAIN)
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
        return await stored(task, port.order(task, by=by), response)

    @router.get('/tasks/{task_id}')
    async def get_task(task_id: TaskId) -> TaskView:
        return TaskView.of(await port.task(task_id))

    @router.patch('/tasks/{task_id}')
    async def change_task(task_id: TaskId, new: NewPriority, by: Caller) -> TaskView:
        """Change the priority of a task that does not run."""
        return TaskView.of(await port.prioritise(task_id, new.priority, by=by))

    @router.delete('/tasks/{task_id}')
    async def cancel_task(task_id: TaskId, by: Caller) -> CancelledTaskView:
        """Cancel a task. The response comes after its skill has cleaned up. 409: it had ended
        already, or its running skill cannot be cancelled.
        """
        task = await port.cancel(task_id, f'cancelled by {by}')
        return CancelledTaskView.model_construct(**dict(TaskView.of(task)))

    @router.post('/tasks/{task_id}/pause')
    async def pause_task(task_id: TaskId, by: Caller) -> TaskView:
        return TaskView.of(await port.pause(task_id, f'paused by {by}'))

    @router.post('/tasks/{task_id}/resume')
    async def resume_task(task_id: TaskId, by: Caller) -> TaskView:
        """Let a paused or held task run again. 409: the mode is SAFE."""
        return TaskView.of(await port.resume(task_id, by=by))

    @router.get('/tasks/{task_id}/history')
    async def get_history(task_id: TaskId) -> list[HistoryRow]:
        """The changes of state; ``before`` is null for the submission."""
        return await port.history(task_id)

    @router.post('/interrupt', status_code=201, responses=AGAIN)
    async def interrupt(
        new: Interruption, response: Response, by: Caller, door: Door, key: IdempotencyKey = None
    ) -> TaskView:
        """Start a task at once. Tasks with its resources are paused before the response."""
        task = new_task(robot, new, key, door)
        return await stored(task, port.interrupt(task, by=by), response)

    return router
