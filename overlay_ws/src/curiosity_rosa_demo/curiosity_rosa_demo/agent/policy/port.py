# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The policy's port to the runtime: reads the kernel's state; makes, submits and changes the tasks
of activities.

While the kernel's mode is CHARGE, the charging task belongs to the kernel, even if the policy
submitted it. The policy neither pauses nor cancels it, and the kernel submits no second one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from concurrent.futures import wait
from contextlib import suppress
import logging
from typing import NamedTuple

from curiosity_rosa_demo.agent.kernel.decide import CHARGE_SKILL
from curiosity_rosa_demo.agent.kernel.hear import Ordered
from curiosity_rosa_demo.agent.policy.world import Command, Ongoing, Senses, WorldModel, WorldState
from curiosity_rosa_demo.agent.runtime.action_dispatcher import CHARGE_PRIORITY
from curiosity_rosa_demo.agent.runtime.runtime import Runtime
from curiosity_rosa_demo.agent.runtime.task_skills import MAX_GOAL_SWITCHES
from curiosity_rosa_demo.agent.runtime.threads import CALL_TIMEOUT_S
from curiosity_rosa_demo.agent.skills.registry import (
    arguments_as_json,
    SkillRegistry,
    TASK_ONLY_SKILLS,
)
from curiosity_rosa_demo.agent.skills.skill import BadArguments, UnknownSkill
from curiosity_rosa_demo.agent.tasks import LifecycleState, Task
from curiosity_rosa_demo.agent.tasks.origin import ORIGIN_KEY
from curiosity_rosa_demo.agent.tasks.task import TaskError
from curiosity_rosa_demo.agent.tasks.texts import task_summary
from curiosity_rosa_demo.domain.brain_state import BatteryLevel, BrainState, Json, Mode
from curiosity_rosa_demo.domain.origin import Origin
from curiosity_rosa_demo.domain.plan import Plan, PlanStep
from curiosity_rosa_demo.drawing.columns import clip_columns
from curiosity_rosa_demo.infra.config.behaviour import ActivityConfig, StepConfig, WorldView
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.config_loader import ConfigError

MAX_TASK_COLUMNS = 60  # columns of an operator's task in a hold reason
HOLDING_MODES = (Mode.SAFE, Mode.CHARGE)  # modes in which the policy starts nothing
AUTO_PRIORITY = 1  # below the tasks of operators
ACTIVITY_KEY = 'unasked'  # in the metadata of each such task: the name of its activity
STANDALONE_SKILLS = ('charge',)  # run as a task of their own, never as a step of a plan

_log = logging.getLogger('curiosity_rosa.autonomy')


class RuntimeView(NamedTuple):
    """``own``: the policy's tasks that the kernel knows."""

    senses: Senses
    own: list[Task]


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
        holding = brain.tasks.mode in HOLDING_MODES
        mode = f'{brain.tasks.mode.value}: {brain.tasks.mode_reason}' if holding else ''
        senses = Senses(
            *self._place_and_energy(brain),
            hold_reason=mode or failed or held or _human_task_reason(others),
            tasks={task.id: task.state.name for task in own},
            devices=dict(devices or {}),
        )
        return RuntimeView(senses, own)

    def execute(self, commands: Iterable[Command], stops: int) -> None:
        """Execute in order. ``stops``: the runtime's stop count when the policy was switched on;
        after a later stop no task is submitted or resumed. Raises TaskError; the remaining
        commands are then not executed.
        """
        runner = self._runtime.runner
        for command in commands:
            if command.does == 'resume':
                if stops == self._runtime.halt.stops:
                    self._for_each_task(command.task_ids, runner.resume)
            elif command.does == 'cancel':
                self.cancel_tasks(command.task_ids, command.why)
            elif command.does == 'pause':
                ids = self._without_charge_task(command.task_ids)
                self._for_each_task(ids, runner.pause, command.why)
            elif command.ongoing is not None:
                for task in tasks_of(command.ongoing, self._world.view):
                    self._submit_task(task, stops)

    def resume_stuck_tasks(self, after: WorldState, view: RuntimeView, stops: int) -> None:
        """Resume held tasks whose activity is not held, such as after an operator's pause that
        the policy missed. ``stops`` as in execute. Raises TaskError.
        """
        if stops != self._runtime.halt.stops:
            return
        ongoing, charging = after.activity, self._runtime.state.tasks.mode is Mode.CHARGE
        runs = ongoing is not None and not ongoing.held and not view.senses.hold_reason
        ids = ongoing.task_ids if ongoing is not None and runs else []
        stuck = [
            task.id
            for task in view.own
            if task.held and (task.id in ids or (charging and task.name == CHARGE_SKILL))
        ]
        self._for_each_task(stuck, self._runtime.runner.resume)

    def cancel_tasks(self, task_ids: Iterable[str], why: str) -> None:
        """Raises TaskError when the runtime does not answer."""
        ids = self._without_charge_task(task_ids)
        self._for_each_task(ids, self._runtime.runner.cancel, why)

    def _for_each_task(
        self, task_ids: Collection[str], change: Callable[..., Awaitable[object]], *why: str
    ) -> None:
        async def each() -> None:
            for task_id in task_ids:
                with suppress(TaskError):  # it has ended, or is unknown
                    await change(task_id, *why)

        if task_ids:
            self._runtime.call(each())

    def _submit_task(self, task: Task, stops: int) -> None:
        """Submit and wait for the reply. A rejected task never starts: the policy finds it
        missing. Raises TaskError when there is no reply in time.
        """
        order = Ordered(task, stops=stops)
        self._runtime.post(order)
        wait([order.reply], CALL_TIMEOUT_S)
        if order.reply.cancel():  # withdrawn
            raise TaskError(f'{task_summary(task)} was not taken within {CALL_TIMEOUT_S:g} s')
        reply = order.reply.result()
        if reply.task is None:
            why = '; '.join(reply.lines) or 'a stop overtook it'
            _log.warning('event=not_begun task=%s why=%r', task.id, why)

    def _without_charge_task(self, task_ids: Iterable[str]) -> list[str]:
        """In reverse order, so that no task in the list is unblocked and starts meanwhile."""
        tasks = self._runtime.state.tasks
        charging = {
            task.task_id
            for task in tasks.queue
            if tasks.mode is Mode.CHARGE and task.skill == CHARGE_SKILL
        }
        return [each for each in reversed(list(task_ids)) if each not in charging]

    async def _read_tasks(self, ids: Collection[str]) -> tuple[list[Task], list[Task], str]:
        """The policy's tasks, the live tasks of others, and why no task can run ('': they can)."""
        runner = self._runtime.runner
        own = {task_id: task for task_id in ids if (task := runner.get_task(task_id)) is not None}
        live = runner.live()
        # Also tasks of an ended activity: a crash may come before their cancellation.
        own.update({task.id: task for task in live if ACTIVITY_KEY in task.metadata})
        others = [task for task in live if task.id not in own]
        return list(own.values()), others, str(runner.failed or '')

    def _place_and_energy(self, brain: BrainState) -> tuple[str | None, float | None]:
        """None where nothing is measured. The place is '' while odometry is silent."""
        robot = brain.robot
        if not self._world.view.measured:
            return None, None
        silent = 'odometry' not in robot.ages_s or 'odometry' in robot.silent
        place = '' if silent else self._world.place_of(brain.world.zones)
        known = robot.battery_state is not BatteryLevel.UNKNOWN
        return place, robot.battery_pct / 100.0 if known else None


def _human_task_reason(others: Iterable[Task]) -> str:
    """Why the policy must wait for a task of an operator; '' when it need not. A task in WAITING
    and a held one do not delay the policy.
    """
    for task in others:
        if task.state is LifecycleState.WAITING or task.held or task.terminal:
            continue
        if task.name == CHARGE_SKILL and task.priority == CHARGE_PRIORITY:
            return 'the battery is being charged'
        return f"a person's task goes first: {clip_columns(task_summary(task), MAX_TASK_COLUMNS)}"
    return ''


# --- The tasks of an activity: its work, then the time that it takes. Pure --------------------


def tasks_of(ongoing: Ongoing, view: WorldView) -> list[Task]:
    """The tasks in the order of submission; each is blocked by those before it. Raises ValueError
    when the activity and ``ongoing`` differ in their number of tasks.
    """
    name, activity = ongoing.activity, view.activities[ongoing.activity]
    # The model of such a task must not switch to a goal of its own, which no operator asked for.
    no_switch: Json = {'switches': MAX_GOAL_SWITCHES}
    parts: list[tuple[str, Json]] = []  # skill and metadata
    if activity.does and activity.does[0].skill in STANDALONE_SKILLS:
        parts.append((activity.does[0].skill, {}))
    elif activity.does:
        plan = _plan(ongoing, activity)
        parts.append(('react', {'text': activity.says, 'plan': plan, **no_switch}))
    elif activity.asks:
        goal = {'text': activity.asks, 'expects': activity.expects}
        parts.append(('react', {**goal, **no_switch}))
    if activity.minutes:
        text = f'{name}: {activity.says}'
        lasts: Json = {'activity': name, 'minutes': activity.minutes, 'text': text}
        parts.append(('activity', lasts))
    tasks: list[Task] = []
    for task_id, (skill, metadata) in zip(ongoing.task_ids, parts, strict=True):
        origin = {ACTIVITY_KEY: name, ORIGIN_KEY: Origin.AUTONOMY.value}
        task = Task(
            skill,
            AUTO_PRIORITY,
            id=task_id,
            metadata=metadata | origin,
            blocked_by=tuple(task.id for task in tasks),
            idempotency_key=task_id,
            resources=frozenset() if skill == 'activity' else None,
        )
        tasks.append(task)
    return tasks


def _plan(ongoing: Ongoing, activity: ActivityConfig) -> Json:
    steps = [
        PlanStep(number, step.skill, parameters=dict(step.arguments))
        for number, step in enumerate(activity.does, start=1)
    ]
    plan = Plan(
        f'{ongoing.activity}_{ongoing.task_ids[0][:8]}',
        activity.says,
        steps=steps,
        created_at=ongoing.began_at,
        source=ongoing.by.value,
    )
    return plan.to_dict()


def check_world(config: Config, registry: SkillRegistry) -> None:
    """Check that the agent can run each step of each activity. Raises ConfigError."""
    for name, activity in config.world.activities.items():
        for index, step in enumerate(activity.does):
            key = f'{config.agent.policy.world_view}.yaml: activities.{name}.does[{index}]'
            if why := _step_problem(step, alone=len(activity.does) == 1, registry=registry):
                raise ConfigError(f'{key}{why}{_way_out(step, config)}')


def _way_out(step: StepConfig, config: Config) -> str:
    """For a step that this robot lacks the parts for; else ''."""
    skill = config.skills.skills.get(step.skill)
    if skill is None or config.robot.has(skill.resources_required):
        return ''
    profile = f'robots/{config.nodes.robot}.yaml'
    return f'. Name a world_view without it in {profile}, such as stationary'


def _step_problem(step: StepConfig, *, alone: bool, registry: SkillRegistry) -> str:
    """The problem, as the end of a sentence that starts with the step's key; '' for none."""
    try:
        arguments_as_json(registry.get(step.skill), dict(step.arguments))
    except UnknownSkill as error:
        return f'.skill = {step.skill!r}: {error}'
    except BadArguments as error:
        return f'.arguments = {step.arguments}: {error}'
    if step.skill in STANDALONE_SKILLS:
        return '' if alone else f'.skill = {step.skill!r}: it must be the only step'
    if step.skill in TASK_ONLY_SKILLS:
        remedy = 'use asks' if step.skill == 'react' else 'use minutes'
        return f'.skill = {step.skill!r}: it is no step of a plan; {remedy} in its place'
    return ''
