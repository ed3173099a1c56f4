# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the kernel does for an activity."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from autonomy_world import config_of
from curiosity_rosa_demo.agent.policy.autonomy.activity_tasks import (
    ACTIVITY_KEY,
    AUTO_PRIORITY,
    check_world,
    tasks_of,
)
from curiosity_rosa_demo.agent.policy.world_state import Ongoing, Source
from curiosity_rosa_demo.agent.react.plan.steps import check_plan
from curiosity_rosa_demo.agent.runtime.execution.activity import run_activity
from curiosity_rosa_demo.agent.runtime.execution.context import SkillContext
from curiosity_rosa_demo.agent.runtime.execution.react import MAX_GOAL_SWITCHES
from curiosity_rosa_demo.agent.tasks import LifecycleState, SkillRunner, Task
from curiosity_rosa_demo.agent.tasks.validation import check_task
from curiosity_rosa_demo.domain.plan.plan import Plan
from curiosity_rosa_demo.infra.config.world import ActivityConfig, WorldView
from curiosity_rosa_demo.infra.config_loader import ConfigError, load_config
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest
from runtime_world import CONFIG, REGISTRY
from skill_world import crash, ended, in_loop, LONG_S, looping, reaches, states

RESOURCES = frozenset({'base', 'mast', 'camera'})


def tasks(view: WorldView, name: str, count: int, by: Source = Source.ROUTINE) -> list[Task]:
    ids = [f'id{number}' for number in range(count)]
    return tasks_of(Ongoing(activity=name, by=by, began_at=5.0, energy_at=5.0, task_ids=ids), view)


def view_of(activity: dict[str, Any]) -> WorldView:
    return config_of({'activities': {'x': {'says': 'does x', **activity}}} | NONE_ELSE).world


NONE_ELSE: dict[str, Any] = {'routine': [], 'emergencies': []}


steps = st.lists(
    st.sampled_from(
        [
            {'skill': 'mast_open'},
            {'skill': 'navigate_to_pose', 'arguments': {'x': 6.5, 'y': 0.0}},
            {'skill': 'speak', 'arguments': {'text': 'Good morning'}},
        ]
    ),
    min_size=1,
    max_size=5,
)
works: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.just({}),
    st.builds(lambda does: {'does': does}, steps),
    st.just({'does': [{'skill': 'charge'}]}),
    st.just({'asks': 'Look around.', 'expects': 'good_capture'}),
)


@settings(deadline=None, max_examples=examples(60))
@given(works, st.sampled_from([0, 0.5, 20, 1440]), st.sampled_from(Source))
def test_every_activity_becomes_tasks_that_the_kernel_takes(
    work: dict[str, Any], minutes: float, by: Source
) -> None:
    if not work and not minutes:
        return
    view = view_of({**work, 'minutes': minutes})
    made = tasks(view, 'x', bool(work) + bool(minutes), by)
    for index, task in enumerate(made):
        check_task(task, RESOURCES)
        assert (task.id, task.idempotency_key) == (f'id{index}',) * 2
        assert task.priority == AUTO_PRIORITY < Task('react').priority
        assert task.blocked_by == tuple(each.id for each in made[:index])
        assert task.metadata[ACTIVITY_KEY] == 'x'
        assert task.max_retries == 0
    if minutes:
        last = made[-1]
        assert (last.name, last.resources) == ('activity', frozenset())
        assert last.metadata['activity'] == 'x'
        assert last.metadata['minutes'] == minutes
    if 'asks' in work:
        first = made[0]
        assert (first.name, first.resources) == ('react', None)
        assert first.metadata['text'] == 'Look around.'
        assert first.metadata['expects'] == 'good_capture'
        assert first.metadata['switches'] == MAX_GOAL_SWITCHES  # it begins nothing else
    if work.get('does') == [{'skill': 'charge'}]:
        assert made[0].name == 'charge'
    elif 'does' in work:
        assert made[0].metadata['switches'] == MAX_GOAL_SWITCHES
        plan = Plan.from_dict(made[0].metadata['plan'])
        assert check_plan(plan, [skill.name for skill in REGISTRY]) == []
        assert [(step.action, step.parameters) for step in plan.steps] == [
            (each['skill'], each.get('arguments', {})) for each in work['does']
        ]
        assert plan.source == by.value
        assert not plan.requires_confirmation


def test_an_activity_with_another_number_of_tasks_is_refused() -> None:
    with pytest.raises(ValueError, match='zip'):
        tasks(view_of({'minutes': 5}), 'x', 2)


@pytest.mark.parametrize('name', ['world_view', 'companion', 'stationary'])
def test_the_worlds_that_ship_can_be_lived_in(name: str) -> None:
    config = load_config()
    if name != 'world_view':
        from curiosity_rosa_demo.infra.config_loader import load_world, shipped_config_dir

        config = config.model_copy(update={'world': load_world(name, shipped_config_dir())})
    check_world(config, REGISTRY)
    for doing, each in config.world.activities.items():
        made = tasks(config.world, doing, bool(each.does or each.asks) + bool(each.minutes))
        for task in made:
            check_task(task, RESOURCES)


@pytest.mark.parametrize(
    ('does', 'told'),
    [
        (
            [{'skill': 'mast_open'}, {'skill': 'fly'}],
            "my_world.yaml: activities.x.does[1].skill = 'fly': There is no skill 'fly'; there",
        ),
        (
            [{'skill': 'navigate_to_pose', 'arguments': {'x': 'far'}}],
            "activities.x.does[0].arguments = {'x': 'far'}: navigate_to_pose: ",
        ),
        (
            [{'skill': 'charge'}, {'skill': 'mast_open'}],
            "does[0].skill = 'charge': it must be the only step",
        ),
        (
            [{'skill': 'react', 'arguments': {'text': 'Go'}}],
            "does[0].skill = 'react': it is no step of a plan; use asks in its place",
        ),
        (
            [{'skill': 'activity', 'arguments': {'activity': 'nap', 'minutes': 5}}],
            'use minutes in its place',
        ),
    ],
)
def test_a_step_that_cannot_be_taken_is_found_at_the_start(does: list[Any], told: str) -> None:
    world = {'activities': {'x': {'says': 'x', 'does': does}}} | NONE_ELSE
    with pytest.raises(ConfigError) as caught:
        check_world(config_of(world, world_view='my_world'), REGISTRY)
    assert told in str(caught.value)


# --- the task that lasts ----------------------------------------------------------------------


class Clock:
    def __init__(self, now: float) -> None:
        self.now = now
        self.looked = 0
        self.asked_twice = asyncio.Event()  # for its end, and then whether that has come

    def __call__(self) -> float:
        self.looked += 1
        if self.looked == 2:
            self.asked_twice.set()
        return self.now


def lasting(file: Path, clock: Clock) -> SkillRunner:
    """A runner of the file that knows activities."""
    runner = SkillRunner(str(file))
    nothing: Any = None
    context = SkillContext(nothing, runner, nothing, nothing, 1.0, clock)

    async def last(task: Task) -> None:
        await run_activity(task, context)

    runner.skill('activity', resources=(), recovers=True)(last)
    return runner


@in_loop
async def test_an_activity_ends_when_it_would_have_without_a_crash(tmp_path: Path) -> None:
    clock = Clock(1000.0)
    runner = lasting(tmp_path / 'tasks.db', clock)
    nap = Task('activity', metadata={'activity': 'nap', 'minutes': 1.5})
    await runner.start()
    running = asyncio.create_task(runner.run_loop())
    await runner.submit(nap)
    await asyncio.wait_for(clock.asked_twice.wait(), LONG_S)
    crash(tmp_path / 'tasks.db')
    running.cancel()
    clock.now = 1089.0
    async with looping(lasting(tmp_path / 'tasks.db', clock)) as again:
        found = again.get_task(nap.id)
        assert found is not None
        assert found.metadata['until'] == 1090.0
        await reaches(again, found, LifecycleState.ACTIVE)
        clock.now = 1090.0
        assert (await ended(again, found)).state is LifecycleState.COMPLETED
        assert found.metadata['outcome'] == {'ok': True, 'answer': 'nap is over', 'score': None}
        assert states(again, found)[-3:] == [
            LifecycleState.RECOVERING,
            LifecycleState.ACTIVE,
            LifecycleState.COMPLETED,
        ]


def test_the_test_world_itself_is_sound() -> None:
    check_world(config_of(), REGISTRY)
    assert isinstance(CONFIG.world.activities['sleep'], ActivityConfig)
