# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The parts of the policy: its thread, its clock, its model, its senses, its tasks, its guide."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
import re
import shutil
import threading
from typing import Any

from autonomy_world import AutonomyBench, config_of
from curiosity_rosa_demo.agent.policy.action import PolicyAction, ResumeTasks, Senses
from curiosity_rosa_demo.agent.policy.autonomy.activity_tasks import (
    ACTIVITY_KEY,
    AUTO_PRIORITY,
    check_world,
    tasks_of,
)
from curiosity_rosa_demo.agent.policy.autonomy.runtime_port import RuntimePort, RuntimeView
from curiosity_rosa_demo.agent.policy.autonomy.suggestion_model import (
    make_provider,
    missing_model_note,
    RosPolicyClock,
)
from curiosity_rosa_demo.agent.policy.suggestion import (
    NoSuggestion,
    PendingSuggestion,
    PromptSituation,
    Suggestion,
)
from curiosity_rosa_demo.agent.policy.suggestion_provider import LLMPolicyProvider
from curiosity_rosa_demo.agent.policy.world_state import Ongoing, Source, WorldState
from curiosity_rosa_demo.agent.policy.world_view import WorldModel
from curiosity_rosa_demo.agent.react.plan.steps import check_plan
from curiosity_rosa_demo.agent.runtime.action_dispatcher import CHARGE_PRIORITY
from curiosity_rosa_demo.agent.runtime.execution.activity import run_activity
from curiosity_rosa_demo.agent.runtime.execution.context import SkillContext
from curiosity_rosa_demo.agent.runtime.execution.react import MAX_GOAL_SWITCHES
from curiosity_rosa_demo.agent.runtime.threads.periodic_worker import PeriodicWorker
from curiosity_rosa_demo.agent.skills.registry import make_registry
from curiosity_rosa_demo.agent.tasks import LifecycleState, SkillRunner, Task
from curiosity_rosa_demo.agent.tasks.task import StoreError
from curiosity_rosa_demo.agent.tasks.validation import check_task
from curiosity_rosa_demo.domain.plan.plan import Plan
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.config.world import WorldView
from curiosity_rosa_demo.infra.config_loader import (
    ConfigError,
    load_config,
    load_world,
    shipped_config_dir,
)
from examples import examples
from harness import ROOT, wait_until
from hypothesis import given, settings
from hypothesis import strategies as st
from policy_world import instant, PolicyRun, world_of
import pytest
from runtime_world import REGISTRY
from skill_world import crash, ended, in_loop, LONG_S, looping, reaches, states
import yaml

# --- the thread and the clock -----------------------------------------------------------------


class Log:
    """A worker, and what it did."""

    def __init__(self, every_s: float | None = None) -> None:
        self.done: list[str] = []
        self.errors: list[Exception] = []
        self.polls = 0
        self.every_s = every_s
        self.worker = PeriodicWorker(
            'test', poll=self.poll, every_s=lambda: self.every_s, on_error=self.error
        )

    def poll(self) -> None:
        self.polls += 1
        self.done.append('look')

    def error(self, error: Exception) -> None:
        self.errors.append(error)
        if str(error) == 'twice':
            raise RuntimeError('in on_error')


@pytest.fixture
def log() -> Iterator[Log]:
    log = Log()
    yield log
    log.worker.close()


def test_jobs_are_done_in_order_with_a_look_after_each(log: Log) -> None:
    for number in range(3):
        log.worker.post(lambda number=number: log.done.append(str(number)))
    assert log.worker.call(lambda: 'answer', 20.0) == 'answer'
    wait_until(lambda: log.polls == 4, 'four looks')
    assert log.done == ['0', 'look', '1', 'look', '2', 'look', 'look']


def test_it_looks_by_itself_and_when_it_is_woken(log: Log) -> None:
    log.worker.wake()
    wait_until(lambda: log.polls == 1, 'a look')
    log.every_s = 0.001
    log.worker.wake()
    wait_until(lambda: log.polls > 10, 'ten more')


@pytest.mark.parametrize('what', ['once', 'twice'])
def test_an_error_is_told_and_the_thread_goes_on(log: Log, what: str) -> None:
    def fail() -> None:
        raise ValueError(what)

    log.worker.post(fail)
    with pytest.raises(ValueError, match=what):
        log.worker.call(fail, 20.0)
    assert log.worker.call(lambda: 1, 20.0) == 1
    assert [str(error) for error in log.errors] == [what, what]


def test_who_asks_is_not_kept_waiting_for_ever(log: Log) -> None:
    go = threading.Event()
    log.worker.post(lambda: go.wait(20.0))
    with pytest.raises(TimeoutError, match=r'No answer within 0\.01 s'):
        log.worker.call(lambda: log.done.append('late'), 0.01)
    go.set()
    wait_until(lambda: 'late' in log.done, 'it to be done nevertheless')


def test_nothing_is_done_after_the_end(log: Log) -> None:
    log.worker.close()
    log.worker.post(lambda: log.done.append('late'))
    with pytest.raises(TimeoutError):
        log.worker.call(lambda: 1, 0.01)
    assert log.done == []


def test_a_clock_for_several_threads_goes_back_for_none() -> None:
    times = iter(range(10**9, 10**9 + 10**6))
    clock = RosPolicyClock(lambda: float(next(times)), lambda: 0.0)
    seen: list[list[float]] = []

    def read() -> None:
        seen.append([clock.now() for _ in range(2000)])

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for each in seen:
        assert each == sorted(each)
    clock.resume(2e9)
    assert clock.now() >= 2e9


# --- the model ------------------------------------------------------------------------------

DAY_S = 86400.0
SITUATION = PromptSituation(place='base', activity='', energy=0.5, options=('rest',), text='')


def with_model(provider: str = 'llm', model: str = 'openai') -> Config:
    config = config_of(provider=provider)
    llm = config.agent.llm.model_copy(update={'provider': model, 'model': 'm'})
    return config.model_copy(update={'agent': config.agent.model_copy(update={'llm': llm})})


def test_a_model_is_asked_when_both_settings_say_so() -> None:
    for provider, model, asked, noted in (
        ('routine', 'openai', False, False),
        ('routine', 'routine', False, False),
        ('llm', 'routine', False, True),
        ('llm', 'openai', True, False),
    ):
        config = with_model(provider, model)
        made = make_provider(config, lambda: None, lambda: None)
        assert isinstance(made, LLMPolicyProvider) is asked
        assert ('Set llm.provider and llm.model' in missing_model_note(config)) is noted


def answer_of(made: LLMPolicyProvider | None, told: threading.Event, at: float) -> object:
    """``told`` is set when the model has answered."""
    assert made is not None
    told.clear()
    first = made.poll(SITUATION, at)
    if first != PendingSuggestion():
        return first
    assert told.wait(20.0)
    return made.poll(SITUATION, at)


def test_the_model_is_made_once_and_not_before_the_agents_own_is_imported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    order: list[str] = []
    action = PolicyAction(type='rest')

    def make(llm: Any, config: Any, usage: Any) -> str:
        order.append(f'made with {llm.max_retries} retries')
        return 'model'

    factory = 'curiosity_rosa_demo.agent.llm.chat_model.make_chat_model'
    monkeypatch.setattr(factory, make)
    monkeypatch.setattr(
        'curiosity_rosa_demo.agent.policy.chat_policy.ask_chat_model',
        lambda model, view, llm: lambda situation, refusals: action,
    )
    told = threading.Event()
    made = make_provider(with_model(), lambda: order.append('imported'), told.set)
    for at in (0.0, DAY_S):
        answer = answer_of(made, told, at)
        assert isinstance(answer, Suggestion)
        assert answer.action == action
    assert order == ['imported', 'made with 0 retries', 'imported']


def test_a_model_that_cannot_be_made_says_why_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv('OPENAI_API_KEY', raising=False)
    told = threading.Event()
    made = make_provider(with_model(), lambda: None, told.set)
    for at in (0.0, DAY_S):
        answer = answer_of(made, told, at)
        assert isinstance(answer, NoSuggestion)
        assert 'OPENAI_API_KEY' in answer.reason


def test_what_the_model_suggests_is_begun(tmp_path: Path) -> None:
    asked: list[PromptSituation] = []

    def ask(situation: PromptSituation, _: str) -> PolicyAction:
        asked.append(situation)
        return PolicyAction(type='wonder', rationale='it is a fine day')

    config = config_of({'routine': []})
    woken = threading.Event()
    provider = LLMPolicyProvider(ask, config.agent.policy, on_answer=woken.set)
    with AutonomyBench(tmp_path, config=config, provider=provider) as bench:
        assert bench.on() == 'auto is on: the model, within the rules of world_view.yaml decide'
        assert woken.wait(20.0)
        bench.at += 60.0
        bench.goes_on('wonder')
        bench.become('react', 'ACTIVE')
        assert bench.task('Find something of interest.').metadata['unasked'] == 'wonder'
        assert 'wonder' in asked[0].options
        assert 'it is a fine day' in bench.autonomy.decision_log(5).answer


# --- the senses -----------------------------------------------------------------------------


def port_of(bench: AutonomyBench) -> RuntimePort:
    return RuntimePort(bench.runtime, WorldModel(bench.config.world, timezone.utc))


def senses_of(bench: AutonomyBench, held: str = '') -> Senses:
    return port_of(bench).observe([], held).senses


MEASURED = {
    'measured': True,
    'places': {'base': {'zone': 'base', 'leads_to': ['field']}, 'field': {'leads_to': ['base']}},
}


@pytest.fixture
def measured(tmp_path: Path) -> Iterator[AutonomyBench]:
    with AutonomyBench(tmp_path, config=config_of(MEASURED)) as bench:
        yield bench


def test_place_and_energy_of_a_measured_world_are_the_rovers(measured: AutonomyBench) -> None:
    def comes_to(x: float, place: str) -> None:
        def said() -> bool:  # again and again: odometry falls silent
            still = dict.fromkeys(('y', 'z', 'orientation_z', 'linear_x', 'angular_z'), 0.0)
            measured.hear('odometry', x=x, orientation_w=1.0, **still)
            return bool(senses_of(measured).place == place)

        measured.until(said, place)

    assert (senses_of(measured).place, senses_of(measured).energy) == ('', None)
    comes_to(0.2, 'base')
    comes_to(4.0, 'field')
    measured.hear('battery', fraction=0.42)
    measured.until(lambda: senses_of(measured).energy == pytest.approx(0.42), 'the charge')
    measured.until(lambda: senses_of(measured).place == '', 'silent odometry')


def test_in_a_computed_world_nothing_is_measured(tmp_path: Path) -> None:
    with AutonomyBench(tmp_path) as bench:
        bench.hear('battery', fraction=0.42)
        bench.until(lambda: bench.runtime.state.robot.battery_pct == 42.0, 'the battery')
        senses = senses_of(bench)
        assert (senses.place, senses.energy, senses.hold_reason) == (None, None, '')


def test_what_waits_or_was_put_aside_keeps_nobody_waiting(tmp_path: Path) -> None:
    with AutonomyBench(tmp_path) as bench:
        bench.runs(':submit query_world')
        assert senses_of(bench).hold_reason == 'a person\'s task goes first: query_world(query="")'
        bench.console.handle_line(':pause')
        bench.becomes('query_world', 'PAUSED')
        assert senses_of(bench).hold_reason == ''
        assert senses_of(bench, 'the user said pause').hold_reason.endswith('pause')
        bench.console.handle_line(':resume')
        bench.becomes('query_world', 'ACTIVE')
        assert senses_of(bench).hold_reason != ''
        bench.finish()
        assert senses_of(bench).hold_reason == ''


def test_what_waits_for_its_time_keeps_nobody_waiting(tmp_path: Path) -> None:
    with AutonomyBench(tmp_path) as bench:
        tomorrow = datetime.now(timezone.utc) + timedelta(days=1)
        bench.runtime.call(bench.runtime.runner.submit(Task('get_status', not_before=tomorrow)))
        assert bench.tasks() == {'get_status': 'WAITING'}
        assert senses_of(bench).hold_reason == ''
        bench.runtime.call(bench.runtime.runner.submit(Task('charge', CHARGE_PRIORITY)))
        assert senses_of(bench).hold_reason == 'the battery is being charged'


def test_nothing_begins_while_tasks_cannot_be_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with AutonomyBench(tmp_path) as bench:
        full = StoreError('the disk is full')
        monkeypatch.setattr(type(bench.runtime.runner), 'failed', full)
        assert senses_of(bench).hold_reason == 'the disk is full'


def test_only_what_the_policy_wants_to_go_on_is_let_go_and_only_without_a_stop(
    tmp_path: Path,
) -> None:
    with AutonomyBench(tmp_path) as bench:
        bench.runs(':submit query_world')
        bench.console.handle_line(':pause')
        bench.becomes('query_world', 'PAUSED')
        task = bench.task('query_world')
        port, stops = port_of(bench), bench.runtime.stop_count
        ongoing = Ongoing(
            activity='survey', by=Source.ROUTINE, began_at=0.0, energy_at=0.0, task_ids=[task.id]
        )
        held = ongoing.model_copy(update={'held': True})
        first = WorldState.first(bench.config.world)

        def state(goes_on: Ongoing) -> WorldState:
            return first.model_copy(update={'activity': goes_on})

        port.resume_stuck_tasks(state(held), RuntimeView(Senses(), (task,)), stops)
        port.resume_stuck_tasks(
            state(ongoing), RuntimeView(Senses(hold_reason='SAFE'), (task,)), stops
        )
        port.resume_stuck_tasks(first, RuntimeView(Senses(), (task,)), stops)
        port.resume_stuck_tasks(state(ongoing), RuntimeView(Senses(), (task,)), stops - 1)
        port.execute([ResumeTasks((task.id,))], stops - 1)
        assert bench.task('query_world').held
        port.resume_stuck_tasks(state(ongoing), RuntimeView(Senses(), (task,)), stops)
        bench.becomes('query_world', 'ACTIVE')


# --- its tasks --------------------------------------------------------------------------------

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


@settings(max_examples=examples(60))
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


@pytest.mark.parametrize('name', ['world_view', 'companion', 'stationary'])
def test_the_worlds_that_ship_can_be_lived_in(name: str) -> None:
    world = load_world(name, shipped_config_dir())
    check_world(load_config().model_copy(update={'world': world}), REGISTRY)
    for doing, each in world.activities.items():
        made = tasks(world, doing, bool(each.does or each.asks) + bool(each.minutes))
        assert made
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
    context = SkillContext(nothing, runner, nothing, nothing, 1.0, clock, nothing)

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


# --- the activity of docs/howto/autonomy.md, added in YAML alone --------------------------------

PAGE = (ROOT / 'docs/howto/autonomy.md').read_text(encoding='utf-8')
ADDED, DUE = re.findall(r'```yaml\n(.*?)```', PAGE, re.DOTALL)
NAME = 'photograph_the_horizon'


def with_world(folder: Path, text: str) -> Config:
    shutil.copytree(shipped_config_dir(), folder, dirs_exist_ok=True)
    (folder / 'world_view.yaml').write_text(text, encoding='utf-8')
    config = load_config(folder)
    check_world(config, make_registry(config))
    return config


def test_the_documented_activity_is_done_at_its_time(tmp_path: Path) -> None:
    shipped = yaml.safe_load((shipped_config_dir() / 'world_view.yaml').read_text('utf-8'))
    routine = [*yaml.safe_load(DUE)['routine'], *shipped['routine']]
    config = with_world(tmp_path, ADDED + yaml.safe_dump({'routine': routine}))
    assert set(config.world.activities) == {*shipped['activities'], NAME}

    world = world_of(config.world)
    policy_run = PolicyRun(world, instant('2026-11-23 06:50', world))  # a Monday
    policy_run.until('2026-11-25 00:00')
    assert policy_run.began(NAME) == ['Mon 10:00']
    policy_run.until('2026-11-27 00:00')
    assert policy_run.began(NAME) == ['Mon 10:00', 'Thu 10:00']


@pytest.mark.parametrize(
    ('right', 'wrong', 'told'),
    [
        ('skill: mast_rotate', 'skill: mast_twirl', f'activities.{NAME}.does[1].skill'),
        ('at: [bright_zone]', 'at: [dark_zone]', f'activities.{NAME}.at'),
        ('camera.look', 'camera.smell', f'activities.{NAME}.needs'),
        ('"10:00-11:00"', '"25:00-11:00"', f'activities.{NAME}.window'),
        ('minutes: 5', 'minuts: 5', f'activities.{NAME}.minuts'),
    ],
)
def test_a_slip_in_it_is_named_at_the_start(
    tmp_path: Path, right: str, wrong: str, told: str
) -> None:
    assert right in ADDED
    with pytest.raises(ConfigError) as caught:
        with_world(tmp_path, ADDED.replace(right, wrong))
    assert 'world_view.yaml: ' in str(caught.value)
    assert told in str(caught.value)
