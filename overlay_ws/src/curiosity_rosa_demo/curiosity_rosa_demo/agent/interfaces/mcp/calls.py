# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Tool calls: each becomes a task of origin ``mcp``, is followed to its end, and ends with its
client. A client that is gone, cancels, or closes its session leaves no task behind.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
import contextlib
from dataclasses import dataclass, field
import json
import logging
import time
from typing import Any
import uuid

from curiosity_rosa_demo.agent.interfaces.http.session import RunnerAccess
from curiosity_rosa_demo.agent.interfaces.mcp import results
from curiosity_rosa_demo.agent.interfaces.mcp.approvals import (
    answer_of,
    elicitation_of,
    ELICITED_KEY,
    own_question,
)
from curiosity_rosa_demo.agent.interfaces.mcp.tools import MAX_TEXT_CHARS, SAY, STOP, TURN_SKILL
from curiosity_rosa_demo.agent.interfaces.terminal.commands import is_stop_line
from curiosity_rosa_demo.agent.react.ask import QuestionNotFound
from curiosity_rosa_demo.agent.runtime.execution.task_origin import with_origin
from curiosity_rosa_demo.agent.runtime.robot import Robot, RobotBusy
from curiosity_rosa_demo.agent.tasks import SkillRunner, Task
from curiosity_rosa_demo.agent.tasks.events import Event
from curiosity_rosa_demo.agent.tasks.task import (
    BadTask,
    CannotBeCancelled,
    OrderRefused,
    TaskError,
)
from curiosity_rosa_demo.domain.models import json_object, TraceEvent
from curiosity_rosa_demo.domain.origin import Origin
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.trace.events import QuestionAsked, SkillProgressed
from mcp.server.context import ServerRequestContext
import mcp_types as types
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

CLIENT_NAME = 'MCP'
MAX_CALLS = 16  # at a time, of all clients; a stop is not counted
MAX_ARGUMENT_CHARS = 20_000
CHECK_PERIOD_S = 0.5  # events wake a call at once; this only bounds a lost one
RETRY_PERIOD_S = 1.0
RETURN_S = 60.0  # so long the end of a call waits for a client that was asked
CLIENT_GONE = 'Cancelled: the MCP client is gone'
ANSWERED_ELSEWHERE = 'Cancelled: answered elsewhere while the MCP client was asked; call again'
GONE_KEY = 'curiosity.gone'  # in the ASGI scope: an asyncio.Event

_log = logging.getLogger('curiosity_rosa.mcp')


@dataclass(eq=False)
class ToolCall:
    """``since_s``: seconds since the epoch."""

    submission: asyncio.Task[Task]
    since_s: float = field(default_factory=time.time)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    asked: set[str] = field(default_factory=set)
    reports: list[SkillProgressed] = field(default_factory=list)
    progress: float = 0.0
    abandoned: str = ''
    back: asyncio.Event = field(default_factory=asyncio.Event)  # the client returned


@dataclass(frozen=True)
class Parked:
    """A call whose client answers a question in a request to come."""

    call: ToolCall
    question_id: str


class ToolCalls:
    """Use it in the server's loop."""

    def __init__(self, robot: Robot, runner: SkillRunner) -> None:
        self._robot, self._access = robot, RunnerAccess(runner, robot)
        self._live: set[ToolCall] = set()
        self._parked: dict[str, Parked] = {}
        self._jobs: set[asyncio.Task[Any]] = set()

    @property
    def live_count(self) -> int:
        return len(self._live)

    async def call(
        self, context: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        arguments = params.arguments or {}
        if params.name == STOP or _is_stop(params.name, arguments):
            outcome = await self._robot.stop(CLIENT_NAME)
            return results.told(outcome.ok, outcome.answer)
        if params.request_state is not None:
            return await self._resume(context, params)
        if len(self._live) >= MAX_CALLS:
            way_out = 'wait for a call to end, or cancel one'
            why = f'{MAX_CALLS} tool calls run already'
            return results.refused(results.BUSY, why, way_out=way_out)
        task = self._task(params.name, arguments)
        if isinstance(task, types.CallToolResult):
            return task
        call = ToolCall(self._start(self._robot.submit(with_origin(task, Origin.MCP))))
        self._live.add(call)
        return await self._attended(context, call, params.name)

    def abandon_all(self, reason: str) -> None:
        for call in tuple(self._live):
            self._abandon(call, reason)

    async def close(self) -> None:
        """Cancel the tasks of all calls; waits a few seconds at most."""
        self.abandon_all('Cancelled: the MCP server ends')
        if self._jobs:
            await asyncio.wait(self._jobs, timeout=3.0)

    # --- one call -----------------------------------------------------------------------------

    def _task(self, name: str, arguments: dict[str, Any]) -> Task | types.CallToolResult:
        """The task of a call, or why there is none."""
        text = _json_text(arguments)
        if text is None or len(text) > MAX_ARGUMENT_CHARS:
            why = f'the arguments must be JSON of at most {MAX_ARGUMENT_CHARS} characters'
            return results.refused(results.BAD_ARGUMENTS, why)
        asked = f'{name}({text[:500]})'
        if why := self._robot.not_ready_reason():
            return results.refused(results.NOT_READY, why, asked=asked)
        known = {each.definition.name for each in self._robot.skills()}
        if name != SAY and name not in known:
            way_out = 'list the tools'
            why = f'There is no tool {name[:100]!r}'
            return results.refused(results.UNKNOWN_TOOL, why, way_out=way_out)
        skill = name
        if name == SAY:
            skill = TURN_SKILL
            if why := _sentence_problem(arguments):
                return results.refused(results.BAD_ARGUMENTS, why, asked=asked)
            arguments = {'text': arguments['text']}
        try:
            task = self._robot.make_task(skill, arguments)
        except BadTask as error:
            way_out = "see the tool's input schema"
            return results.refused(results.BAD_ARGUMENTS, str(error), way_out=way_out, asked=asked)
        if why := self._robot.order_refusal(skill):
            return results.refused(RefusalCode.SAFE_MODE, why, asked=asked)
        return task

    async def _attended(
        self, context: ServerRequestContext[Any, Any], call: ToolCall, name: str
    ) -> types.CallToolResult | types.InputRequiredResult:
        """The call's result. Whatever ends this coroutine early ends the task."""
        parked = False
        try:
            task = await asyncio.shield(call.submission)
            result = await self._follow(context, call, task)
            parked = isinstance(result, types.InputRequiredResult)
            return result
        except RobotBusy as error:
            way_out = 'try again in a few seconds; stop still works'
            return results.refused(results.NOT_READY, str(error), way_out=way_out, asked=name)
        except OrderRefused as error:
            return results.refused(RefusalCode.SAFE_MODE, str(error), asked=name)
        except TaskError as error:
            return results.refused(results.REFUSED, str(error), asked=name)
        finally:
            if not parked:
                self._abandon(call, CLIENT_GONE)

    async def _follow(
        self, context: ServerRequestContext[Any, Any], call: ToolCall, task: Task
    ) -> types.CallToolResult | types.InputRequiredResult:
        loop = asyncio.get_running_loop()

        def wake() -> None:
            loop.call_soon_threadsafe(call.changed.set)

        def on_trace(event: TraceEvent) -> None:  # in the publisher's thread
            progressed = SkillProgressed.of(event)
            if progressed is not None and progressed.task_id == task.id:
                call.reports[:] = [progressed]  # only the newest counts
                wake()
            elif QuestionAsked.of(event) is not None:
                wake()

        def on_task(event: Event) -> None:
            if event.task_id == task.id:
                wake()

        bus = self._robot.event_bus
        leave = (
            bus.listen('an MCP call', on_trace, TraceEvent),
            bus.listen('an MCP call', on_task, Event),
        )
        gone = _gone_event(context)
        asking: asyncio.Task[None] | None = None
        try:
            while not task.terminal:
                if gone.is_set():
                    return results.refused(results.CANCELLED, CLIENT_GONE)
                await self._report(context, call)
                question = await self._own_question(call, task)
                if question is not None and question.id not in call.asked:
                    call.asked.add(question.id)
                    if not _can_be_asked(context):
                        await self._note(context, call, 'waits for approval at page or console')
                    elif context.protocol_version in MODERN_PROTOCOL_VERSIONS:
                        return self._park(call, task, question)
                    else:
                        asking = self._start(self._elicit(context, question))
                if question is None and asking is not None:
                    asking.cancel()
                    asking = None
                await _either(call.changed, gone, CHECK_PERIOD_S)
                call.changed.clear()
            return results.result_of(task)
        finally:
            for each in leave:
                each()
            if asking is not None:
                asking.cancel()

    async def _own_question(self, call: ToolCall, task: Task) -> Any:
        questions = self._robot.questions()
        if not questions:
            return None

        async def read(runner: SkillRunner) -> list[Task]:
            return [each for each in runner.live() if each.state.running]

        running = await self._access.call(read)
        return own_question(questions, task, running, call.since_s)

    async def _report(self, context: ServerRequestContext[Any, Any], call: ToolCall) -> None:
        if call.reports:
            report = call.reports.pop()
            await self._note(context, call, _progress_text(report), report.fraction)

    async def _note(
        self,
        context: ServerRequestContext[Any, Any],
        call: ToolCall,
        text: str,
        fraction: float | None = None,
    ) -> None:
        """A progress notification in per cent, which must grow each time."""
        call.progress = max(100.0 * (fraction or 0.0), call.progress + 0.01)
        await context.session.report_progress(round(call.progress, 2), 100.0, text)

    # --- approvals ----------------------------------------------------------------------------

    async def _elicit(self, context: ServerRequestContext[Any, Any], question: Any) -> None:
        """Ask a client that keeps a session. Without an answer the question stays open."""
        params = elicitation_of(question)
        try:
            result = await context.session.elicit_form(
                params.message, params.requested_schema, context.request_id
            )
            await self._answer(question.id, result)
        except Exception as error:  # whatever a client answers; page and console still may
            _log.warning('event=elicitation_failed question=%s error=%r', question.id, error)

    async def _answer(self, question_id: str, result: types.ElicitResult) -> None:
        answer = answer_of(result)
        if answer is None:
            return
        action, arguments, why = answer
        with contextlib.suppress(QuestionNotFound):  # answered elsewhere, or timed out
            try:
                await self._robot.answer(question_id, action, arguments, why)
            except BadTask as error:
                # As a wrong edit at the page: it does not use the question up.
                _log.info('event=edit_refused question=%s error=%s', question_id, error)

    def _park(self, call: ToolCall, task: Task, question: Any) -> types.InputRequiredResult:
        """Hand the question to a client without a session, which calls again with the answer."""
        state = uuid.uuid4().hex
        call.back = asyncio.Event()
        self._parked[state] = Parked(call, question.id)
        self._start(self._watch_parked(state, call, task, question.id))
        request = types.ElicitRequest(params=elicitation_of(question))
        return types.InputRequiredResult(
            input_requests={ELICITED_KEY: request}, request_state=state
        )

    async def _watch_parked(
        self, state: str, call: ToolCall, task: Task, question_id: str
    ) -> None:
        """Nothing may move for a client that is not there: a question that is answered elsewhere
        meanwhile ends the call.
        """
        while not call.back.is_set() and not task.terminal:
            if all(each.id != question_id for each in self._robot.questions()):
                self._abandon(call, ANSWERED_ELSEWHERE)
                break
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(call.back.wait(), CHECK_PERIOD_S)
        if not call.back.is_set():
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(call.back.wait(), RETURN_S)
        if self._parked.pop(state, None) is not None:
            self._abandon(call, CLIENT_GONE)

    async def _resume(
        self, context: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        parked = self._parked.pop(params.request_state or '', None)
        if parked is None:
            why = 'This call has ended, or was continued already'
            return results.refused(results.CANCELLED, why, way_out='call the tool again')
        parked.call.back.set()
        given = (params.input_responses or {}).get(ELICITED_KEY)
        if isinstance(given, types.ElicitResult):
            try:
                await self._answer(parked.question_id, given)
            except BaseException:
                self._abandon(parked.call, CLIENT_GONE)
                raise
        return await self._attended(context, parked.call, params.name)

    # --- the end ------------------------------------------------------------------------------

    def _abandon(self, call: ToolCall, reason: str) -> None:
        """Cancel the call's task, if it has not ended. Returns at once."""
        self._live.discard(call)
        if not call.abandoned:
            call.abandoned = reason
            self._start(self._cancel(call, reason))

    async def _cancel(self, call: ToolCall, reason: str) -> None:
        """A skill that cannot be cancelled runs to its end; this tries again meanwhile."""
        try:
            task = await asyncio.shield(call.submission)
        except Exception:  # it became no task
            return
        while not task.terminal:

            async def cancel(runner: SkillRunner, task_id: str = task.id) -> None:
                await runner.cancel(task_id, reason)

            try:
                await self._access.call(cancel)
            except (CannotBeCancelled, RobotBusy):
                await asyncio.sleep(RETRY_PERIOD_S)
            except TaskError as error:  # it has ended meanwhile, or the agent ends
                _log.info('event=cancel_failed task=%s error=%s', task.id, error)
                return

    def _start(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Outside of the request's cancel scope, which would cancel it too."""
        job = asyncio.get_running_loop().create_task(work)
        self._jobs.add(job)
        job.add_done_callback(self._ended)
        return job

    def _ended(self, job: asyncio.Task[Any]) -> None:
        self._jobs.discard(job)
        if not job.cancelled() and (error := job.exception()) is not None:
            _log.info('event=call_failed error=%r', error)


def _is_stop(name: str, arguments: dict[str, Any]) -> bool:
    text = arguments.get('text')
    return name == SAY and isinstance(text, str) and len(text) <= 1000 and is_stop_line(text)


def _sentence_problem(arguments: dict[str, Any]) -> str:
    text = arguments.get('text')
    if set(arguments) != {'text'} or not isinstance(text, str) or not text.strip():
        return 'say takes {"text": "a sentence"}'
    if len(text) > MAX_TEXT_CHARS:
        return f'the text has {len(text)} characters; at most {MAX_TEXT_CHARS} are allowed'
    if text.lstrip().startswith((':', '：')):
        return 'commands are for console and page; say a sentence, or call a tool'
    return ''


def _json_text(arguments: dict[str, Any]) -> str | None:
    try:
        json_object(arguments)
        text = json.dumps(arguments, ensure_ascii=False, allow_nan=False)
        text.encode()
    except (ValueError, TypeError, RecursionError):
        return None
    return text


def _progress_text(report: SkillProgressed) -> str:
    text = ', '.join(f'{name}: {value}' for name, value in report.progress.items())
    return f'{report.skill}: {text}'[:500]


def _can_be_asked(context: ServerRequestContext[Any, Any]) -> bool:
    known = context.session.client_capabilities
    return known is not None and known.elicitation is not None


def _gone_event(context: ServerRequestContext[Any, Any]) -> asyncio.Event:
    """Set when the request's connection has ended."""
    scope = getattr(context.request, 'scope', None) or {}
    found = scope.get(GONE_KEY)
    return found if isinstance(found, asyncio.Event) else asyncio.Event()


async def _either(first: asyncio.Event, second: asyncio.Event, timeout_s: float) -> None:
    waits = [asyncio.ensure_future(each.wait()) for each in (first, second)]
    try:
        await asyncio.wait(waits, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in waits:
            each.cancel()
