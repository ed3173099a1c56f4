# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Start and end of the agent's process: nobody waits for ever, and it closes once, whichever line
a signal interrupts (a launcher closes the standard input and sends SIGTERM at the same time);
what its session does for whoever asks, the state that it shows, and what outlives it: the safety
latch, and a checkpoint of the kernel that loosens no latch.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
import json
import math
from pathlib import Path
import shlex
import subprocess
import sys
import tempfile
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

from curiosity_rosa_demo.agent import agent_node
from curiosity_rosa_demo.agent.interfaces.terminal.options import parse_arguments
from curiosity_rosa_demo.agent.interfaces.terminal.terminal import END_SIGNALS
from curiosity_rosa_demo.agent.language.understand import understand
from curiosity_rosa_demo.agent.react.ask import ApprovalQueue
from curiosity_rosa_demo.agent.react.turn import Turn, TurnRequest
from curiosity_rosa_demo.agent.runtime.rosa_loader import ModelUnavailable, RosaLoader
from curiosity_rosa_demo.agent.runtime.session import AgentSession
from curiosity_rosa_demo.agent.startup.startup import Startup, wait_for_nodes
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.agent.tasks.origin import Order, ORIGIN_KEY, under_order
from curiosity_rosa_demo.domain.brain_state import (
    BrainState,
    HCIState,
    Mode,
    QueuedTask,
    Reading,
    RobotState,
    SkillDef,
    SkillsState,
    Telemetry,
    WorldState,
)
from curiosity_rosa_demo.domain.cancellation import Cancellation, TurnCancelled
from curiosity_rosa_demo.domain.models import ToolResult, TraceEvent, TraceKind
from curiosity_rosa_demo.domain.plan import Plan, PlanStep
from curiosity_rosa_demo.domain.serde import from_json, SerdeError
from curiosity_rosa_demo.infra.files import SafetyLatch
from curiosity_rosa_demo.trace.events import IN_TASK, TurnStarted
from curiosity_rosa_demo.trace.trace_buffer import EventBus
from examples import examples
from harness import wait_until
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
import pytest
from runtime_world import CONFIG, RuntimeBench, settle
from test_runtime import press
from tool_rover import Hurry, SimulatedRover
from turn_world import REGISTRY, SHIPPED

FACTORY = 'curiosity_rosa_demo.agent.rosa_agent_factory'
ENDS = [SystemExit(3), KeyboardInterrupt(), ImportError('half a package')]


class Broken(ModuleType):
    """A module that ends the process while it is imported."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(FACTORY)
        self.error = error

    def __getattr__(self, name: str) -> Any:
        raise self.error


@pytest.mark.parametrize('error', ENDS, ids=repr)
def test_an_import_or_a_start_that_is_ended_says_so_and_is_not_waited_for(
    error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, FACTORY, Broken(error))
    around: Any = SimpleNamespace(world=SimpleNamespace(config=CONFIG), checkpoints=Path('x'))
    loader = RosaLoader(around)
    loader.start()
    loader.wait_until_loaded()
    with pytest.raises(ModelUnavailable, match='ROSA cannot be imported: '):
        loader.run_turn(TurnRequest(understand('look around'), Cancellation()))
    said, started = list[str](), list[str]()

    def fail() -> bool:
        raise error

    robot = SimpleNamespace(startup_failure='')
    parts: list[Any] = [
        SimpleNamespace(ready=fail, missing=fail),
        SimpleNamespace(rover_status=fail),
        *(None, robot, SimpleNamespace(print_notice=said.append)),
        SimpleNamespace(start=lambda: started.append('page')),
    ]
    startup = Startup(*parts, crash='')
    startup.start()
    assert startup.complete.wait(20.0), 'somebody would wait for ever'
    assert robot.startup_failure.startswith(f'The agent cannot begin: {error!r}')
    assert said == [f'! {robot.startup_failure}']
    wait_until(lambda: started, 'the page, which tells it')


AGENT = """
import json, os, signal, sys
from types import SimpleNamespace
import rclpy
from curiosity_rosa_demo.agent import agent_node

traced = {agent_node.run.__code__, agent_node._run_to_the_end.__code__}

class App:
    crashed, outcome = False, None
    records = SimpleNamespace(log=SimpleNamespace(stack_stream=sys.stderr))
    closed = 0

    def start(self):
        pass

    def close(self):
        App.closed += 1
        os.kill(os.getpid(), signal.SIGTERM)  # a launcher that asks again

def end_of_input(app, options):
    global is_ending
    is_ending = True
    return 0

def trace_calls(frame, event, argument):
    return trace_lines if frame.f_code in traced else None

def trace_lines(frame, event, argument):
    global lines
    if event == 'line' and is_ending:
        lines += 1
        if lines == interrupted:
            os.kill(os.getpid(), signal.SIGTERM)
    return trace_lines

agent_node.AgentApp = lambda options: App()
agent_node._read_lines = end_of_input
rclpy.init = lambda **arguments: None
rclpy.try_shutdown = lambda: None
ends, interrupted, all_lines = [], 0, 0  # at line 0 no signal comes
while interrupted <= all_lines:
    is_ending, lines, App.closed = False, 0, 0
    sys.settrace(trace_calls)
    try:
        status = agent_node.run(['agent_node'])
    except SystemExit as error:
        status = error.code
    sys.settrace(None)
    all_lines = all_lines or lines  # a signal ends the tracing
    ends.append([App.closed, status])
    interrupted += 1
print(json.dumps(ends))
"""


def test_a_signal_at_any_line_of_the_end_closes_the_agent_once() -> None:
    done = subprocess.run(
        [sys.executable, '-c', AGENT], capture_output=True, text=True, timeout=120, check=True
    )
    uninterrupted, *ends = json.loads(done.stdout.splitlines()[-1])
    assert uninterrupted == [1, 0]
    assert len(ends) > 5
    for line, (closed, status) in enumerate(ends, start=1):
        assert closed == 1, f'line {line} of {len(ends)}'
        assert status in {0, 130, 143}


def test_the_parts_start_and_end_in_order_and_each_has_its_turn_whatever_the_others_do() -> None:
    agent, found = MagicMock(), list[list[str]]()
    parts = agent_node.AgentApp.parts(agent)
    for part in parts:
        if part.stop is not None:
            part.stop.side_effect = OSError
    for method in (agent_node.AgentApp.start, agent_node.AgentApp.close):
        agent.reset_mock()
        method(SimpleNamespace(parts=lambda: parts))  # type: ignore[arg-type]
        found.append([call[0] for call in agent.mock_calls])
    start, end = found
    assert end[0] == 'halt'
    for names, order in (
        (start, ['start_runtime', 'start_ros', 'doors.startup.start']),
        (end, ['run_task.end_goals', 'runtime.close', 'handles.close', 'close_ros']),
        (end, ['autonomy.close', 'runtime.close', 'close_ros', 'destroy_nodes']),
        (end, ['halt', 'records.close', 'writer.close']),
    ):
        places = [next(n for n, each in enumerate(names) if name in each) for name in order]
        assert places == sorted(places), names


WAITER = """
import os, signal, sys, threading
from curiosity_rosa_demo.agent.interfaces.terminal.terminal import END_SIGNALS, wait_for_a_signal

def shower():
    while not callable(signal.getsignal(END_SIGNALS[-1])):
        threading.Event().wait(0.01)
    for signum in map(int, sys.argv[1:]):
        os.kill(os.getpid(), signum)

threading.Thread(target=shower, daemon=True).start()
wait_for_a_signal()
print('told', flush=True)
"""


def test_nobody_types_to_a_headless_agent(capsys: pytest.CaptureFixture[str]) -> None:
    assert parse_arguments(['--headless']).headless
    assert not parse_arguments([]).headless
    with pytest.raises(SystemExit):
        parse_arguments(['--headless', '-c', ':status'])
    assert 'not allowed with argument' in capsys.readouterr().err


def test_a_shower_of_signals_ends_it_as_one_does() -> None:
    signals = [str(int(signum)) for signum in END_SIGNALS * 100]
    command = [sys.executable, '-c', WAITER, *signals]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, 'told\n'), done.stderr


NEVER = math.inf
BOUNDS_S = 20.0 + 10.0 + 3.0


class Start(Cancellation):
    """A start in a time of its own. Each part of it is there from its second on."""

    def __init__(self, **seconds: float) -> None:
        super().__init__()
        self.now_s = 0.0
        self._from_s = {
            **dict.fromkeys(('services', 'still', 'heard', 'pose', 'placed'), 0.0),
            **seconds,
        }
        self.said: list[str] = []

    def sleep(self, seconds: float) -> None:
        self.check()
        self.now_s += seconds

    def has(self, part: str) -> bool:
        return self.now_s >= self._from_s[part]

    def status(self) -> dict[str, Any]:
        return {'moving': not self.has('still'), 'rover_x': 1.0 if self.has('placed') else None}

    def wait(self) -> None:
        client: Any = SimpleNamespace(
            ready=lambda: self.has('services'), pose=lambda: object() if self.has('pose') else None
        )
        wait_for_nodes(
            client,
            lambda: ToolResult.success(**self.status()),
            lambda: self.status() if self.has('heard') else None,
            self,
            self.said.append,
        )


@pytest.mark.parametrize(
    ('part', 'notice'),
    [
        ('services', '! The adapter or the simulator node did not appear (within 20 s)'),
        ('still', '! The rover does not stand still: it still moves (within 10 s)'),
        ('heard', '! The status of the rover did not arrive (within 10 s)'),
        ('pose', ''),  # a robot without TF is driven too
        ('placed', ''),
    ],
)
def test_it_waits_for_each_part_of_the_first_status_but_not_for_ever(
    part: str, notice: str
) -> None:
    for seconds in (0.3, 2.5):
        start = Start(**{part: seconds})
        start.wait()
        assert seconds <= start.now_s < seconds + 0.1
        assert start.said == []
    start = Start(**{part: NEVER})
    start.wait()
    assert start.now_s < BOUNDS_S
    assert ''.join(start.said).startswith(notice)
    assert len(start.said) == bool(notice)


class Bench:
    """A session before a rover; ``said`` are the events' messages."""

    def __init__(self) -> None:
        self.rover, self.events = SimulatedRover(), list[TraceEvent]()
        event_bus = EventBus()
        event_bus.listen('test', self.events.append, TraceEvent)
        self.approval_queue = ApprovalQueue(timeout_s=1.0)
        self.session = AgentSession(
            self.rover,  # type: ignore[arg-type]
            SHIPPED,
            self.rover.clock,
            event_bus,
            registry=REGISTRY,
            approval_queue=self.approval_queue,
            checkpoints=':memory:',
        )

    @property
    def said(self) -> list[str]:
        return [event.message for event in self.events]


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_a_status_beside_a_skill_does_not_take_the_skills_stop_away(bench: Bench) -> None:
    button = Hurry(bench.rover.clock)
    bench.rover.clock.ros_time_is_active = False  # no wait of the skill makes this clock pass

    def meanwhile() -> None:
        del bench.rover.faults['move_forward']
        with bench.rover.answers_another():
            assert bench.session.rover_status().ok
        button.cancel('Stopped by a test')

    bench.rover.faults['move_forward'] = meanwhile
    with pytest.raises(TurnCancelled, match='Stopped by a test'):
        bench.session.run_skill('move_forward', button, duration_s=1.0)
    # The guardrails ask for the first status.
    assert bench.rover.calls == ['get_status', 'move_forward', 'get_status', 'move_stop']
    assert bench.said[-1] == 'move_forward: Stopped by a test'


@pytest.mark.parametrize(('door', 'said'), [('console', 'User'), ('action', 'User (action)')])
def test_a_turn_leaves_the_rover_still_and_says_through_which_door_its_text_came(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, door: str, said: str
) -> None:
    def turn(_: RosaLoader, request: TurnRequest) -> Turn:
        request.on_start(0)
        bench.rover.motion = 'move_forward'
        return Turn(ok=True, answer='Charge', score=0.5, stop_reason='SWITCH_TASK')

    monkeypatch.setattr(RosaLoader, 'run_turn', turn)
    task = Task('react', metadata={ORIGIN_KEY: door, 'expects': 'good_capture'})
    outcome = bench.session.run_turn(understand('look'), task, Cancellation())
    assert (outcome.ok, outcome.score) == (False, 0.5)  # a picture was expected
    assert not bench.rover.motion
    task.metadata['expects'] = 'answer'
    outcome = bench.session.run_turn(understand('look'), task, Cancellation())
    assert (outcome.ok, outcome.goal) == (True, 'Charge')
    assert bench.said[0] == f'{said}: look'
    begun = bench.session.recent_events()[0]
    assert TurnStarted.of(begun) == TurnStarted(0, door)


def test_every_event_of_a_task_names_it_and_keeps_what_it_says_of_tasks(bench: Bench) -> None:
    """A skill may give the ID of another task as its result."""
    with under_order(Order(task_id='t1')):
        assert bench.session.run_skill('mast_close', Cancellation()).ok
        bench.session.trace(TraceKind.RESULT, 'queued', data={'task_id': 't2'})
    bench.session.trace(TraceKind.OBSERVE, 'of no task')
    *of_task, of_none = bench.events
    assert {(event.data or {})[IN_TASK] for event in of_task} == {'t1'}
    assert of_none.data is None
    assert (bench.events[-2].data or {})['task_id'] == 't2'


def test_without_a_brain_a_turn_says_why_and_the_rover_stands(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def turn(*_: object) -> Turn:
        bench.rover.motion = 'move_forward'
        raise ModelUnavailable('No key')

    monkeypatch.setattr(RosaLoader, 'run_turn', turn)
    outcome = bench.session.run_turn(understand('drive'), Task('react'), Cancellation())
    assert (outcome.ok, outcome.answer) == (False, 'No key')
    assert bench.said == ['No key', 'move_stop: done']
    assert not bench.rover.motion


def test_the_plan_of_a_stopped_turn_does_not_look_as_if_it_ran(bench: Bench) -> None:
    button, seen = Hurry(bench.rover.clock), list[str]()
    bench.rover.clock.ros_time_is_active = False  # no wait of the skill makes this clock pass

    def stop() -> None:
        plan = bench.session.react_state.plan
        assert plan is not None
        seen.extend([plan['status'], *(step['status'] for step in plan['steps'])])
        button.cancel('Stopped by a test')

    bench.rover.faults['move_forward'] = stop
    drive = PlanStep(1, 'move_forward', {'duration_s': 1.0})
    plan = Plan('p', 'see', steps=[PlanStep(0, 'mast_close'), drive, PlanStep(2, 'mast_open')])
    task = Task('react', metadata={'plan': plan.to_dict()})
    with pytest.raises(TurnCancelled):
        bench.session.run_turn(understand('see'), task, button)
    assert seen == ['executing', 'success', 'running', 'pending']
    ended = bench.session.react_state.plan
    assert ended is not None
    assert ended['status'] == 'cancelled'
    assert [step['status'] for step in ended['steps']] == ['success', 'skipped', 'skipped']


def skill(**fields: Any) -> SkillDef:
    return SkillDef(**{'name': 's', 'interface_type': 'internal', **fields})


NOT_FINITE, NO_TEXT = (math.nan, math.inf, -math.inf), ('\ud800',)
NO_STATE: list[tuple[Callable[[Any], Any], tuple[Any, ...]]] = [
    (lambda bad: Telemetry(now_s=bad), NOT_FINITE),
    (lambda bad: Reading(received_s=bad), NOT_FINITE),
    (lambda bad: Reading(received_s=0.0, value={'a': [{'b': bad}]}), NOT_FINITE),
    (lambda bad: RobotState(battery_pct=bad), NOT_FINITE),
    (lambda bad: RobotState(ages_s={'battery': bad}), NOT_FINITE),
    (lambda bad: WorldState(obstacles=[{'distance_m': bad}]), NOT_FINITE),
    (lambda bad: HCIState(interrupt_payload={'a': bad}), NOT_FINITE),
    (lambda bad: QueuedTask(task_id='t', goal='', deadline=bad), NOT_FINITE),
    (lambda bad: skill(timeout_s=bad), NOT_FINITE),
    (lambda bad: WorldState(summary=bad), NO_TEXT),
    (lambda bad: WorldState(zones=[bad]), NO_TEXT),
    (lambda bad: WorldState(obstacles=[{bad: 1}]), NO_TEXT),
    (lambda bad: RobotState(ages_s={bad: 1.0}), NO_TEXT),
    (lambda bad: SkillsState(registry={bad: skill()}), NO_TEXT),
    (lambda bad: skill(error_map={'e': bad}), NO_TEXT),
    (lambda n: QueuedTask(task_id='t', goal='', priority=n), (2**63, -(2**63) - 1, 10**4000)),
]


def test_what_no_reader_of_the_state_can_take_is_refused() -> None:
    for make, wrong in NO_STATE:
        for bad in wrong:
            with pytest.raises(ValidationError):
                make(bad)


def test_a_state_is_frozen_and_json_of_something_else_is_refused() -> None:
    with pytest.raises(ValidationError, match='frozen'):
        BrainState().tasks.preempt_flag = True  # type: ignore[misc]
    wrong = ('{"mode": 1}', '{"robot": {"battery_pct": NaN}}', '{"tasks": {"mode": "RUN"}}')
    for line in ('', '[]', *wrong):
        with pytest.raises(SerdeError, match='BrainState'):
            from_json(BrainState, line)


reasons = st.text(
    st.characters(exclude_categories=['Cs', 'Cc', 'Zl', 'Zp']), min_size=1, max_size=80
).map(str.strip)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / 'tasks.db.safety'


@given(st.lists(st.tuples(reasons | st.just(''), st.text(), st.text()), max_size=6))
@settings(max_examples=examples(50), deadline=None)
def test_what_was_saved_last_is_read(changes: list[tuple[str, str, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, 'safety')
        latch = SafetyLatch(path)
        for reason, *mode in changes:
            latch.set(reason, (mode[0], mode[1]))
            latch.save()
            again = SafetyLatch(path, expected=True)
            assert (again.reason, again.mode) == (reason, tuple(mode))
            assert [each.name for each in path.parent.iterdir()] == ['safety']


def test_a_torn_or_foreign_file_latches_until_it_is_cleared(path: Path) -> None:
    latch = SafetyLatch(path)
    latch.set('e-stop pressed', ('SAFE', 'e-stop pressed'))
    latch.save()
    whole = path.read_bytes()
    torn = [whole[:size] for size in range(len(whole))]
    foreign = (b' \n', b'\xff\xfe', b'3', b'{}', b'[]', whole.replace(b'"since"', b'""'))
    for content in (*torn, *foreign):
        path.write_bytes(content)
        latch = SafetyLatch(path)
        assert str(path) in latch.reason
        assert 'clear' in latch.reason
    latch.set('')
    latch.save()
    assert SafetyLatch(path).reason == ''


def test_a_file_that_cannot_be_written_is_an_error_and_the_latch_holds(path: Path) -> None:
    latch = SafetyLatch(path)
    latch.set('e-stop pressed')
    path.with_name(f'{path.name}.new').mkdir()
    with pytest.raises(OSError, match='new'):
        latch.save()
    assert latch.reason == 'e-stop pressed'


def test_the_time_of_a_latch_outlives_the_process_and_a_new_reason(path: Path) -> None:
    began = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
    times = iter([began, datetime(2026, 2, 2, tzinfo=timezone.utc)])
    latch = SafetyLatch(path, now=lambda: next(times))
    for reason in ('e-stop pressed', 'e-stop pressed; tilt'):
        latch.set(reason)
        latch.save()
        again = SafetyLatch(path)
        assert (again.reason, again.since) == (reason, began)
        again.save()  # as an agent does that ends while the latch holds
        assert SafetyLatch(path).since == began


def test_an_agent_is_restarted_only_by_the_parent_under_which_it_had_begun(path: Path) -> None:
    """At power-on an agent may crash before it has held the tasks of an earlier run."""
    program = 'import pathlib, sys; from curiosity_rosa_demo.infra import files; '
    ask, mark = (
        shlex.join([sys.executable, '-c', f'{program}{does}', str(path)])
        for does in (
            'print(files.is_restart(pathlib.Path(sys.argv[1])))',
            'files.mark_start(pathlib.Path(sys.argv[1]))',
        )
    )

    def answers(*commands: str) -> list[str]:  # of the children of one shell
        script = '; '.join([*commands, 'true'])
        return subprocess.check_output(['sh', '-c', script], text=True).split()

    assert answers(ask, mark, ask, ask) == ['False', 'True', 'True']
    assert answers(ask, ask, mark, ask) == ['False', 'False', 'True']
    path.write_bytes(b'\xff')  # torn
    assert answers(ask) == ['False']


def test_a_restart_tells_how_the_last_run_ended(tmp_path: Path) -> None:
    with RuntimeBench(tmp_path) as bench:
        press(bench)
        bench.mode('SAFE')
    with RuntimeBench(tmp_path) as bench:
        bench.replies('The last run ended in SAFE: e-stop pressed')
        bench.console.handle_line(':clear')
        bench.replies('cleared: e-stop pressed')
    with RuntimeBench(tmp_path) as bench:
        bench.runtime.call(settle())
        assert bench.runtime.state.tasks.mode is Mode.IDLE
        assert not any('last run' in line for line in bench.traced())


def test_a_deleted_file_latches_and_a_first_start_does_not(path: Path) -> None:
    with RuntimeBench(path.parent) as bench:
        bench.runtime.call(settle())
        assert bench.runtime.state.tasks.mode is Mode.IDLE
    path.unlink()
    for _ in range(2):  # it stays so, until a person has looked
        with RuntimeBench(path.parent) as bench:
            bench.mode('SAFE')
            assert 'the safety file is missing' in bench.runtime.state.robot.safety_latch


def test_a_safe_mode_without_a_latch_ends_with_its_cause(path: Path) -> None:
    latch = SafetyLatch(path)
    latch.set('', ('SAFE', 'adapter is silent'))
    latch.save()
    with RuntimeBench(path.parent) as bench:
        bench.replies('The last run ended in SAFE: adapter is silent')
        bench.mode('IDLE')
