# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The policy engine: one tick reads the inputs, ticks the tree, and starts, suspends, resumes or
ends activities. Each change of an activity changes the state and commands its tasks.

Commands must be idempotent: they may come twice, or name tasks that have ended or that the kernel
does not know. An activity whose tasks are missing is not started again, because its time may have
passed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
import logging
from typing import Any, Literal
from uuid import uuid4

from curiosity_rosa_demo.agent.policy.safety_filter import SafetyFilter
from curiosity_rosa_demo.agent.policy.store import Decision
from curiosity_rosa_demo.agent.policy.suggestion_provider import LLMPolicyProvider
from curiosity_rosa_demo.agent.policy.tree import BehaviourTree
from curiosity_rosa_demo.agent.policy.world import (
    Blackboard,
    Command,
    Event,
    EventName,
    Ongoing,
    PolicyAction,
    Senses,
    Source,
    WorldModel,
    WorldState,
)
from curiosity_rosa_demo.domain.task_state import LifecycleState
from curiosity_rosa_demo.domain.text import printable
from curiosity_rosa_demo.infra.config.agent import PolicyConfig

ENDED_STATES = frozenset(state.name for state in LifecycleState if state.terminal)
MAX_WAITING_MESSAGES = 20  # messages in the queue; a further one is dropped
MAX_MESSAGE_CHARS = 500  # characters of a message that are kept

# Why an activity ended; switch_off() makes a text of its own.
DONE = 'done'
FAILED = 'failed'
CANCELLED = 'cancelled'  # not by the policy
GIVEN_UP = 'given up'  # it was interrupted and cannot resume: wrong time or wrong place
LOST = 'lost'  # the kernel does not know all of its tasks
NEVER_BEGAN = 'never began'

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class PolicyTick:
    """The result of a tick. Save ``state`` and ``decision`` before publishing ``events``,
    executing ``commands`` in order and speaking ``spoken_texts``.
    """

    decision: Decision
    state: WorldState
    commands: tuple[Command, ...]
    events: tuple[Event, ...]
    spoken_texts: tuple[str, ...]


class Policy:
    """One ongoing activity of one world, and the suspended ones. For one thread; no call blocks.
    ``number``: that of the last saved decision. A new policy repeats the commands of its
    ``state``, as after a crash.
    """

    def __init__(
        self,
        world: WorldModel,
        settings: PolicyConfig,
        *,
        state: WorldState,
        provider: LLMPolicyProvider | None,
        number: int = 0,
    ) -> None:
        self.state, self.number = state, number
        self.tree = BehaviourTree(world, SafetyFilter(world, settings.retry_s), provider)
        self._world = world
        self._tasks: dict[str, str] = {}
        self._absent_tasks: set[str] = set()  # first task IDs that the last tick missed
        self._restarted = True
        self._waiting: list[str] = []  # messages, the oldest first
        # Of this tick: what happened, in order; what to command; what to say aloud.
        self._told: list[Event | str] = []
        self._commands: list[Command] = []
        self._spoken: list[str] = []

    def tick(
        self,
        at: float,
        cause: str,
        senses: Senses,
        messages: Sequence[str] = (),
        missed: int = 0,
        notices: Sequence[str] = (),
    ) -> PolicyTick:
        """Run one tick. ``missed``: number of skipped ticks before this one. ``notices``: messages
        that are only said aloud.
        """
        self._observe(senses, at)
        for text in messages:
            self._receive(self._published(text))
        for text in notices:
            self._say(self._published(text))
        board = Blackboard(at, self.state, senses, tuple(self._waiting))
        try:
            self.tree.tick(board)
        except Exception as error:
            _log.exception('event=policy_node_broke')
            error_text = printable(f'{type(error).__name__}: {error}')
            self._told.append(f'the tree broke ({error_text}), nothing begins')
            board.chosen = None
        if board.chosen is not None:
            action, by = board.chosen
            self._start(action, by, at)
            if by is Source.EMERGENCY:
                self._say(self._waiting.pop(0))
        if messages and self._waiting:
            self._told.append(f'messages that wait: {len(self._waiting)}')
        return self._result(board, cause, missed)

    def switch_off(self, why: str, at: float) -> PolicyTick:
        """End the ongoing and suspended activities; drop the waiting messages."""
        for each in reversed(self.state.begun):
            self._end(each, f'off: {why}', at)
        for message in self._waiting:
            self._told.append(f'nobody answered the message: {message}')
        self._waiting = []
        self.tree.stop()
        self._told.append(f'off: {why}')
        return self._result(Blackboard(at, self.state, Senses()), 'off', 0)

    def _published(self, message: str) -> str:
        text = printable(message)[:MAX_MESSAGE_CHARS]
        event = Event(EventName.EXTERNAL_MESSAGE, '', text, f'a message came: {text}')
        self._told.append(event)
        return text

    def _receive(self, message: str) -> None:
        if not self._world.view.emergencies:
            self._told.append('the world view names no activity for a message')
            self._say(message)
        elif len(self._waiting) == MAX_WAITING_MESSAGES:
            self._told.append(f'it is dropped: {MAX_WAITING_MESSAGES} messages wait already')
        else:
            self._waiting.append(message)

    def _say(self, message: str) -> None:
        self._spoken.append(f'A message came: {message}')
        self._told.append('the message is said aloud')

    def _result(self, board: Blackboard, cause: str, missed: int) -> PolicyTick:
        self.number += 1
        state = self.state
        told, commands, spoken = self._told, tuple(self._commands), tuple(self._spoken)
        self._told, self._commands, self._spoken = [], [], []
        entries = [each.entry if isinstance(each, Event) else each for each in told]
        decision = Decision(
            number=self.number,
            at=board.at,
            cause=cause,
            missed=missed,
            path=self.tree.path,
            answer_text=board.answer_text,
            rejected=board.rejected,
            done='; '.join(filter(None, entries)),
            place=state.place,
            energy=self._world.energy(state, board.at),
            activity=state.activity.activity if state.activity else '',
            holding=board.senses.hold_reason,
        )
        events = tuple(each for each in told if isinstance(each, Event))
        return PolicyTick(decision, state, commands, events, spoken)

    # --- the activities, their tasks and the state ----------------------------------------------

    def _observe(self, senses: Senses, at: float) -> None:
        """Apply the measurements and task states, then resume suspended activities."""
        self._tasks = senses.tasks
        if senses.place is not None and senses.place != self.state.place:
            self._set_place(senses.place, at)
        if senses.energy is not None:
            self._change(energy=min(1.0, max(0.0, senses.energy)))
        self._observe_devices(senses.devices)
        if self._restarted:
            self._restarted = False
            self._repeat_commands(bool(senses.hold_reason))
        absent, self._absent_tasks = self._absent_tasks, set()
        # Suspended first: the ongoing activity is newer, so the place that it sets must win.
        for each in self.state.begun:
            if how := self._end_reason(each, absent):
                self._end(each, how, at)
        ongoing = self.state.activity
        if senses.hold_reason:
            if ongoing is not None and not ongoing.held:
                held = ongoing.model_copy(update={'held': True})
                self._pause(ongoing, senses.hold_reason, at, activity=held)
            return
        if ongoing is not None and ongoing.held:
            self._resume_or_end(ongoing, at, over=False)
        while self.state.activity is None and self.state.suspended:
            last = self.state.suspended[-1]
            over = last.until is not None and at >= last.until
            if not self._resume_or_end(last, at, over=over):
                return

    def _start(self, action: PolicyAction, by: Source, at: float) -> None:
        """Start the activity; the ongoing one ends or is suspended. The SafetyFilter must have
        passed the action: it is not checked again.
        """
        name, why = action.type, action.rationale
        activity = self._world.view.activities[name]
        current = self.state.activity
        if current is not None and current.activity in activity.ends:
            self._end(current, DONE, at)
        elif current is not None:
            suspended = [*self.state.suspended, current]
            self._pause(current, f'{name} goes first', at, activity=None, suspended=suspended)
        for each in self.state.suspended:
            if each.activity == name:  # two that interrupt each other would pile up
                self._end(each, GIVEN_UP, at)
        work = bool(activity.does or activity.asks)
        ongoing = Ongoing(
            activity=name,
            by=by,
            began_at=at,
            until=None if work else at + activity.minutes * 60.0,
            task_ids=[str(uuid4()) for _ in range(work + (activity.minutes > 0))],
            rationale=why,
            energy_at=at,
        )
        self._change(activity=ongoing)
        self._remember('began', name, at)
        self._commands.append(Command('submit', tuple(ongoing.task_ids), ongoing=ongoing))
        because = f' ({why})' if why else ''
        text, entry = f'{name}, by {by.value}{because}', f'began {name}, by the {by.value}'
        self._told.append(Event(EventName.ACTION_STARTED, name, text, entry))

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

    def _end(self, ongoing: Ongoing, how: str, at: float) -> None:
        name, state = ongoing.activity, self.state
        if ongoing is state.activity:
            energy = state.energy if how == NEVER_BEGAN else self._world.energy(state, at)
            self._change(activity=None, energy=energy)
        else:
            self._change(suspended=[each for each in state.suspended if each is not ongoing])
        if how == DONE:
            # Its last task may have ended long before this tick.
            end = at if ongoing.until is None else min(at, ongoing.until)
            self._remember('ended', name, end)
            to = self._world.view.activities[name].to
            if to and not self._world.view.measured:
                self._set_place(to, end)
        elif how in (FAILED, CANCELLED):
            self._remember('failed', name, at)
        elif how == NEVER_BEGAN:
            self._forget_begin(name)
        text = f'{name}: {how}'
        self._command('cancel', ongoing.task_ids, text)
        self._told.append(Event(EventName.ACTION_ENDED, name, text, text))

    def _pause(self, ongoing: Ongoing, why: str, at: float, **after: Any) -> None:
        """``after``: values of the state that the pause changes."""
        self._change(energy=self._world.energy(self.state, at), **after)
        self._command('pause', ongoing.task_ids, why)

    def _resume_or_end(self, ongoing: Ongoing, at: float, *, over: bool) -> bool:
        """Resume the activity where it may continue, end it where it may not or is ``over``.
        False: it has to wait, because the place is unknown.
        """
        activity, place = self._world.view.activities[ongoing.activity], self.state.place
        fits = not activity.at or (place != '' and place in (*activity.at, activity.to))
        if over or (place and not fits):
            self._end(ongoing, GIVEN_UP, at)
        elif fits:
            suspended = [each for each in self.state.suspended if each is not ongoing]
            resumed = ongoing.model_copy(update={'held': False, 'energy_at': at})
            self._change(activity=resumed, suspended=suspended)
            self._command('resume', ongoing.task_ids)
        else:
            return False
        return True

    def _repeat_commands(self, holding: bool) -> None:
        """After a restart, for all tasks that the kernel knows."""
        state, activity = self.state, self.state.activity
        runs = [activity] if activity is not None and not activity.held else []
        paused = [each for each in state.begun if each not in runs]
        orphans = [task_id for task_id in self._tasks if task_id not in state.task_ids]
        self._command('cancel', orphans, 'its activity has ended')
        self._command(
            'pause', self._known_task_ids(paused), 'it was interrupted before the restart'
        )
        if not holding:
            self._command('resume', self._known_task_ids(runs))

    def _known_task_ids(self, activities: Iterable[Ongoing]) -> list[str]:
        ids = [task_id for each in activities for task_id in each.task_ids]
        return [task_id for task_id in ids if task_id in self._tasks]

    def _command(
        self, does: Literal['cancel', 'pause', 'resume'], task_ids: Iterable[str], why: str = ''
    ) -> None:
        """For those tasks that have not ended."""
        live = tuple(each for each in task_ids if self._tasks.get(each) not in ENDED_STATES)
        if live:
            self._commands.append(Command(does, live, why))

    def _observe_devices(self, switched: dict[str, bool]) -> None:
        """A device that the world view declares unavailable stays unusable."""
        for name, device in self._world.view.devices.items():
            before = self.state.devices.get(name, device.available)
            usable = device.available and switched.get(name, before)
            if usable != before:
                self._change(devices={**self.state.devices, name: usable})
                texts = {True: 'usable', False: 'not usable'}
                self._tell_change(f'device {name}', texts[before], texts[usable])

    def _set_place(self, place: str, arrived: float) -> None:
        before = self.state.place
        self._change(place=place)
        if place:
            self._remember('arrived', place, arrived)
        if place != before:
            self._tell_change('place', before, place)

    def _remember(self, kind: str, name: str, at: float) -> None:
        memory = self.state.memory
        times = {**getattr(memory, kind), name: at}
        self._change(memory=memory.model_copy(update={kind: times}))

    def _forget_begin(self, name: str) -> None:
        memory = self.state.memory
        began = {each: at for each, at in memory.began.items() if each != name}
        self._change(memory=memory.model_copy(update={'began': began}))

    def _change(self, **values: Any) -> None:
        before = self.state.energy
        self.state = self.state.model_copy(update=values)
        after = self.state.energy
        if round(100.0 * before) // 10 != round(100.0 * after) // 10:
            self._tell_change('energy', f'{before:.0%}', f'{after:.0%}')

    def _tell_change(self, what: str, before: str, after: str) -> None:
        text = f'{what}: {before} -> {after}'
        entry = '' if what == 'energy' else text  # each entry has the energy
        self._told.append(Event(EventName.STATE_CHANGED, what, text, entry))
