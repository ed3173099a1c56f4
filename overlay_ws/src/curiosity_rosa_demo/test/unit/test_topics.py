# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Topics: what the transport loses, refuses, tears or floods is counted, asked again or refused;
and triggers: when one fires, what keeps it from firing, and what triggers.yaml may say.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from curiosity_rosa_demo.agent.interfaces.terminal.commands import parse, switch_triggers
from curiosity_rosa_demo.agent.interfaces.terminal.syntax import BadCommand, TypedLine
from curiosity_rosa_demo.agent.interfaces.triggers.door import check_triggers, TriggerBoard
from curiosity_rosa_demo.agent.interfaces.triggers.machine import HOUR_S, Machine, Sample
from curiosity_rosa_demo.agent.skills.registry import make_registry
from curiosity_rosa_demo.agent.topics.telemetry import MessageIntake, WINDOW_S
from curiosity_rosa_demo.domain.adapter_status import TriggerState
from curiosity_rosa_demo.domain.cancellation import Cancellation, TurnCancelled
from curiosity_rosa_demo.infra.config.behaviour import TriggerConfig
from curiosity_rosa_demo.infra.config_loader import ConfigError, load_config, shipped_config_dir
from curiosity_rosa_demo.infra.ros_io import (
    call,
    GuardedPublisher,
    Heartbeat,
    LossCounter,
    read_message,
    ServiceFailed,
    TracePublisher,
    UnreadableMessage,
)
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule, RuleBasedStateMachine
from nav_msgs.msg import Odometry
import pytest
from rclpy._rclpy_pybind11 import RCLError
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.serialization import serialize_message
from rclpy.task import Future
from runtime_world import AutonomyBench
from test_architecture import imports, PACKAGE, trees
import yaml

CONFIG = load_config()
EVENTS = CONFIG.topics.trace.events


class Transport:
    """A publisher, and the node that makes it, of a transport that fails with ``error``."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error, self.sent = error, list[Any]()

    def create_publisher(self, *_: object) -> Transport:
        return self

    def get_name(self) -> str:
        return 'adapter'

    def publish(self, message: Any) -> None:
        if self.error is not None:
            raise self.error
        self.sent.append(message)

    def get_subscription_count(self) -> int:
        return 1

    def wait_for_all_acked(self, timeout: Any) -> bool:
        return True


SATURATED = RCLError('Failed to publish: cannot publish data')


def test_what_cannot_be_sent_is_counted_and_an_error_of_our_own_not_hidden() -> None:
    invalid = rclpy_implementation.InvalidHandle('destruction was requested')
    unsaid = UnicodeEncodeError('utf-8', '\ud800', 0, 1, 'surrogates not allowed')
    for error in (SATURATED, invalid, unsaid):
        losses = LossCounter()
        transport: Any = Transport(error)
        publisher = GuardedPublisher(transport, str, '/topic', 1, losses)
        assert not publisher.publish('one')
        assert not publisher.publish('two')
        assert losses.counts() == {'/topic': 2}
        assert publisher.last_error == str(error)
        transport.error = None
        assert publisher.publish('three')
        assert (transport.sent, losses.counts()) == (['three'], {'/topic': 2})
        assert publisher.last_error == ''
    transport.error = TypeError('not a String')
    with pytest.raises(TypeError):
        publisher.publish('one')
    # As is what the trace and the heartbeat lose.
    any_transport: Any = Transport(SATURATED)
    trace = TracePublisher(any_transport, CONFIG, losses)
    trace.announce('adapter started')
    trace.alarm('Joint states lost: mast unknown')
    Heartbeat(any_transport, CONFIG, losses, str).beat()
    assert losses.counts() == {'/topic': 2, EVENTS: 2, CONFIG.topics.status.kernel: 1}


class Client:
    """Answers the request number ``answers`` (from 1) with its number; 0: none. The transport does
    not take the first ``refuses``.
    """

    srv_name = '/capture_and_score'

    def __init__(self, answers: int, refuses: int = 0) -> None:
        self.answers, self.sent, self.removed, self.refuses = answers, 0, 0, refuses

    def service_is_ready(self) -> bool:
        return True

    def call_async(self, _: Any) -> Any:
        self.sent += 1
        if self.sent <= self.refuses:
            raise RCLError('Failed to send request: cannot publish data')
        future: Any = Future()
        if self.sent == self.answers:
            future.set_result(self.sent)
        return future

    def remove_pending_request(self, _: Any) -> None:
        self.removed += 1


def ask(client: Client, **options: Any) -> Any:
    return call(client, None, **options)  # type: ignore[arg-type]


def test_a_request_is_sent_once_and_again_where_asked_for_or_not_taken() -> None:
    client = Client(answers=3)  # a killed server took the first two with it
    assert ask(client, timeout_s=30.0, again_s=0.01) == 3
    assert (client.sent, client.removed) == (3, 2)
    client = Client(answers=2)
    with pytest.raises(ServiceFailed, match='Service timeout: /capture_and_score'):
        ask(client, timeout_s=0.05)
    assert (client.sent, client.removed) == (1, 1)
    client = Client(answers=3, refuses=2)
    assert ask(client, timeout_s=30.0) == client.sent == 3


def test_a_stop_between_two_tries_keeps_the_second_from_being_sent() -> None:
    client, button, tries = Client(answers=2, refuses=1), Cancellation(), []

    def sending() -> AbstractContextManager[None]:
        if tries:
            button.cancel('Stopped by the operator')
        tries.append('try')
        return button.hold_back()

    with pytest.raises(TurnCancelled, match='Stopped by the operator'):
        ask(client, timeout_s=30.0, sending=sending)
    assert (len(tries), client.sent) == (2, 1)


def test_a_message_is_read_and_a_torn_one_refused() -> None:
    """Cyclone DDS would read behind the end of less than a header."""
    data = bytes(serialize_message(Odometry(child_frame_id='base')))
    assert read_message(data, Odometry).child_frame_id == 'base'
    sizes = {size: f'^{size} bytes, and the header alone has 4' for size in range(4)}
    for size, told in {**sizes, 20: '.'}.items():
        with pytest.raises(UnreadableMessage, match=told):
            read_message(data[:size], Odometry)


def test_all_of_the_product_reads_serialized_bytes_there() -> None:
    readers = {
        file.relative_to(PACKAGE).as_posix()
        for file, tree in trees().items()
        if file.is_relative_to(PACKAGE / 'curiosity_rosa_demo')
        if any(name == 'rclpy.serialization.deserialize_message' for _, name in imports(tree))
    }
    assert readers == {'curiosity_rosa_demo/infra/ros_io.py'}


TOPIC = '/agent/messages'


@given(st.integers(1, 8), st.lists(st.floats(0.0, 40.0), max_size=80))
def test_no_minute_has_more_messages_than_it_may(per_min: int, pauses: list[float]) -> None:
    at, posted, said, losses = [0.0], list[float](), list[str](), LossCounter()
    intake = MessageIntake(
        TOPIC,
        per_min,
        post=lambda text: posted.append(at[0]),
        say=said.append,
        losses=losses,
        clock=lambda: at[0],
    )
    for pause in pauses:
        at[0] += pause
        intake.take('hello')
    for at_s in posted:
        assert len([each for each in posted if at_s <= each < at_s + WINDOW_S]) <= per_min
    dropped = losses.counts().get(TOPIC, 0)
    assert dropped + len(posted) == len(pauses)
    assert bool(said) is bool(dropped)  # told once, and not for each


def test_a_message_that_may_not_interrupt_is_only_said(tmp_path: Path) -> None:
    with AutonomyBench(tmp_path) as bench:
        bench.on()
        bench.goes_on('survey')
        begun = bench.session.stops
        assert bench.autonomy.post_message('rain is coming', interrupts=False).ok
        bench.until(lambda: bench.spoken == ['A message came: rain is coming'], 'it to be spoken')
        bench.pass_time(60.0)
        assert bench.activity == 'survey'
        assert bench.states('react') == ['ACTIVE']
        assert bench.session.stops == begun
        assert not any('by the emergency' in each.done for each in bench.decisions())


LOW = {'name': 'low', 'fact': 'battery_pct', 'below': 30.0, 'goal': 'go home'}


def config_of(**values: Any) -> TriggerConfig:
    return TriggerConfig(**{**LOW, **values})


EDGES: tuple[tuple[TriggerConfig, Any, list[int]], ...] = (
    (config_of(), (20, 20, 40, 20), [3]),  # never before it was seen above
    (config_of(), (40, 20, 10, 20), [1]),  # no refire without re-arm
    (config_of(rearm_above=35.0), (40, 20, 32, 20, 36, 20), [1, 5]),
    (config_of(below=None, above=8, rearm_below=7), (1, 9, 7.5, 9, 7, 10), [1, 5]),
    (config_of(for_s=150.0), (40, 20, 40, 20, 20, 20), [5]),
    (config_of(below=None, equals='up'), ('down', 'up', 'up', 'down', 'up'), [1, 4]),
    (config_of(below=None, equals=False), (True, False), [1]),
    (config_of(below=None, equals='base'), (['bright'], ['base', 'bright']), [1]),
    (config_of(below=None, changes=True), (1, 1, 2, 3, 3, 2), [2, 5]),
    (config_of(), (40, math.nan, -math.inf, None, '20', True), []),
    (config_of(min_interval_s=250.0), (40, 20, 40, 20, 40, 20), [1, 5]),
    (config_of(max_per_hour=1), (40, 20, 40, 20), [1]),
)  # fmt: skip


def test_a_trigger_fires_on_the_edge():
    for config, values, fires_at in EDGES:
        machine, found = Machine(config), []
        machine.switch(True)
        for at, value in enumerate(values):
            sample = Sample(value, at * 100.0)
            if machine.observe(sample, at * 100.0, blocked='', busy='').fired:
                found.append(at)
        assert found == fires_at, (config, values)


@given(st.lists(st.tuples(st.floats(), st.floats(-50, 50), st.floats(-9, 9)), max_size=60))
def test_only_a_fresh_number_below_the_threshold_ever_fires(steps: list[Any]):
    """Each step: a value, how far the time moves, and how far the value's time is off it."""
    config = config_of(min_interval_s=20.0, rearm_above=35.0, max_per_hour=3, max_age_s=5.0)
    machine, now_s, times, clear, before_s = Machine(config), 0.0, [], False, -math.inf
    machine.switch(True)
    for value, forward_s, off_s in steps:
        now_s += forward_s
        step = machine.observe(Sample(value, now_s - off_s), now_s, blocked='', busy='')
        age_s = now_s - (now_s - off_s)  # as the machine sees it: rounded
        usable = math.isfinite(value) and 0.0 <= age_s <= 5.0 and now_s >= before_s
        assert not step.fired or (usable and value < 30.0 and clear)
        clear = not step.fired and (clear or (usable and value >= 35.0))
        if step.fired:
            assert not times or now_s - times[-1] >= 20.0
            times.append(now_s)
            assert sum(0 <= now_s - each < HOUR_S for each in times) <= 3
        before_s = now_s


class TriggerLife(RuleBasedStateMachine):
    """Switches, blocks and tasks in any order: nothing fires off, blocked, busy or unarmed."""

    def __init__(self) -> None:
        super().__init__()
        self.machine = Machine(config_of(min_interval_s=1.0, max_per_hour=60, for_s=2.0))
        self.now_s, self.on, self.clear, self.since_s = 0.0, False, False, None

    @rule(on=st.booleans())
    def switch(self, on: bool):
        self.machine.switch(on)
        if on is not self.on:
            self.on, self.clear, self.since_s = on, False, None

    @rule(
        value=st.sampled_from((10.0, 29.0, 31.0, math.nan)),
        forward_s=st.sampled_from((0.5, 2.0, 700.0)),
        blocked=st.sampled_from(('', '', '', 'SAFE')),
        busy=st.sampled_from(('', '', 'queued')),
    )
    def observe(self, value: float, forward_s: float, blocked: str, busy: str):
        self.now_s += forward_s
        sample = Sample(value, self.now_s)
        step = self.machine.observe(sample, self.now_s, blocked=blocked, busy=busy)
        holds = value < 30.0
        self.since_s = None if not holds else self.now_s if self.since_s is None else self.since_s
        if step.fired:
            assert (self.on, self.clear, blocked, busy) == (True, True, '', '')
            assert self.now_s - (self.since_s or math.inf) >= 2.0
        if step.fired or step.suppressed or blocked:
            self.clear, self.since_s = False, None
        elif self.on and value >= 30.0:
            self.clear = True

    @invariant()
    def it_is_off_exactly_when_it_was_switched_off(self):
        assert (self.machine.state is TriggerState.OFF) is not self.on


TestTriggerLife = TriggerLife.TestCase


def test_after_a_stop_every_trigger_is_off_until_it_is_switched_on():
    clock = iter(range(0, 10_000, 100))
    board = TriggerBoard([config_of()], clock=lambda: float(next(clock)))

    def fires(charge: float, **busy: str) -> list[str]:
        return [each.words for each in board.observe({'battery_pct': charge}, '', busy)]

    assert fires(40.0) == ['Trigger low armed']
    board.on_stop('the operator')
    assert fires(20.0) == fires(40.0) == fires(20.0) == []
    (status,) = board.statuses()
    assert status.why_not == 'off since a stop by the operator; :triggers on low'
    board.switch('low', True)
    assert fires(20.0) == []  # it was switched on below: no edge
    fires(40.0)
    assert fires(20.0, low='its last task has not ended') == [
        'Trigger low suppressed: its last task has not ended'
    ]
    fires(40.0)
    assert fires(20.0) == ['Trigger low fired: battery_pct below 30.0; queues "go home"']


def test_the_console_lists_and_switches():
    board = TriggerBoard([config_of(), config_of(name='off', enabled=False)], clock=lambda: 0.0)
    board.observe({'battery_pct': 40.0}, '', {})
    robot: Any = SimpleNamespace(triggers=board.statuses, switch_trigger=board.switch)
    for line, shown in (
        (':triggers', 'low  armed  when battery_pct below 30.0: "go home"; last value 40.0; not'),
        (':triggers on off', 'off  unarmed'),
        (':triggers off all', 'low  off  '),
        (':triggers on nix', "no trigger 'nix'; there are low, off"),
    ):
        command: Any = parse(line, longest_drive_s=10.0)
        assert shown in switch_triggers(TypedLine(command, robot)).answer
    for wrong in (':triggers maybe low', ':triggers on'):
        with pytest.raises(BadCommand, match=':triggers'):
            parse(wrong, longest_drive_s=10.0)


WATCH = {'topic': '/battery_state', 'type': 'sensor_msgs/msg/BatteryState', 'field': 'percentage'}


WRONG: tuple[tuple[dict[str, Any], str], ...] = (
    ({'name': 'Low battery'}, "triggers.0.name = 'Low battery': not a name"),
    ({'name': 'all'}, "triggers.0.name = 'all': this name stands for all triggers"),
    ({'watch': WATCH}, 'needs a topic (watch) or a fact (fact); it has watch and fact'),
    ({'fact': None}, 'needs a topic (watch) or a fact (fact); it has none'),
    ({'above': 1.0}, 'needs one of above, below, equals and changes; it has above and below'),
    ({'below': None}, 'needs one of above, below, equals and changes; it has none'),
    ({'skill': 'cap'}, 'needs a goal or a skill; it has goal and skill'),
    ({'arguments': {'x': 1}}, "arguments = {'x': 1}: the trigger 'low' has no skill"),
    ({'rearm_above': 20.0}, "rearm_above = 20.0: of the trigger 'low' must be above"),
    ({'rearm_below': 20.0}, "the trigger 'low' has no above: leave it out"),
    ({'below': math.nan}, 'triggers.0.below = nan: '),
    ({'max_per_hour': 0}, 'triggers.0.max_per_hour = 0: '),
    ({'fact': None, 'watch': {**WATCH, 'topic': '1x'}}, "watch.topic = '1x': not a ROS name"),
    ({'speed': 1}, 'speed = 1: unknown key; allowed here: name'),
    ({'fact': 'mood'}, "low.fact = 'mood': no such fact; there are battery_pct, mast"),
    ({'goal': '', 'skill': 'fly'}, "triggers.yaml: low.skill = 'fly': "),
    ({'goal': '', 'skill': 'react'}, 'not for a trigger; use goal in its place'),
    ({'goal': '', 'skill': 'move_forward', 'arguments': {'m': 1}}, 'low.arguments'),
)  # fmt: skip


def test_the_shipped_example_is_valid_and_a_wrong_trigger_is_told_with_its_key_and_the_way_out(
    tmp_path: Path,
):
    """The example in comments is the one that docs/howto/triggers.md explains."""

    def told(text: str) -> str:
        (tmp_path / 'triggers.yaml').write_text(text, encoding='utf-8')
        try:
            config = load_config(tmp_path)
            facts = {'battery_pct': 1.0, 'mast': 'open'}
            check_triggers(config.triggers.triggers, make_registry(config), facts)
        except ConfigError as error:
            return str(error)
        return ' '.join(each.name for each in config.triggers.triggers)

    shipped = (shipped_config_dir() / 'triggers.yaml').read_text(encoding='utf-8')
    body = [each[1:] for each in shipped.splitlines() if each[:3] == '#  ']
    assert told('\n'.join(['triggers:', *body])) == 'low_battery mast_left_open'
    for trigger, words in WRONG:
        assert words in told(yaml.safe_dump({'triggers': [{**LOW, **trigger}]})), trigger
