# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What goes on, from its beginning to its end: tasks, energy, place, memory, interruptions."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timezone
from itertools import count
from typing import Any

from curiosity_rosa_demo.agent.policy.action import (
    ActionProposal,
    CancelTasks,
    Command,
    PauseTasks,
    PolicyAction,
    ResumeTasks,
    Senses,
    SubmitTasks,
)
from curiosity_rosa_demo.agent.policy.action_executor import ActionExecutor
from curiosity_rosa_demo.agent.policy.safety_filter import SafetyFilter
from curiosity_rosa_demo.agent.policy.world_state import (
    ActionEnded,
    ActionStarted,
    Event,
    Memory,
    Ongoing,
    Source,
    StateChanged,
    WorldState,
)
from curiosity_rosa_demo.agent.policy.world_view import energy_now, WorldModel
from curiosity_rosa_demo.infra.config.world import WorldView
from examples import examples
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule, RuleBasedStateMachine
from policy_world import SimulatedTasks
import pytest

T0 = 1_800_000_000.0
WORK = [{'skill': 'mast_open', 'arguments': {}}]
PLACES = {'home': {'leads_to': ['school']}, 'school': {'leads_to': ['home'], 'zone': 'bright'}}
ACTIVITIES: dict[str, dict[str, Any]] = {
    'sleep': {'at': ['home'], 'minutes': 600, 'interruptible': False, 'energy_per_h': 0.1},
    'wake': {'ends': ['sleep'], 'minutes': 10},
    'go': {'at': ['home'], 'to': 'school', 'minutes': 20, 'energy_per_h': -0.6},
    'go_back': {'at': ['school'], 'to': 'home', 'minutes': 20, 'energy_per_h': -0.6},
    'study': {'at': ['school'], 'does': WORK, 'minutes': 60, 'energy_per_h': -0.3},
    'look': {'does': WORK, 'energy_per_h': -1.0},
    'ask': {'asks': 'what is there?', 'energy_per_h': -8.0},
    'rest': {'minutes': 30, 'energy_per_h': 2.0},
    'read': {'minutes': 2, 'interruptible': False},
}


def world_of(*, measured: bool = False, **changes: dict[str, Any]) -> WorldModel:
    values = {name: {'says': name} | each for name, each in ACTIVITIES.items()}
    for name, change in changes.items():
        values[name] |= change
    view = WorldView.model_validate(
        {
            'says': 'a test',
            'measured': measured,
            'begins': {'place': 'home', 'energy': 0.5},
            'places': PLACES,
            'activities': values,
            'routine': [],
        }
    )
    return WorldModel(view, timezone.utc)


class Day:
    """An executor, its kernel whose tasks end by hand, and what was heard."""

    def __init__(self, world: WorldModel | None = None) -> None:
        self.world = world or world_of()
        self.at = T0
        self.twin = SimulatedTasks(self.world)
        self.events: list[Event] = []
        self.numbers = count(1)
        self.executor = self._executor(WorldState.first(self.world.view))
        self.look()

    def _hear(self, event: Event) -> None:
        """Changes of the energy are heard in test_policy_days.py."""
        if not (isinstance(event, StateChanged) and event.what == 'energy'):
            self.events.append(event)

    def _executor(self, state: WorldState) -> ActionExecutor:
        return ActionExecutor(self.world, self._hear, state, lambda: f't{next(self.numbers)}')

    @property
    def state(self) -> WorldState:
        return self.executor.state

    @property
    def goes_on(self) -> str:
        return self.state.activity.activity if self.state.activity else ''

    @property
    def put_aside(self) -> list[str]:
        return [each.activity for each in self.state.suspended]

    def look(self, minutes: float = 0.0, **senses: Any) -> list[Command]:
        self.at += minutes * 60.0
        self.executor.observe(Senses(tasks=dict(self.twin.states), **senses), self.at)
        return self.carry_out()

    def begin(self, name: str, by: Source = Source.ROUTINE, why: str = '') -> list[Command]:
        action = PolicyAction(type=name, preemptive=True, rationale=why)
        self.executor.start_activity(ActionProposal(action, by), self.at)
        return self.carry_out()

    def carry_out(self) -> list[Command]:
        commands = self.executor.take_commands()
        self.twin.carry_out(commands)
        return list(commands)

    def restart(self) -> None:
        kept = self.state.model_dump_json()
        self.executor = self._executor(WorldState.model_validate_json(kept))

    def heard(self) -> list[str]:
        heard = [f'{event.name} {event}' for event in self.events]
        self.events.clear()
        return heard


# --- it begins and ends ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('name', 'tasks', 'until'),
    [
        ('rest', 1, T0 + 1800.0),
        ('look', 1, None),
        ('ask', 1, None),
        ('wake', 1, T0 + 60.0),
        ('study', 2, None),  # when its second task ends is known when that begins
    ],
)
def test_an_activity_is_one_task_for_its_work_and_one_for_its_time(
    name: str, tasks: int, until: float | None
) -> None:
    day = Day(world_of(wake={'minutes': 1}))
    (command,) = day.begin(name, Source.MODEL, 'it is time')
    assert command == SubmitTasks(
        Ongoing(
            activity=name,
            by=Source.MODEL,
            began_at=T0,
            until=until,
            task_ids=['t1', 't2'][:tasks],
            rationale='it is time',
            energy_at=T0,
        )
    )
    assert day.state.activity == command.ongoing
    assert day.state.memory == Memory(began={name: T0})
    assert day.heard() == [f'action.started {name}, by model (it is time)']


@pytest.mark.parametrize(('state', 'how'), [('FAILED', 'failed'), ('CANCELLED', 'cancelled')])
def test_when_it_fails_or_is_cancelled_it_does_not_arrive_and_has_not_ended_as_it_should(
    state: str, how: str
) -> None:
    day = Day(world_of(go={'does': WORK}))
    day.begin('go')
    day.twin.end('t1', state)
    day.heard()
    assert day.look(10.0) == [CancelTasks(('t2',), f'go: {how}')]
    assert (day.state.activity, day.state.place) == (None, 'home')
    assert day.state.energy == pytest.approx(0.4)
    assert day.state.memory == Memory(began={'go': T0}, failed={'go': day.at})
    assert day.heard() == [f'action.ended go: {how}']


def test_a_failure_counts_before_the_cancellation_that_came_of_it() -> None:
    day = Day(world_of(go={'does': WORK}))
    day.begin('go')
    day.twin.end('t1', 'FAILED')
    day.twin.end('t2', 'CANCELLED')
    day.look(1.0)
    assert day.heard()[-1] == 'action.ended go: failed'


def test_what_the_kernel_does_not_know_at_the_second_look_never_began() -> None:
    day = Day()
    day.begin('go')
    day.twin.lose()
    assert day.look(1.0) == []
    assert day.goes_on == 'go'
    day.heard()
    assert day.look(10.0) == [CancelTasks(('t1',), 'go: never began')]
    assert day.heard() == ['action.ended go: never began']
    assert day.state == WorldState.first(day.world.view)


def test_what_comes_late_has_begun() -> None:
    day = Day()
    day.begin('go')
    known = day.twin.states
    for seen in ({}, known, {}):
        day.twin.states = seen
        day.look(1.0)
    assert day.goes_on == 'go'


def test_of_a_lost_half_the_other_half_is_cancelled() -> None:
    day = Day(world_of(study={'at': []}))
    day.begin('study')
    day.twin.lose('t2')
    day.look(10.0)
    assert day.look(10.0) == [CancelTasks(('t1', 't2'), 'study: lost')]
    assert day.state.energy == pytest.approx(0.4)
    assert day.state.memory == Memory(began={'study': T0})


def test_no_reason_for_off_passes_for_an_end_as_it_should_be() -> None:
    day = Day()
    day.begin('go')
    day.executor.switch_off('done', day.at)
    assert day.state.place == 'home'
    assert day.state.memory.ended == {}


# --- it is interrupted or held -----------------------------------------------------------------


def test_the_last_to_be_interrupted_goes_on_first() -> None:
    day = Day()
    for name in ('sleep', 'rest', 'read'):
        day.begin(name)
    assert day.put_aside == ['sleep', 'rest']
    for ended, then in (('t3', 'rest'), ('t2', 'sleep'), ('t1', '')):
        day.twin.end(ended, 'COMPLETED')
        day.look(1.0)
        assert day.goes_on == then


def test_what_is_over_or_no_longer_fits_its_place_is_given_up() -> None:
    day = Day()
    day.begin('sleep')
    day.begin('rest')
    day.begin('go')
    day.twin.end('t3', 'COMPLETED')
    day.heard()
    commands = day.look(31.0)
    assert commands == [
        CancelTasks(('t2',), 'rest: given up'),
        CancelTasks(('t1',), 'sleep: given up'),
    ]
    assert day.state.activity is None
    assert day.state.suspended == []
    assert day.state.memory.ended.keys() == {'go'}
    assert day.heard()[-2:] == ['action.ended rest: given up', 'action.ended sleep: given up']


def test_at_its_end_it_is_over() -> None:
    for minutes, goes_on in ((29.9, 'rest'), (30.0, '')):
        day = Day()
        day.begin('rest')
        pause, _ = day.begin('read')
        assert pause == PauseTasks(('t1',), 'read goes first')
        day.twin.end('t2', 'COMPLETED')
        day.look(minutes)
        assert day.goes_on == goes_on


def test_on_its_way_it_fits_where_it_leads() -> None:
    day = Day(world_of(measured=True))
    day.begin('go')
    day.begin('read')
    day.twin.end('t2', 'COMPLETED')
    day.look(1.0, place='school')
    assert day.goes_on == 'go'


def test_when_it_was_moved_away_meanwhile_it_is_given_up() -> None:
    day = Day(world_of(measured=True))
    day.begin('sleep')
    day.look(1.0, hold_reason="a person's task goes first: drive", place='home')
    assert day.look(1.0, place='school') == [CancelTasks(('t1',), 'sleep: given up')]
    assert day.state.activity is None


def test_nothing_goes_on_at_an_unknown_place_that_needs_a_place() -> None:
    day = Day(world_of(measured=True))
    day.begin('sleep')
    held = day.look(1.0, hold_reason='SAFE: no odometry')
    assert held == [PauseTasks(('t1',), 'SAFE: no odometry')]
    assert day.look(1.0, place='') == []
    day.restart()
    assert [type(command) for command in day.look(1.0, place='')] == [PauseTasks]
    assert day.look(1.0, place='home') == [ResumeTasks(('t1',))]
    day.begin('read')
    day.twin.end('t2', 'COMPLETED')
    assert day.look(1.0, place='') == []
    assert (day.goes_on, day.put_aside) == ('', ['sleep'])
    assert day.look(1.0, place='home') == [ResumeTasks(('t1',))]


def test_place_and_energy_of_a_measured_world_are_what_is_measured() -> None:
    day = Day(world_of(measured=True))
    day.begin('go')
    day.heard()
    day.look(10.0, place='', energy=0.25)
    assert (day.state.place, day.state.energy) == ('', 0.25)
    assert day.state.memory.arrived == {}
    day.twin.end('t1', 'COMPLETED')
    day.look(10.0)
    assert (day.state.place, day.state.energy) == ('', 0.25)
    day.look(1.0, place='school', energy=1.5)
    assert (day.state.place, day.state.energy) == ('school', 1.0)
    assert day.state.memory.arrived == {'school': day.at}
    assert day.heard() == [
        'state.changed place: home -> ',
        'action.ended go: done',
        'state.changed place:  -> school',
    ]


# --- anything that can happen, in any order ------------------------------------------------------


class ActionExecutorMachine(RuleBasedStateMachine):
    """What is heard and commanded is all that the model of it goes by."""

    def __init__(self) -> None:
        super().__init__()
        self.world: WorldModel = world_of()
        self.safety = SafetyFilter(self.world, 600.0)
        self.kernel = SimulatedTasks(self.world)
        self.at = T0
        self.holding = ''
        self.ids = count(1)
        self.begun: set[str] = set()  # and not ended
        self.started: dict[str, float] = {}
        self.place = 'home'
        self.ended: dict[str, float] = {}
        # The energy when the activity that runs last began to run, and what it is since then.
        self.energy, self.running, self.since, self.until = 0.5, '', T0, float('inf')
        self.executor = self.new_executor(WorldState.first(self.world.view))

    def new_executor(self, state: WorldState) -> ActionExecutor:
        return ActionExecutor(self.world, self.hear, state, lambda: f't{next(self.ids)}')

    def hear(self, event: Event) -> None:
        activities = self.world.view.activities
        if isinstance(event, StateChanged) and event.what != 'place':
            assert event.before != event.after
        elif isinstance(event, StateChanged):
            assert event.before == self.place != event.after
        elif isinstance(event, ActionStarted):
            assert event.activity not in self.begun
            self.begun.add(event.activity)
            self.started[event.activity] = self.at
        elif isinstance(event, ActionEnded):
            assert event.activity in self.begun
            self.begun.remove(event.activity)
            if self.running == event.activity:
                if event.how != 'never began':
                    self.energy = self.energy_now()
                self.running = ''
            if event.how == 'done':
                self.place = activities[event.activity].to or self.place
                ended = self.executor.state.memory.ended[event.activity]
                assert self.started[event.activity] <= ended <= self.at
                self.ended[event.activity] = ended

    def energy_now(self) -> float:
        if not self.running:
            return self.energy
        hours: float = max(0.0, min(self.at, self.until) - self.since) / 3600.0
        rate = self.world.view.activities[self.running].energy_per_h
        return min(1.0, max(0.0, self.energy + rate * hours))

    def follow(self, commands: Iterable[Command]) -> None:
        """In which activity the commands let run or stop to run."""
        for command in commands:
            if isinstance(command, SubmitTasks):
                self.run(command.ongoing.activity, command.ongoing)
            elif isinstance(command, PauseTasks) and set(command.task_ids) & self.running_ids:
                self.energy, self.running = self.energy_now(), ''
            elif isinstance(command, ResumeTasks) and not self.running:
                assert self.executor.state.activity
                self.run(self.executor.state.activity.activity, self.executor.state.activity)

    def run(self, name: str, ongoing: Ongoing) -> None:
        self.running, self.since = name, self.at
        self.running_ids = set(ongoing.task_ids)
        self.until = ongoing.until or float('inf')

    def senses(self) -> Senses:
        return Senses(tasks=dict(self.kernel.states), hold_reason=self.holding)

    def may(self, name: str, by: Source) -> ActionProposal | None:
        proposal = ActionProposal(PolicyAction(type=name, preemptive=True), by)
        reason = self.safety.refusal_reason(proposal, self.executor.state, self.senses(), self.at)
        return None if reason else proposal

    def tick(self, data: st.DataObject | None = None, *, crash: str = '') -> None:
        """``data``: of what may begin something does. ``crash``: after the state was kept and
        before its 'commands' were carried out, or 'later'.
        """
        self.executor.observe(self.senses(), self.at)
        commands = self.executor.take_commands()
        self.follow(commands)
        possible = [self.may(name, by) for name in ACTIVITIES for by in Source] if data else []
        if data and any(possible):
            proposal = data.draw(st.sampled_from([*filter(None, possible)]))
            self.executor.start_activity(proposal, self.at)
            begun = self.executor.take_commands()
            self.follow(begun)
            commands += begun
        if crash != 'commands':
            self.kernel.carry_out(commands)
        if crash:
            kept = self.executor.state.model_dump_json()
            self.executor = self.new_executor(WorldState.model_validate_json(kept))

    @rule(minutes=st.integers(0, 90))
    def time_goes_by(self, minutes: int) -> None:
        self.at += minutes * 60.0

    @rule(data=st.data())
    def something_begins(self, data: st.DataObject) -> None:
        self.tick(data)

    @rule(minutes=st.integers(0, 60))
    @precondition(lambda self: self.executor.state.activity)
    def it_is_done(self, minutes: int) -> None:
        assert self.executor.state.activity
        for task_id in self.executor.state.activity.task_ids:
            if task_id in self.kernel.not_ended():
                self.kernel.end(task_id, 'COMPLETED')
        self.at += minutes * 60.0

    @rule(how=st.sampled_from(['COMPLETED', 'FAILED', 'CANCELLED', 'lost']), data=st.data())
    @precondition(lambda self: self.kernel.not_ended())
    def a_task_ends(self, how: str, data: st.DataObject) -> None:
        task_id = data.draw(st.sampled_from(self.kernel.not_ended()))
        if how == 'lost':
            self.kernel.lose(task_id)
        else:
            self.kernel.end(task_id, how)

    @rule()
    def something_holds_for_a_while(self) -> None:
        self.holding = 'SAFE: e-stop'
        self.tick()
        self.all_tasks_are_as_the_state_says()

    @rule()
    @precondition(lambda self: self.holding)
    def it_holds_no_longer(self) -> None:
        self.holding = ''

    @rule(data=st.data(), crash=st.sampled_from(['commands', 'later', 'later']))
    def it_crashes(self, data: st.DataObject, crash: str) -> None:
        self.tick(data, crash=crash)
        self.tick()  # which sets right what the crash left
        self.all_tasks_are_as_the_state_says()

    @rule()
    def a_quiet_tick(self) -> None:
        self.tick()
        self.all_tasks_are_as_the_state_says()

    @rule(really=st.sampled_from([True, *[False] * 9]))
    def off(self, really: bool) -> None:
        if really:
            self.end()

    def end(self) -> None:
        self.executor.switch_off('enough', self.at)
        self.kernel.carry_out(self.executor.take_commands())
        assert self.begun == set()
        assert self.kernel.not_ended() == []

    def all_tasks_are_as_the_state_says(self) -> None:
        state, live = self.executor.state, set(self.kernel.not_ended())
        ongoing = state.activity
        paused = {task_id for each in state.suspended for task_id in each.task_ids}
        running = set(ongoing.task_ids) if ongoing else set()
        if ongoing and ongoing.held:
            paused, running = paused | running, set()
        held = {task_id for task_id in live if self.kernel.states[task_id] == 'PAUSED'}
        assert held == live & paused
        assert live - held == live & running
        for each in (*state.suspended, *([ongoing] if ongoing else [])):
            states = {self.kernel.states.get(task_id) for task_id in each.task_ids}
            assert not states & {'FAILED', 'CANCELLED'}
            assert states != {'COMPLETED'}

    @invariant()
    def energy_is_as_the_model_has_it(self) -> None:
        energy = energy_now(self.executor.state, self.world, self.at)
        assert 0.0 <= energy <= 1.0
        assert energy == pytest.approx(self.energy_now())

    @invariant()
    def each_that_began_goes_on_or_is_put_aside_or_has_ended(self) -> None:
        state = self.executor.state
        names = [each.activity for each in state.suspended]
        names += [state.activity.activity] if state.activity else []
        assert sorted(names) == sorted(self.begun)

    @invariant()
    def only_what_is_done_has_ended_as_it_should(self) -> None:
        assert self.executor.state.memory.ended == self.ended

    @invariant()
    def it_is_where_what_is_done_leads(self) -> None:
        assert self.executor.state.place == self.place

    def teardown(self) -> None:
        self.tick()
        self.end()
        super().teardown()


TestActionExecutor = ActionExecutorMachine.TestCase
TestActionExecutor.settings = settings(
    max_examples=examples(150),
    stateful_step_count=40,
    deadline=None,
)
