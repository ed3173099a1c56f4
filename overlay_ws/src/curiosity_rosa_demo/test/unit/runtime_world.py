# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A real runtime (kernel, runner, store, skills) that a test feeds with readings, one before a
session that the test holds the strings of, one below the real agent, and a Robot.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
import threading
import time
from types import SimpleNamespace
from typing import Any, cast, TypeVar

from chat_server import ChatServer, Reply
from curiosity_rosa_demo.agent.console import Console
from curiosity_rosa_demo.agent.interfaces.triggers.door import TriggerBoard
from curiosity_rosa_demo.agent.kernel.hear import Message, Ordered
from curiosity_rosa_demo.agent.kernel.hear import Reply as AgentReply
from curiosity_rosa_demo.agent.language.understand import Utterance
from curiosity_rosa_demo.agent.llm.usage import UsageLedger
from curiosity_rosa_demo.agent.policy.autonomy import Autonomy, OFF_TEXT
from curiosity_rosa_demo.agent.policy.clock import PolicyClock
from curiosity_rosa_demo.agent.policy.store import Decision
from curiosity_rosa_demo.agent.policy.suggestion_provider import LLMPolicyProvider
from curiosity_rosa_demo.agent.policy.world import WorldState
from curiosity_rosa_demo.agent.react.ask import ApprovalAnswer, ApprovalQueue
from curiosity_rosa_demo.agent.robot import Robot
from curiosity_rosa_demo.agent.runtime.halt import Halt
from curiosity_rosa_demo.agent.runtime.runtime import Runtime
from curiosity_rosa_demo.agent.runtime.session import AgentSession
from curiosity_rosa_demo.agent.runtime.task_spans import TaskSpans
from curiosity_rosa_demo.agent.skills.executor import SkillMonitor
from curiosity_rosa_demo.agent.skills.registry import make_registry, SkillRegistry
from curiosity_rosa_demo.agent.skills.skill import Skill
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.agent.tasks.origin import asked_by, current_order, door_of, Order
from curiosity_rosa_demo.agent.topics.camera import CameraFeed
from curiosity_rosa_demo.agent.topics.captures import Analyses, Captures
from curiosity_rosa_demo.agent.topics.node_health import NodeHealth
from curiosity_rosa_demo.domain.adapter_status import NodeStatus
from curiosity_rosa_demo.domain.brain_state import (
    ApprovalAction,
    BrainState,
    Json,
    Question,
    ReactState,
    Reading,
)
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.models import RoverPose, ToolResult, TraceEvent, TraceKind
from curiosity_rosa_demo.domain.operation import Operation
from curiosity_rosa_demo.domain.pictures import AnalyzedGround, Capture, Picture
from curiosity_rosa_demo.domain.skills import Outcome
from curiosity_rosa_demo.infra.config.behaviour import WorldView
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.trace.trace_buffer import EventBus
from curiosity_rosa_demo.trace.trace_codec import new_event
from harness import wait_until
from tool_rover import SimulatedRover
from turn_world import config_of, LLM, SHIPPED

H = TypeVar('H', bound='RuntimeHarness')
T = TypeVar('T')
# A busy machine can starve a test of the CPU for seconds; that is not a silent kernel.
PATIENT_S = 60.0


def with_watchdog(config: Config, limit_s: float) -> Config:
    return config.changed(agent={'kernel': {'watchdog_s': limit_s}})


class RuntimeHarness:
    """Use it in a ``with``: the runtime halts and everything closes at the end. The runtime is not
    started yet.
    """

    wait_s = 20.0

    def __init__(
        self,
        folder: Path,
        session: Any,
        config: Config,
        registry: SkillRegistry,
        clock: Callable[[], float] = time.time,
        spans: TaskSpans | None = None,
    ) -> None:
        self.said: list[str] = []
        self.config = config
        self.console_texts = EventBus()  # the same, for the consoles that are attached
        self.readings: dict[str, Reading] = {}
        self.runtime = Runtime(
            session,
            config,
            registry=registry,
            database=folder / 'tasks.db',
            readings=lambda: dict(self.readings),
            say=self.print,
            clock=clock,
            event_bus=EventBus(),
            spans=spans,
        )

    def print(self, text: str) -> None:
        self.said.append(text)
        self.console_texts.publish(text)

    def reply_to(self, message: Message) -> AgentReply:
        """To a message that is made now."""
        current = replace(message, stops=self.runtime.halt.stops)
        self.runtime.post(current)
        return current.reply.result(self.wait_s)

    def list_tasks(self) -> list[Task]:
        """All unfinished tasks and the newest ended ones, in the order of their submission."""

        async def tasks() -> list[Task]:
            return self.runtime.runner.list_tasks()

        return self.runtime.call(tasks())

    def __enter__(self: H) -> H:
        return self

    def __exit__(self, *_: object) -> None:
        self.runtime.halt_for_good()
        self.close()

    def close(self) -> None:
        """After the runtime was halted."""
        self.runtime.close()

    def hear(self, source: str, **value: Any) -> None:
        reading = Reading(value=value, received_s=time.monotonic())
        self.readings = {**self.readings, source: reading}
        self.runtime.tick_now()

    def until(self, condition: Callable[[], Any], what: str) -> None:
        wait_until(condition, what, self.wait_s)


CONFIG = with_watchdog(load_config(), PATIENT_S)
REGISTRY = make_registry(CONFIG)
WAIT_S = RuntimeHarness.wait_s
DONE = ('COMPLETED', 'FAILED', 'CANCELLED')


class ScriptedAgentSession:
    """A session whose skills run until they are released, or stopped. A turn first asks what is
    in ``asks``, and goes on when that is not rejected.
    """

    def __init__(self, approval_s: float) -> None:
        self.approval_queue = ApprovalQueue(timeout_s=approval_s)
        self.react_state = ReactState()
        self.usage = UsageLedger(load_config().agent.llm)
        self.monitor = SkillMonitor()
        self.brain_state: Callable[[], BrainState] = BrainState
        self.halt = Halt(lambda: self.stop_rover())
        self.asks: list[Question] = []
        self.answers_to: list[tuple[str, ApprovalAnswer]] = []  # by the question's ID
        self._events = EventBus(max_events=200)
        self.ran: list[str] = []
        self.turns: list[tuple[str, Json | None]] = []  # task and plan
        self.doors: list[str] = []  # through which the text of each turn came
        self.askers: list[str] = []  # who asked for each turn
        self.stops = 0
        self.order: list[str] = []  # stops, and beginnings and ends of work
        self.release = threading.Event()
        self.started = threading.Event()
        self.broken: Exception | None = None
        self.fails = ''
        self.faults: dict[str, str] = {}  # by task: that stops the rover in its motion
        self.world = SimpleNamespace(home=None, take_fault=lambda task: self.faults.pop(task, ''))
        self.quick: set[str] = set()  # tools that take no time
        self.deaf: threading.Event | None = None  # work ends with this, whatever it is told
        self.used: list[Cancellation] = []
        self.answers = True  # whether the status comes
        self.current_activity = None
        self.on_begin: Callable[[str], None] = lambda what: None

    def task_usage(self, task_id: str) -> Json:
        return {}

    def trace(self, kind: TraceKind, message: str, **fields: Any) -> None:
        self._events.publish(new_event(kind, message, **fields))

    def recent_events(self) -> list[TraceEvent]:
        return self._events.trace_events()

    def _work(self, what: str, cancellation: Cancellation) -> Outcome:
        cancellation.check()
        self.on_begin(what)
        self.used.append(cancellation)
        self.ran.append(what)
        self.order.append(f'begin {what}')
        self.started.set()
        if self.broken:
            raise self.broken
        try:
            if self.deaf is not None:
                self.deaf.wait(WAIT_S)
            while what not in self.quick and not self.release.is_set():
                cancellation.sleep(0.005)
            cancellation.check()
        finally:
            self.order.append(f'end {what}')
        return Outcome(False, self.fails) if self.fails else Outcome(True, f'did {what}')

    def admit(self, name: str, cancellation: Cancellation, **arguments: Any) -> Order:
        return replace(current_order(), call=Operation(name, arguments))

    def has_skill(self, name: str) -> bool:
        return True

    def run_skill(self, name: str, cancellation: Cancellation, **arguments: Any) -> Outcome:
        return self._work(f'{name}{arguments or ""}', cancellation)

    def run_turn(self, said: Utterance, task: Task, cancellation: Cancellation) -> Outcome:
        self.turns.append((task.id, task.metadata.get('plan')))
        self.askers.append(asked_by(task))
        self.doors.append(door_of(task))
        for question in list(self.asks):
            answer = self.approval_queue.ask(question, cancellation)
            self.answers_to.append((question.id, answer))
            self.asks.remove(question)
            if answer.action is ApprovalAction.REJECT:
                return Outcome(False, f'Rejected: {answer.why}')
        expects = task.metadata.get('expects', 'answer')
        return self._work(f'{expects}: {said.text}', cancellation)

    def rehearse_task(self, task: Task) -> None:
        return None

    def rover_status(self) -> ToolResult:
        if not self.answers:
            return ToolResult.failure('no answer')
        return ToolResult.success(moving=True, rover_x=1.23456, rover_y=0.0)

    def stop_rover(self) -> Outcome:
        self.order.append('stop')
        self.stops += 1
        return Outcome(True, 'stopped')


class RuntimeBench(RuntimeHarness):
    """A console before a runtime. Use it in a ``with``."""

    def __init__(
        self,
        folder: Path,
        *,
        ready: bool = True,
        go_on: bool = False,
        config: Config = CONFIG,
        registry: SkillRegistry = REGISTRY,
        now: Callable[[], float] = time.time,
        epoch: Callable[[], float] = time.time,
        provider: LLMPolicyProvider | None = None,
    ) -> None:
        """``now``: the source of the policy's clock; ``epoch``: when simulated time begins."""
        clock = PolicyClock(now, epoch)
        self.session = ScriptedAgentSession(config.guardrails.approval.timeout_s)
        self.spoken: list[str] = []
        super().__init__(folder, self.session, config, registry, clock.now)
        self.autonomy = Autonomy(
            self.runtime,
            config,
            trace=self.session.trace,
            file=folder / 'tasks.db.policy',
            clock=clock,
            provider=lambda on_answer: provider,
            speak=self.spoken.append,
        )
        self.robot = robot_of(self)
        self.console = Console(self.robot, self.print)
        self.runtime.start(go_on=go_on)
        self.autonomy.start(go_on=go_on)
        if ready:
            self.begin()

    def begin(self) -> None:
        self.runtime.run_tasks(ended=self.console.report_task_end)
        self.autonomy.enable()
        self.console.run_queued_lines()

    def close(self) -> None:
        self.autonomy.close()
        super().close()

    def asked(self, question: Question) -> None:
        """Until it was printed."""
        begin = f'? {question.id} '
        self.until(lambda: any(each.startswith(begin) for each in self.said), f'{begin!r}')

    # --- the robot --------------------------------------------------------------------------

    def mode(self, name: str) -> None:
        self.until(lambda: self.runtime.state.tasks.mode.name == name, f'mode {name}')

    def stopped(self, times: int) -> None:
        """Until the rover was stopped so often; a stop that is not typed has its own thread."""
        self.until(lambda: self.session.stops >= times, f'{times} stops')
        assert self.session.stops == times

    # --- the console ------------------------------------------------------------------------

    def finish(self) -> None:
        self.session.release.set()
        assert self.console.wait_until_idle(WAIT_S), 'the console is still busy'

    def runs(self, line: str) -> None:
        self.session.started.clear()
        assert self.console.handle_line(line)
        assert self.session.started.wait(WAIT_S), f'{line} did not start'

    def tasks(self) -> dict[str, str]:
        """State by what is done, in order of submission."""
        return {
            str(task.metadata.get('text', task.name)): task.state.name
            for task in self.list_tasks()
        }

    def task(self, what: str) -> Task:
        tasks = self.list_tasks()
        return next(t for t in tasks if t.metadata.get('text', t.name) == what)

    def replies(self, part: str) -> None:
        """Until a trace event has said so."""
        self.until(lambda: any(part in text for text in self.traced()), f'{part!r} to be told')

    def traced(self) -> list[str]:
        return [event.message for event in self.session.recent_events()]

    def in_loop(self, work: Callable[..., object], *arguments: Any) -> None:
        """Call it in the runtime's loop, without waiting for it."""

        async def running_loop() -> asyncio.AbstractEventLoop:
            return asyncio.get_running_loop()

        self.runtime.call(running_loop()).call_soon_threadsafe(work, *arguments)

    @contextmanager
    def blocked_loop(self) -> Iterator[None]:
        """Nothing else happens in the loop meanwhile."""
        begun, go_on = threading.Event(), threading.Event()

        def block() -> None:
            begun.set()
            go_on.wait(WAIT_S)

        self.in_loop(block)
        assert begun.wait(WAIT_S)
        try:
            yield
        finally:
            go_on.set()

    def becomes(self, what: str, state: str) -> None:
        self.until(lambda: self.tasks().get(what) == state, f'{what} to be {state}')


# --- a day of an agent, whose clock the test owns -----------------------------------------

SINGAPORE = timezone(timedelta(hours=8))
TEN = datetime(2026, 11, 24, 10, 0, tzinfo=SINGAPORE).timestamp()  # on a Tuesday
MIN, HOUR = 60.0, 3600.0

WORLD: dict[str, Any] = {
    'says': 'a rover in a test',
    'measured': False,
    'begins': {'place': 'base', 'energy': 0.8},
    'places': {'base': {'leads_to': ['field']}, 'field': {'leads_to': ['base']}},
    'devices': {'battery': {'abilities': ['charge']}},
    'activities': {
        'survey': {
            'says': 'surveys the ground',
            'window': '06:00-20:00',
            'minutes': 20,
            'again_after_h': 2.0,
            'does': [{'skill': 'mast_open'}, {'skill': 'capture_and_score'}],
        },
        'sleep': {'says': 'sleeps', 'window': '21:00-05:00', 'minutes': 480},
        'charge': {'says': 'charges', 'does': [{'skill': 'charge'}], 'again_after_h': 1.0},
        'read': {'says': 'reads a message', 'minutes': 2, 'interruptible': False},
        'rest': {'says': 'stands still', 'minutes': 30},
        'wonder': {'says': 'wonders', 'asks': 'Find something of interest.'},
    },
    'emergencies': [{'event': 'external.message', 'activity': 'read'}],
    'routine': [{'activity': 'sleep'}, {'activity': 'survey', 'preemptive': False}],
}


def config_with_world(world: dict[str, Any] | None = None, **policy: Any) -> Config:
    """The shipped contracts but for the world; ``policy`` replaces settings of its section."""
    settings = CONFIG.agent.policy.model_copy(update=policy)
    agent = CONFIG.agent.model_copy(update={'policy': settings})
    view = WorldView.model_validate({**WORLD, **(world or {})})
    return CONFIG.model_copy(update={'world': view, 'agent': agent})


class AutonomyBench(RuntimeBench):
    """It begins at ten in the morning of a Tuesday."""

    def __init__(
        self, folder: Path, *, config: Config | None = None, at: float = TEN, **named: Any
    ) -> None:
        self.at, self.config = at, config or config_with_world()
        clock = {'now': lambda: self.at, 'epoch': lambda: TEN}
        super().__init__(folder, config=self.config, **clock, **named)

    def on(self) -> str:
        outcome = self.autonomy.switch_on()
        assert outcome.ok, outcome.answer
        return outcome.answer

    @property
    def is_on(self) -> bool:
        return self.autonomy.status_text() != OFF_TEXT

    def kept(self, read: Callable[[Autonomy], T]) -> T:
        """What ``read`` finds between two ticks."""
        return self.autonomy._worker.call(lambda: read(self.autonomy), 10.0)

    @property
    def state(self) -> WorldState:
        return self.kept(lambda kept: kept.policy.state)

    @property
    def activity(self) -> str:
        ongoing = self.state.activity
        return ongoing.activity if ongoing else ''

    def decisions(self) -> list[Decision]:
        return self.kept(lambda kept: kept.store.recent_decisions(1000))

    def goes_on(self, activity: str) -> None:
        self.until(lambda: self.activity == activity, f'{activity or "nothing"} to go on')

    def pass_time(self, seconds: float) -> None:
        """And wait until that was noticed; for while it is on."""
        seen = self.decisions()[-1].at
        self.at += seconds
        self.until(lambda: self.decisions()[-1].at > seen, 'a tick')

    @property
    def timer(self) -> Task:
        """The first task that lasts as long as an activity."""
        return next(task for task in self.list_tasks() if task.name == 'activity')

    def states(self, name: str) -> list[str]:
        """Of the tasks for the skill ``name``, in order of submission."""
        return [task.state.name for task in self.list_tasks() if task.name == name]

    def become(self, name: str, *states: str) -> None:
        self.until(lambda: self.states(name) == [*states], f'{name} to be {states}')


async def settle() -> None:
    """The loop has had many turns; what is to happen by itself has happened."""
    for _ in range(20):
        await asyncio.sleep(0.001)


class AgentWorld(RuntimeHarness):
    """The real agent before a simulated rover: kernel, tasks, session, ROSA and its loop, skills.
    The model is a scripted server, whose key must be in the environment. The rover's time does not
    pass by itself, so it does not drive.
    """

    wait_s = 30.0

    def __init__(
        self,
        folder: Path,
        *script: Reply,
        skills: tuple[Skill, ...] = (),
        config: Config = SHIPPED,
        spans: TaskSpans | None = None,
    ) -> None:
        self.server = ChatServer(*script)
        config = config_of(llm={**LLM, 'base_url': self.server.url}, config=config)
        config = with_watchdog(config, PATIENT_S)
        registry = make_registry(config)
        for skill in skills:
            registry.register(skill)
        self.rover = SimulatedRover()
        self.events: list[TraceEvent] = []
        event_bus = EventBus()
        event_bus.listen('test', self.events.append, TraceEvent)
        self.session = AgentSession(
            self.rover,  # type: ignore[arg-type]
            config,
            self.rover.clock,
            event_bus,
            registry=registry,
            approval_queue=ApprovalQueue(timeout_s=config.guardrails.approval.timeout_s),
            checkpoints=':memory:',
        )
        super().__init__(folder, self.session, config, registry, spans=spans)
        self.runtime.start(go_on=False)
        self.runtime.run_tasks(ended=lambda task: None)

    def close(self) -> None:
        super().close()
        self.server.close()

    @property
    def state(self) -> BrainState:
        """As /state has it."""
        return self.runtime.state.model_copy(update={'react': self.session.react_state})

    def submit(self, name: str, **arguments: Any) -> Task:
        """A task that the kernel has taken."""
        reply = self.reply_to(Ordered(self.runtime.make_task(name, arguments)))
        assert reply.task is not None, reply.lines
        return reply.task

    def refused_by(self) -> list[str]:
        """The rules that refused something, in order."""
        rules = ((event.data or {}).get('rule') for event in self.events)
        return [str(rule) for rule in rules if rule is not None]


class Eyes:
    """Stands for the camera, the captures and the analyses."""

    def __init__(self) -> None:
        self.shown: Picture | None = None
        self.captures: list[Capture] = []
        self.ground: AnalyzedGround | None = None

    def picture(self, longest_px: int = 0) -> Picture | None:
        return self.shown

    def recent(self) -> list[Capture]:
        return self.captures

    def newest(self) -> AnalyzedGround | None:
        return self.ground


def robot_of(bench: Any, eyes: Eyes | None = None, triggers: TriggerBoard | None = None) -> Robot:
    """The port to the runtime of ``bench``, without a console."""
    eyes, board = eyes or Eyes(), triggers or TriggerBoard(())
    nodes = SimpleNamespace(node_statuses=lambda: [NodeStatus('adapter', True, 0.1)])
    return Robot(
        bench.runtime,
        bench.session,
        bench.autonomy,
        bench.config,
        say=bench.print,
        camera=cast(CameraFeed, eyes),
        captures=cast(Captures, eyes),
        analyses=cast(Analyses, eyes),
        nodes=cast(NodeHealth, nodes),
        pose=lambda: RoverPose(x=1.0, y=2.0, frame_id='odom'),
        replay=lambda: '',
        triggers=board.statuses,
        switch_trigger=board.switch,
        console_texts=bench.console_texts,
    )


class RobotBench:
    """What a test of a Robot has in its hands."""

    def __init__(self, bench: RuntimeBench, triggers: TriggerBoard | None = None) -> None:
        self.bench, self.eyes = bench, Eyes()
        self.robot = robot_of(bench, self.eyes, triggers)
        console = bench.console
        self.robot.attach(console.handle_remote_line, lambda: not bench.robot.not_ready_reason())


def run(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """``work`` in a loop of its own, as the HTTP server has one; bounded."""

    async def bounded() -> T:
        return await asyncio.wait_for(work(), WAIT_S)

    return asyncio.run(bounded())
