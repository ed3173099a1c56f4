# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The rules that hold at every tick of a policy, written down once more, from the world view."""

from __future__ import annotations

from datetime import datetime, timedelta

from curiosity_rosa_demo.agent.policy.action import ResumeTasks, Senses, SubmitTasks
from curiosity_rosa_demo.agent.policy.events import ActionEnded, ActionStarted, Event
from curiosity_rosa_demo.agent.policy.policy import PolicyTick
from curiosity_rosa_demo.agent.policy.world_state import Ongoing, Source, WorldState
from curiosity_rosa_demo.agent.policy.world_view import WorldModel
from curiosity_rosa_demo.infra.config.world import ActivityConfig, DAYS
from policy_doubles import SimulatedTasks


class Rules:
    """What holds at every tick, whatever happens. It knows the world view, nothing else."""

    def __init__(self, world: WorldModel) -> None:
        self.world, self.view = world, world.view
        self.begun: list[tuple[float, str, Source]] = []
        self.open: list[str] = []  # activities that began and have not ended
        self.ended: set[str] = set()  # in this tick

    def hear(self, event: Event) -> None:
        if isinstance(event, ActionStarted):
            self.open.append(event.activity)
            self.begun.append((event.at, event.activity, event.by))
        elif isinstance(event, ActionEnded):
            assert event.activity in self.open, f'{event.activity} ended twice'
            self.open.remove(event.activity)
            self.ended.add(event.activity)

    def check(
        self, before: WorldState, tick: PolicyTick, senses: Senses, twin: SimulatedTasks
    ) -> None:
        state, at = tick.state, tick.decision.at
        assert 0.0 <= tick.decision.energy <= 1.0
        if state is before and not tick.commands:
            return
        begins = [each.ongoing for each in tick.commands if isinstance(each, SubmitTasks)]
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
        self, ongoing: Ongoing, before: WorldState, tick: PolicyTick, senses: Senses, at: float
    ) -> None:
        activity = self.view.activities[ongoing.activity]
        local = self.world.local(at)
        assert not senses.hold_reason
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
        self, ongoing: Ongoing, activity: ActivityConfig, before: WorldState, tick: PolicyTick
    ) -> None:
        assert not activity.ends or self.ended & set(activity.ends)
        earlier = [each.task_ids for each in before.suspended]
        commands = [each for each in tick.commands if isinstance(each, ResumeTasks)]
        resumed = {task_id for each in commands for task_id in each.task_ids}
        for each in tick.state.suspended:
            if each.task_ids not in earlier or resumed & set(each.task_ids):  # put aside just now
                assert each.by is not Source.EMERGENCY
                if ongoing.by is not Source.EMERGENCY:
                    assert self.view.activities[each.activity].interruptible


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
