# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the adapter tells, its inputs and callers, and what it commands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
import gc
from itertools import pairwise
import sys
from types import SimpleNamespace
from typing import Any

from action_msgs.msg import GoalStatus
from action_profile import ACTION, action_profile
from control_msgs.action import FollowJointTrajectory
from curiosity_rosa_demo.adapter.graph import Call, CallLog, CLAIM_WAIT_S, rival_publishers
from curiosity_rosa_demo.adapter.part import MAST, MAST_COMMANDS
from curiosity_rosa_demo.adapter.report import diagnose as diagnose_adapter
from curiosity_rosa_demo.adapter.report import MIN_PERIOD_S, PERIOD_S, status_of, StatusSchedule
from curiosity_rosa_demo.adapter.rover_calls import (
    Commands,
    failure,
    StandstillCommand,
    trajectory,
    TrajectoryAction,
)
from curiosity_rosa_demo.adapter.rules import Rules
from curiosity_rosa_demo.adapter.steps import (
    decode_batch,
    encode_batch,
    InputLog,
    LogEntry,
    MAX_ENTRIES,
    MotionRefused,
)
from curiosity_rosa_demo.agent.topics.node_health import own_findings as diagnose_agent
from curiosity_rosa_demo.domain.adapter_status import decode_heartbeat, encode_heartbeat
from curiosity_rosa_demo.domain.brain_state import (
    BatteryLevel,
    BrainState,
    Mode,
    QueuedTask,
    RobotState,
    TasksState,
)
from curiosity_rosa_demo.infra.config.robot import RobotProfile
from curiosity_rosa_demo.infra.config_loader import ConfigError, load_config
from curiosity_rosa_demo.infra.diagnostics import Finding, Level
from curiosity_rosa_demo.infra.diagnostics import status_of as diagnostic_status
from curiosity_rosa_demo.infra.ros_io import LossCounter
from curiosity_rosa_demo.recording.rule_run import ReplayClock, RuleRun
from examples import examples
from fake_robot import FakeRobot
from geometry_msgs.msg import Twist
from guard_world import World
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest
from rclpy._rclpy_pybind11 import RCLError
from rclpy.serialization import serialize_message
from rclpy.task import Future


@given(
    st.lists(
        st.tuples(st.floats(0.001, 3.0), st.fixed_dictionaries(dict.fromkeys('ab', st.booleans())))
    )
)
def test_it_keeps_its_pace_and_ends_with_the_newest(steps: list[tuple[float, Any]]) -> None:
    """Asked when there is news and whenever it wants to be asked, as the adapter does."""
    pace, now, told, status = StatusSchedule(), 0.0, [], {'a': True}
    for wait, following in [*steps, (2 * PERIOD_S, None)]:
        end = now + wait
        while now < end:
            if now >= pace.due_at(status):
                told.append((now, status))
                pace.published(status, now)
            assert pace.due_at(status) > now
            now = min(end, pace.due_at(status))
        if following is not None:
            status = following
    gaps = [later - earlier for (earlier, _), (later, _) in pairwise(told)]
    assert all(MIN_PERIOD_S - 1e-9 <= gap <= PERIOD_S + 1e-9 for gap in gaps)
    assert told[-1][1] == status


STOP_CALL, DRIVE_CALL, RQT = '/adapter/move_stop', '/adapter/move_forward', '/rqt'
BEAT_S = 0.2


class CallWorld:
    """An adapter, an agent that beats while it lives, and nodes that call."""

    def __init__(self, agent_lives: bool = True) -> None:
        self.log, self.now, self.sent = CallLog(), 0.0, Counter[str]()
        self.agent_lives, self.tick = agent_lives, 0
        self.foreign: list[Call] = []

    def wait(self, seconds: float) -> None:
        end = self.now + seconds
        while self.now < end:
            self.now += BEAT_S
            if self.agent_lives:
                self.tick += 1
                self.log.record_sent(self.tick, self.sent, self.now)
            self.foreign += self.log.take_foreign(self.now)

    def arrives(self, service: str, *others: str, agent: bool = True) -> Call:
        call = Call(service, self.now, agent, set(others), '')
        self.log.begin(call)
        return call


@given(
    st.lists(
        st.tuples(st.booleans(), st.sampled_from([STOP_CALL, DRIVE_CALL]), st.floats(0.0, 3.0)),
        max_size=30,
    )
)
def test_as_many_calls_are_reported_as_others_have_made(
    steps: list[tuple[bool, str, float]],
) -> None:
    world, made = CallWorld(), Counter[str]()
    world.wait(1.0)
    for is_agent, service, pause_s in steps:
        if is_agent:
            world.sent[service] += 1
        else:
            made[service] += 1
        world.arrives(service, RQT)
        world.wait(pause_s)
    world.wait(2 * CLAIM_WAIT_S)
    assert Counter(call.service for call in world.foreign) == made


def test_a_forged_count_of_calls_costs_nothing() -> None:
    world = CallWorld()
    world.wait(1.0)
    world.sent[DRIVE_CALL] += 10**30
    world.wait(2 * CLAIM_WAIT_S)
    call = world.arrives(DRIVE_CALL, RQT)
    world.wait(2 * CLAIM_WAIT_S)
    assert world.foreign == [call]


def test_a_call_is_reported_unless_the_agent_claims_it_or_is_on_its_way_out() -> None:
    for wait_s, kept in ((0.5, True), (CLAIM_WAIT_S + 1.0, False)):  # a claim of a lost request
        world = CallWorld()
        world.wait(1.0)
        world.sent[DRIVE_CALL] += 1
        world.wait(wait_s)
        call = world.arrives(DRIVE_CALL, RQT)
        world.wait(2 * CLAIM_WAIT_S)
        assert world.foreign == ([] if kept else [call])
    for lives, agent, others, reported in (
        (True, True, [RQT], True),
        (True, True, [], True),  # a node that the graph does not show yet
        (False, True, [RQT], True),
        (False, True, [], False),  # an agent on its way out: nobody is accused
        (False, False, [], True),
    ):
        world = CallWorld(agent_lives=lives)
        call = world.arrives(STOP_CALL, *others, agent=agent)
        world.wait(5.0)
        assert world.foreign == ([call] if reported else [])


CONFIG = load_config()
MOTIONS = ('move_forward', 'turn_left', 'turn_right')
numbers = st.floats(allow_nan=False, width=32)
speeds = st.sampled_from([0.0, 0.0, 0.3, -0.3, 5.0])
Step = Callable[[Rules], object]


def calls(name: str, *arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[Step]:
    return st.tuples(*arguments).map(lambda given: lambda rules: getattr(rules, name)(*given))


steps: st.SearchStrategy[Step] = st.one_of(
    calls('check_motion', st.sampled_from(MOTIONS)),
    calls('start_motion', st.sampled_from(MOTIONS)),
    calls('motion_started', st.integers(0, 4)),
    calls('motion_failed', st.integers(1, 4), st.just('Service timeout: /x')),
    calls('check_part', st.just(MAST), st.sampled_from(MAST_COMMANDS)),
    calls('start_part', st.just(MAST), st.sampled_from(MAST_COMMANDS)),
    calls('part_started', st.just(MAST)),
    calls('part_failed', st.just(MAST), st.just('no')),
    calls('end_part', st.just(MAST), st.sampled_from(MAST_COMMANDS)),
    calls('request_stop'),
    calls('stop_answered', st.integers(0, 6)),
    calls('stop_failed', st.integers(0, 6), st.just('no')),
    calls('end_stop', st.integers(0, 6)),
    calls('twist_lost'),
    calls('refuse', st.text(max_size=5)),
    calls('odometry', st.none() | st.tuples(numbers, numbers, numbers), speeds, speeds, st.none()),
    calls('odometry', st.just((0.0, 0.0, 0.0)), st.just(0.0), st.just(0.0), st.floats(0.0, 1.5)),
    calls('joints', st.just(MAST), st.sampled_from([(1.57, -1.57), (0.0, -0.5), (0.7, -0.5)])),
    calls('scan'),
    calls(
        'scan',
        st.just(True),
        st.sampled_from([0.5, 3.0, float('inf')]).map(lambda m: dict.fromkeys(MOTIONS, m)),
    ),
    calls('scan_gone'),
    calls('set_e_stop', st.booleans()),
    calls('heartbeat', st.integers(0, 100), st.sampled_from(['', '', 'e-stop pressed'])),
    calls('agents', st.integers(0, 2), st.just(['/one', '/two'])),
    calls('agent_gone'),
    calls('drivers', st.sampled_from(['', '/joystick'])),
    calls('adapters', st.sampled_from([[], ['/other']])),
    st.just(lambda rules: rules.due()),
)


@settings(max_examples=examples(60))
@given(
    st.lists(st.tuples(steps, st.sampled_from([0.0, 0.05, 0.3, 2.0, 9.0])), max_size=40),
    st.sampled_from([None, 1.0, 0.5]),
)
def test_a_replayed_log_has_the_recorded_results(
    sequence: list[tuple[Step, float]], factor: float | None
) -> None:
    clock = ReplayClock(100.0, None if factor is None else 0)
    rules = Rules(CONFIG.thresholds, stop_name='/move_stop', steady=clock, ros_clock=clock)
    for step, seconds in sequence:
        clock.steady_s += seconds
        if factor is not None:
            clock.ros_ns = (clock.ros_ns or 0) + round(seconds * factor * 1e9)
        with suppress(MotionRefused):
            step(rules)
        rules.due()
    batch = rules.inputs.take(0.0)
    assert batch is not None
    again = decode_batch(encode_batch(batch))
    assert again is not None
    start, *entries = again.entries
    run = RuleRun(CONFIG, start)
    for entry in entries:
        result = run.feed(entry)
        assert result == entry.result, entry
    assert status_of(run.rules) == status_of(rules)


def test_a_full_log_drops_the_oldest_and_its_numbers_show_it() -> None:
    log = InputLog()
    for number in range(MAX_ENTRIES + 7):
        log.append(LogEntry(float(number), None, 'due'))
    batch = log.take(0.0)
    assert batch is not None
    assert (batch.first, batch.entries[0].at, len(batch.entries)) == (7, 7.0, MAX_ENTRIES)
    assert log.take(0.0) is None
    log.append(LogEntry(0.0, None, 'due'))
    following = log.take(0.0)
    assert following is not None
    assert following.first == MAX_ENTRIES + 7


ROVER = load_config().topics.rover
TWIST, WHEELS = ROVER.cmd_vel, ROVER.wheel_commands


class Transport:
    """A node, and what its publishers sent by topic. Those of ``saturated`` fail."""

    def __init__(self, *saturated: str) -> None:
        self.sent, self.saturated = dict[str, list[Any]](), saturated

    def create_publisher(self, _type: type, topic: str, _qos: object) -> Publisher:
        self.sent[topic] = []
        return Publisher(self, topic)


class Publisher:
    def __init__(self, transport: Transport, topic: str) -> None:
        self.transport, self.topic = transport, topic

    def publish(self, message: Any) -> None:
        if self.topic in self.transport.saturated:
            raise RCLError('Failed to publish: cannot publish data')
        self.transport.sent[self.topic].append(message)


def test_each_wheel_gets_a_zero_with_the_zero_twist_and_a_loss_of_one_keeps_the_other() -> None:
    rows: list[tuple[int, str, list[str], dict[str, int]]] = [
        (1, WHEELS, [], {TWIST: 1, WHEELS: 1}),
        (6, WHEELS, [], {TWIST: 1, WHEELS: 1}),
        (0, WHEELS, [], {TWIST: 1}),
        (6, '', [], {TWIST: 1}),
        (6, WHEELS, [TWIST], {TWIST: 0, WHEELS: 1}),
        (6, WHEELS, [WHEELS], {TWIST: 1, WHEELS: 0}),
    ]
    for wheels, topic, lost, sent in rows:
        transport, losses = Transport(*lost), LossCounter()
        topics = ROVER.model_copy(update={'wheel_commands': topic})
        node: Any = transport
        command = StandstillCommand(node, topics, wheels=wheels, losses=losses)
        assert command.publish() is not bool(lost)
        assert {each: len(messages) for each, messages in transport.sent.items()} == sent
        assert losses.counts() == dict.fromkeys(lost, 1)
        assert all(each == Twist() for each in transport.sent[TWIST])
        assert all(list(each.data) == [0.0] * wheels for each in transport.sent.get(WHEELS, []))


SILENT: dict[str, float | None] = {'odometry': None, 'joint states': None, 'heartbeat': None}


@given(
    st.text(),
    st.dictionaries(
        st.text(st.characters(codec='utf-8', exclude_characters='\0'), max_size=10),
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        max_size=5,
    ),
)
def test_whatever_a_finding_holds_can_be_sent(message: str, values: dict[str, object]) -> None:
    status = diagnostic_status('/ns/adapter', 'rover', Finding({'!': Level.WARN}, message, values))
    assert serialize_message(status)
    assert (status.name, status.level) == ('ns/adapter: rover', b'\x01')
    assert [each.key for each in status.values] == list(values)


RIVALS = {'/clock': ['/gazebo', '/curiosity_stand_in']}
TOO_MANY = (
    'several publishers of /clock: /gazebo, /curiosity_stand_in; end one rover or simulator, or '
    'give each its own ROS_DOMAIN_ID'
)
LACKS: list[tuple[dict[str, Any], Level, str]] = [
    ({'ages_s': {**SILENT, 'odometry': 1.9}}, Level.OK, 'standing still'),
    ({'missing': ['/move_stop']}, Level.ERROR, 'Service unavailable: /move_stop'),
    ({'ages_s': {'odometry': 7.0}}, Level.ERROR, 'No odometry for 7 s'),
    ({'e_stop': True}, Level.WARN, 'E-stop pressed'),
    ({'rival_publishers': RIVALS}, Level.WARN, TOO_MANY),
]


def found_in(world: World, **facts: Any) -> Finding:
    """``facts``: fields of the status, or what else the node knows."""
    status = status_of(world.guard)
    status |= {key: facts.pop(key) for key in facts.keys() & status.keys()}
    return diagnose_adapter(world.guard, status, **{'missing': [], 'ages_s': SILENT, **facts})


def test_what_the_adapter_lacks_is_named() -> None:
    world = World()
    found = found_in(world)
    assert found.level is Level.WARN
    assert found.message == 'Mast unknown: mast_close makes it known'
    wanted = {'mast': 'unknown', 'move_allowed': False, 'stopping': True}
    assert {key: found.values[key] for key in wanted} == wanted
    world.step(1.0)
    world.ask_mast('mast_close')
    world.step(2.0)
    for facts, level, text in LACKS:
        found = found_in(world, **facts)
        assert (found.level, found.message) == (level, text)
        assert found.values['odometry_age_s'] == facts.get('ages_s', SILENT)['odometry']
    world.ask_move()
    assert found_in(world).message == 'moving'
    world.drive.absent = True
    world.ask_stop()
    world.carry()
    assert found_in(world).message == 'Stopping: Service unavailable: /move_stop'


def test_a_rival_in_another_dds_has_no_name() -> None:
    nodes = [('', 'gazebo'), ('_NODE_NAMESPACE_UNKNOWN_', '_NODE_NAME_UNKNOWN_')]
    infos = [SimpleNamespace(node_namespace=space, node_name=name) for space, name in nodes]
    node: Any = SimpleNamespace(
        get_clock=lambda: SimpleNamespace(ros_time_is_active=False),
        count_publishers=lambda topic: len(infos),
        get_publishers_info_by_topic=lambda topic: infos,
    )
    assert rival_publishers(node, ['/odom']) == {'/odom': ['/gazebo', 'an unnamed node']}


QUEUE = [
    QueuedTask(task_id=str(number), goal='go', status=status)
    for number, status in enumerate(['ACTIVE', 'PENDING', 'PENDING'])
]
CHARGED = RobotState(battery_pct=42.0, battery_state=BatteryLevel.OK)


IN_SAFE = TasksState(mode=Mode.SAFE, mode_reason='tilt')
LATCHED, DEAF = RobotState(safety_latch='tilt'), RobotState(silent=['scan', 'battery'])


@pytest.mark.parametrize(
    ('tasks', 'robot', 'not_ready', 'level', 'text'),
    [
        (TasksState(), RobotState(), '', Level.OK, 'IDLE'),
        (TasksState(mode=Mode.EXEC, queue=QUEUE), CHARGED, '', Level.OK, 'EXEC'),
        (IN_SAFE, RobotState(), '', Level.ERROR, 'SAFE: tilt'),
        (TasksState(), LATCHED, '', Level.ERROR, 'Latched until :clear: tilt'),
        (TasksState(), DEAF, '', Level.ERROR, 'Silent: scan, battery'),
        (TasksState(), RobotState(), 'no adapter', Level.WARN, 'no adapter'),
    ],
)
def test_an_agent_says_what_keeps_it_from_acting_and_its_figures(
    tasks: TasksState, robot: RobotState, not_ready: str, level: Level, text: str
) -> None:
    fake = FakeRobot()
    fake.brain_state, fake.not_ready = BrainState(tasks=tasks, robot=robot), not_ready
    found = diagnose_agent(fake, CONFIG.agent.llm)
    assert (found.level, found.message) == (level, text)
    assert found.values['ready'] is (not_ready == '')
    assert found.values['model'] == 'routine'
    assert found.values['battery_pct'] == (42.0 if robot is CHARGED else None)
    for status, count in (('active', 1), ('pending', 2), ('paused', 0)):
        assert found.values[f'tasks_{status}'] == (count if tasks.queue else 0)


NO_MESSAGES = ('', 'null', '[]', '{}', '7', '{"tick": 1}', '[' * 100_000)
BATCH = '{"first": 0, "offset_s": 0.0, "entries": '
OTHERS: dict[Callable[[str], object], tuple[str, ...]] = {
    decode_heartbeat: ('{"tick": true, "safe_reason": ""}',),
    decode_batch: (
        '{"first": 0, "offset_s": 0.0}',
        '{"first": -1, "offset_s": 0.0, "entries": []}',
        *(f'{BATCH}{rest}}}' for rest in ('[[1.0, null]]', '[[1.0, null, "due", {}]]')),
        BATCH + '[], "replay": true}',
    ),
}


def test_what_is_no_message_of_ours_is_ignored() -> None:
    gc.collect()  # a finalizer that ran a thousand brackets deep would fail
    for decode, others in OTHERS.items():
        assert [text for text in (*NO_MESSAGES, *others) if decode(text) is not None] == []
    for calls, read in (('{"a": -1, "b": true, "c": "1", "d": 2}', {'d': 2}), ('3', None)):
        beat = f'{{"tick": 1, "safe_reason": "", "calls": {calls}}}'
        assert decode_heartbeat(beat) == (1, '', read)
    forged = decode_heartbeat('{"tick": 1, "safe_reason": "\\ud800", "calls": {"a": 1e99}}')
    assert forged == (1, '\ufffd', {})


@given(st.integers(0), st.text(max_size=500), st.dictionaries(st.text(), st.integers(0)))
def test_messages_survive_their_encoding(tick: int, text: str, calls: dict[str, int]) -> None:
    beat = encode_heartbeat(tick, text, calls)
    assert decode_heartbeat(beat) == (tick, text, calls)


ROBOTS = {
    'topic': load_config(robot='canadarm2').robot,
    'action': RobotProfile.model_validate(action_profile()),
}


HOLD = trajectory(['elbow'], [0.5], 0.1)
POSE = trajectory(['elbow'], [1.5], 4.0)
Result = FollowJointTrajectory.Result


class Line:
    """The three clients of a server that answers when the test says so, in the order of calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any, Future]] = []
        self.forgotten: list[Future] = []
        self.is_there = True
        node: Any = self
        self.action = TrajectoryAction(node, ACTION)

    def create_client(self, _: Any, name: str) -> SimpleNamespace:
        def call_async(request: Any) -> Future:
            self.calls.append((name.rpartition('/')[2], request, Future()))
            return self.calls[-1][2]

        return SimpleNamespace(
            srv_name=name,
            service_is_ready=lambda: self.is_there,
            call_async=call_async,
            remove_pending_request=self.forgotten.append,
        )

    def sent(self) -> list[str]:
        return [name for name, _, _ in self.calls]

    def answer(self, index: int, response: Any = None) -> None:
        self.calls[index][2].set_result(response)


def test_a_hold_cancels_every_goal_and_then_sends_its_own() -> None:
    line = Line()
    line.action.hold(HOLD)
    assert line.sent() == ['cancel_goal']
    _, request, _ = line.calls[0]
    assert not any(request.goal_info.goal_id.uuid)  # zeros and no time: all goals
    assert request.goal_info.stamp.sec == request.goal_info.stamp.nanosec == 0
    line.action.hold(HOLD)  # a lost cancellation is not waited for
    assert line.sent() == ['cancel_goal', 'cancel_goal', 'send_goal']
    assert line.forgotten == [line.calls[0][2]]
    line.answer(1)
    assert line.sent()[2:] == ['send_goal', 'send_goal']
    assert line.calls[2][1].goal.trajectory == HOLD
    line = Line()
    line.action.hold(None)  # without angles it only cancels
    line.answer(0)
    line.is_there = False
    line.action.hold(HOLD)
    assert not line.action.is_ready()
    assert line.sent() == ['cancel_goal']


def test_a_goal_waits_for_the_cancellation_and_a_late_one_is_cancelled() -> None:
    line = Line()
    assert line.action.is_ready()
    line.action.hold(HOLD)
    assert not line.action.is_ready()
    line.action.send(POSE)
    line.answer(0)
    assert line.sent() == ['cancel_goal', 'send_goal']  # and no late hold replaces it
    assert line.calls[1][1].goal.trajectory == POSE
    assert line.action.is_ready()
    answer = FollowJointTrajectory.Impl.SendGoalService.Response
    for accepted in (True, False):  # after the time-out
        line = Line()
        line.action.forget(line.action.send(POSE))
        late = line.calls[0][1].goal_id
        line.action.send(POSE)
        line.answer(0, answer(accepted=accepted))
        cancelled = [each.goal_info.goal_id for name, each, _ in line.calls if 'cancel' in name]
        assert cancelled == ([late] if accepted else [])


FAILURES = [
    (GoalStatus.STATUS_SUCCEEDED, 0, 'done', ''),
    (GoalStatus.STATUS_SUCCEEDED, -5, '', 'ended with an error: GOAL_TOLERANCE_VIOLATED (-5)'),
    (GoalStatus.STATUS_ABORTED, 0, '', 'aborted'),
    (GoalStatus.STATUS_ABORTED, -7, 'x', 'aborted: unknown error (-7): x'),
    (GoalStatus.STATUS_CANCELED, 0, '', 'canceled, and not by the adapter'),
    (GoalStatus.STATUS_UNKNOWN, 0, '', 'ended with status 0'),
]


def test_the_result_of_the_last_goal_is_reported_with_the_name_of_the_action() -> None:
    line, told = Line(), list[str]()
    line.action.send(POSE)
    line.action.watch(told.append)
    assert line.calls[1][1].goal_id == line.calls[0][1].goal_id
    result = Result(error_code=Result.GOAL_TOLERANCE_VIOLATED, error_string='elbow:\n0.3 rad off')
    kind = FollowJointTrajectory.Impl.GetResultService.Response
    line.answer(1, kind(status=GoalStatus.STATUS_ABORTED, result=result))
    assert told == [f'{ACTION}: aborted: GOAL_TOLERANCE_VIOLATED (-5): elbow: 0.3 rad off']
    for status, code, text, reason in FAILURES:
        assert failure(status, Result(error_code=code, error_string=text)) == reason


def test_a_ros_without_the_type_refuses_the_profile_and_names_the_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    node: Any = Line()
    monkeypatch.setitem(sys.modules, 'control_msgs.action', None)
    told = rf'{ACTION}.*control_msgs is not installed.*install ros'
    with pytest.raises(ConfigError, match=told):
        Commands(node, CONFIG.model_copy(update={'robot': ROBOTS['action']}), LossCounter())
