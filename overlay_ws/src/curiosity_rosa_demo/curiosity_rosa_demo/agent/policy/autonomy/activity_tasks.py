# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The kernel tasks of an activity: its work, then the time that it takes. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator
import threading

from curiosity_rosa_demo.agent.kernel.kernel_route import wants_to_run
from curiosity_rosa_demo.agent.policy.world_state import Ongoing
from curiosity_rosa_demo.agent.runtime.execution.react import MAX_GOAL_SWITCHES
from curiosity_rosa_demo.agent.runtime.execution.task_origin import ORIGIN_KEY
from curiosity_rosa_demo.agent.skills.builtin import TASK_ONLY_SKILLS
from curiosity_rosa_demo.agent.skills.errors import BadArguments, UnknownSkill
from curiosity_rosa_demo.agent.skills.registry import arguments_as_json, SkillRegistry
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.domain.brain_state import BrainState, Json, UserInterruptType
from curiosity_rosa_demo.domain.origin import Origin
from curiosity_rosa_demo.domain.plan import Plan, PlanStep
from curiosity_rosa_demo.infra.config.behaviour import ActivityConfig, StepConfig, WorldView
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.config_loader import ConfigError

# --- Reasons for an early tick of the policy, and its queue of messages. Thread-safe -----------


MAX_MESSAGES = 20  # in the queue for the next tick
MAX_MESSAGE_CHARS = 1000  # characters of one


class WakeReasons:
    """``wake`` is called for each reason. ``paused``: an operator's pause is in effect."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._lock = threading.Lock()
        self._reasons: dict[str, None] = {}
        self._messages: deque[str] = deque()
        self._notices: deque[str] = deque()
        self._last_seen: object = None
        self.paused = False

    def add(self, why: str) -> None:
        with self._lock:
            self._reasons[why] = None
        self._wake()

    def add_message(self, text: str, *, interrupts: bool = True) -> str:
        """Queue a message for the next tick. Returns why it was rejected; '' when it was not.
        ``interrupts`` false: a notice, which takes no room from the messages.
        """
        text = text[:MAX_MESSAGE_CHARS].strip()
        if not text:
            return 'it is empty'
        queue = self._messages if interrupts else self._notices
        with self._lock:
            if len(queue) >= MAX_MESSAGES:
                return f'{MAX_MESSAGES} others wait already'
            queue.append(text)
        self.add('a message')
        return ''

    def take_all(self) -> tuple[str, tuple[str, ...]]:
        """Return and clear the reasons, as text, and the messages."""
        with self._lock:
            why, self._reasons = ', '.join(self._reasons), {}
            messages = tuple(self._messages)
            self._messages.clear()
        return why, messages

    def take_notices(self) -> tuple[str, ...]:
        """Return and clear the messages that interrupt nothing."""
        with self._lock:
            notices = tuple(self._notices)
            self._notices.clear()
        return notices

    def clear(self) -> None:
        self.take_all()
        self.take_notices()
        self.paused = False

    def update_from_kernel(self, state: BrainState, ours: Collection[str]) -> None:
        """Call after each kernel tick, from one thread. ``ours``: IDs of the policy's tasks."""
        interrupt, tasks = state.hci.user_interrupt, state.tasks
        if interrupt is UserInterruptType.PAUSE:
            self.paused = True
        elif interrupt is UserInterruptType.RESUME and _concerns_policy(state, ours):
            self.paused = False
        queue = sorted((task.task_id, wants_to_run(task)) for task in tasks.queue)
        seen = (tasks.mode, tasks.mode_reason, self.paused, queue)
        if seen != self._last_seen:
            self._last_seen = seen
            self.add('the tasks or the mode')


def _concerns_policy(state: BrainState, ours: Collection[str]) -> bool:
    """A resume without a task ID applies to all tasks."""
    task_id = state.hci.interrupt_payload.get('task_id')
    return not isinstance(task_id, str) or task_id in ours


AUTO_PRIORITY = 1  # below the tasks of operators
ACTIVITY_KEY = 'unasked'  # in the metadata of each such task: the name of its activity
STANDALONE_SKILLS = ('charge',)  # run as a task of their own, never as a step of a plan


def tasks_of(ongoing: Ongoing, view: WorldView) -> list[Task]:
    """The tasks in the order of submission; each is blocked by those before it. Raises ValueError
    when the activity and ``ongoing`` differ in their number of tasks.
    """
    tasks: list[Task] = []
    parts = list(_task_arguments(ongoing, view.activities[ongoing.activity]))
    for task_id, (skill, metadata) in zip(ongoing.task_ids, parts, strict=True):
        tasks.append(
            Task(
                skill,
                AUTO_PRIORITY,
                id=task_id,
                metadata={
                    **metadata,
                    ACTIVITY_KEY: ongoing.activity,
                    ORIGIN_KEY: Origin.AUTONOMY.value,
                },
                blocked_by=tuple(task.id for task in tasks),
                idempotency_key=task_id,
                resources=frozenset() if skill == 'activity' else None,
            )
        )
    return tasks


def _task_arguments(ongoing: Ongoing, activity: ActivityConfig) -> Iterator[tuple[str, Json]]:
    """The skill and the metadata of each task."""
    name = ongoing.activity
    if activity.does and activity.does[0].skill in STANDALONE_SKILLS:
        yield activity.does[0].skill, {}
    elif activity.does:
        yield (
            'react',
            {'text': activity.says, 'plan': _plan(ongoing, activity), **_NO_MORE_SWITCHES},
        )
    elif activity.asks:
        yield 'react', {'text': activity.asks, 'expects': activity.expects, **_NO_MORE_SWITCHES}
    if activity.minutes:
        text = f'{name}: {activity.says}'
        yield 'activity', {'activity': name, 'minutes': activity.minutes, 'text': text}


# The model of such a task must not switch to a goal of its own, which no operator asked for.
_NO_MORE_SWITCHES: Json = {'switches': MAX_GOAL_SWITCHES}


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
