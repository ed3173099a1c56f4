# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The policy's hard limits: whether an activity may start now, and if not, why. Pure."""

from __future__ import annotations

from curiosity_rosa_demo.agent.policy.action import ActionProposal, PolicyAction, Senses
from curiosity_rosa_demo.agent.policy.world_state import Memory, Ongoing, Source, WorldState
from curiosity_rosa_demo.agent.policy.world_view import energy_now, WorldModel
from curiosity_rosa_demo.infra.config.behaviour import ActivityConfig


class SafetyFilter:
    """``retry_s``: seconds until an activity that failed or was cancelled may start again."""

    def __init__(self, world: WorldModel, retry_s: float) -> None:
        self._world, self._retry_s = world, retry_s
        self._model_proposals = tuple(
            ActionProposal(PolicyAction(type=name, preemptive=True), Source.MODEL)
            for name in world.view.activities
        )
        self._emergency_activities = frozenset(each.activity for each in world.view.emergencies)

    def options(self, state: WorldState, senses: Senses, at: float) -> tuple[str, ...]:
        """The activities that a preemptive action of the model could start now."""
        return tuple(
            proposal.action.type
            for proposal in self._model_proposals
            if not self.refusal_reason(proposal, state, senses, at)
        )

    def refusal_reason(
        self, proposal: ActionProposal, state: WorldState, senses: Senses, at: float
    ) -> str:
        """'' when the activity may start, otherwise the first reason against it."""
        name = proposal.action.type
        activity = self._world.view.activities.get(name)
        if senses.hold_reason:
            return senses.hold_reason
        if activity is None:
            return (
                f'there is no activity {name}; there are {", ".join(self._world.view.activities)}'
            )
        return (
            self._order_refusal(name, proposal.source, activity, state)
            or self._place_refusal(activity, state.place)
            or self._time_refusal(activity, at)
            or self._device_refusal(activity, state)
            or self._energy_refusal(activity, state, at)
            or self._repeat_refusal(name, activity, state.memory, at)
            or self._conflict_refusal(proposal, activity, state.activity)
        )

    def _order_refusal(
        self, name: str, by: Source, activity: ActivityConfig, state: WorldState
    ) -> str:
        goes_on = state.activity.activity if state.activity else ''
        if name in self._emergency_activities and by is not Source.EMERGENCY:
            return f'{name} begins only when something happens that it answers'
        if activity.ends and goes_on not in activity.ends:
            return f'{name} begins only during {" or ".join(activity.ends)}'
        if goes_on == name:
            return f'{name} goes on already'
        waiting = state.suspended and by is not Source.EMERGENCY
        if waiting and any(each.activity == name for each in state.suspended):
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
        energy = energy_now(state, self._world, at)
        if energy >= activity.energy_min:
            return ''
        return f'its energy is {energy:.0%}, below {activity.energy_min:.0%}'

    def _repeat_refusal(
        self, name: str, activity: ActivityConfig, memory: Memory, at: float
    ) -> str:
        failed = memory.failed.get(name)
        if activity.again_after_h:
            last = _last_ended_at(name, memory)
            if last is not None and at - last < activity.again_after_h * 3600.0:
                return f'again {activity.again_after_h:g} h after the last time at the earliest'
        if failed is not None and at - failed < self._retry_s:
            return f'it failed or was cancelled {(at - failed) / 60.0:.0f} min ago'
        return ''

    def _conflict_refusal(
        self, proposal: ActionProposal, activity: ActivityConfig, ongoing: Ongoing | None
    ) -> str:
        if ongoing is None:
            return ''
        may_end = proposal.action.preemptive or proposal.source is not Source.MODEL
        if may_end and ongoing.activity in activity.ends:
            return ''
        if ongoing.by is Source.EMERGENCY:
            return f'{ongoing.activity} goes on, an emergency'
        if proposal.source is Source.EMERGENCY:
            return ''
        now = self._world.view.activities.get(ongoing.activity)
        if now is not None and not now.interruptible:
            return f'{ongoing.activity} goes on and cannot be interrupted'
        if not proposal.action.preemptive:
            return f'{ongoing.activity} goes on, and the action is not preemptive'
        return ''


def _last_ended_at(name: str, memory: Memory) -> float | None:
    """The later of its last end and its last start; a start that failed does not count."""
    times = [memory.ended.get(name), memory.began.get(name)]
    if memory.failed.get(name, -1.0) >= memory.began.get(name, 0.0):
        times.pop()
    return max((time for time in times if time is not None), default=None)
