# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The policy's port to the runtime: reads the kernel's state; submits and changes tasks.

While the kernel's mode is CHARGE, the charging task belongs to the kernel, even if the policy
submitted it. The policy neither pauses nor cancels it, and the kernel submits no second one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from concurrent.futures import wait
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
import logging

from curiosity_rosa_demo.agent.kernel.kernel_route import CHARGE_SKILL
from curiosity_rosa_demo.agent.policy.action import (
    CancelTasks,
    Command,
    PauseTasks,
    Senses,
    SubmitTasks,
)
from curiosity_rosa_demo.agent.policy.autonomy.activity_tasks import ACTIVITY_KEY, tasks_of
from curiosity_rosa_demo.agent.policy.world_state import WorldState
from curiosity_rosa_demo.agent.policy.world_view import WorldModel
from curiosity_rosa_demo.agent.runtime.action_dispatcher import CHARGE_PRIORITY
from curiosity_rosa_demo.agent.runtime.console_port import Submission
from curiosity_rosa_demo.agent.runtime.runtime import Runtime
from curiosity_rosa_demo.agent.runtime.threads.event_loop_thread import CALL_TIMEOUT_S
from curiosity_rosa_demo.agent.tasks import LifecycleState, Task
from curiosity_rosa_demo.agent.tasks.task import TaskError
from curiosity_rosa_demo.agent.tasks.texts import task_summary
from curiosity_rosa_demo.domain.brain_state import BatteryLevel, BrainState, Mode
from curiosity_rosa_demo.domain.text import printable
from curiosity_rosa_demo.drawing.columns import clip_columns

WITHDRAWN = 'the policy has given it up'
MAX_TASK_COLUMNS = 60  # columns of an operator's task in a hold reason
HOLDING_MODES = (Mode.SAFE, Mode.CHARGE)  # modes in which the policy starts nothing

_S = LifecycleState
_log = logging.getLogger('curiosity_rosa.autonomy')


@dataclass(frozen=True)
class RuntimeView:
    """``own``: the policy's tasks that the kernel knows."""

    senses: Senses
    own: tuple[Task, ...]


class RuntimePort:
    """Call from the policy's thread: the calls wait for the runtime's loop."""

    def __init__(self, runtime: Runtime, world: WorldModel) -> None:
        self._runtime, self._world = runtime, world

    def observe(
        self, ours: Collection[str], held: str, devices: Mapping[str, bool] | None = None
    ) -> RuntimeView:
        """``ours``: IDs of the policy's tasks. ``held``: a hold reason from outside the kernel,
        or ''. ``devices`` as in Senses. Raises TaskError.
        """
        brain = self._runtime.state
        own, others, failed = self._runtime.call(self._read_tasks(ours))
        senses = Senses(
            place=self._current_place(brain),
            energy=self._current_energy(brain),
            hold_reason=_holding_mode_text(brain) or failed or held or _human_task_reason(others),
            tasks={task.id: task.state.name for task in own},
            devices=dict(devices or {}),
        )
        return RuntimeView(senses, tuple(own))

    def execute(self, commands: Iterable[Command], stops: int) -> None:
        """Execute in order. ``stops``: the runtime's stop count when the policy was switched on;
        after a later stop no task is submitted or resumed. Raises TaskError; the remaining
        commands are then not executed.
        """
        for command in commands:
            if isinstance(command, SubmitTasks):
                for task in tasks_of(command.ongoing, self._world.view):
                    self._submit_task(task, stops)
            elif isinstance(command, CancelTasks):
                self.cancel_tasks(command.task_ids, command.why)
            elif isinstance(command, PauseTasks):
                self._pause_tasks(command.task_ids, command.why)
            elif stops == self._runtime.stop_count:
                self._resume_tasks(command.task_ids)

    def resume_stuck_tasks(self, after: WorldState, view: RuntimeView, stops: int) -> None:
        """Resume held tasks whose activity is not held, such as after an operator's pause that
        the policy missed. ``stops`` as in execute. Raises TaskError.
        """
        if stops == self._runtime.stop_count:
            self._resume_tasks(self._stuck_task_ids(after, view))

    def cancel_tasks(self, task_ids: Iterable[str], why: str) -> None:
        """Raises TaskError when the runtime does not answer."""
        runner = self._runtime.runner
        self._for_each_task(
            self._without_charge_task(task_ids), lambda task_id: runner.cancel(task_id, why)
        )

    def _pause_tasks(self, task_ids: Iterable[str], why: str) -> None:
        runner = self._runtime.runner
        self._for_each_task(
            self._without_charge_task(task_ids), lambda task_id: runner.pause(task_id, why)
        )

    def _resume_tasks(self, task_ids: Iterable[str]) -> None:
        self._for_each_task(list(task_ids), self._runtime.runner.resume)

    def _for_each_task(
        self, task_ids: Collection[str], change: Callable[[str], Awaitable[object]]
    ) -> None:
        if not task_ids:
            return

        async def each() -> None:
            for task_id in task_ids:
                with suppress(TaskError):  # it has ended, or is unknown
                    await change(task_id)

        self._runtime.call(each())

    def _submit_task(self, task: Task, stops: int) -> None:
        """Submit and wait for the reply. A rejected task never starts: the policy finds it
        missing. Raises TaskError when there is no reply in time.
        """
        submission = Submission(partial(self._runtime.cancel_soon, task.id, WITHDRAWN))
        self._runtime.submit_task(task, submission.settle, stops, submission.wanted)
        wait([submission.reply], CALL_TIMEOUT_S)
        reply = submission.withdraw()
        if reply is None:
            raise TaskError(f'{task_summary(task)} was not taken within {CALL_TIMEOUT_S:g} s')
        if reply.task is None:
            why = '; '.join(reply.lines) or 'a stop overtook it'
            _log.warning('event=not_begun task=%s why=%r', task.id, why)

    def _without_charge_task(self, task_ids: Iterable[str]) -> list[str]:
        """In reverse order, so that no task in the list is unblocked and starts meanwhile."""
        charging = self._runtime.state.tasks.mode is Mode.CHARGE
        return [
            each
            for each in reversed(list(task_ids))
            if not (charging and self._is_charge_task(each))
        ]

    def _is_charge_task(self, task_id: str) -> bool:
        queue = self._runtime.state.tasks.queue
        return any(task.task_id == task_id and task.skill == CHARGE_SKILL for task in queue)

    def _stuck_task_ids(self, after: WorldState, view: RuntimeView) -> list[str]:
        ongoing, charging = after.activity, self._runtime.state.tasks.mode is Mode.CHARGE
        ongoing_ids: Collection[str] = ()
        if ongoing is not None and not ongoing.held and not view.senses.hold_reason:
            ongoing_ids = ongoing.task_ids
        return [
            task.id
            for task in view.own
            if task.held and (task.id in ongoing_ids or (charging and task.name == CHARGE_SKILL))
        ]

    async def _read_tasks(self, ids: Collection[str]) -> tuple[list[Task], list[Task], str]:
        """The policy's tasks, the live tasks of others, and why no task can run ('': they can)."""
        runner = self._runtime.runner
        own = {task_id: task for task_id in ids if (task := runner.get_task(task_id)) is not None}
        live = runner.live()
        # Also tasks of an ended activity: a crash may come before their cancellation.
        own.update({task.id: task for task in live if ACTIVITY_KEY in task.metadata})
        others = [task for task in live if task.id not in own]
        return list(own.values()), others, str(runner.failed or '')

    def _current_place(self, brain: BrainState) -> str | None:
        if not self._world.view.measured:
            return None
        robot = brain.robot
        if 'odometry' not in robot.ages_s or 'odometry' in robot.silent:
            return ''
        return self._world.place_of(brain.world.zones)

    def _current_energy(self, brain: BrainState) -> float | None:
        robot = brain.robot
        if not self._world.view.measured or robot.battery_state is BatteryLevel.UNKNOWN:
            return None
        return min(1.0, max(0.0, robot.battery_pct / 100.0))


def task_ids_of(state: WorldState) -> list[str]:
    """IDs of all tasks of the ongoing and suspended activities."""
    activities = [*state.suspended, *([state.activity] if state.activity else [])]
    return [task_id for each in activities for task_id in each.task_ids]


def _holding_mode_text(brain: BrainState) -> str:
    tasks = brain.tasks
    return f'{tasks.mode.value}: {tasks.mode_reason}' if tasks.mode in HOLDING_MODES else ''


def _human_task_reason(others: Iterable[Task]) -> str:
    """Why the policy must wait for a task of an operator; '' when it need not. A task in WAITING
    and a held one do not delay the policy.
    """
    for task in others:
        if task.state is _S.WAITING or task.held or task.terminal:
            continue
        if task.name == CHARGE_SKILL and task.priority == CHARGE_PRIORITY:
            return 'the battery is being charged'
        shown = clip_columns(printable(task_summary(task)), MAX_TASK_COLUMNS)
        return f"a person's task goes first: {shown}"
    return ''
