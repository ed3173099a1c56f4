# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The kernel's six nodes and its actions, tick by tick, before a rover that reports anything.

A tick is longer than every time-out of a source: what does not report in a tick is silent. The
actions of a tick change the tasks as the runtime does. Left out are texts (an intent is given as
one), doubts, and odometry: the adapter's report says whether the rover moves.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
import copy
from dataclasses import dataclass, field, replace
from functools import cache

from curiosity_rosa_demo.agent.kernel import actions as kernel_actions
from curiosity_rosa_demo.agent.kernel.actions import Action
from curiosity_rosa_demo.agent.kernel.decide import CHARGE_SKILL, order_refusal, SKILLS_IN_SAFE
from curiosity_rosa_demo.agent.kernel.hear import Answered, Asked, Message, Said, Stopped
from curiosity_rosa_demo.agent.kernel.loop import tick
from curiosity_rosa_demo.domain.brain_state import (
    ApprovalAction,
    BrainState,
    Json,
    Mode,
    QueuedTask,
    Reading,
    UserInterruptType,
)
from curiosity_rosa_demo.infra.config_loader import load_config

RULES = load_config().thresholds
TICK_S = 20.0
MESSAGES: dict[str, Message] = {
    'a person says stop': Said('stop'),
    'a program sends STOP': Stopped('a client', 1),
    'pause': Asked(UserInterruptType.PAUSE),
    'resume': Asked(UserInterruptType.RESUME),
    'clear': Asked(UserInterruptType.CLEAR),
    'a goal': Said('find the light'),
    'an urgent goal': Said('find the light immediately'),
    'a yes': Answered(ApprovalAction.APPROVE),
}
STOPS = ('a person says stop', 'a program sends STOP')
_STILL, _MOVING = {'moving': False}, {'moving': True}
# What a source reports from now on; None: it falls silent.
REPORTS: dict[str, tuple[str, Json | None]] = {
    'the e-stop is pressed': ('estop', {'pressed': True}),
    'the e-stop is released': ('estop', {'pressed': False}),
    'the adapter: stowed, still': ('adapter', {'mast': 'closed', **_STILL}),
    'the adapter: stowed, moving': ('adapter', {'mast': 'closed', **_MOVING}),
    'the adapter: mast up, moving': ('adapter', {'mast': 'open', **_MOVING}),
    'the adapter: the stop failed': (
        'adapter',
        {'mast': 'closed', **_MOVING, 'violation': 'the rover moves on'},
    ),
    'the adapter falls silent': ('adapter', None),
    'the battery is low': ('battery', {'fraction': 0.1}),
    'the battery charges': ('battery', {'fraction': 0.5}),
    'the battery is full': ('battery', {'fraction': 1.0}),
    'an obstacle is near': ('scan', {'view': True, 'forward_m': 0.5}),
    'the way is free': ('scan', {'view': True, 'forward_m': 9.0}),
    'the scan falls silent': ('scan', None),
}
EVENTS = ('a skill breaks a safety rule', 'the next task starts', 'the active task ends', 'a tick')
ALL_INPUTS = (*MESSAGES, *REPORTS, *EVENTS)
_SCAN: Json = dict.fromkeys(
    ('ahead_m', 'behind_m', 'left_m', 'right_m', 'forward_m', 'turn_left_m', 'turn_right_m')
)
ESTOP = ('the e-stop is pressed', 'the e-stop is released')
SCOPES = {
    'safety': (
        'a person says stop', 'resume', 'clear', 'a goal', *EVENTS,
        *(name for name in REPORTS if 'battery' not in name),
    ),
    'battery and tasks': (
        *MESSAGES, *ESTOP, 'the battery is low', 'the battery is full', 'the next task starts',
        'the active task ends', 'the adapter falls silent', 'the adapter: stowed, still',
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Job:
    """A task of the runtime."""

    skill: str
    priority: int
    status: str = 'PENDING'
    held: bool = False

    @property
    def id(self) -> str:
        return f'{self.skill} {self.priority}'


@cache
def _queued(job: Job) -> QueuedTask:
    return QueuedTask(
        task_id=job.id, goal='', priority=job.priority, status=job.status, skill=job.skill,
        held=job.held,
    )  # fmt: skip


@dataclass
class Kernel:
    brain: BrainState = field(default_factory=BrainState)
    jobs: tuple[Job, ...] = ()
    gate: frozenset[str] | None = None  # the skills that may run; None: all
    reports: tuple[tuple[str, str], ...] = ()  # by source, the name of its report
    now: float = 0.0


class KernelSystem:
    def __init__(self, allowed: Iterable[str], latch: str = '') -> None:
        """``latch``: the safety latch that an earlier run has left."""
        self._inputs = [name for name in ALL_INPUTS if name in set(allowed)]
        self._latch = latch

    def initial(self) -> Kernel:
        kernel = Kernel()
        robot = kernel.brain.robot.model_copy(update={'safety_latch': self._latch})
        kernel.brain = kernel.brain.model_copy(update={'robot': robot})
        done = self._tick(kernel, None, '')
        allowed = (kernel_actions.StopRover, kernel_actions.HoldTasks, kernel_actions.Notice)
        assert all(isinstance(each, allowed) for each in done), 'the start asks for more than halt'
        return kernel

    def inputs(self, kernel: Kernel) -> Iterable[str]:
        reported = {name for _, name in kernel.reports}
        for name in self._inputs:
            if name == 'the next task starts':
                possible = self._next(kernel) is not None
            elif name == 'the active task ends':
                possible = any(job.status == 'ACTIVE' for job in kernel.jobs)
            else:
                possible = name not in reported
            if possible:
                yield name

    def _next(self, kernel: Kernel) -> Job | None:
        if any(job.status == 'ACTIVE' for job in kernel.jobs):
            return None
        ready = (
            job
            for job in sorted(kernel.jobs, key=lambda job: -job.priority)
            if not job.held and (kernel.gate is None or job.skill in kernel.gate)
        )
        return next(ready, None)

    def step(self, kernel: Kernel, name: str) -> Kernel:
        before = kernel
        kernel = copy.copy(kernel)
        message, violation = MESSAGES.get(name), ''
        if name in REPORTS:
            reports = {**dict(kernel.reports), REPORTS[name][0]: name}
            kernel.reports = tuple(sorted(reports.items()))
        elif name == 'a skill breaks a safety rule':
            violation = 'SAFETY_VIOLATION'
        elif name == 'the next task starts':
            job = self._next(kernel)
            kernel.jobs = _each(kernel.jobs, lambda each: each is job, status='ACTIVE')
        elif name == 'the active task ends':
            kernel.jobs = tuple(job for job in kernel.jobs if job.status != 'ACTIVE')
        kernel.now += TICK_S
        done = self._tick(kernel, message, violation)
        self._check_step(before, kernel, name, done)
        return kernel

    def _tick(self, kernel: Kernel, message: Message | None, violation: str) -> list[Action]:
        before, brain = kernel.brain, self._with_inputs(kernel, message, violation)
        kernel.brain = tick(brain, RULES)
        done = kernel_actions.plan(before, kernel.brain)
        for action in done:
            self._carry_out(kernel, action)
        return done

    def _with_inputs(self, kernel: Kernel, message: Message | None, violation: str) -> BrainState:
        brain, now = kernel.brain, kernel.now
        readings = dict(brain.telemetry.readings)
        for source, name in kernel.reports:
            if (value := REPORTS[name][1]) is not None:
                value = {**_SCAN, **value} if source == 'scan' else value
                readings[source] = Reading.model_construct(value=value, received_s=now)
        queue = [_queued(job) for job in kernel.jobs]
        inbox = [] if message is None else [message]
        return brain.model_copy(
            update={
                'telemetry': brain.telemetry.model_copy(
                    update={'now_s': now, 'readings': readings}
                ),
                'tasks': brain.tasks.model_copy(update={'inbox': inbox, 'queue': queue}),
                'robot': brain.robot.model_copy(update={'violation': violation}),
            }
        )

    def _carry_out(self, kernel: Kernel, action: Action) -> None:
        """What the runtime does with an action (runtime/action_dispatcher.py)."""
        jobs = kernel.jobs
        if isinstance(action, kernel_actions.HoldTasks):
            kernel.gate = allow = action.allow_skills
            held = lambda job: job.status == 'ACTIVE' and job.skill not in allow  # noqa: E731
            kernel.jobs = _each(jobs, held, status='PAUSED')
        elif isinstance(action, kernel_actions.ReleaseTasks):
            kernel.gate = None
        elif isinstance(action, kernel_actions.CancelAllTasks):
            kernel.jobs = ()
        elif isinstance(action, kernel_actions.PauseTasks):
            kernel.jobs = tuple(
                replace(job, held=True, status=job.status.replace('ACTIVE', 'PAUSED'))
                for job in jobs
            )
        elif isinstance(action, kernel_actions.HoldAfterSafe):
            kernel.jobs = _each(jobs, lambda job: job.skill != CHARGE_SKILL, held=True)
        elif isinstance(action, kernel_actions.ResumeTask):
            kernel.jobs = _each(jobs, lambda job: True, held=False)
        elif isinstance(action, kernel_actions.SubmitCharge):
            kernel.jobs = _added(jobs, Job(CHARGE_SKILL, 9))
        elif isinstance(action, kernel_actions.SubmitGoal) and not order_refusal(
            kernel.brain, '', None
        ):
            kernel.jobs = _added(jobs, Job('react', action.priority))

    # --- the rules ------------------------------------------------------------------------------

    def _check_step(self, before: Kernel, after: Kernel, name: str, done: list[Action]) -> None:
        was, now = before.brain.robot.safety_latch, after.brain.robot.safety_latch
        exposed = 'the adapter: mast up, moving'
        stays = (
            exposed in dict(before.reports).values() and exposed in dict(after.reports).values()
        )
        causes = self._causes(after) or stays or name == 'a skill breaks a safety rule'
        if was and not now:
            assert name == 'clear', 'SAFE was left without a person'
            assert not causes, 'SAFE was left while its cause is there'
        mode_was, mode = before.brain.tasks.mode, after.brain.tasks.mode
        if (was and not now) or (mode_was is Mode.SAFE and mode is not Mode.SAFE):
            free = all(job.held or job.skill == CHARGE_SKILL for job in after.jobs)
            assert free, 'a task goes on after SAFE without a person'
        if causes:
            assert now, 'a cause of SAFE did not latch'
        stop = done[0] if done else None
        is_stop = isinstance(stop, kernel_actions.StopRover) and not stop.cancellable_only
        if name in STOPS:
            assert is_stop, 'a stop was not the first action of its tick'
            assert not after.jobs, 'a task outlived the stop'
        if self._is_held(after) and not self._is_held(before):
            assert is_stop, 'a hold began without a stop'
        goals = [each for each in done if isinstance(each, kernel_actions.SubmitGoal)]
        assert not goals or 'goal' in name, 'a goal that nobody gave'

    def _causes(self, kernel: Kernel) -> bool:
        names = {name for _, name in kernel.reports}
        moving = 'the adapter: stowed, moving' in names or 'the adapter: the stop failed' in names
        near = moving and 'an obstacle is near' in names
        failed = 'the adapter: the stop failed' in names
        return 'the e-stop is pressed' in names or near or failed

    def _is_held(self, kernel: Kernel) -> bool:
        return kernel.brain.tasks.mode in (Mode.SAFE, Mode.CHARGE)

    def check(self, kernel: Kernel) -> None:
        tasks = kernel.brain.tasks
        gates = {Mode.SAFE: SKILLS_IN_SAFE, Mode.CHARGE: frozenset({CHARGE_SKILL})}
        assert kernel.gate == gates.get(tasks.mode), f'{tasks.mode.name} has another gate'
        active = [job for job in kernel.jobs if job.status == 'ACTIVE']
        if kernel.gate is not None:
            assert all(job.skill in kernel.gate for job in active), f'work in {tasks.mode.name}'
        if kernel.brain.robot.safety_latch:
            assert tasks.mode is Mode.SAFE, 'a latch without SAFE'
        if tasks.mode is Mode.SAFE:
            assert tasks.active_task_id is None, 'SAFE selects a task'
        assert bool(tasks.preempt_flag) == bool(tasks.preempt_reason), 'a flag without its reason'

    def is_goal(self, kernel: Kernel) -> bool:
        """The rover may work again, and nothing waits for a person."""
        return kernel.gate is None and not any(job.held for job in kernel.jobs)

    def key(self, kernel: Kernel) -> Hashable:
        robot, tasks = kernel.brain.robot, kernel.brain.tasks
        latch = bool(robot.safety_latch)
        return (
            kernel.jobs,
            kernel.gate,
            kernel.reports,
            (tasks.mode, tasks.active_task_id, '' if latch else tasks.mode_reason),
            (latch, robot.exposed_since_s is None, robot.estop, robot.battery_state),
            (robot.mast, robot.moving, robot.scan_min_m, tuple(sorted(robot.silent))),
            tuple(sorted(robot.heard)),
        )


def _each(jobs: tuple[Job, ...], chosen: object, **changes: object) -> tuple[Job, ...]:
    return tuple(replace(job, **changes) if chosen(job) else job for job in jobs)  # type: ignore


def _added(jobs: tuple[Job, ...], job: Job) -> tuple[Job, ...]:
    """At most one task of each kind: more of them would wait as this one does."""
    return jobs if any(each.id == job.id for each in jobs) else (*jobs, job)


def mode_of(kernel: Kernel) -> str:
    """The quotient for the picture."""
    robot = kernel.brain.robot
    return kernel.brain.tasks.mode.name + (', latched' if robot.safety_latch else '')
