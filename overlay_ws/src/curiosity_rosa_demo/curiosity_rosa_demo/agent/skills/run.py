# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""One run of a skill in its own thread, from the start to its single result."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import ExitStack, suppress
from contextvars import copy_context
import json
import threading
import time
from typing import Any

from curiosity_rosa_demo.agent.skills.monitor import current_task, SkillMonitor
from curiosity_rosa_demo.agent.skills.skill import Skill, SkillCall, SkillWorld
from curiosity_rosa_demo.domain.brain_state import Json, RunningSkill, SkillResult, SkillStatus
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.models import (
    json_object,
    ToolBroke,
    ToolResult,
)
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.domain.text import clip, valid_unicode
from curiosity_rosa_demo.infra.clocks import MIN_WAIT_S

MAX_PROGRESS_REPORTS = 100  # newest progress reports kept
TIMEOUT_CODE = 'SKILL_TIMEOUT'


class SkillRun:
    """Call its methods in the thread of the asyncio loop; ``stop`` is thread-safe."""

    def __init__(
        self,
        goal_id: str,
        skill: Skill,
        turn: Cancellation,
        grace_s: float,
        monitor: SkillMonitor,
    ) -> None:
        definition = skill.definition
        self.goal = RunningSkill(
            goal_id=goal_id,
            skill_name=definition.name,
            start_time=time.monotonic(),
            timeout_s=definition.timeout_s,
            resources_occupied=definition.resources_required,
            task_id=current_task(),
        )
        self._skill, self._turn, self._grace_s = skill, turn, grace_s
        self._monitor = monitor
        self._loop = asyncio.get_running_loop()
        self.done: asyncio.Future[SkillResult] = self._loop.create_future()
        self._cancellation = Cancellation()
        self._lock = threading.Lock()  # guards the shared attributes below
        self._stopped: SkillStatus | None = None  # set by a stop before the end
        self.stop_reason = ''
        self._ended = False
        self.cancelled_by_turn = False
        self._progress_reports: deque[Json] = deque(maxlen=MAX_PROGRESS_REPORTS)
        self._count = 0  # all reports of this run, also the dropped ones
        self._wake_scheduled = False
        self._wakeup = asyncio.Event()
        self._exit_stack = ExitStack()

    def start(self, world: SkillWorld, arguments: Mapping[str, Any]) -> None:
        name, limit_s = self.goal.skill_name, self.goal.timeout_s
        why = f'{name} timed out after {limit_s:g} s'
        of_rover = bool(self.goal.resources_occupied)  # base, mast or camera
        clock = self._monitor.rover_clock if of_rover else time.monotonic
        self._await_timeout(clock, limit_s, why)
        self._exit_stack.enter_context(self._turn.call_when_pressed(self._on_turn_cancelled))
        # The thread gets this context: the rover's calls belong to the order that is set in it.
        work = threading.Thread(
            target=copy_context().run,
            args=(self._run_skill, world, arguments),
            name=f'skill-{name}',
            daemon=True,
        )
        try:
            work.start()
        except RuntimeError as error:  # no more threads
            self._monitor.release(self.goal.goal_id)
            self._set_result(_broken(_internal_error(name, error), {}))

    # --- stop and result --------------------------------------------------------------------

    def _await_timeout(self, clock: Callable[[], float], limit_s: float, why: str) -> None:
        """Stop the run after ``limit_s`` seconds of ``clock``, never faster than steady time."""
        until_s = clock() + limit_s

        def check() -> None:
            if (left_s := until_s - clock()) > 0.0:
                self._timer = self._loop.call_later(max(MIN_WAIT_S, left_s), check)
            else:
                self.stop(SkillStatus.TIMED_OUT, why)

        self._timer = self._loop.call_later(limit_s, check)

    def stop(self, status: SkillStatus, why: str, *, by_turn: bool = False) -> bool:
        """Request the end of the skill; ``status`` becomes the status of its result. Returns
        False if the skill has ended or a stop was requested before.
        """
        with self._lock:
            if self._ended or self._stopped is not None:
                return False
            self._stopped, self.stop_reason, self.cancelled_by_turn = status, why, by_turn
        self._cancellation.cancel(why)
        self._in_loop(self._start_grace)
        return True

    def _on_turn_cancelled(self) -> None:
        self.stop(SkillStatus.CANCELLED, self._turn.reason, by_turn=True)

    def _start_grace(self) -> None:
        if not self.done.done():
            self._timer.cancel()
            self._timer = self._loop.call_later(self._grace_s, self._abandon)

    def _abandon(self) -> None:
        why = (
            f'{self.goal.skill_name} did not end within {self._grace_s:g} s of its stop '
            f'({self.stop_reason}): its effect is unknown'
        )
        self._set_result(
            SkillResult(
                status=SkillStatus.UNKNOWN, error_code=SkillStatus.UNKNOWN.value, error_msg=why
            )
        )

    def _set_result(self, result: SkillResult) -> None:
        """Set the result once; later results are ignored."""
        if not self.done.done():
            self._timer.cancel()
            self._exit_stack.close()
            self.done.set_result(result)
            self._wake()

    # --- the thread -------------------------------------------------------------------------

    def _run_skill(self, world: SkillWorld, arguments: Mapping[str, Any]) -> None:
        name = self.goal.skill_name
        result, raised, data = None, '', Json()
        try:
            result = self._skill.run(
                SkillCall(world, self._cancellation, self._progress), **arguments
            )
            if not isinstance(result, ToolResult):
                raised = f'Internal error in {name}: it answered no ToolResult'
        except ToolBroke as broke:
            raised, data = broke.result.error_reason, broke.result.data
        except BaseException as error:  # also SystemExit: a skill must not end the agent
            raised = _internal_error(name, error)
        with self._lock:
            self._ended, stopped, why = True, self._stopped, self.stop_reason
        self._monitor.release(self.goal.goal_id)  # before the result is set
        if isinstance(result, ToolResult) and result.error_code == RefusalCode.SAFETY_VIOLATION:
            self._monitor.on_violation(result.error_reason)
        if stopped is not None:
            ended = _stopped(stopped, why, result)
        elif raised or result is None:
            ended = _broken(raised, data)
            if set(self.goal.resources_occupied) - {'camera'}:
                violation = RefusalCode.SAFETY_VIOLATION.value
                self._monitor.on_violation(f'{violation}: {raised}')
        elif result.ok:
            ended = SkillResult(status=SkillStatus.SUCCESS, metrics=result.data)
        else:
            ended = _failed(result)
        self._in_loop(self._set_result, ended)

    def _progress(self, report: Json) -> None:
        json_object(report)
        copied = json.loads(json.dumps(report))
        with self._lock:
            self._progress_reports.append(copied)
            self._count += 1
            wake, self._wake_scheduled = not self._wake_scheduled, True
        if wake:
            self._in_loop(self._wake)
        self._monitor.report(self.goal.goal_id, copied)

    def _in_loop(self, work: Any, *arguments: Any) -> None:
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(work, *arguments)

    # --- progress ---------------------------------------------------------------------------

    @property
    def feedback(self) -> Json:
        """The newest report; empty before the first."""
        with self._lock:
            return self._progress_reports[-1] if self._progress_reports else {}

    async def progress(self) -> AsyncIterator[Json]:
        """Yield the kept reports, then each new report until the run ends."""
        seen = 0
        while True:
            wakeup = self._wakeup  # before the reads: no report is missed
            with self._lock:
                missed, seen = self._count - seen, self._count
                reports = list(self._progress_reports)[-missed:] if missed else []
            for report in reports:
                yield report
            if reports:
                continue
            if self.done.done():
                return
            await wakeup.wait()

    def _wake(self) -> None:
        with self._lock:
            self._wake_scheduled = False
        self._wakeup.set()
        self._wakeup = asyncio.Event()


def _failed(result: ToolResult) -> SkillResult:
    status = SkillStatus.FAILED
    code, why = result.error_code or status.value, result.error_reason
    return SkillResult(status=status, error_code=code, error_msg=why, metrics=result.data)


def _broken(why: str, data: Json) -> SkillResult:
    code = RefusalCode.INTERNAL_ERROR.value
    return SkillResult(status=SkillStatus.FAILED, error_code=code, error_msg=why, metrics=data)


def _stopped(status: SkillStatus, why: str, result: Any) -> SkillResult:
    code = TIMEOUT_CODE if status is SkillStatus.TIMED_OUT else status.value
    data = result.data if isinstance(result, ToolResult) else {}
    if isinstance(result, ToolResult) and result.ok:
        why = f'{why}; it had done its work by then'
    return SkillResult(status=status, error_code=code, error_msg=why, metrics=data)


def _internal_error(name: str, error: BaseException) -> str:
    try:
        text = repr(error)
    except Exception:
        text = type(error).__name__
    text = valid_unicode(text)  # a trace carries valid Unicode only
    return f'Internal error in {name}: {clip(text)}'
