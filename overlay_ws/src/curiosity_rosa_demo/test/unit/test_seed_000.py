# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The interfaces of seed 000, as its snippets use them; only the import paths are ours.

Two defaults differ on purpose: an unheard battery is UNKNOWN, not FULL, and ``resources`` names
what Curiosity has.
"""

from __future__ import annotations

import asyncio
from typing import Any

from curiosity_rosa_demo.agent.kernel.graph import build_graph, tick
from curiosity_rosa_demo.agent.kernel.node import kernel_nodes
from curiosity_rosa_demo.agent.react.node import react_nodes
from curiosity_rosa_demo.agent.skills.executor import SkillExecutor
from curiosity_rosa_demo.agent.skills.json_skill_executor import JsonSkillExecutor
from curiosity_rosa_demo.domain import brain_state
from curiosity_rosa_demo.domain.brain_state import (
    ApprovalAction,
    BrainState,
    Decision,
    DecisionType,
    HCIState,
    Mode,
    Pose,
    ProposedOps,
    ReactState,
    RobotState,
    RunningSkill,
    SkillDef,
    SkillResult,
    SkillsState,
    Task,
    TasksState,
    TraceState,
    Twist,
    UserInterruptType,
    WorldState,
)
from curiosity_rosa_demo.domain.cancellation import Cancellation, TurnCancelled
from curiosity_rosa_demo.domain.interfaces import (
    IKernelNode,
    IReActNode,
    ISkillExecutor,
    IStateManager,
)
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.domain.serde import SerdeError
from curiosity_rosa_demo.domain.state_manager import StateManager
from examples import examples
from hypothesis import example, given, settings
from kernel_strategies import RULES
from pydantic import ValidationError
import pytest
from react_world import action, asking, finish, Nodes
from skill_calls import Actor, LONG_S, registry_of, skill_named, StillWorld
from strategies import whole_model

# Each dataclass with its fields in the order of the seed, and the seed's defaults.
NO_DEFAULT = object()
FIELDS: dict[str, dict[str, Any]] = {
    'HCIState': {
        'user_utterance': '',
        'user_interrupt': UserInterruptType.NONE,
        'interrupt_payload': {},
        'approval_response': None,
    },
    'WorldState': {'summary': '', 'zones': [], 'obstacles': []},
    'Pose': {'x': 0.0, 'y': 0.0, 'z': 0.0, 'orientation_w': 1.0},
    'Twist': {'linear_x': 0.0, 'angular_z': 0.0},
    'RobotState': {
        'pose': Pose(),
        'twist': Twist(),
        'battery_pct': 100.0,
        'battery_state': 'UNKNOWN',
        'resources': {'base_busy': False, 'mast_busy': False, 'camera_busy': False},
        'distance_to_target': 0.0,
    },
    'Task': {
        'task_id': NO_DEFAULT,
        'goal': NO_DEFAULT,
        'priority': 0,
        'deadline': None,
        'resources_required': [],
        'preemptible': True,
        'status': 'PENDING',
    },
    'TasksState': {
        'inbox': [],
        'queue': [],
        'active_task_id': None,
        'mode': Mode.IDLE,
        'preempt_flag': False,
        'preempt_reason': '',
    },
    'SkillDef': {
        'name': NO_DEFAULT,
        'interface_type': NO_DEFAULT,
        'args_schema': {},
        'resources_required': [],
        'preemptible': True,
        'cancel_supported': True,
        'timeout_s': 60.0,
        'error_map': {},
    },
    'RunningSkill': {
        'goal_id': NO_DEFAULT,
        'skill_name': NO_DEFAULT,
        'start_time': NO_DEFAULT,
        'timeout_s': NO_DEFAULT,
        'resources_occupied': [],
    },
    'SkillResult': {'status': NO_DEFAULT, 'error_code': '', 'error_msg': '', 'metrics': {}},
    'SkillsState': {'registry': {}, 'running': [], 'last_result': None},
    'Decision': {'type': DecisionType.CONTINUE, 'reason': '', 'plan_patch': None, 'ops': []},
    'ProposedOps': {
        'to_cancel': [],
        'to_dispatch': [],
        'to_speak': [],
        'need_approval': False,
        'approval_payload': {},
    },
    'ReactState': {
        'iter': 0,
        'observation': {},
        'decision': None,
        'proposed_ops': None,
        'stop_reason': '',
    },
    'TraceState': {'log': [], 'metrics': {}},
    'BrainState': {
        'messages': [],
        'hci': HCIState(),
        'world': WorldState(),
        'robot': RobotState(),
        'tasks': TasksState(),
        'skills': SkillsState(),
        'react': ReactState(),
        'trace': TraceState(),
    },
}


def brain_state_strategy() -> Any:
    return whole_model(BrainState)


@settings(max_examples=examples(60))
@given(state=brain_state_strategy())
@example(BrainState(messages=[{'n': 10**4200, 'text': '\x00\u2028😀', 'deep': [[{'a': [None]}]]}]))
def test_state_serialization_roundtrip(state):
    """Property 2: 状态序列化 Round-Trip"""
    serialized = state.serialize()
    deserialized = BrainState.deserialize(serialized)
    assert state == deserialized
    assert deserialized.serialize() == serialized  # -0.0 == 0.0 and True == 1
    assert '\n' not in serialized
    assert BrainState.model_validate_json(serialized, strict=True) == state


@pytest.mark.parametrize('name', FIELDS)
def test_the_fields_come_in_the_published_order_with_the_published_defaults(name: str) -> None:
    cls, published = getattr(brain_state, name), FIELDS[name]
    assert list(cls.model_fields)[: len(published)] == list(published)
    for field, default in published.items():
        info = cls.model_fields[field]
        if default is NO_DEFAULT:
            assert info.is_required()
        else:
            assert info.get_default(call_default_factory=True) == default
    for field in list(cls.model_fields)[len(published) :]:
        assert not cls.model_fields[field].is_required()


def test_the_models_are_built_by_position_like_dataclasses() -> None:
    assert HCIState('halt', UserInterruptType.STOP).user_interrupt is UserInterruptType.STOP
    assert Pose(1.0, 2.0, 0.0, 0.5) == Pose(x=1.0, y=2.0, orientation_w=0.5)
    assert RobotState(Pose(1.0), Twist(0.1), 40.0, 'LOW').battery_state.value == 'LOW'
    assert Task('t1', 'look around', 5).priority == 5
    assert TasksState([], [Task('t1', 'go')], 't1', Mode.EXEC).queue[0].task_id == 't1'
    assert SkillDef('speak', 'internal', {}, ['base'], timeout_s=5.0).timeout_s == 5.0
    assert RunningSkill('g1', 'speak', 0.0, 5.0).resources_occupied == []
    assert SkillResult('SUCCESS').error_code == ''
    assert Decision(DecisionType.ABORT, 'unsafe').reason == 'unsafe'
    assert ProposedOps(['g1']).to_cancel == ['g1']
    assert ReactState(2).iter == 2
    assert TraceState(['began']).log == ['began']
    assert BrainState([], HCIState('hello')).hci.user_utterance == 'hello'
    assert [each.value for each in ApprovalAction] == ['APPROVE', 'EDIT', 'REJECT']


def test_what_is_built_by_position_is_validated_as_by_name() -> None:
    with pytest.raises(ValidationError):
        Pose(float('nan'))
    with pytest.raises(TypeError, match='Pose takes at most 5 positional arguments, not 6'):
        Pose(1.0, 2.0, 3.0, 1.0, 0.0, 9.0)
    with pytest.raises(TypeError, match='Pose got x by position and by name'):
        Pose(1.0, x=2.0)
    with pytest.raises(ValidationError, match='goal'):
        Task('t1')


def test_a_state_manager_holds_one_state() -> None:
    manager: IStateManager = StateManager()
    before = manager.get_state()
    assert before == BrainState()
    after = manager.update_state({'tasks': {'mode': 'SAFE'}, 'messages': [{'a': 1}]})
    assert after is manager.get_state()
    assert (after.tasks.mode, after.messages, after.hci) == (Mode.SAFE, [{'a': 1}], before.hci)
    other = StateManager()
    assert other.deserialize(manager.serialize()) == after
    assert other.get_state() == after


@pytest.mark.parametrize('bad', [{'tasks': {'mode': 'RUN'}}, {'robots': {}}])
def test_an_update_that_is_no_state_changes_nothing(bad: dict[str, Any]) -> None:
    manager = StateManager(BrainState(messages=[{'a': 1}]))
    with pytest.raises(ValidationError):
        manager.update_state(bad)
    with pytest.raises(SerdeError):
        manager.deserialize('{}}')
    assert manager.get_state() == BrainState(messages=[{'a': 1}])


def test_the_kernel_s_nodes_have_the_interface_and_make_the_graph_s_tick() -> None:
    nodes = kernel_nodes(RULES)
    assert [node.name for node in nodes] == [
        'hci_ingress',
        'telemetry_sync',
        'world_update',
        'event_arbitrate',
        'task_queue',
        'kernel_route',
    ]
    before = BrainState(
        tasks=TasksState(inbox=[{'intent': 'NEW_GOAL', 'payload': {'text': 'go'}}])
    )
    state = before
    for node in nodes:
        assert isinstance(node, IKernelNode)
        state = node.execute(state)
    assert state == tick(build_graph(RULES), before)
    assert state.hci.user_interrupt is UserInterruptType.NEW_GOAL


def test_the_loop_s_nodes_have_the_interface_and_carry_a_call_out() -> None:
    world = Nodes([action('get_status')], finish())
    nodes = react_nodes(world.turn)
    assert [node.name for node in nodes] == [
        'build_observation',
        'react_decide',
        'compile_ops',
        'guardrails_check',
        'human_approval',
        'dispatch_skills',
        'observe_result',
        'stop_or_loop',
    ]
    assert all(isinstance(node, IReActNode) for node in nodes)

    async def once(state: BrainState) -> BrainState:
        for node in nodes:
            state = await node.execute(state)
        return state

    state = asyncio.run(once(BrainState()))
    assert world.acts == [('get_status', {})]
    assert state.react.stop_reason == ''
    assert asyncio.run(once(state)).react.stop_reason == 'FINISH'


def test_the_approval_node_waits_for_a_person_where_one_must_be_asked() -> None:
    world = Nodes([action('mast_open')], config=asking('mast_open'))

    async def think() -> BrainState:
        state = BrainState()
        for node in react_nodes(world.turn):
            state = await node.execute(state)
        return state

    with pytest.raises(RuntimeError, match='runnable context'):  # LangGraph's interrupt
        asyncio.run(think())
    assert world.acts == []


def test_the_skill_executor_takes_a_name_and_parameters_and_answers_in_plain_json() -> None:
    async def run() -> None:
        actor = Actor()
        job = skill_named('job', actor)
        inner = SkillExecutor(registry_of(job), StillWorld(), grace_s=LONG_S)
        executor: ISkillExecutor = JsonSkillExecutor(inner, Cancellation())
        goal_id = await executor.dispatch('job', {})
        assert await executor.get_feedback(goal_id) == {}
        actor.finish()
        result = await executor.get_result(goal_id)
        done = {'status': 'SUCCESS', 'error_code': '', 'error_msg': '', 'metrics': {'done': 1}}
        assert result == done
        assert await executor.cancel(goal_id) is False

    asyncio.run(asyncio.wait_for(run(), LONG_S))


def test_the_skill_executor_cancels_and_tells_of_progress() -> None:
    async def run() -> None:
        begun = asyncio.Event()
        loop = asyncio.get_running_loop()

        def work(call: Any) -> ToolResult:
            call.progress({'done': 0.5})
            loop.call_soon_threadsafe(begun.set)
            actor.begun.set()
            return actor(call)

        actor = Actor()
        inner = SkillExecutor(registry_of(skill_named('job', work)), StillWorld(), grace_s=LONG_S)
        stop_button = Cancellation()
        executor = JsonSkillExecutor(inner, stop_button)
        goal_id = await executor.dispatch('job', {})
        await begun.wait()
        assert await executor.get_feedback(goal_id) == {'done': 0.5}
        assert await executor.cancel(goal_id) is True
        assert (await executor.get_result(goal_id))['status'] == 'CANCELLED'
        actor = Actor()
        begun.clear()
        goal_id = await executor.dispatch('job', {})
        await begun.wait()
        stop_button.cancel('stop')
        for call in (executor.get_result(goal_id), executor.dispatch('job', {})):
            with pytest.raises(TurnCancelled):
                await call

    asyncio.run(asyncio.wait_for(run(), LONG_S))
