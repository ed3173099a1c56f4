# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Runs each skill in its own thread, with exclusive resources, a time-out and cancellation.

A run ends with one result. The skill's own: it returned before any stop. One with the code
CANCELLED or SKILL_TIMEOUT: the skill was stopped and its thread ended within the grace period. One
with UNKNOWN: the skill was stopped, but its thread still runs. The run is abandoned: its
cancellation stays requested, and it holds its resources until its thread ends.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextvars import copy_context
import json
import logging
import threading
import time
from typing import Any
import uuid

from curiosity_rosa_demo.agent.skills.registry import checked_arguments, SkillRegistry
from curiosity_rosa_demo.agent.skills.skill import (
    BadArguments,
    fraction_of,
    is_due,
    ResourceBusy,
    Skill,
    SkillCall,
    SkillWorld,
    UnknownSkill,
)
from curiosity_rosa_demo.agent.tasks.origin import current_order
from curiosity_rosa_demo.domain.brain_state import Json, RunningSkill, SkillStatus
from curiosity_rosa_demo.domain.cancellation import Cancellation, TurnCancelled
from curiosity_rosa_demo.domain.models import json_object, ToolBroke, ToolResult
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.domain.skills import MOTIONS
from curiosity_rosa_demo.domain.text import clip, valid_unicode
from curiosity_rosa_demo.infra.clocks import MIN_WAIT_S
from curiosity_rosa_demo.infra.spans import span

GRACE_S = 3.0
NO_MOTION_TEXT = 'A skill drives only if it names base in resources_required'
CODES: dict[type[Exception], RefusalCode] = {
    BadArguments: RefusalCode.PARAM_INVALID,
    ResourceBusy: RefusalCode.RESOURCE_CONFLICT,
    UnknownSkill: RefusalCode.SKILL_NOT_FOUND,
}
STOPPED: dict[str, SkillStatus] = {  # of a skill that was stopped; under any other it failed
    RefusalCode.CANCELLED: SkillStatus.CANCELLED,
    RefusalCode.SKILL_TIMEOUT: SkillStatus.TIMED_OUT,
    RefusalCode.UNKNOWN: SkillStatus.UNKNOWN,
    RefusalCode.INTERRUPTED: SkillStatus.UNKNOWN,
}
ProgressListener = Callable[[RunningSkill], None]

_log = logging.getLogger('curiosity_rosa.skills')


def status_of(result: ToolResult) -> SkillStatus:
    """How the run of a skill ended, as the designs call it."""
    return SkillStatus.SUCCESS if result.ok else STOPPED.get(result.error_code, SkillStatus.FAILED)


class SkillMonitor:
    """The skills that run now, from every executor of the agent, with their resources and their
    progress; thread-safe. It is the lock of the resources base, mast and camera: two skills that
    need the same resource never run at once. A skill that did not react to its stop holds its
    resources until its thread ends, because it may still use them.

    Two callbacks run in the thread of the skill: ``listener`` with each progress report that is
    due, and ``on_violation`` with the reason of each failure that breaks a safety rule.

    An entry whose ``goal_id`` is a task's ID represents the task itself. It does not compete with
    the skills that this task starts.

    ``rover_clock`` counts the time-outs of skills that hold a resource of the rover.
    """

    def __init__(
        self,
        listener: ProgressListener = lambda run: None,
        clock: Callable[[], float] = time.monotonic,
        *,
        rover_clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._listener, self._clock, self.rover_clock = listener, clock, rover_clock
        self.on_violation: Callable[[str], None] = lambda reason: None
        self._lock = threading.RLock()
        self._running: dict[str, RunningSkill] = {}
        self._told: dict[str, tuple[float, float]] = {}  # the last report: seconds, fraction

    def claim(self, run: RunningSkill) -> None:
        """Add ``run``, which holds its resources until ``release``. Raises ResourceBusy."""
        with self._lock:
            holder = self.holder_of(run.resources_occupied)
            if holder is not None:
                shared = set(run.resources_occupied).intersection(holder.resources_occupied)
                raise ResourceBusy(
                    f'RESOURCE_CONFLICT: {run.skill_name} needs {", ".join(sorted(shared))}, '
                    f'which {holder.skill_name} holds; wait for it, or cancel it'
                )
            self.enter(run)

    def enter(self, run: RunningSkill) -> None:
        """Add a task without a check: the task scheduler has reserved its resources."""
        with self._lock:
            self._running[run.goal_id] = run

    def release(self, goal_id: str) -> None:
        """Remove a run that has ended. Does nothing for an unknown ID."""
        with self._lock:
            self._running.pop(goal_id, None)
            self._told.pop(goal_id, None)

    def report(self, goal_id: str, progress: Json) -> None:
        """Store a progress report of a run. Exceptions of the listener are logged, not raised."""
        now_s, fraction = self._clock(), fraction_of(progress)
        with self._lock:
            run = self._running.get(goal_id)
            if run is None:
                return
            run = self._running[goal_id] = run.model_copy(update={'progress': progress})
            told_s, before = self._told.setdefault(goal_id, (now_s, 0.0))
            if not is_due(progress, now_s - told_s, before):
                return
            self._told[goal_id] = (now_s, before if fraction is None else fraction)
        try:
            self._listener(run)
        except Exception:
            _log.exception('event=progress_not_told skill=%s', run.skill_name)

    def running(self) -> list[RunningSkill]:
        """The running skills and tasks, oldest first."""
        with self._lock:
            return list(self._running.values())

    def competing(self) -> list[RunningSkill]:
        """The running skills that compete with a skill started in this context."""
        task_id = current_order().task_id
        return [run for run in self.running() if not task_id or run.goal_id != task_id]

    def holder_of(self, resources: Collection[str]) -> RunningSkill | None:
        """The running skill that blocks a skill started in this context from ``resources``."""
        needs = set(resources)
        return next((run for run in self.competing() if needs & {*run.resources_occupied}), None)


class SkillExecutor:
    """Starts skills. Thread-safe. ``monitor``: pass the agent's, so that several executors share
    the locks of the resources.
    """

    def __init__(
        self,
        registry: SkillRegistry,
        world: SkillWorld,
        *,
        monitor: SkillMonitor | None = None,
        grace_s: float = GRACE_S,
    ) -> None:
        self._registry, self._world, self._grace_s = registry, world, grace_s
        self.monitor = SkillMonitor() if monitor is None else monitor

    def start(self, skill_name: str, params: Json, cancellation: Cancellation) -> SkillRun:
        """Start a run; the caller must ``wait`` for it. ``cancellation``: the turn's. Raises
        UnknownSkill, BadArguments, ResourceBusy and TurnCancelled.
        """
        skill = self._registry.get(skill_name)
        arguments = checked_arguments(skill, params)
        cancellation.check()
        run = SkillRun(skill, cancellation, self.monitor, self._grace_s)
        run.start(self._world, arguments)
        return run

    def result_of(self, skill_name: str, params: Json, cancellation: Cancellation) -> ToolResult:
        """Run a skill to its end; blocks. One that cannot start fails with a code of ``CODES``.
        Raises TurnCancelled.
        """
        attributes = {'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': skill_name}
        with span(f'execute_tool {skill_name}', attributes) as run:
            try:
                result = self.start(skill_name, params, cancellation).wait()
            except (BadArguments, ResourceBusy, UnknownSkill) as refusal:
                result = ToolResult.failure(str(refusal), CODES[type(refusal)])
            status = status_of(result).value
            run.set({'curiosity.skill.status': status})
            if not result.ok:
                run.fail(result.error_code or status)
            return result


class SkillRun:
    """One run of a skill, from the start to its single result. ``turn`` stops it, too."""

    def __init__(
        self, skill: Skill, turn: Cancellation, monitor: SkillMonitor, grace_s: float
    ) -> None:
        definition = skill.definition
        self.goal = RunningSkill(
            goal_id=uuid.uuid4().hex,
            skill_name=definition.name,
            start_time=time.monotonic(),
            timeout_s=definition.timeout_s,
            resources_occupied=definition.resources_required,
            task_id=current_order().task_id,
        )
        self.feedback: Json = {}  # the newest report of progress
        self._skill, self._turn, self._monitor, self._grace_s = skill, turn, monitor, grace_s
        self._cancellation = Cancellation()
        self._lock = threading.Lock()  # guards which comes first: a stop or the end
        self._is_over = self._stopped_by_turn = False
        self._stopped: RefusalCode | None = None  # by a stop before the end
        self._stop_reason = ''
        self._result: ToolResult | None = None
        self._leaving, self._ended = threading.Event(), threading.Event()  # leaving: or stopped

    def start(self, world: SkillWorld, arguments: Mapping[str, Any]) -> None:
        """Raises ResourceBusy."""
        self._monitor.claim(self.goal)
        # The thread gets this context: the rover's calls belong to the order that is set in it.
        context, name = copy_context(), self.goal.skill_name
        thread = threading.Thread(
            target=context.run, args=(self._run, world, arguments), name=f'skill-{name}'
        )
        thread.daemon = True
        try:
            thread.start()
        except RuntimeError as error:  # no more threads
            self._end(_broken(name, error))

    def wait(self) -> ToolResult:
        """Block until the run has ended or is abandoned. Raises TurnCancelled if the turn has
        stopped it.
        """
        name, limit_s = self.goal.skill_name, self.goal.timeout_s
        of_rover = bool(self.goal.resources_occupied)  # base, mast or camera
        clock = self._monitor.rover_clock if of_rover else time.monotonic
        left_s, until_s = limit_s, clock() + limit_s  # never faster than steady time
        with self._turn.call_when_pressed(self._on_turn_cancelled):
            while not self._leaving.wait(max(MIN_WAIT_S, left_s)):
                if (left_s := until_s - clock()) <= 0.0:
                    self.stop(RefusalCode.SKILL_TIMEOUT, f'{name} timed out after {limit_s:g} s')
            self._ended.wait(self._grace_s)
        if self._stopped_by_turn:
            raise TurnCancelled(self._stop_reason)
        if self._result is not None:
            return self._result
        why = f'{name} did not end within {self._grace_s:g} s of its stop ({self._stop_reason})'
        return ToolResult.failure(f'{why}: its effect is unknown', RefusalCode.UNKNOWN)

    def cancel(self) -> bool:
        """Request the end of the run. Returns False if it has ended, if a stop was requested
        before, or if its skill has ``cancel_supported`` false.
        """
        why = f'{self.goal.skill_name} was cancelled'
        is_supported = self._skill.definition.cancel_supported
        return is_supported and self.stop(RefusalCode.CANCELLED, why)

    def stop(self, code: RefusalCode, why: str, *, by_turn: bool = False) -> bool:
        """Request the end of the skill; ``code`` becomes that of its result. Returns False if the
        skill has ended or a stop was requested before. Thread-safe.
        """
        with self._lock:
            if self._is_over or self._stopped is not None:
                return False
            self._stopped, self._stop_reason, self._stopped_by_turn = code, why, by_turn
        self._cancellation.cancel(why)
        self._leaving.set()
        return True

    def _on_turn_cancelled(self) -> None:
        self.stop(RefusalCode.CANCELLED, self._turn.reason, by_turn=True)

    # --- the thread of the skill --------------------------------------------------------------

    def _run(self, world: SkillWorld, arguments: Mapping[str, Any]) -> None:
        definition = self._skill.definition
        seen: Any = world if 'base' in definition.resources_required else _StandingWorld(world)
        call = SkillCall(seen, self._cancellation, self._report)
        try:
            done = self._skill.run(call, **arguments)
            if not isinstance(done, ToolResult):
                done = _broken(definition.name, 'it answered no ToolResult')
        except ToolBroke as broke:
            code = {'error_code': RefusalCode.INTERNAL_ERROR.value}
            done = broke.result.model_copy(update=code)
        except BaseException as error:  # also SystemExit: a skill must not end the agent
            done = _broken(definition.name, error)
        self._end(done)

    def _end(self, done: ToolResult) -> None:
        with self._lock:
            self._is_over, stopped = True, self._stopped
        self._monitor.release(self.goal.goal_id)  # before the result is known
        code, why = done.error_code, done.error_reason
        moves = bool(set(self.goal.resources_occupied) - {'camera'})
        if code == RefusalCode.SAFETY_VIOLATION:
            self._monitor.on_violation(why)
        elif code == RefusalCode.INTERNAL_ERROR and moves and stopped is None:
            self._monitor.on_violation(f'{RefusalCode.SAFETY_VIOLATION.value}: {why}')
        if stopped is not None:
            said = f'{self._stop_reason}; it had done its work by then'
            reason = said if done.ok else self._stop_reason
            done = ToolResult(ok=False, error_reason=reason, error_code=stopped, data=done.data)
        self._result = done
        self._ended.set()
        self._leaving.set()

    def _report(self, report: Json) -> None:
        """Publish a report of progress; the skill may change it later. Raises ValueError."""
        self.feedback = json.loads(json.dumps(json_object(report)))
        self._monitor.report(self.goal.goal_id, self.feedback)


class _StandingWorld:
    """The world of a skill that does not hold the base: another one may drive meanwhile, and an
    interrupted one is done again. It refuses every motion.
    """

    def __init__(self, world: SkillWorld) -> None:
        self._world = world

    def __getattr__(self, name: str) -> Any:
        return getattr(self._world, name)

    def tool(self, name: str, cancellation: Cancellation, **arguments: Any) -> ToolResult:
        if name in MOTIONS:
            return ToolResult.failure(NO_MOTION_TEXT)
        return self._world.tool(name, cancellation, **arguments)


def _broken(name: str, error: BaseException | str) -> ToolResult:
    """The result of a skill that failed by a fault of its own."""
    try:
        text = error if isinstance(error, str) else repr(error)
    except Exception:
        text = type(error).__name__
    text = clip(valid_unicode(text))  # a trace carries valid Unicode only
    why = f'Internal error in {name}: {text}'
    return ToolResult.failure(why, RefusalCode.INTERNAL_ERROR.value)
