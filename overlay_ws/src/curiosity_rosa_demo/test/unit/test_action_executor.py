# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What goes on, from its beginning to its end: tasks, energy, place, memory, interruptions."""

from __future__ import annotations

from curiosity_rosa_demo.agent.policy.action import (
    ActionProposal,
    CancelTasks,
    PauseTasks,
    PolicyAction,
    ResumeTasks,
    Senses,
    SubmitTasks,
)
from curiosity_rosa_demo.agent.policy.action_executor import ActionExecutor
from curiosity_rosa_demo.agent.policy.world_state import Memory, Ongoing, Source, WorldState
from executor_world import Day, energy, T0, WORK, world_of
import pytest

# --- it begins -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('name', 'tasks', 'until'),
    [
        ('rest', 1, T0 + 1800.0),
        ('look', 1, None),
        ('ask', 1, None),
        ('study', 2, None),  # when its second task ends is known when that begins
    ],
)
def test_an_activity_is_one_task_for_its_work_and_one_for_its_time(
    name: str, tasks: int, until: float | None
) -> None:
    day = Day()
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


def test_the_tasks_have_ids_that_nobody_else_has() -> None:
    world = world_of()
    ids = set()
    for _ in range(10):
        executor = ActionExecutor(world, lambda event: None, WorldState.first(world.view))
        executor.start_activity(ActionProposal(PolicyAction(type='study'), Source.ROUTINE), T0)
        assert executor.state.activity is not None
        ids |= set(executor.state.activity.task_ids)
    assert len(ids) == 20


def test_commands_are_given_once_and_in_order() -> None:
    day = Day()
    day.begin('rest')
    kinds = [type(command) for command in day.begin('read', Source.EMERGENCY)]
    assert kinds == [PauseTasks, SubmitTasks]
    assert day.executor.take_commands() == ()


# --- it ends ---------------------------------------------------------------------------------


def test_it_ends_when_all_its_tasks_are_completed_and_not_before() -> None:
    day = Day(world_of(study={'at': []}))
    day.begin('study')
    for states in (('ACTIVE', 'PENDING'), ('COMPLETED', 'PENDING'), ('COMPLETED', 'ACTIVE')):
        day.tasks = dict(zip(('t1', 't2'), states, strict=True))
        assert day.look(10.0) == []
        assert day.goes_on == 'study'
    day.now('COMPLETED', 't2')
    day.heard()
    assert day.look(10.0) == []
    assert day.state.activity is None
    assert day.state.memory.ended == {'study': day.at}
    assert day.state.energy == pytest.approx(0.5 - 0.3 * 40 / 60)
    assert day.heard() == ['action.ended study: done']
    before = day.state
    day.look(10.0)
    assert day.state is before
    assert day.heard() == []


def test_what_it_did_to_the_energy_ends_with_its_time_however_late_that_is_seen() -> None:
    day = Day()
    day.begin('go')
    day.now('COMPLETED', 't1')
    day.look(300.0)
    assert day.state.energy == pytest.approx(0.3)
    assert day.state.memory.ended == {'go': T0 + 1200.0}
    assert day.state.memory.arrived == {'school': T0 + 1200.0}


def test_it_arrives_when_it_is_done() -> None:
    day = Day()
    day.begin('go')
    day.look(10.0)
    assert day.state.place == 'home'
    day.now('COMPLETED', 't1')
    day.heard()
    day.look(10.0)
    assert day.state.place == 'school'
    assert day.heard() == ['state.changed place: home -> school', 'action.ended go: done']


@pytest.mark.parametrize(('state', 'how'), [('FAILED', 'failed'), ('CANCELLED', 'cancelled')])
def test_when_it_fails_or_is_cancelled_it_does_not_arrive_and_has_not_ended_as_it_should(
    state: str, how: str
) -> None:
    day = Day(world_of(go={'does': WORK}))
    day.begin('go')
    day.now(state, 't1')
    day.heard()
    assert day.look(10.0) == [CancelTasks(('t2',), f'go: {how}')]
    assert day.state.activity is None
    assert day.state.place == 'home'
    assert day.state.energy == pytest.approx(0.4)
    assert day.state.memory == Memory(began={'go': T0}, failed={'go': day.at})
    assert day.heard() == [f'action.ended go: {how}']


def test_a_failure_counts_before_the_cancellation_that_came_of_it() -> None:
    day = Day(world_of(go={'does': WORK}))
    day.begin('go')
    day.tasks = {'t1': 'FAILED', 't2': 'CANCELLED'}
    day.look(1.0)
    assert day.heard()[-1] == 'action.ended go: failed'


def test_what_the_kernel_does_not_know_at_the_second_look_never_began() -> None:
    day = Day()
    day.begin('go')
    day.tasks = {}
    assert day.look(1.0) == []
    assert day.goes_on == 'go'
    day.heard()
    assert day.look(10.0) == [CancelTasks(('t1',), 'go: never began')]
    assert day.heard() == ['action.ended go: never began']
    assert day.state == WorldState.first(day.world.view)


def test_what_comes_late_has_begun() -> None:
    day = Day()
    day.begin('go')
    known, day.tasks = day.tasks, {}
    day.look(1.0)
    day.tasks = known
    day.look(1.0)
    day.tasks = {}
    day.look(1.0)
    assert day.goes_on == 'go'


def test_of_a_lost_half_the_other_half_is_cancelled() -> None:
    day = Day(world_of(study={'at': []}))
    day.begin('study')
    day.tasks = {'t1': 'ACTIVE'}
    day.look(10.0)
    assert day.look(10.0) == [CancelTasks(('t1', 't2'), 'study: lost')]
    assert day.state.energy == pytest.approx(0.4)
    assert day.state.memory == Memory(began={'study': T0})


def test_off_ends_everything() -> None:
    day = Day()
    day.begin('rest')
    day.at += 360.0
    day.begin('read', Source.EMERGENCY)
    day.heard()
    day.executor.switch_off('the user said so', day.at)
    assert [each for each in day.carry_out() if isinstance(each, CancelTasks)] == [
        CancelTasks(('t2',), 'read: off: the user said so'),
        CancelTasks(('t1',), 'rest: off: the user said so'),
    ]
    assert day.state.activity is None
    assert day.state.suspended == []
    assert day.state.energy == pytest.approx(0.7)
    assert day.state.memory.ended == {}
    assert day.heard() == [
        'action.ended read: off: the user said so',
        'action.ended rest: off: the user said so',
    ]


def test_no_reason_for_off_passes_for_an_end_as_it_should_be() -> None:
    day = Day()
    day.begin('go')
    day.executor.switch_off('done', day.at)
    assert day.state.place == 'home'
    assert day.state.memory.ended == {}


# --- it is interrupted -----------------------------------------------------------------------


def test_an_interrupted_activity_goes_on_afterwards_and_its_break_costs_nothing() -> None:
    day = Day()
    day.begin('go')
    day.at += 300.0
    pause, _ = day.begin('read', Source.EMERGENCY, 'hello')
    assert pause == PauseTasks(('t1',), 'read goes first')
    assert (day.goes_on, day.put_aside) == ('read', ['go'])
    assert day.look(2.0) == []
    day.now('COMPLETED', 't2')
    assert day.look() == [ResumeTasks(('t1',))]
    assert (day.goes_on, day.put_aside) == ('go', [])
    day.now('COMPLETED', 't1')
    day.look(13.0)
    assert day.state.energy == pytest.approx(0.5 - 0.6 * 18 / 60)
    assert day.state.place == 'school'


def test_the_last_to_be_interrupted_goes_on_first() -> None:
    day = Day()
    for name in ('sleep', 'rest', 'read'):
        day.begin(name)
    assert day.put_aside == ['sleep', 'rest']
    for ended, then in (('t3', 'rest'), ('t2', 'sleep'), ('t1', '')):
        day.now('COMPLETED', ended)
        day.look(1.0)
        assert day.goes_on == then


def test_what_is_over_or_no_longer_fits_its_place_is_given_up() -> None:
    day = Day()
    day.begin('sleep')
    day.begin('rest')
    day.begin('go')
    day.now('COMPLETED', 't3')
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
        day.begin('read')
        day.now('COMPLETED', 't2')
        day.look(minutes)
        assert day.goes_on == goes_on


def test_on_its_way_it_fits_where_it_leads() -> None:
    day = Day(world_of(measured=True))
    day.begin('go')
    day.begin('read')
    day.now('COMPLETED', 't2')
    day.look(1.0, place='school')
    assert day.goes_on == 'go'


def test_who_is_there_already_does_not_come_there_again() -> None:
    day = Day(world_of(rest={'at': ['home'], 'to': 'school'}))
    day.begin('go')
    day.begin('rest')
    day.now('COMPLETED', 't2')
    day.look(10.0)
    assert day.goes_on == 'go'
    day.now('COMPLETED', 't1')
    day.look(10.0)
    assert sum(heard.startswith('state.changed') for heard in day.heard()) == 1
    assert day.state.memory.arrived == {'school': T0 + 1200.0}


def test_what_was_cancelled_or_done_while_it_was_put_aside_does_not_go_on() -> None:
    for state, how in (('CANCELLED', 'cancelled'), ('COMPLETED', 'done'), ('FAILED', 'failed')):
        day = Day()
        day.begin('go')
        day.at += 600.0
        day.begin('read')
        day.now(state, 't1')
        day.heard()
        day.look(1.0)
        assert (day.goes_on, day.put_aside) == ('read', [])
        assert f'action.ended go: {how}' in day.heard()
        assert day.state.place == ('school' if how == 'done' else 'home')
        assert day.state.energy == pytest.approx(0.4)


def test_two_that_interrupt_each_other_do_not_pile_up() -> None:
    day = Day()
    for name in ('rest', 'look') * 5:
        day.begin(name)
    assert (day.goes_on, day.put_aside) == ('look', ['rest'])
    assert sum(state != 'CANCELLED' for state in day.tasks.values()) == 2


def test_what_ends_another_activity_ends_it_as_it_should() -> None:
    day = Day()
    day.begin('sleep')
    day.at += 3600.0
    cancel, _ = day.begin('wake')
    assert cancel == CancelTasks(('t1',), 'sleep: done')
    assert (day.goes_on, day.put_aside) == ('wake', [])
    assert day.state.memory.ended == {'sleep': day.at}
    assert day.state.energy == pytest.approx(0.6)


# --- it is held ------------------------------------------------------------------------------


def test_what_holds_it_pauses_it_once_and_it_goes_on_when_that_ends() -> None:
    day = Day()
    day.begin('sleep')
    assert day.look(60.0, hold_reason='SAFE: e-stop') == [PauseTasks(('t1',), 'SAFE: e-stop')]
    assert day.state.activity is not None
    assert day.state.activity.held
    assert day.look(60.0, hold_reason='SAFE: e-stop') == []
    assert energy(day) == pytest.approx(0.6)
    assert day.look() == [ResumeTasks(('t1',))]
    assert not day.state.activity.held
    day.at += 3600.0
    assert energy(day) == pytest.approx(0.7)


def test_nothing_goes_on_while_something_holds() -> None:
    day = Day()
    day.begin('rest')
    day.begin('read')
    day.now('COMPLETED', 't2')
    assert day.look(1.0, hold_reason='SAFE: e-stop') == []
    assert (day.goes_on, day.put_aside) == ('', ['rest'])
    assert day.look() == [ResumeTasks(('t1',))]


def test_what_was_held_ends_as_its_tasks_do() -> None:
    for state, how in (('CANCELLED', 'cancelled'), ('COMPLETED', 'done'), ('FAILED', 'failed')):
        day = Day()
        day.begin('go')
        day.look(10.0, hold_reason='SAFE: e-stop')
        day.now(state, 't1')
        day.look(10.0, hold_reason='SAFE: e-stop')
        assert day.heard()[-1] == f'action.ended go: {how}'
        assert day.state.energy == pytest.approx(0.4)


def test_when_it_was_moved_away_meanwhile_it_is_given_up() -> None:
    day = Day(world_of(measured=True))
    day.begin('sleep')
    day.look(1.0, hold_reason="a person's task goes first: drive", place='home')
    assert day.look(1.0, place='school') == [CancelTasks(('t1',), 'sleep: given up')]
    assert day.state.activity is None


def test_nothing_goes_on_at_an_unknown_place_that_needs_a_place() -> None:
    day = Day(world_of(measured=True))
    day.begin('sleep')
    day.look(1.0, hold_reason='SAFE: no odometry')
    assert day.look(1.0, place='') == []
    assert day.look(1.0, place='home') == [ResumeTasks(('t1',))]
    day.begin('read')
    day.now('COMPLETED', 't2')
    assert day.look(1.0, place='') == []
    assert (day.goes_on, day.put_aside) == ('', ['sleep'])
    assert day.look(1.0, place='home') == [ResumeTasks(('t1',))]


# --- what is measured ------------------------------------------------------------------------


def test_place_and_energy_of_a_measured_world_are_what_is_measured() -> None:
    day = Day(world_of(measured=True))
    day.begin('go')
    day.heard()
    day.look(10.0, place='', energy=0.25)
    assert (day.state.place, day.state.energy) == ('', 0.25)
    assert day.state.memory.arrived == {}
    day.now('COMPLETED', 't1')
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


def test_nothing_new_changes_nothing() -> None:
    day = Day(world_of(measured=True))
    day.begin('rest')
    day.look(1.0, place='school', energy=0.4)
    state = day.state
    day.heard()
    for _ in range(3):
        assert day.look(1.0, place='school', energy=0.4) == []
    assert day.state is state
    assert day.heard() == []


# --- a restart -------------------------------------------------------------------------------


def test_after_a_restart_it_goes_on_and_its_effects_come_once() -> None:
    day = Day()
    day.begin('go')
    day.look(10.0)
    day.restart()
    assert day.look(5.0) == [ResumeTasks(('t1',))]
    day.now('COMPLETED', 't1')
    day.look(5.0)
    day.restart()
    day.look(5.0)
    assert day.state.energy == pytest.approx(0.3)
    assert day.heard().count('action.ended go: done') == 1


def test_what_was_kept_but_not_begun_before_a_restart_never_began() -> None:
    day = Day()
    day.executor.start_activity(ActionProposal(PolicyAction(type='rest'), Source.ROUTINE), T0)
    day.restart(commands_lost=True)
    assert day.look(1.0) == []
    day.look(1.0)
    assert day.state == WorldState.first(day.world.view)


def test_commands_that_were_lost_in_a_restart_are_given_again() -> None:
    day = Day()
    day.begin('rest')
    day.executor.start_activity(ActionProposal(PolicyAction(type='read'), Source.EMERGENCY), T0)
    day.restart(commands_lost=True)
    day.look(1.0)
    assert day.tasks['t1'] == 'PAUSED'

    day = Day()
    day.begin('rest')
    day.executor.switch_off('enough', T0)
    day.restart(commands_lost=True)
    assert day.look(1.0) == [CancelTasks(('t1',), 'its activity has ended')]
    assert day.look(1.0) == []

    day = Day()
    day.begin('rest')
    day.look(1.0, hold_reason='SAFE: e-stop')
    day.executor.observe(Senses(tasks=dict(day.tasks)), day.at)
    day.restart(commands_lost=True)
    assert day.look(1.0) == [ResumeTasks(('t1',))]


def test_a_restart_at_an_unknown_place_does_not_let_go_what_was_held() -> None:
    day = Day(world_of(measured=True))
    day.begin('sleep')
    day.look(1.0, hold_reason='SAFE: no odometry')
    day.restart()
    assert [type(command) for command in day.look(1.0, place='')] == [PauseTasks]
    assert day.look(1.0, place='home') == [ResumeTasks(('t1',))]


def test_a_restart_while_it_is_held_does_not_let_it_go() -> None:
    for held_before in (True, False):
        day = Day()
        day.begin('rest')
        if held_before:
            day.executor.observe(Senses(tasks=dict(day.tasks), hold_reason='SAFE: e-stop'), T0)
        day.restart(commands_lost=True)
        commands = day.look(1.0, hold_reason='SAFE: e-stop')
        assert [type(command) for command in commands] == [PauseTasks]
