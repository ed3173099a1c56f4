# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the nodes say of themselves: the message, and what each of them finds."""

from __future__ import annotations

from typing import Any

from curiosity_rosa_demo.adapter.mast import Mast, MastAction
from curiosity_rosa_demo.adapter.motion_guard import MotionGuard
from curiosity_rosa_demo.adapter.status import diagnose as diagnose_adapter
from curiosity_rosa_demo.adapter.watches import ObstacleStop
from curiosity_rosa_demo.agent.topics.node_health import own_findings as diagnose_agent
from curiosity_rosa_demo.domain.brain_state import (
    BatteryLevel,
    BrainState,
    Mode,
    QueuedTask,
    RobotState,
    TasksState,
)
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.infra.diagnostics import Finding, finding, Level, status_of, with_losses
from fake_robot import FakeRobot
from hypothesis import given
from hypothesis import strategies as st
import pytest
from rclpy.serialization import serialize_message

CONFIG = load_config()
SILENT: dict[str, float | None] = {'odometry': None, 'joint states': None, 'heartbeat': None}

words = st.text(max_size=30)


@given(st.dictionaries(words, st.sampled_from(Level)), words)
def test_a_finding_is_as_bad_as_the_worst_and_tells_all(
    amiss: dict[str, Level], well: str
) -> None:
    found = finding(amiss, well)
    real = {text: level for text, level in amiss.items() if text}
    assert found.level == max(real.values(), default=Level.OK)
    if real:
        assert all(text in found.message for text in real)
    else:
        assert found.message == well


@given(
    st.text(),
    st.dictionaries(
        st.text(st.characters(codec='utf-8', exclude_characters='\0'), max_size=10),
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        max_size=5,
    ),
)
def test_whatever_a_finding_holds_can_be_sent(message: str, values: dict[str, object]) -> None:
    status = status_of('/ns/adapter', 'rover', Finding(Level.WARN, message, values))
    assert serialize_message(status)
    assert (status.name, status.level) == ('ns/adapter: rover', b'\x01')
    assert [each.key for each in status.values] == list(values)


def test_a_loss_is_a_warning_once_and_a_figure_from_then_on() -> None:
    well = Finding(Level.OK, 'standing still', {'mast': 'closed'})
    assert with_losses(well, {}) == well
    first = with_losses(well, {'/trace/events': 3})
    assert (first.level, first.message) == (Level.WARN, 'Lost 3 for /trace/events')
    assert first.values == {'mast': 'closed', 'lost /trace/events': 3}
    later = with_losses(well, {'/trace/events': 3}, {'/trace/events': 3})
    assert (later.level, later.message) == (Level.OK, 'standing still')
    assert later.values == {'mast': 'closed', 'lost /trace/events': 3}


def test_a_loss_hides_nothing_that_is_worse() -> None:
    found = with_losses(Finding(Level.ERROR, 'SAFE: tilt'), {'/a': 5, '/b': 1}, {'/a': 3, '/b': 1})
    assert (found.level, found.message) == (Level.ERROR, 'SAFE: tilt; Lost 2 for /a')


# --- adapter -------------------------------------------------------------------------------------


class Adapter:
    def __init__(self) -> None:
        self.now = 0.0
        self.guard = MotionGuard(
            CONFIG.thresholds.motion, CONFIG.thresholds.mast, clock=lambda: self.now
        )

    def settle(self) -> None:
        """Let it stop as at each start, and close the mast."""
        self.guard.stop_answered(self.guard.poll().stop_call or 0)
        self.guard.poll()
        self.guard.begin_mast(MastAction.CLOSE)
        self.guard.mast_answered()
        self.now += 10.0
        self.guard.poll()
        assert (self.guard.stopping, self.guard.mast) == (False, Mast.CLOSED)

    def find(self, **facts: Any) -> Finding:
        given = {
            **{'e_stop': False, 'missing': [], 'ages_s': SILENT},
            **{'obstacles': ObstacleStop(CONFIG.thresholds, lambda: self.now), **facts},
        }
        return diagnose_adapter(self.guard, **given)


def test_an_adapter_that_knows_its_rover_is_well() -> None:
    adapter = Adapter()
    adapter.settle()
    found = adapter.find(ages_s={**SILENT, 'odometry': 1.9})
    assert (found.level, found.message) == (Level.OK, 'standing still')
    assert found.values['odometry_age_s'] == 1.9
    assert found.values['joint_states_age_s'] is None
    adapter.guard.begin_move()
    assert adapter.find().message == 'moving'


@pytest.mark.parametrize(
    ('facts', 'level', 'text'),
    [
        ({'missing': ['/move_stop']}, Level.ERROR, 'Service unavailable: /move_stop'),
        ({'ages_s': {'odometry': 7.0}}, Level.ERROR, 'No odometry for 7 s'),
        ({'e_stop': True}, Level.WARN, 'E-stop pressed'),
        (
            {'rivals': {'/clock': ['/gazebo', '/curiosity_stand_in']}},
            Level.WARN,
            'several publishers of /clock: /gazebo, /curiosity_stand_in; end one rover or '
            'simulator, or give each its own ROS_DOMAIN_ID',
        ),
    ],
)
def test_what_the_adapter_lacks_is_named(facts: dict[str, Any], level: Level, text: str) -> None:
    adapter = Adapter()
    adapter.settle()
    found = adapter.find(**facts)
    assert (found.level, found.message) == (level, text)


def test_an_adapter_that_has_just_started_knows_no_mast() -> None:
    found = Adapter().find()
    assert found.level is Level.WARN
    assert found.message == 'Mast unknown: mast_close makes it known'
    wanted = {'mast': 'unknown', 'move_allowed': False, 'stopping': True}
    assert {key: found.values[key] for key in wanted} == wanted


def test_a_stop_that_fails_is_told_with_its_reason() -> None:
    adapter = Adapter()
    adapter.settle()
    adapter.guard.request_stop()
    number = adapter.guard.poll().stop_call
    adapter.guard.stop_failed(number or 0, 'Service timeout: /move_stop')
    adapter.guard.poll()
    assert adapter.find().message == 'Stopping: Service timeout: /move_stop'


# --- agent ---------------------------------------------------------------------------------------


QUEUE = [
    QueuedTask(task_id=str(number), goal='go', status=status)
    for number, status in enumerate(['ACTIVE', 'PENDING', 'PENDING'])
]
CHARGED = RobotState(battery_pct=42.0, battery_state=BatteryLevel.OK)


@pytest.mark.parametrize(
    ('tasks', 'robot', 'not_ready', 'level', 'text'),
    [
        (TasksState(), RobotState(), '', Level.OK, 'IDLE'),
        (TasksState(mode=Mode.EXEC, queue=QUEUE), CHARGED, '', Level.OK, 'EXEC'),
        (
            TasksState(mode=Mode.SAFE, mode_reason='tilt'),
            RobotState(),
            '',
            Level.ERROR,
            'SAFE: tilt',
        ),
        (
            *(TasksState(), RobotState(safety_latch='tilt'), ''),
            *(Level.ERROR, 'Latched until :clear: tilt'),
        ),
        (
            *(TasksState(), RobotState(silent=['scan', 'battery']), ''),
            *(Level.ERROR, 'Silent: scan, battery'),
        ),
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
