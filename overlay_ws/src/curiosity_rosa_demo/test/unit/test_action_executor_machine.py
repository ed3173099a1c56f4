# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Anything that can happen to activities, in any order."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

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
from curiosity_rosa_demo.agent.policy.action_executor import ActionExecutor, ENDED_STATES
from curiosity_rosa_demo.agent.policy.events import (
    ActionEnded,
    ActionStarted,
    Event,
    StateChanged,
)
from curiosity_rosa_demo.agent.policy.safety_filter import SafetyFilter
from curiosity_rosa_demo.agent.policy.world_state import Ongoing, Source, WorldState
from curiosity_rosa_demo.agent.policy.world_view import energy_now, WorldModel
from examples import examples
from executor_world import ACTIVITIES, T0, world_of
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule, RuleBasedStateMachine
import pytest


class Kernel:
    """Tasks that run, wait, are held and end, and whoever does so."""

    def __init__(self) -> None:
        self.states: dict[str, str] = {}
        self.held: set[str] = set()

    def carry_out(self, commands: Iterable[Command]) -> None:
        for command in commands:
            if isinstance(command, SubmitTasks):
                self.states |= dict.fromkeys(command.ongoing.task_ids, 'PENDING')
                self.states[command.ongoing.task_ids[0]] = 'ACTIVE'
                continue
            known = [task_id for task_id in command.task_ids if task_id in self.states]
            live = {task_id for task_id in known if self.states[task_id] not in ENDED_STATES}
            if isinstance(command, CancelTasks):
                self.states |= dict.fromkeys(live, 'CANCELLED')
            elif isinstance(command, PauseTasks):
                self.held |= live
            else:
                self.held -= live

    def live(self) -> list[str]:
        return [task_id for task_id, state in self.states.items() if state not in ENDED_STATES]


class ActionExecutorMachine(RuleBasedStateMachine):
    """What is heard and commanded is all that the model of it goes by."""

    def __init__(self) -> None:
        super().__init__()
        self.world: WorldModel = world_of()
        self.safety = SafetyFilter(self.world, 600.0)
        self.kernel = Kernel()
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
            if task_id in self.kernel.live():
                self.kernel.states[task_id] = 'COMPLETED'
        self.at += minutes * 60.0

    @rule(how=st.sampled_from(['COMPLETED', 'FAILED', 'CANCELLED', 'lost']), data=st.data())
    @precondition(lambda self: self.kernel.live())
    def a_task_ends(self, how: str, data: st.DataObject) -> None:
        task_id = data.draw(st.sampled_from(self.kernel.live()))
        self.kernel.states[task_id] = how
        if how == 'lost':
            del self.kernel.states[task_id]

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
        assert self.kernel.live() == []

    def all_tasks_are_as_the_state_says(self) -> None:
        state, live = self.executor.state, set(self.kernel.live())
        ongoing = state.activity
        paused = {task_id for each in state.suspended for task_id in each.task_ids}
        running = set(ongoing.task_ids) if ongoing else set()
        if ongoing and ongoing.held:
            paused, running = paused | running, set()
        assert live & self.kernel.held == live & paused
        assert live - self.kernel.held == live & running
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
    suppress_health_check=[HealthCheck.too_slow],
)
