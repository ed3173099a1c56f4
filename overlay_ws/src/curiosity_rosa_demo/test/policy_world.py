# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A policy with an owned clock, its kernel, a model that it asks, and the rules of every tick."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from curiosity_rosa_demo.agent.policy.policy import Policy, PolicyTick
from curiosity_rosa_demo.agent.policy.suggestion_provider import LLMPolicyProvider
from curiosity_rosa_demo.agent.policy.world import (
    Command,
    Event,
    EventName,
    Ongoing,
    PolicyAction,
    PromptSituation,
    Senses,
    Source,
    SuggestionFailed,
    WorldModel,
    WorldState,
)
from curiosity_rosa_demo.infra.config.agent import PolicyConfig
from curiosity_rosa_demo.infra.config.base import read_yaml, time_zone
from curiosity_rosa_demo.infra.config.behaviour import ActivityConfig, DAYS, WorldView
from curiosity_rosa_demo.infra.config_loader import load_config, shipped_config_dir

SETTINGS = load_config().agent.policy
WORK_S = 90.0  # how long the work of an activity takes, unless a test says otherwise
NO_IDEA = SuggestionFailed('It has no idea.')
HELD = ('SAFE: e-stop pressed', 'CHARGE: battery is low')


def shipped_world(name: str) -> WorldView:
    return WorldView.model_validate(read_yaml(shipped_config_dir() / f'{name}.yaml'))


ROVER, COMPANION = shipped_world('world_view'), shipped_world('companion')


def world_of(view: WorldView, zone: str = 'UTC+08:00', **changes: Any) -> WorldModel:
    return WorldModel(WorldView.model_validate(view.model_dump() | changes), time_zone(zone))


def anytime() -> dict[str, Any]:
    """The companion's activities, which may begin at any hour; some are work of unknown length."""
    work = {'does': [{'skill': 'mast_open'}]}
    own = {'study': work, 'library': work | {'minutes': 0.0}, 'rest': {'energy_per_h': 2.0}}
    free = {'window': '', 'days': [], 'again_after_h': 0.0, 'energy_min': 0.0}
    named = COMPANION.model_dump()['activities'].items()
    activities = {name: each | free | own.get(name, {}) for name, each in named}
    return {'activities': activities, 'routine': [], 'emergencies': []}


def instant(text: str, world: WorldModel) -> float:
    """Epoch seconds of a local time such as 2026-11-23 07:20 (a Monday)."""
    return datetime.fromisoformat(text).replace(tzinfo=world.zone).timestamp()


@dataclass
class Job:
    """One task of the twin. ``left_s``: of its work; ``minutes``: it lasts so long from when it
    first runs, whether paused or not.
    """

    ongoing: Ongoing
    left_s: float = 0.0
    minutes: float | None = None
    until: float | None = None
    fails: bool = False
    paused: bool = False


class SimulatedTasks:
    """A kernel. ``work_s`` says for an activity how many seconds its work takes; negative: it
    fails after so long. Who lets no time pass ends its tasks by hand.
    """

    def __init__(
        self, world: WorldModel, work_s: Callable[[str], float] = lambda name: WORK_S
    ) -> None:
        self.world, self.work_s = world, work_s
        self.states: dict[str, str] = {}
        self.at = 0.0
        self.place, self.energy = world.view.begins.place, world.view.begins.energy
        self._jobs: dict[str, Job] = {}  # those that have not ended, in the order of their begin

    def carry_out(self, commands: Iterable[Command]) -> None:
        for command in commands:
            if command.ongoing:
                self._submit(command.ongoing)
            else:
                for task_id in command.task_ids:
                    self._control(command, task_id)

    def advance(self, at: float) -> None:
        for task_id in list(self._jobs):
            if task_id in self._jobs:
                self._run(task_id, at)
        self.at = at

    def lose(self, *task_ids: str) -> None:
        """These tasks, or all, as a kernel whose file was moved away."""
        for task_id in task_ids or tuple(self.states):
            self.states.pop(task_id)
            self._jobs.pop(task_id, None)

    def cancel_all(self) -> None:
        """As somebody does who is not the policy."""
        for task_id in list(self._jobs):
            self.end(task_id, 'CANCELLED')

    def not_ended(self) -> list[str]:
        return list(self._jobs)

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
        if command.does == 'cancel':
            self.end(task_id, 'CANCELLED')
        else:
            job.paused = command.does == 'pause'
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
            if self.states.get(first) != 'COMPLETED':
                self.end(task_id, 'CANCELLED')
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
            self.end(task_id, 'FAILED' if job.fails else 'COMPLETED')

    def _drain(self, job: Job, seconds: float) -> None:
        rate = self.world.view.activities[job.ongoing.activity].energy_per_h
        self.energy = min(1.0, max(0.0, self.energy + rate * seconds / 3600.0))

    def end(self, task_id: str, state: str) -> None:
        job = self._jobs.pop(task_id)
        self.states[task_id] = state
        to = self.world.view.activities[job.ongoing.activity].to
        if to and state == 'COMPLETED' and task_id == job.ongoing.task_ids[-1]:
            self.place = to


class ScriptedModel:
    """A model behind the real provider. It answers or raises ``reply``; while ``silent`` its
    answers are held back until ``speak``. ``asked``: the refusals that it was told.
    """

    def __init__(self, reply: Any = NO_IDEA, settings: PolicyConfig = SETTINGS) -> None:
        self.reply = reply
        self.asked: list[str] = []
        self.silent = False
        self._calls: list[Callable[[], None]] = []
        self.provider = LLMPolicyProvider(self._ask, settings, start=self._start)

    def speak(self) -> None:
        calls, self._calls = self._calls, []
        for call in calls:
            call()

    def _start(self, call: Callable[[], None]) -> None:
        self._calls.append(call)
        if not self.silent:
            self.speak()

    def _ask(self, situation: PromptSituation, refusals: str) -> PolicyAction:
        self.asked.append(refusals)
        if isinstance(self.reply, BaseException):
            raise self.reply
        return self.reply


class Rules:
    """What holds at every tick, whatever happens. It knows the world view, nothing else."""

    def __init__(self, world: WorldModel) -> None:
        self.world, self.view = world, world.view
        self.begun: list[tuple[float, str, Source]] = []
        self.open: list[str] = []  # activities that began and have not ended
        self.ended: set[str] = set()  # in this tick
        self.at = 0.0
        # Where nothing is measured: the energy when ``running`` began to run, and its place.
        self.place, self.energy = self.view.begins.place, self.view.begins.energy
        self.running: Ongoing | None = None
        self.since = 0.0

    def hear(self, event: Event) -> None:
        if event.name is EventName.ACTION_STARTED:
            self.open.append(event.what)
        elif event.name is EventName.ACTION_ENDED:
            assert event.what in self.open, f'{event.what} ended twice'
            self.open.remove(event.what)
            self.ended.add(event.what)
            if event.text.endswith(': done'):
                self.place = self.view.activities[event.what].to or self.place
            if self.running and self.running.activity == event.what:
                self._rests(counts=not event.text.endswith(': never began'))

    def energy_now(self) -> float:
        if not self.running:
            return self.energy
        until = self.running.until or self.at
        hours = max(0.0, min(self.at, until) - self.since) / 3600.0
        rate = self.view.activities[self.running.activity].energy_per_h
        return min(1.0, max(0.0, self.energy + rate * hours))

    def follow(self, tick: PolicyTick, senses: Senses) -> None:
        """Which activity the commands let run or stop to run, whether or not they arrive."""
        state = tick.state
        for each in filter(None, (*state.suspended, state.activity)):
            outcomes = {senses.tasks.get(task_id) for task_id in each.task_ids}
            assert not outcomes & {'FAILED', 'CANCELLED'}
            assert outcomes != {'COMPLETED'}
        for command in tick.commands:
            if command.ongoing:
                self.running, self.since = command.ongoing, self.at
                self.begun.append((self.at, self.running.activity, self.running.by))
            elif command.does == 'pause' and self.running:
                if set(command.task_ids) & set(self.running.task_ids):
                    self._rests()
            elif command.does == 'resume' and not self.running:
                self.running, self.since = state.activity, self.at

    def _rests(self, *, counts: bool = True) -> None:
        self.energy = self.energy_now() if counts else self.energy
        self.running = None

    def check(
        self, before: WorldState, tick: PolicyTick, senses: Senses, twin: SimulatedTasks
    ) -> None:
        state, at = tick.state, tick.decision.at
        assert 0.0 <= tick.decision.energy <= 1.0
        if state is before and not tick.commands:
            return
        begins = [each.ongoing for each in tick.commands if each.ongoing]
        self._moved(before.place, state.place)
        going = [each.activity for each in (*state.suspended, state.activity) if each]
        assert sorted(self.open) == sorted(going)
        assert len(begins) <= 1
        for ongoing in begins:
            self._may_begin(ongoing, before, tick, senses, at)
        running = state.activity.task_ids if state.activity and not state.activity.held else []
        for job in twin.live():
            assert job.ongoing.task_ids == running, f'{job.ongoing.activity} runs beside'
        assert not [task_id for task_id in running if twin.states.get(task_id) == 'PAUSED']

    def _moved(self, before: str, after: str) -> None:
        assert after in self.view.places or (self.view.measured and not after)
        if after != before and not self.view.measured:
            assert after in self.view.places[before].leads_to

    def _may_begin(
        self, ongoing: Ongoing, before: WorldState, tick: PolicyTick, senses: Senses, at: float
    ) -> None:
        activity = self.view.activities[ongoing.activity]
        local = self.world.local(at)
        assert not senses.hold_reason
        assert is_open(activity.window, activity.days, local), (
            f'{ongoing.activity} at {local:%a %H:%M}'
        )
        place = senses.place if self.view.measured and senses.place is not None else None
        here = tick.state.place if place is None else place
        assert not activity.at or here in activity.at
        if activity.to:
            assert activity.to in self.view.places[here].leads_to
        for need in activity.needs:
            assert tick.state.devices[need.partition('.')[0]]
        assert tick.decision.energy >= activity.energy_min - 1e-9
        entries = [each for each in self.view.routine if each.activity == ongoing.activity]
        due = [each for each in entries if is_open(each.window, each.days, local)]
        below = max((each.energy_below for each in due), default=0.0)
        assert ongoing.by is not Source.ROUTINE or below > tick.decision.energy - 1e-9
        self._may_interrupt(ongoing, activity, before, tick)

    def _may_interrupt(
        self, ongoing: Ongoing, activity: ActivityConfig, before: WorldState, tick: PolicyTick
    ) -> None:
        assert not activity.ends or self.ended & set(activity.ends)
        earlier = [each.task_ids for each in before.suspended]
        commands = [each for each in tick.commands if each.does == 'resume']
        resumed = {task_id for each in commands for task_id in each.task_ids}
        for each in tick.state.suspended:
            if each.task_ids not in earlier or resumed & set(each.task_ids):  # put aside just now
                assert each.by is not Source.EMERGENCY
                if ongoing.by is not Source.EMERGENCY:
                    assert self.view.activities[each.activity].interruptible


def is_open(window: str, days: Sequence[str], local: datetime) -> bool:
    """Whether a local time is in the window of one of these days, as a calendar shows it."""
    begin, end = (window or '00:00-24:00').split('-')
    clock = f'{local:%H:%M}'
    if begin < end:
        inside, day = begin <= clock < end, local
    else:
        inside = clock >= begin or clock < end
        day = local if clock >= begin else local - timedelta(days=1)
    return inside and (not days or DAYS[day.weekday()] in days)


@dataclass
class PolicyRun:
    """A policy, its kernel and its clock. ``holding`` and ``twin`` may be changed at any time."""

    world: WorldModel
    at: float
    settings: PolicyConfig = SETTINGS
    provider: LLMPolicyProvider | None = None
    state: WorldState | None = None
    work_s: Callable[[str], float] = lambda name: WORK_S
    keep: int = 5000  # decisions; 0: no events either
    holding: str = ''
    devices: dict[str, bool] = field(default_factory=dict)
    decisions: list[PolicyTick] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.twin = SimulatedTasks(self.world, self.work_s)
        self.twin.at = self.at
        self.rules = Rules(self.world)
        self.saved = self.state or WorldState.first(self.world.view)
        self.number = 0
        self.policy = self._born()

    def _born(self) -> Policy:
        return Policy(
            self.world, self.settings, state=self.saved, provider=self.provider, number=self.number
        )

    def _hear(self, tick: PolicyTick) -> None:
        for event in tick.events:
            if self.keep:
                self.events.append(event)
            self.rules.hear(event)

    def restart(self, *, lost: bool = False) -> None:
        """The process dies after its last tick; what was kept is read again."""
        self.saved = WorldState.model_validate_json(self.saved.model_dump_json())
        if lost:
            self.twin.lose()
        self.policy = self._born()

    def senses(self) -> Senses:
        twin = self.twin
        if not self.world.view.measured:
            return Senses(None, None, self.holding, twin.states, self.devices)
        return Senses(twin.place, twin.energy, self.holding, twin.states, self.devices)

    def tick(self, *messages: str, cause: str = 'minute', carried_out: bool = True) -> PolicyTick:
        """``carried_out`` False: the process dies between keeping the state and its commands."""
        self.twin.advance(self.at)
        before, senses = self.saved, self.senses()
        self.rules.ended.clear()
        self.rules.at = self.at
        tick = self.policy.tick(self.at, cause, senses, messages)
        self._hear(tick)
        self.saved, self.number = tick.state, tick.decision.number
        self.rules.follow(tick, senses)
        if carried_out:
            if tick.commands:
                self.twin.carry_out(tick.commands)
                self.twin.advance(self.at)
            self.rules.check(before, tick, senses, self.twin)
        if self.keep:
            self.decisions.append(tick)
            del self.decisions[: -self.keep]
        return tick

    def off(self, why: str) -> PolicyTick:
        self.rules.at = self.at
        tick = self.policy.switch_off(why, self.at)
        self._hear(tick)
        self.saved, self.number = tick.state, tick.decision.number
        self.twin.carry_out(tick.commands)
        return tick

    def run(self, minutes: float) -> None:
        """Advance the clock and tick, again and again."""
        end = self.at + minutes * 60.0
        while self.at < end:
            self.at += 60.0
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
