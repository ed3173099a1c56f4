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
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
import json
import logging
from typing import Any
import uuid

from curiosity_rosa_demo.agent.interfaces.mcp.tools import (
    answer_of,
    BAD_ARGUMENTS,
    BUSY,
    elicitation_of,
    MAX_ARGUMENT_CHARS,
    MAX_TEXT_CHARS,
    NOT_READY,
    REFUSED,
    refused,
    result_of,
    SAY,
    STOP,
    told,
    TURN_SKILL,
    UNKNOWN_TOOL,
)
from curiosity_rosa_demo.agent.interfaces.terminal.commands import is_short_stop
from curiosity_rosa_demo.agent.language.questions import Topic
from curiosity_rosa_demo.agent.react.ask import QuestionNotFound
from curiosity_rosa_demo.agent.robot import Robot
from curiosity_rosa_demo.agent.runtime.task_port import RobotBusy
from curiosity_rosa_demo.agent.tasks import Event, Task
from curiosity_rosa_demo.agent.tasks.origin import said_of, with_origin
from curiosity_rosa_demo.agent.tasks.task import (
    BadTask,
    OrderRefused,
    TaskError,
)
from curiosity_rosa_demo.domain.brain_state import Json, Question, UserInterruptType
from curiosity_rosa_demo.domain.models import json_object, read_json_object, TraceEvent
from curiosity_rosa_demo.domain.origin import Origin
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.domain.skills import CANCELLED
from curiosity_rosa_demo.trace.events import IN_TASK, SkillProgressed
from curiosity_rosa_demo.trace.reporter import TOOL_RESULT
from mcp.server.context import ServerRequestContext
import mcp_types as types
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

CLIENT_NAME = 'MCP'
MAX_CALLS = 16  # at a time, of all clients; a stop is not counted
CHECK_PERIOD_S = 0.5  # events wake a call at once; this only bounds a lost one
RETURN_S = 60.0  # so long the end of a call waits for a client that was asked
WAITS_FOR_APPROVAL = 'waits for approval at page or console'
UNTOLD_KEYS = {IN_TASK, 'cost', 'refusal'}  # of the data of a result
CLIENT_GONE = 'Cancelled by the MCP client, or by its end'
ANSWERED_ELSEWHERE = 'Cancelled: answered elsewhere while the MCP client was asked; call again'
GONE_KEY = 'curiosity.gone'  # in the ASGI scope: an asyncio.Event
ELICITED_KEY = 'approval'

Context = ServerRequestContext[Any, Any]
Result = types.CallToolResult | types.InputRequiredResult
_log = logging.getLogger('curiosity_rosa.mcp')


@dataclass(eq=False)
class ToolCall:
    """``back``: set when a client that was asked has returned."""

    submission: asyncio.Task[Task]
    after: int  # the number of the last event before it
    asked: set[str] = field(default_factory=set)
    data: Json | None = None  # of its result
    progress: float = 0.0
    abandoned: bool = False
    back: asyncio.Event = field(default_factory=asyncio.Event)


class ToolCalls:
    """Use it in the server's loop."""

    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        self._live: set[ToolCall] = set()
        # calls whose client answers a question, by its ID, in a request to come
        self._parked: dict[str, tuple[ToolCall, str]] = {}
        self._jobs: set[asyncio.Task[Any]] = set()

    @property
    def live_count(self) -> int:
        return len(self._live)

    async def call(self, context: Context, params: types.CallToolRequestParams) -> Result:
        arguments = params.arguments or {}
        if _is_stop(params.name, arguments):
            outcome = await asyncio.wrap_future(self._robot.stop(CLIENT_NAME))
            return told(outcome.ok, outcome.answer)
        if params.request_state is not None:
            return await self._resume(context, params)
        if len(self._live) >= MAX_CALLS:
            way_out = 'wait for a call to end, or cancel one'
            return refused(BUSY, f'{MAX_CALLS} tool calls run already', way_out=way_out)
        task = self._task(params.name, arguments)
        if isinstance(task, types.CallToolResult):
            return task
        if params.name == SAY and _is_question(task):
            reply = await self._robot.say(task.metadata['text'], Origin.MCP)
            return told(reply.ok, reply.text)
        after = self._robot.event_bus.last_number
        call = ToolCall(self._start(self._robot.order(with_origin(task, Origin.MCP))), after)
        self._live.add(call)
        return await self._attended(context, call, params.name)

    async def close(self) -> None:
        """Cancel the tasks of all calls; waits a few seconds at most."""
        for call in tuple(self._live):
            self._abandon(call, 'Cancelled: the MCP server ends')
        if self._jobs:
            await asyncio.wait(self._jobs, timeout=3.0)

    # --- one call -----------------------------------------------------------------------------

    def _task(self, name: str, arguments: Json) -> Task | types.CallToolResult:
        """The task of a call, or why there is none."""
        text = _json_text(arguments)
        if text is None or len(text) > MAX_ARGUMENT_CHARS:
            why = f'the arguments must be JSON of at most {MAX_ARGUMENT_CHARS} characters'
            return refused(BAD_ARGUMENTS, why)
        asked = f'{name}({text[:500]})'
        skill = TURN_SKILL if name == SAY else name
        if name == SAY:
            if why := _sentence_problem(arguments):
                return refused(BAD_ARGUMENTS, why, asked=asked)
        elif all(each.definition.name != name for each in self._robot.skills()):
            why = f'There is no tool {name[:100]!r}'
            return refused(UNKNOWN_TOOL, why, way_out='list the tools')
        try:
            return self._robot.make_task(skill, dict(arguments))
        except BadTask as error:
            way_out = "see the tool's input schema"
            return refused(BAD_ARGUMENTS, str(error), way_out=way_out, asked=asked)

    async def _attended(self, context: Context, call: ToolCall, name: str) -> Result:
        """The call's result. Whatever ends this coroutine early ends the task."""
        parked = False
        try:
            task = await asyncio.shield(call.submission)
            result = await self._follow(context, call, task)
            parked = isinstance(result, types.InputRequiredResult)
            return result
        except RobotBusy as error:
            way_out = 'try again in a few seconds; stop still works'
            return refused(NOT_READY, str(error), way_out=way_out, asked=name)
        except OrderRefused as error:
            return refused(RefusalCode.SAFE_MODE, str(error), asked=name)
        except TaskError as error:
            return refused(REFUSED, str(error), asked=name)
        finally:
            if not parked:
                self._abandon(call, CLIENT_GONE)

    async def _follow(self, context: Context, call: ToolCall, task: Task) -> Result:
        gone = _gone_event(context)
        leaving = asyncio.ensure_future(gone.wait())
        asking: asyncio.Task[None] | None = None
        with self._robot.follow(task, call.after) as following:
            leaving.add_done_callback(lambda _: following.wake())
            try:
                while not task.terminal:
                    if gone.is_set():
                        return refused(CANCELLED, CLIENT_GONE)
                    await self._report(context, call, task, await following.news(CHECK_PERIOD_S))
                    question = self._question_of(task)
                    if question is not None and question.id not in call.asked:
                        call.asked.add(question.id)
                        if not _can_be_asked(context):
                            await self._note(context, call, WAITS_FOR_APPROVAL)
                        elif context.protocol_version in MODERN_PROTOCOL_VERSIONS:
                            return self._park(call, task, question)
                        else:
                            asking = self._start(self._elicit(context, question))
                    if question is None and asking is not None:
                        asking.cancel()
                        asking = None
                self._keep_data(call, task, following.read())
                return result_of(task, call.data)
            finally:
                leaving.cancel()
                if asking is not None:
                    asking.cancel()

    def _question_of(self, task: Task) -> Question | None:
        """The question that ``task`` waits for. A client must not answer for another's order."""
        return next((each for each in self._robot.questions() if each.task_id == task.id), None)

    async def _report(
        self, context: Context, call: ToolCall, task: Task, news: Sequence[Event | TraceEvent]
    ) -> None:
        """Tell the newest progress."""
        self._keep_data(call, task, news)
        for event in reversed(news):
            report = SkillProgressed.of(event) if isinstance(event, TraceEvent) else None
            if report is not None:
                text = ', '.join(f'{name}: {value}' for name, value in report.progress.items())
                await self._note(context, call, f'{report.skill}: {text}'[:500], report.fraction)
                return

    def _keep_data(self, call: ToolCall, task: Task, news: Sequence[Event | TraceEvent]) -> None:
        for event in news:
            if not isinstance(event, TraceEvent) or event.type != TOOL_RESULT:
                continue
            data = event.data or {}
            if event.tool_name == task.name and data.get(IN_TASK) == task.id:
                call.data = {key: data[key] for key in data.keys() - UNTOLD_KEYS}

    async def _note(
        self, context: Context, call: ToolCall, text: str, fraction: float | None = None
    ) -> None:
        """A progress notification in per cent, which must grow each time."""
        call.progress = max(100.0 * (fraction or 0.0), call.progress + 0.01)
        await context.session.report_progress(round(call.progress, 2), 100.0, text)

    # --- approvals ----------------------------------------------------------------------------

    async def _elicit(self, context: Context, question: Question) -> None:
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
        if (answer := answer_of(result)) is None:
            return
        with suppress(QuestionNotFound):  # answered elsewhere, or timed out
            try:
                await self._robot.answer(question_id, *answer)
            except BadTask as error:
                # As a wrong edit at the page: it does not use the question up.
                _log.info('event=edit_refused question=%s error=%s', question_id, error)

    def _park(self, call: ToolCall, task: Task, question: Question) -> types.InputRequiredResult:
        """Hand the question to a client without a session, which calls again with the answer."""
        state = uuid.uuid4().hex
        call.back = asyncio.Event()
        self._parked[state] = (call, question.id)
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
            await _wait(call.back, CHECK_PERIOD_S)
        await _wait(call.back, RETURN_S)
        if self._parked.pop(state, None) is not None:
            self._abandon(call, CLIENT_GONE)

    async def _resume(self, context: Context, params: types.CallToolRequestParams) -> Result:
        parked = self._parked.pop(params.request_state or '', None)
        if parked is None:
            why = 'This call has ended, or was continued already'
            return refused(CANCELLED, why, way_out='call the tool again')
        call, question_id = parked
        call.back.set()
        given = (params.input_responses or {}).get(ELICITED_KEY)
        if isinstance(given, types.ElicitResult):
            try:
                await self._answer(question_id, given)
            except BaseException:
                self._abandon(call, CLIENT_GONE)
                raise
        return await self._attended(context, call, params.name)

    # --- the end ------------------------------------------------------------------------------

    def _abandon(self, call: ToolCall, reason: str) -> None:
        """Cancel the call's task, if it has not ended. Returns at once."""
        self._live.discard(call)
        if not call.abandoned:
            call.abandoned = True
            self._start(self._cancel(call, reason))

    async def _cancel(self, call: ToolCall, reason: str) -> None:
        with suppress(Exception):  # it became no task
            task = await asyncio.shield(call.submission)
            await self._robot.cancel_when_possible(task, reason)

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


async def _wait(event: asyncio.Event, timeout_s: float) -> None:
    with suppress(asyncio.TimeoutError):
        await asyncio.wait_for(event.wait(), timeout_s)


def _is_stop(name: object, arguments: Json) -> bool:
    text = arguments.get('text')
    return name == STOP or (name == SAY and isinstance(text, str) and is_short_stop(text))


def is_stop_request(body: bytes) -> bool:
    """Whether a request of JSON-RPC calls a tool that stops."""
    try:
        request = read_json_object(body.decode())
    except ValueError:
        return False
    call: Any = request.get('params')
    if request.get('method') != 'tools/call' or not isinstance(call, dict):
        return False
    arguments = call.get('arguments')
    return _is_stop(call.get('name'), arguments if isinstance(arguments, dict) else {})


def _is_question(task: Task) -> bool:
    """Whether the agent answers this sentence at once. A client is neither asked back, as at the
    console, nor does it reach the ROS graph: such a sentence is a goal.
    """
    said = said_of(task)
    is_question = said.act is UserInterruptType.NORMAL
    return is_question and not {Topic.DOUBT, Topic.GRAPH}.intersection(said.topics)


def _sentence_problem(arguments: Json) -> str:
    text = arguments.get('text')
    if set(arguments) != {'text'} or not isinstance(text, str) or not text.strip():
        return 'say takes {"text": "a sentence"}'
    if len(text) > MAX_TEXT_CHARS:
        return f'the text has {len(text)} characters; at most {MAX_TEXT_CHARS} are allowed'
    if text.lstrip().startswith((':', '：')):
        return 'commands are for console and page; say a sentence, or call a tool'
    return ''


def _json_text(arguments: Json) -> str | None:
    try:
        json_object(arguments)
        text = json.dumps(arguments, ensure_ascii=False, allow_nan=False)
        text.encode()
    except (ValueError, TypeError, RecursionError):
        return None
    return text


def _can_be_asked(context: Context) -> bool:
    known = context.session.client_capabilities
    return known is not None and known.elicitation is not None


def _gone_event(context: Context) -> asyncio.Event:
    """Set when the request's connection has ended."""
    scope = getattr(context.request, 'scope', None) or {}
    found = scope.get(GONE_KEY)
    return found if isinstance(found, asyncio.Event) else asyncio.Event()
