# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The policy's hard limits: whether an activity may start now, and if not, why. Pure."""

from __future__ import annotations

from curiosity_rosa_demo.agent.policy.world import (
    Blackboard,
    Memory,
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
        name, state, at = action.type, board.state, board.at
        activity = self._world.view.activities.get(name)
        if board.senses.hold_reason:
            return board.senses.hold_reason
        if activity is None:
            known = ', '.join(self._world.view.activities)
            return f'there is no activity {name}; there are {known}'
        return (
            self._order_refusal(name, by, activity, state)
            or self._place_refusal(activity, state.place)
            or self._time_refusal(activity, at)
            or self._device_refusal(activity, state)
            or self._energy_refusal(activity, state, at)
            or self._repeat_refusal(name, activity, state.memory, at)
            or self._conflict_refusal(action, by, activity, state)
        )

    def _order_refusal(
        self, name: str, by: Source, activity: ActivityConfig, state: WorldState
    ) -> str:
        goes_on = state.activity.activity if state.activity else ''
        answers = {each.activity for each in self._world.view.emergencies}
        if name in answers and by is not Source.EMERGENCY:
            return f'{name} begins only when something happens that it answers'
        if activity.ends and goes_on not in activity.ends:
            return f'{name} begins only during {" or ".join(activity.ends)}'
        if goes_on == name:
            return f'{name} goes on already'
        if by is not Source.EMERGENCY and any(each.activity == name for each in state.suspended):
            return f'{name} was interrupted and goes on by itself'
        return ''

    def _place_refusal(self, activity: ActivityConfig, place: str) -> str:
        if not (activity.at or activity.to):
            return ''
        if place not in self._world.view.places:
            return 'it is not known where it is'
        if activity.at and place not in activity.at:
            return f'it is at {place}, not at {" or ".join(activity.at)}'
        if activity.to == place:
            return f'it is at {place} already'
        if activity.to and activity.to not in self._world.view.places[place].leads_to:
            return f'no way leads from {place} to {activity.to}'
        return ''

    def _time_refusal(self, activity: ActivityConfig, at: float) -> str:
        world, window, days = self._world, activity.window, activity.days
        if days and world.day(window, at) not in days:
            return f'only on {", ".join(days)}'
        if window and not world.within(window, (), at):
            return f'only in {window}'
        return ''

    def _device_refusal(self, activity: ActivityConfig, state: WorldState) -> str:
        devices = self._world.view.devices
        for need in activity.needs:
            device, _, ability = need.partition('.')
            if not state.devices.get(device, devices[device].available):
                return f'{device} cannot be used'
            if ability not in devices[device].abilities:
                return f'{device} cannot {ability}'
        return ''

    def _energy_refusal(self, activity: ActivityConfig, state: WorldState, at: float) -> str:
        if not activity.energy_min:
            return ''
        energy = self._world.energy(state, at)
        if energy >= activity.energy_min:
            return ''
        return f'its energy is {energy:.0%}, below {activity.energy_min:.0%}'

    def _repeat_refusal(
        self, name: str, activity: ActivityConfig, memory: Memory, at: float
    ) -> str:
        began, failed = memory.began.get(name), memory.failed.get(name)
        times = [memory.ended.get(name)]
        if began is not None and (failed is None or failed < began):
            times.append(began)  # a start that failed does not count
        last = max((time for time in times if time is not None), default=None)
        if last is not None and at - last < activity.again_after_h * 3600.0:
            return f'again {activity.again_after_h:g} h after the last time at the earliest'
        if failed is not None and at - failed < self._retry_s:
            return f'it failed or was cancelled {(at - failed) / 60.0:.0f} min ago'
        return ''

    def _conflict_refusal(
        self, action: PolicyAction, by: Source, activity: ActivityConfig, state: WorldState
    ) -> str:
        ongoing = state.activity
        if ongoing is None:
            return ''
        if ongoing.activity in activity.ends and (action.preemptive or by is not Source.MODEL):
            return ''
        if ongoing.by is Source.EMERGENCY:
            return f'{ongoing.activity} goes on, an emergency'
        if by is Source.EMERGENCY:
            return ''
        if not self._world.view.activities[ongoing.activity].interruptible:
            return f'{ongoing.activity} goes on and cannot be interrupted'
        if not action.preemptive:
            return f'{ongoing.activity} goes on, and the action is not preemptive'
        return ''
