# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the five designs published: names, fields in their order, defaults, and agent/designs.py.

Two defaults differ on purpose: an unheard battery is UNKNOWN, not FULL, and ``resources`` names
what Curiosity has.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
import dataclasses
from enum import Enum
from pathlib import Path
import shutil
from typing import Any

from curiosity_rosa_demo.agent import designs, tasks
from curiosity_rosa_demo.agent.kernel.hear import Said
from curiosity_rosa_demo.agent.kernel.loop import tick
from curiosity_rosa_demo.agent.policy import world
from curiosity_rosa_demo.agent.react.loop import TurnCheckpointer, TurnExecutor
from curiosity_rosa_demo.agent.skills.executor import SkillExecutor
from curiosity_rosa_demo.agent.tasks import Event, EventType, LifecycleState, Task
from curiosity_rosa_demo.agent.tasks.task import BadTask, IllegalTransition, TaskError, UnknownTask
from curiosity_rosa_demo.domain import brain_state, models, plan
from curiosity_rosa_demo.domain.brain_state import BrainState, HCIState, Mode, Pose
from curiosity_rosa_demo.domain.cancellation import Cancellation, TurnCancelled
from curiosity_rosa_demo.domain.serde import SerdeError
from curiosity_rosa_demo.domain.task_state import TRANSITIONS
from curiosity_rosa_demo.infra.config_loader import ConfigError, load_config
from examples import examples, fields
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
import pytest
from skill_world import (
    Actor,
    crash,
    ended,
    in_loop,
    LONG_S,
    looping,
    reaches,
    registry_of,
    skill_named,
    states,
    StillWorld,
)
from strategies import RULES, whole_model
from strategies import states as states_before_a_tick
from turn_world import action, asking, finish, Nodes

S = LifecycleState
GRAPH = designs.kernel_graph(RULES)
YAML = Path(__file__).parent / 'corpus/design_003'  # section 7, word for word

MODULES = (brain_state, plan, models, tasks, world, designs)
PUBLISHED = [
    (getattr(module, name.partition('.')[2]), told)
    for name, told in fields('design_fields.tsv')
    for module in MODULES
    if module.__name__.endswith(f'.{name.partition(".")[0]}')
]


def required_by_field(cls: Any) -> dict[str, bool]:
    if not dataclasses.is_dataclass(cls):
        return {name: field.is_required() for name, field in cls.model_fields.items()}
    missing = dataclasses.MISSING
    return {
        field.name: field.default is missing and field.default_factory is missing
        for field in dataclasses.fields(cls)
    }


def test_names_and_fields_come_in_the_published_order_with_their_defaults() -> None:
    assert len(PUBLISHED) == len(fields('design_fields.tsv'))
    for cls, told in PUBLISHED:
        if issubclass(cls, Enum):
            assert [(each.name, each.value) for each in cls] == [
                (name.upper(), name) for name in told.split()
            ]
            continue
        required, _, optional = told.partition('|')
        published, known = [*required.split(), *optional.split()], required_by_field(cls)
        assert list(known)[: len(published)] == [each.partition('=')[0] for each in published]
        assert [name for name, needed in known.items() if needed] == required.split()
        for name, _, default in (each.partition('=') for each in published if '=' in each):
            value = cls.model_fields[name].get_default(call_default_factory=True)
            assert str(getattr(value, 'value', value)) == default.strip('"'), name
    busy = {'base_busy': False, 'mast_busy': False, 'camera_busy': False}
    assert brain_state.RobotState().resources == busy
    kinds = [each.value for each in world.EventName]
    assert kinds == ['state.changed', 'action.started', 'action.ended', 'external.message']
    matrix = {
        S.PENDING: {S.ACTIVE, S.CANCELLED},
        S.ACTIVE: {S.PAUSED, S.COMPLETED, S.FAILED, S.CANCELLED},
        S.PAUSED: {S.ACTIVE, S.CANCELLED},
        **{end: set() for end in (S.COMPLETED, S.FAILED, S.CANCELLED)},
    }
    for before, after in matrix.items():
        assert TRANSITIONS[before] & matrix.keys() == after


def test_models_are_built_by_position_and_validated_as_by_name() -> None:
    assert Pose(1.0, 2.0, 0.0, 0.5) == Pose(x=1.0, y=2.0, orientation_w=0.5)
    assert models.TraceEvent('e1', 0.0, 'ACT', 'go').kind is models.TraceKind.ACT
    for make, error, told in (
        (lambda: Pose(float('nan')), ValidationError, 'x'),
        (lambda: Pose(1.0, x=2.0), TypeError, "multiple values for keyword argument 'x'"),
        (lambda: models.LightScore(0.5, True, 1), TypeError, 'LightScore takes at most 2'),
        (lambda: models.RoverPose(1.0), ValidationError, 'frame_id'),
        (lambda: models.ToolResult(False), ValidationError, 'error_reason must say why'),
    ):
        with pytest.raises(error, match=told):
            make()


@settings(max_examples=examples(100))
@given(state=whole_model(BrainState))
@example(BrainState(messages=[{'n': 10**4200, 'text': '\x00\u2028😀', 'deep': [[{'a': [None]}]]}]))
def test_state_serialization_roundtrip(state: BrainState) -> None:
    """Property 2: 状态序列化 Round-Trip"""
    serialized = state.serialize()
    deserialized = BrainState.deserialize(serialized)
    assert state == deserialized
    assert deserialized.serialize() == serialized  # -0.0 == 0.0 and True == 1
    assert '\n' not in serialized
    assert BrainState.model_validate_json(serialized, strict=True) == state


def test_a_state_manager_holds_one_state_and_refuses_what_is_none() -> None:
    manager: designs.IStateManager = designs.StateManager()
    after = manager.update_state({'tasks': {'mode': 'SAFE'}, 'messages': [{'a': 1}]})
    assert (after.tasks.mode, after.messages, after.hci) == (Mode.SAFE, [{'a': 1}], HCIState())
    assert designs.StateManager().deserialize(manager.serialize()) == after
    with pytest.raises(ValidationError):
        manager.update_state({'tasks': {'mode': 'RUN'}})
    with pytest.raises(SerdeError):
        manager.deserialize('{}}')
    assert manager.get_state() is after


@given(states_before_a_tick(), st.sampled_from(['go', 'stop', 'where are you?', 'yes', '']))
@settings(max_examples=examples(50), deadline=None)
def test_the_kernel_s_nodes_the_graph_and_the_loop_make_the_same_tick(
    before: BrainState, text: str
) -> None:
    tasks = before.tasks.model_copy(update={'inbox': [Said(text)]})
    before = state = before.model_copy(update={'tasks': tasks})
    nodes = designs.kernel_nodes(RULES)
    assert all(isinstance(node, designs.IKernelNode) for node in nodes)
    assert ' '.join(node.name for node in nodes) == (
        'hci_ingress telemetry_sync world_update event_arbitrate task_queue kernel_route'
    )
    for node in nodes:
        state = node.execute(state)
    assert state == tick(before, RULES) == GRAPH.invoke({'brain': before})['brain']


def executor_of(world: Nodes) -> TurnExecutor:
    executor = TurnExecutor(world.env, [world.model], TurnCheckpointer(':memory:'))
    executor.turn = world.turn
    return executor


def test_the_loop_s_nodes_carry_a_call_out_and_wait_for_a_person() -> None:
    async def once(world: Nodes, state: BrainState) -> BrainState:
        for node in designs.react_nodes(executor_of(world)):
            assert isinstance(node, designs.IReActNode)
            state = await node.execute(state)
        return state

    world = Nodes([action('get_status')], finish())
    assert ' '.join(node.name for node in designs.react_nodes(executor_of(world))) == (
        'build_observation react_decide compile_ops guardrails_check human_approval '
        'dispatch_skills observe_result stop_or_loop'
    )
    state = asyncio.run(once(world, BrainState()))
    assert (world.acts, state.react.stop_reason) == ([('get_status', {})], '')
    assert asyncio.run(once(world, state)).react.stop_reason == 'FINISH'
    asked = Nodes([action('mast_open')], config=asking('mast_open'))
    asked.env.approval_queue.reject_all()
    state = asyncio.run(once(asked, BrainState()))
    assert (asked.acts, [each.code for each in asked.turn.exchanges]) == ([], ['REJECTED'])
    assert 'nobody is there' in str(state.messages[0]['result'])


@in_loop
async def test_the_skill_executor_answers_in_plain_json_and_obeys_the_stop_button() -> None:
    begun, loop, actors = asyncio.Event(), asyncio.get_running_loop(), [Actor() for _ in range(3)]
    waiting = iter(actors)

    def work(call: Any) -> models.ToolResult:
        call.progress({'done': 0.5})
        loop.call_soon_threadsafe(begun.set)
        return next(waiting)(call)

    stop_button = Cancellation()
    inner = SkillExecutor(registry_of(skill_named('job', work)), StillWorld(), grace_s=LONG_S)
    executor: designs.ISkillExecutor = designs.JsonSkillExecutor(inner, stop_button)
    goal_id = await executor.dispatch('job', {})
    actors[0].finish()
    done = {'status': 'SUCCESS', 'error_code': '', 'error_msg': '', 'metrics': {'done': 1}}
    assert await executor.get_result(goal_id) == done
    assert await executor.cancel(goal_id) is False
    begun.clear()
    goal_id = await executor.dispatch('job', {})
    await asyncio.wait_for(begun.wait(), LONG_S)
    assert await executor.get_feedback(goal_id) == {'done': 0.5}
    assert await executor.cancel(goal_id) is True
    assert (await executor.get_result(goal_id))['status'] == 'CANCELLED'
    goal_id = await executor.dispatch('job', {})
    stop_button.cancel('stop')
    for call in (executor.get_result(goal_id), executor.dispatch('job', {})):
        with pytest.raises(TurnCancelled):
            await call


def test_the_scheduler_picks_by_priority_skips_what_has_ended_and_suspends() -> None:
    scheduler = designs.Scheduler()
    low, first, second, gone = Task('low', 1), Task('a', 3), Task('b', 3), Task('gone', 9)
    for task in (low, first, second, gone):
        scheduler.add(task)
    gone.transition(S.CANCELLED)
    assert scheduler.pick_next() is first
    first.transition(S.ACTIVE)
    scheduler.suspend(first.id)
    assert first.state is S.PAUSED
    assert [scheduler.pick_next() for _ in range(4)] == [first, second, low, None]
    scheduler.register(known := Task('known'))
    assert scheduler.get(known.id) is known
    assert scheduler.pick_next() is None
    with pytest.raises(IllegalTransition):
        scheduler.suspend(second.id)
    with pytest.raises(UnknownTask):
        scheduler.suspend('other')


@asynccontextmanager
async def kernel_at(path: Path) -> AsyncIterator[designs.RARKKernel]:
    kernel = designs.RARKKernel(db_path=str(path))
    await kernel.start()
    loop_task = asyncio.create_task(kernel.run_loop())
    try:
        yield kernel
    finally:
        await asyncio.wait_for(kernel.stop(), LONG_S)
        await asyncio.wait_for(loop_task, LONG_S)


@in_loop
async def test_an_outside_executor_ends_tasks_by_events_also_after_a_crash(tmp_path: Path) -> None:
    file, usual, urgent, lost = tmp_path / 'robot.db', Task('a'), Task('b', 10), Task('c', 1)
    async with kernel_at(file) as kernel:
        for event, told in (
            (Event(EventType.TASK_SUBMIT), "needs the payload {'task': Task}"),
            (Event(EventType.INTERRUPT, payload={'task': 'avoid'}), "payload {'task': Task}"),
            (Event(EventType.TASK_COMPLETE), 'TASK_COMPLETE needs a task_id'),
            (Event(EventType.TASK_STATE, 'a'), 'cannot ask for one'),
        ):
            with pytest.raises(BadTask, match=told):
                await kernel.emit(event)
        await kernel.emit(Event(EventType.TASK_SUBMIT, payload={'task': usual}))
        await reaches(kernel, usual, S.ACTIVE)
        await kernel.emit(Event(EventType.INTERRUPT, payload={'task': urgent}))
        assert usual.state is S.PAUSED
        await reaches(kernel, urgent, S.ACTIVE)
        with pytest.raises(TaskError, match='only an ACTIVE one can end'):
            await kernel.emit(Event(EventType.TASK_COMPLETE, usual.id))
        await kernel.emit(Event(EventType.TASK_FAIL, urgent.id, payload={'error': 'no water'}))
        assert (urgent.state, urgent.reason) == (S.FAILED, 'no water')
        await reaches(kernel, usual, S.ACTIVE)
        cancelled = kernel.emit(Event(EventType.TASK_CANCEL, usual.id))
        completed = kernel.emit(Event(EventType.TASK_COMPLETE, usual.id))
        await cancelled
        with pytest.raises(TaskError, match='was CANCELLED before'):
            await completed
        await kernel.submit(lost)
        await reaches(kernel, lost, S.ACTIVE)
        crash(file)
    async with kernel_at(file) as again:
        found = again.get_task(lost.id)
        assert found is not None
        await reaches(again, found, S.ACTIVE)
        await again.emit(Event(EventType.TASK_COMPLETE, found.id))
        assert states(again, found)[-1] is S.COMPLETED


@in_loop
async def test_a_task_from_before_the_start_is_known_at_once_and_checked(tmp_path: Path) -> None:
    runner, done = designs.SkillRunner(str(tmp_path / 'robot.db'), crash_policy='fail'), []
    assert isinstance(runner, designs.RARKKernel)

    @runner.skill('pour_water')
    async def pour_water(task: Task) -> None:
        with pytest.raises(TaskError, match='ends when its skill does'):
            await runner.emit(Event(EventType.TASK_COMPLETE, task.id))
        done.append(task.metadata['target'])

    first = await runner.submit(Task('pour_water', 5, metadata={'target': 'kitchen'}))
    urgent = await runner.interrupt(Task('pour_water', 10, metadata={'target': 'hall'}))
    unwanted = await runner.submit(Task('pour_water', 1))
    assert {task.state for task in runner.list_tasks()} == {S.PENDING}
    assert await runner.cancel(unwanted.id, 'not wanted') is True
    assert set(runner.list_tasks()) == {first, urgent, unwanted}
    for refused, told in (
        (runner.submit(Task('a', priority=5000)), 'priority'),
        (runner.submit(first), 'already a task|submitted once|PENDING'),
        (runner.submit(Task('pour_water', blocked_by=('nobody',))), "names 'nobody'"),
        (runner.interrupt(Task('a', needs_approval=True)), 'cannot interrupt'),
        (runner.cancel('other'), 'other'),
    ):
        with pytest.raises(TaskError, match=told):
            await refused
    async with looping(runner):
        await ended(runner, first)
        assert done == ['hall', 'kitchen']
        assert states(runner, unwanted) == [S.PENDING, S.CANCELLED]


def test_the_published_contracts_load_with_their_own_type_of_the_capture_and_no_other(
    tmp_path: Path,
) -> None:
    for file in YAML.iterdir():
        shutil.copy(file, tmp_path)
    config = load_config(tmp_path)
    capture = {'type': 'curiosity_rosa_demo/srv/CaptureAndScore'}
    shipped = load_config().topics
    assert config.topics == shipped.changed(services={'capture_and_score': capture})
    assert config.thresholds.quality.score_threshold == 0.8
    assert config.tool_costs.of('move_forward') == 5
    assert config.prompts.memory.max_events == 10
    assert (config.agent.policy.tick_s, config.agent.policy.timezone) == (60.0, 'UTC+08:00')
    for wrong in (
        'services: {capture_and_score: {type: other/srv/CaptureAndScore}}',
        'services: {capture_and_score: curiosity_rosa_demo/srv/CaptureAndScore}',
        'adapter: {move_stop: {type: curiosity_rosa_demo/srv/CaptureAndScore}}',
    ):
        (tmp_path / 'topics.yaml').write_text(wrong, encoding='utf-8')
        with pytest.raises(ConfigError, match=r'topics\.yaml'):
            load_config(tmp_path)
