# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Runs an activity from its start to its end. No I/O: the executor collects commands for the
kernel's tasks, and publishes its events.

A restart may fall between saving a state and executing its commands. A new executor therefore
repeats the commands that follow from its state, and cancels tasks that belong to no activity.
Commands must be idempotent: they may come twice, or name tasks that have ended or that the kernel
does not know. An activity whose tasks are missing is not started again, because its time may have
passed.

Over 300 lines in one file: start, suspension, resumption and end change the same few fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any
from uuid import uuid4

from curiosity_rosa_demo.agent.policy.action import (
    ActionProposal,
    CancelTasks,
    Command,
    PauseTasks,
    ResumeTasks,
    Senses,
    SubmitTasks,
)
from curiosity_rosa_demo.agent.policy.world_state import (
    ActionEnded,
    ActionStarted,
    Event,
    Ongoing,
    StateChanged,
    WorldState,
)
from curiosity_rosa_demo.agent.policy.world_view import energy_now, WorldModel
from curiosity_rosa_demo.domain.task_state import LifecycleState

ENDED_STATES = frozenset(state.name for state in LifecycleState if state.terminal)

# Why an activity ended; switch_off() makes a text of its own.
DONE = 'done'
FAILED = 'failed'
CANCELLED = 'cancelled'  # not by the policy
GIVEN_UP = 'given up'  # it was interrupted and cannot resume: wrong time or wrong place
LOST = 'lost'  # the kernel does not know all of its tasks
NEVER_BEGAN = 'never began'


class ActionExecutor:
    """Holds one ongoing activity and the suspended ones. For one thread."""

    def __init__(
        self,
        world: WorldModel,
        publish: Callable[[Event], None],
        state: WorldState,
        new_id: Callable[[], str] = lambda: str(uuid4()),
    ) -> None:
        self.state = state
        self._world = world
        self._publish = publish
        self._new_id = new_id
        self._commands: list[Command] = []
        self._tasks: dict[str, str] = {}
        self._absent_tasks: set[str] = set()  # first task IDs that the last observe() missed
        self._restarted = True

    def take_commands(self) -> tuple[Command, ...]:
        """Return and clear the queue. Execute in this order, after the state is saved."""
        commands = tuple(self._commands)
        self._commands.clear()
        return commands

    def observe(self, senses: Senses, at: float) -> None:
        """Apply the measurements and task states, then resume suspended activities."""
        self._tasks = senses.tasks
        state = self.state
        if senses.place is not None and senses.place != state.place:
            self._set_place(senses.place, at, at)
        if senses.energy is not None and senses.energy != state.energy:
            self._charge(_clipped(senses.energy), at)
        self._observe_devices(senses.devices, at)
        if self._restarted:
            self._restarted = False
            self._repeat_commands(bool(senses.hold_reason))
        absent = self._absent_tasks
        self._absent_tasks = set()
        # Suspended first: the ongoing activity is newer, so the place that it sets must win.
        for each in (*state.suspended, state.activity) if state.suspended else (state.activity,):
            if each is not None and (how := self._end_reason(each, absent)):
                self._end_activity(each, how, at)
        ongoing = self.state.activity
        if senses.hold_reason:
            if ongoing is not None and not ongoing.held:
                self._hold_activity(ongoing, senses.hold_reason, at)
            return
        if ongoing is not None and ongoing.held:
            self._release_activity(ongoing, at)
        if self.state.suspended:
            self._resume_suspended(at)

    def start_activity(self, proposal: ActionProposal, at: float) -> None:
        """Start the proposed activity; the ongoing one ends or is suspended. The SafetyFilter
        must have passed the proposal: it is not checked again.
        """
        name, why = proposal.action.type, proposal.action.rationale
        activity = self._world.view.activities[name]
        current = self.state.activity
        if current is not None and current.activity in activity.ends:
            self._end_activity(current, DONE, at)
        elif current is not None:
            self._suspend(current, f'{name} goes first', at)
        for each in self.state.suspended:
            if each.activity == name:  # two that interrupt each other would pile up
                self._end_activity(each, GIVEN_UP, at)
        work = bool(activity.does or activity.asks)
        ongoing = Ongoing(
            activity=name,
            by=proposal.source,
            began_at=at,
            until=None if work else at + activity.minutes * 60.0,
            task_ids=[self._new_id() for _ in range(work + (activity.minutes > 0))],
            rationale=why,
            energy_at=at,
        )
        self._update_state(activity=ongoing)
        self._record_memory('began', name, at)
        self._commands.append(SubmitTasks(ongoing))
        self._publish(ActionStarted(at, name, proposal.source, why))

    def switch_off(self, why: str, at: float) -> None:
        """End the ongoing and all suspended activities."""
        state = self.state
        for each in (state.activity, *reversed(state.suspended)):
            if each is not None:
                self._end_activity(each, f'off: {why}', at)

    def _end_reason(self, ongoing: Ongoing, absent: set[str]) -> str:
        """How the activity ended; '' while it continues. ``absent``: first task IDs that were
        missing at the previous tick. One miss is no end: the kernel learns of new tasks late.
        """
        states = [self._tasks.get(task_id) for task_id in ongoing.task_ids]
        if 'FAILED' in states:
            return FAILED
        if 'CANCELLED' in states:
            return CANCELLED
        if None in states:
            first = ongoing.task_ids[0]
            if first not in absent:
                self._absent_tasks.add(first)
                return ''
            return NEVER_BEGAN if states[0] is None else LOST
        return '' if any(state != 'COMPLETED' for state in states) else DONE

    def _end_activity(self, ongoing: Ongoing, how: str, at: float) -> None:
        name = ongoing.activity
        # Its last task may have ended long before this tick.
        end = at if ongoing.until is None else min(at, ongoing.until)
        if ongoing is self.state.activity:
            energy = self.state.energy if how == NEVER_BEGAN else self._energy_now(at)
            self._update_state(activity=None)
            self._charge(energy, at)
        else:
            self._update_state(
                suspended=[each for each in self.state.suspended if each is not ongoing]
            )
        if how == DONE:
            self._record_memory('ended', name, end)
            to = self._world.view.activities[name].to
            if to and not self._world.view.measured:
                self._set_place(to, end, at)
        elif how in (FAILED, CANCELLED):
            self._record_memory('failed', name, at)
        elif how == NEVER_BEGAN:
            self._drop_pending_begin(name)
        self._add_command(CancelTasks, ongoing, f'{name}: {how}')
        self._publish(ActionEnded(at, name, how))

    def _hold_activity(self, ongoing: Ongoing, why: str, at: float) -> None:
        held = ongoing.model_copy(update={'held': True})
        energy = self._energy_now(at)
        self._update_state(activity=held)
        self._charge(energy, at)
        self._add_command(PauseTasks, ongoing, why)

    def _release_activity(self, ongoing: Ongoing, at: float) -> None:
        fits = self._can_continue(ongoing)
        if fits:
            self._resume(ongoing, at)
        elif fits is False:
            self._end_activity(ongoing, GIVEN_UP, at)

    def _suspend(self, ongoing: Ongoing, why: str, at: float) -> None:
        suspended = [*self.state.suspended, ongoing]
        energy = self._energy_now(at)
        self._update_state(activity=None, suspended=suspended)
        self._charge(energy, at)
        self._add_command(PauseTasks, ongoing, why)

    def _resume_suspended(self, at: float) -> None:
        while self.state.activity is None and self.state.suspended:
            last = self.state.suspended[-1]
            over = last.until is not None and at >= last.until
            fits = self._can_continue(last)
            if over or fits is False:
                self._end_activity(last, GIVEN_UP, at)
            elif fits:
                self._update_state(suspended=self.state.suspended[:-1])
                self._resume(last, at)
            else:
                return

    def _resume(self, ongoing: Ongoing, at: float) -> None:
        self._update_state(activity=ongoing.model_copy(update={'held': False, 'energy_at': at}))
        self._add_command(ResumeTasks, ongoing)

    def _can_continue(self, ongoing: Ongoing) -> bool | None:
        """Whether the activity can continue at the current place; None: the place is unknown."""
        activity, place = self._world.view.activities[ongoing.activity], self.state.place
        if not activity.at:
            return True
        return place in activity.at or place == activity.to if place else None

    def _repeat_commands(self, holding: bool) -> None:
        state = self.state
        ongoing = [state.activity] if state.activity else []
        paused = [*state.suspended, *(each for each in ongoing if each.held)]
        running = [each for each in ongoing if not (each.held or holding)]
        own = {task_id for each in (*state.suspended, *ongoing) for task_id in each.task_ids}
        orphans = [task_id for task_id in self._tasks if task_id not in own]
        self._command_live_tasks(CancelTasks, orphans, 'its activity has ended')
        self._command_live_tasks(
            PauseTasks, self._known_task_ids(paused), 'it was interrupted before the restart'
        )
        self._command_live_tasks(ResumeTasks, self._known_task_ids(running))

    def _known_task_ids(self, activities: Iterable[Ongoing]) -> list[str]:
        ids = (task_id for each in activities for task_id in each.task_ids)
        return [task_id for task_id in ids if task_id in self._tasks]

    def _add_command(self, kind: Callable[..., Command], ongoing: Ongoing, *why: str) -> None:
        self._command_live_tasks(kind, ongoing.task_ids, *why)

    def _command_live_tasks(
        self, kind: Callable[..., Command], task_ids: Iterable[str], *why: str
    ) -> None:
        """Queue a command for those tasks that have not ended."""
        live = tuple(each for each in task_ids if self._tasks.get(each) not in ENDED_STATES)
        if live:
            self._commands.append(kind(live, *why))

    def _energy_now(self, at: float) -> float:
        return energy_now(self.state, self._world, at)

    def _charge(self, energy: float, at: float) -> None:
        before, after = f'{self.state.energy:.0%}', f'{energy:.0%}'
        self._update_state(energy=energy)
        if _tenth(before) != _tenth(after):
            self._publish(StateChanged(at, 'energy', before, after))

    def _observe_devices(self, devices: Mapping[str, bool], at: float) -> None:
        """A device that the world view declares unavailable stays unusable."""
        for name, device in self._world.view.devices.items():
            before = self.state.devices.get(name, device.available)
            usable = device.available and devices.get(name, before)
            if usable != before:
                self._update_state(devices={**self.state.devices, name: usable})
                texts = {True: 'usable', False: 'not usable'}
                self._publish(StateChanged(at, f'device {name}', texts[before], texts[usable]))

    def _set_place(self, place: str, arrived: float, at: float) -> None:
        before = self.state.place
        self._update_state(place=place)
        if place:
            self._record_memory('arrived', place, arrived)
        if place != before:
            self._publish(StateChanged(at, 'place', before, place))

    def _record_memory(self, field_name: str, name: str, at: float) -> None:
        memory = self.state.memory
        times = {**getattr(memory, field_name), name: at}
        self._update_state(memory=memory.model_copy(update={field_name: times}))

    def _drop_pending_begin(self, activity: str) -> None:
        memory = self.state.memory
        began = {name: at for name, at in memory.began.items() if name != activity}
        self._update_state(memory=memory.model_copy(update={'began': began}))

    def _update_state(self, **values: Any) -> None:
        self.state = self.state.model_copy(update=values)


def _tenth(percent: str) -> int:
    return int(percent.rstrip('%')) // 10


def _clipped(energy: float) -> float:
    return min(1.0, max(0.0, energy))
