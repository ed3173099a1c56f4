"""A policy's life with an owned clock: a kernel that carries out its commands, a rover or a pupil
that its activities move, and the rules that hold at every tick, written down once more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from curiosity_rosa_demo.agent.policy.action import (
    BeginTasks,
    CancelTasks,
    Command,
    PauseTasks,
    PolicyAction,
    ResumeTasks,
    Senses,
)
from curiosity_rosa_demo.agent.policy.events import (
    ActionEnded,
    ActionStarted,
    Event,
    EventBus,
)
from curiosity_rosa_demo.agent.policy.policy import Policy, Tick
from curiosity_rosa_demo.agent.policy.provider import LLMPolicyProvider, Situation
from curiosity_rosa_demo.agent.policy.tick_scheduler import TickScheduler
from curiosity_rosa_demo.agent.policy.world_state import Ongoing, Source, WorldState
from curiosity_rosa_demo.agent.policy.world_view import World
from curiosity_rosa_demo.infra.config_loader import load_config, load_world, shipped_config_dir
from curiosity_rosa_demo.infra.config_models import PolicyConfig
from curiosity_rosa_demo.infra.config_world import DAYS, ActivityConfig, WorldView
from curiosity_rosa_demo.infra.time_zone import time_zone

SETTINGS = load_config().agent.policy
ROVER = load_world('world_view', shipped_config_dir())
COMPANION = load_world('companion', shipped_config_dir())
ENDED = ('COMPLETED', 'FAILED', 'CANCELLED')
WORK_S = 90.0  # how long the work of an activity takes, unless a test says otherwise
HELD = ('SAFE: e-stop pressed', 'CHARGE: battery is low')


def world_of(view: WorldView, zone: str = 'UTC+08:00') -> World:
    return World(view, time_zone(zone))


def instant(text: str, world: World) -> float:
    """Epoch seconds of a local time such as 2026-11-23 07:20 (a Monday)."""
    return datetime.fromisoformat(text).replace(tzinfo=world.zone).timestamp()


@dataclass
class Job:
    """One task of the twin. ``left_s``: of its work; ``minutes``: it lasts so long from when it
    first runs, whether paused or not."""

    ongoing: Ongoing
    left_s: float = 0.0
    minutes: float | None = None
    until: float | None = None
    fails: bool = False
    paused: bool = False


class TaskTwin:
    """Carries out commands as the kernel would. ``work_s`` says for an activity how many seconds
    its work takes; negative: it fails after so long."""

    def __init__(self, world: World, work_s: Callable[[str], float] = lambda name: WORK_S) -> None:
        self.world, self.work_s = world, work_s
        self.states: dict[str, str] = {}
        self.at = 0.0
        self.place, self.energy = world.view.begins.place, world.view.begins.energy
        self._jobs: dict[str, Job] = {}  # those that have not ended, in the order of their begin

    def do(self, commands: Sequence[Command], at: float) -> None:
        self.advance(at)
        for command in commands:
            if isinstance(command, BeginTasks):
                self._submit(command.ongoing)
            else:
                for task_id in command.task_ids:
                    self._control(command, task_id)
        self.advance(at)

    def advance(self, at: float) -> None:
        for task_id in list(self._jobs):
            if task_id in self._jobs:
                self._run(task_id, at)
        self.at = at

    def lose(self) -> None:
        """All tasks, as a kernel whose file was moved away."""
        self.states, self._jobs = {}, {}

    def cancel_all(self) -> None:
        """As somebody does who is not the policy."""
        for task_id in list(self._jobs):
            self._end(task_id, 'CANCELLED')

    def live(self) -> list[Job]:
        """Those that run or wait to run."""
        return [job for job in self._jobs.values() if not job.paused]

    def _submit(self, ongoing: Ongoing) -> None:
        activity = self.world.view.activities[ongoing.activity]
        if any(task_id in self.states for task_id in ongoing.task_ids):
            raise AssertionError(f'{ongoing.activity} was submitted twice')
        jobs: list[Job] = []
        if activity.does or activity.asks:
            left_s = self.work_s(ongoing.activity)
            jobs.append(Job(ongoing, left_s=abs(left_s), fails=left_s < 0.0))
        if activity.minutes:
            jobs.append(Job(ongoing, minutes=activity.minutes))
        assert len(jobs) == len(ongoing.task_ids)
        for task_id, job in zip(ongoing.task_ids, jobs, strict=True):
            self._jobs[task_id] = job
            self.states[task_id] = 'PENDING'

    def _control(self, command: Command, task_id: str) -> None:
        job = self._jobs.get(task_id)
        if job is None:
            return
        if isinstance(command, CancelTasks):
            self._end(task_id, 'CANCELLED')
        else:
            job.paused = isinstance(command, PauseTasks)
            assert job.paused or isinstance(command, ResumeTasks)
            self.states[task_id] = 'PAUSED' if job.paused else 'PENDING'

    def _run(self, task_id: str, at: float) -> None:
        job = self._jobs[task_id]
        if job.paused:
            return
        begins = self.at
        first = job.ongoing.task_ids[0]
        if first != task_id:
            if first in self._jobs:
                self.states[task_id] = 'WAITING'
                return
            if self.states[first] != 'COMPLETED':
                self._end(task_id, 'CANCELLED')
                return
        self.states[task_id] = 'ACTIVE'
        if job.minutes is None:
            job.left_s -= at - begins
            over = job.left_s <= 0.0
        else:
            if job.until is None:
                job.until = at + job.minutes * 60.0
            over = at >= job.until
        self._drain(job, at - begins)
        if over:
            self._end(task_id, 'FAILED' if job.fails else 'COMPLETED')

    def _drain(self, job: Job, seconds: float) -> None:
        rate = self.world.view.activities[job.ongoing.activity].energy_per_h
        self.energy = min(1.0, max(0.0, self.energy + rate * seconds / 3600.0))

    def _end(self, task_id: str, state: str) -> None:
        job = self._jobs.pop(task_id)
        self.states[task_id] = state
        to = self.world.view.activities[job.ongoing.activity].to
        if to and state == 'COMPLETED' and task_id == job.ongoing.task_ids[-1]:
            self.place = to


class ModelTwin:
    """A model behind the real provider. ``say`` answers a situation or raises; while ``silent``
    its answers are held back until ``speak``."""

    def __init__(
        self, say: Callable[[Situation], PolicyAction], settings: PolicyConfig = SETTINGS
    ) -> None:
        self.say = say
        self.asked: list[Situation] = []
        self.refusals: list[str] = []  # what it was told of, at each request
        self.silent = False
        self.steady_s = 0.0
        self._calls: list[Callable[[], None]] = []
        self.provider = LLMPolicyProvider(
            self._ask, settings, start=self._start, steady=lambda: self.steady_s
        )

    def speak(self) -> None:
        calls, self._calls = self._calls, []
        for call in calls:
            call()

    def _start(self, call: Callable[[], None]) -> None:
        self._calls.append(call)
        if not self.silent:
            self.speak()

    def _ask(self, situation: Situation, refusals: str) -> PolicyAction:
        self.asked.append(situation)
        self.refusals.append(refusals)
        return self.say(situation)


def suggests(name: str, *, preemptive: bool = False) -> Callable[[Situation], PolicyAction]:
    action = PolicyAction(type=name, preemptive=preemptive, rationale=f'{name} would be good')
    return lambda situation: action


class Rules:
    """What holds at every tick, whatever happens. It knows the world view, nothing else."""

    def __init__(self, world: World) -> None:
        self.world, self.view = world, world.view
        self.begun: list[tuple[float, str, Source]] = []
        self.open: list[str] = []  # activities that began and have not ended

    def hear(self, event: Event) -> None:
        if isinstance(event, ActionStarted):
            self.open.append(event.activity)
            self.begun.append((event.at, event.activity, event.by))
        elif isinstance(event, ActionEnded):
            assert event.activity in self.open, f'{event.activity} ended twice'
            self.open.remove(event.activity)

    def check(self, before: WorldState, tick: Tick, senses: Senses, twin: TaskTwin) -> None:
        state, at = tick.state, tick.decision.at
        assert 0.0 <= tick.decision.energy <= 1.0
        if state is before and not tick.commands:
            return
        begins = [each.ongoing for each in tick.commands if isinstance(each, BeginTasks)]
        self._moved(before.place, state.place)
        going = [each.activity for each in (*state.suspended, state.activity) if each]
        assert sorted(self.open) == sorted(going)
        assert len(begins) <= 1
        for ongoing in begins:
            self._may_begin(ongoing, before, tick, senses, at)
        running = state.activity.task_ids if state.activity and not state.activity.held else []
        for job in twin.live():
            assert job.ongoing.task_ids == running, f'{job.ongoing.activity} runs beside'

    def _moved(self, before: str, after: str) -> None:
        assert after in self.view.places or (self.view.measured and not after)
        if after != before and not self.view.measured:
            assert after in self.view.places[before].leads_to

    def _may_begin(
        self, ongoing: Ongoing, before: WorldState, tick: Tick, senses: Senses, at: float
    ) -> None:
        activity = self.view.activities[ongoing.activity]
        local = self.world.local(at)
        assert not senses.holding
        assert open_at(activity, local), f'{ongoing.activity} at {local:%a %H:%M}'
        place = senses.place if self.view.measured and senses.place is not None else None
        here = tick.state.place if place is None else place
        assert not activity.at or here in activity.at
        if activity.to:
            assert activity.to in self.view.places[here].leads_to
        for need in activity.needs:
            assert tick.state.devices[need.partition('.')[0]]
        assert tick.decision.energy >= activity.energy_min - 1e-9
        self._may_interrupt(ongoing, activity, before, tick)

    def _may_interrupt(
        self, ongoing: Ongoing, activity: ActivityConfig, before: WorldState, tick: Tick
    ) -> None:
        last = before.activity
        put_aside = last is not None and any(
            each.task_ids == last.task_ids for each in tick.state.suspended
        )
        if activity.ends:
            assert last is not None
            assert last.activity in activity.ends
        if last is not None and put_aside:
            assert last.by is not Source.EMERGENCY
            if ongoing.by is not Source.EMERGENCY:
                assert self.view.activities[last.activity].interruptible


def open_at(activity: ActivityConfig, local: datetime) -> bool:
    """Whether ``activity`` may begin at this local time by its window and days."""
    if not activity.window:
        return not activity.days or DAYS[local.weekday()] in activity.days
    begin, end = activity.window.split('-')
    clock = f'{local:%H:%M}'
    if begin < end:
        inside, day = begin <= clock < end, local
    else:
        inside = clock >= begin or clock < end
        day = local if clock >= begin else local - timedelta(days=1)
    return inside and (not activity.days or DAYS[day.weekday()] in activity.days)


@dataclass
class Life:
    """A policy, its kernel and its clock. ``holding`` and ``twin`` may be changed at any time."""

    world: World
    at: float
    settings: PolicyConfig = SETTINGS
    provider: LLMPolicyProvider | None = None
    state: WorldState | None = None
    work_s: Callable[[str], float] = lambda name: WORK_S
    keep: int = 5000  # decisions; 0: no events either
    holding: str = ''
    decisions: list[Tick] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.twin = TaskTwin(self.world, self.work_s)
        self.twin.at = self.at
        self.rules = Rules(self.world)
        self.saved = self.state or WorldState.first(self.world.view)
        self.number = 0
        self.policy = self._born()

    def _born(self) -> Policy:
        bus = EventBus()
        if self.keep:
            bus.subscribe(self.events.append)
        bus.subscribe(self.rules.hear)
        return Policy(
            self.world,
            self.settings,
            state=self.saved,
            provider=self.provider,
            bus=bus,
            number=self.number,
        )

    def restart(self, *, lost: bool = False) -> None:
        """The process dies after its last tick; what was kept is read again."""
        self.policy.close()
        self.saved = WorldState.model_validate_json(self.saved.model_dump_json())
        if lost:
            self.twin.lose()
        self.policy = self._born()

    def senses(self) -> Senses:
        twin = self.twin
        if not self.world.view.measured:
            return Senses(holding=self.holding, tasks=twin.states)
        return Senses(twin.place, twin.energy, self.holding, twin.states)

    def tick(self, *messages: str, cause: str = 'minute', carried_out: bool = True) -> Tick:
        """``carried_out`` False: the process dies between keeping the state and its commands."""
        self.twin.advance(self.at)
        before, senses = self.saved, self.senses()
        tick = self.policy.tick(self.at, cause, senses, messages)
        self.saved, self.number = tick.state, tick.decision.number
        if carried_out:
            if tick.commands:
                self.twin.do(tick.commands, self.at)
            self.rules.check(before, tick, senses, self.twin)
        if self.keep:
            self.decisions.append(tick)
            del self.decisions[: -self.keep]
        return tick

    def off(self, why: str) -> Tick:
        tick = self.policy.off(why, self.at)
        self.saved, self.number = tick.state, tick.decision.number
        self.twin.do(tick.commands, self.at)
        return tick

    def run(self, minutes: float, *, step_s: float = 60.0) -> None:
        """Advance the clock and tick, again and again."""
        end = self.at + minutes * 60.0
        while self.at < end:
            self.at += step_s
            self.tick()

    def until(self, text: str) -> None:
        """Live up to a local time, its own tick included."""
        self.run((instant(text, self.world) - self.at) / 60.0)

    @property
    def doing(self) -> str:
        return self.saved.activity.activity if self.saved.activity else ''

    def began(self, name: str = '') -> list[str]:
        """Local times at which ``name`` (all: with their names) began."""
        return [
            f'{self.world.local(at):%a %H:%M}' + ('' if name else f' {activity}')
            for at, activity, _ in self.rules.begun
            if name in ('', activity)
        ]


def live(
    world: World,
    days: int,
    *,
    begins: str = '2026-01-01 00:00',
    provider: LLMPolicyProvider | None = None,
    settings: PolicyConfig = SETTINGS,
    messages: Callable[[float], Sequence[str]] | None = None,
) -> Life:
    """So many days of ticks, each when the scheduler says that it is due. ``messages`` says what
    arrives at an instant. Raises AssertionError when a rule is broken."""
    life = Life(world, instant(begins, world), settings=settings, provider=provider, keep=0)
    scheduler = TickScheduler(settings.tick_s, world.zone)
    scheduler.resume(life.at)
    end = life.at + days * 86400.0
    while life.at < end:
        due = scheduler.due(scheduler.next_at(life.at))
        assert due is not None
        assert due.missed == 0
        life.at = due.at
        life.tick(*(messages(life.at) if messages else ()))
    return life
