# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The policy's hard limits: whether an activity may start now, and if not, why. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from curiosity_rosa_demo.agent.policy.world import (
    Blackboard,
    Memory,
    Ongoing,
    PolicyAction,
    Source,
    WorldModel,
    WorldState,
)
from curiosity_rosa_demo.infra.config.behaviour import ActivityConfig


class SafetyFilter:
    """``retry_s``: seconds until an activity that failed or was cancelled may start again."""

    def __init__(self, world: WorldModel, retry_s: float) -> None:
        self._world, self._retry_s = world, retry_s

    def options(self, board: Blackboard) -> tuple[str, ...]:
        """The activities that a preemptive action of the model could start now."""
        actions = [
            PolicyAction(type=name, preemptive=True) for name in self._world.view.activities
        ]
        return tuple(
            each.type for each in actions if not self.refusal_reason(each, Source.MODEL, board)
        )

    def refusal_reason(self, action: PolicyAction, by: Source, board: Blackboard) -> str:
        """'' when the activity may start, otherwise the first reason against it."""
        activity = self._world.view.activities.get(action.type)
        if board.senses.hold_reason:
            return board.senses.hold_reason
        if activity is None:
            known = ', '.join(self._world.view.activities)
            return f'there is no activity {action.type}; there are {known}'
        reasons = chain(
            self._against_its_order(action.type, by, activity, board.state),
            self._against_place_and_time(activity, board.state, board.at),
            self._against_means(activity, board.state, board.at),
            self._against_a_repetition(action.type, activity, board.state.memory, board.at),
            self._against_what_goes_on(action, by, activity, board.state.activity),
        )
        return next(reasons, '')

    def _against_its_order(
        self, name: str, by: Source, activity: ActivityConfig, state: WorldState
    ) -> Iterator[str]:
        goes_on = state.activity.activity if state.activity else ''
        answers = {each.activity for each in self._world.view.emergencies}
        if name in answers and by is not Source.EMERGENCY:
            yield f'{name} begins only when something happens that it answers'
        if activity.ends and goes_on not in activity.ends:
            yield f'{name} begins only during {" or ".join(activity.ends)}'
        if goes_on == name:
            yield f'{name} goes on already'
        if by is not Source.EMERGENCY and any(each.activity == name for each in state.suspended):
            yield f'{name} was interrupted and goes on by itself'

    def _against_place_and_time(
        self, activity: ActivityConfig, state: WorldState, at: float
    ) -> Iterator[str]:
        world, window, days = self._world, activity.window, activity.days
        place, to = state.place, activity.to
        if (activity.at or to) and place not in world.view.places:
            yield 'it is not known where it is'
        if activity.at and place not in activity.at:
            yield f'it is at {place}, not at {" or ".join(activity.at)}'
        if to and to == place:
            yield f'it is at {place} already'
        if to and to not in world.view.places[place].leads_to:
            yield f'no way leads from {place} to {to}'
        if days and world.day(window, at) not in days:
            yield f'only on {", ".join(days)}'
        if window and not world.within(window, (), at):
            yield f'only in {window}'

    def _against_means(
        self, activity: ActivityConfig, state: WorldState, at: float
    ) -> Iterator[str]:
        devices = self._world.view.devices
        for need in activity.needs:
            device, _, ability = need.partition('.')
            if not state.devices.get(device, devices[device].available):
                yield f'{device} cannot be used'
            if ability not in devices[device].abilities:
                yield f'{device} cannot {ability}'
        energy = self._world.energy(state, at)
        if energy < activity.energy_min:
            yield f'its energy is {energy:.0%}, below {activity.energy_min:.0%}'

    def _against_a_repetition(
        self, name: str, activity: ActivityConfig, memory: Memory, at: float
    ) -> Iterator[str]:
        began, failed = memory.began.get(name), memory.failed.get(name)
        times = [memory.ended.get(name)]
        if began is not None and (failed is None or failed < began):
            times.append(began)  # a start that failed does not count
        last = max((time for time in times if time is not None), default=None)
        if last is not None and at - last < activity.again_after_h * 3600.0:
            yield f'again {activity.again_after_h:g} h after the last time at the earliest'
        if failed is not None and at - failed < self._retry_s:
            yield f'it failed or was cancelled {(at - failed) / 60.0:.0f} min ago'

    def _against_what_goes_on(
        self, action: PolicyAction, by: Source, activity: ActivityConfig, ongoing: Ongoing | None
    ) -> Iterator[str]:
        if ongoing is None:
            return
        name = ongoing.activity
        if name in activity.ends and (action.preemptive or by is not Source.MODEL):
            return
        if ongoing.by is Source.EMERGENCY:
            yield f'{name} goes on, an emergency'
        if by is not Source.EMERGENCY:
            if not self._world.view.activities[name].interruptible:
                yield f'{name} goes on and cannot be interrupted'
            if not action.preemptive:
                yield f'{name} goes on, and the action is not preemptive'
