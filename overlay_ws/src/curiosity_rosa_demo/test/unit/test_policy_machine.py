# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Long policy runs and random ones: the rules of policy_rules are checked at every tick."""

from __future__ import annotations

from curiosity_rosa_demo.agent.policy.action import PolicyAction
from curiosity_rosa_demo.agent.policy.suggestion import PromptSituation, SuggestionFailed
from curiosity_rosa_demo.infra.config.world import WorldView
from examples import examples
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule, RuleBasedStateMachine
from policy_doubles import ScriptedModel, WORK_S
from policy_world import COMPANION, HELD, instant, PolicyRun, ROVER, world_of

NAMES = sorted({*ROVER.activities, *COMPANION.activities, 'fly_to_the_moon'})
BEGINS = ['2026-11-23 05:00', '2026-11-23 07:15', '2026-11-28 21:20', '2026-03-28 23:30']


class AnyLife(RuleBasedStateMachine):
    """Minutes, messages, answers of a model, failures, deaths and the kernel's moods in any
    order.
    """

    @initialize(
        view=st.sampled_from([ROVER, COMPANION]),
        begin=st.sampled_from(BEGINS),
        zone=st.sampled_from(['UTC+08:00', 'Europe/Berlin']),
        asked=st.booleans(),
        energy=st.floats(0.0, 1.0),
    )
    def born(self, view: WorldView, begin: str, zone: str, asked: bool, energy: float) -> None:
        self.world = world_of(view, zone)
        self.model = ScriptedModel(self.says)
        self.action: PolicyAction | None = None
        self.failing: set[str] = set()
        self.slow: set[str] = set()
        at = instant(begin, self.world)
        provider = self.model.provider if asked else None
        self.policy_run = PolicyRun(self.world, at, provider=provider, work_s=self.work_s, keep=0)
        self.policy_run.saved = self.policy_run.saved.model_copy(update={'energy': energy})
        self.policy_run.twin.energy = energy
        self.policy_run.restart()

    def says(self, situation: PromptSituation) -> PolicyAction:
        if self.action is None:
            raise SuggestionFailed('It has no idea.')
        return self.action

    def work_s(self, name: str) -> float:
        seconds = 7200.0 if name in self.slow else WORK_S
        return -seconds if name in self.failing else seconds

    @rule(minutes=st.integers(1, 150))
    def minutes_pass(self, minutes: int) -> None:
        self.policy_run.run(minutes)

    @rule(seconds=st.floats(0.0, 59.0))
    def it_is_woken_between_minutes(self, seconds: float) -> None:
        self.policy_run.at += seconds
        self.policy_run.tick(cause='event')

    @rule(hours=st.sampled_from([3.0, 9.5, 26.0, 170.0]))
    def it_sleeps_through_hours(self, hours: float) -> None:
        self.policy_run.at += hours * 3600.0
        self.policy_run.tick()

    @rule(texts=st.lists(st.text(max_size=5), min_size=1, max_size=3))
    def messages_come(self, texts: list[str]) -> None:
        self.policy_run.tick(*texts, cause='message')

    @rule(why=st.sampled_from(['', *HELD]))
    def the_kernel_s_mood_changes(self, why: str) -> None:
        self.policy_run.holding = why

    @rule(name=st.sampled_from(NAMES), preemptive=st.booleans(), silent=st.booleans())
    def the_model_has_an_idea(self, name: str, preemptive: bool, silent: bool) -> None:
        self.action = PolicyAction(type=name, preemptive=preemptive, rationale='why not')
        self.model.silent = silent

    @rule(late_s=st.sampled_from([0.0, 31.0]))
    def the_model_answers(self, late_s: float) -> None:
        self.model.steady_s += late_s
        self.model.speak()
        self.policy_run.tick(cause='answer')

    @rule()
    def the_model_has_none(self) -> None:
        self.action = None

    @rule(name=st.sampled_from(NAMES), fails=st.booleans(), slow=st.booleans())
    def work_changes(self, name: str, fails: bool, slow: bool) -> None:
        (self.failing.add if fails else self.failing.discard)(name)
        (self.slow.add if slow else self.slow.discard)(name)

    @rule()
    def somebody_cancels_what_runs(self) -> None:
        self.policy_run.twin.cancel_all()
        self.policy_run.tick()

    @rule(lost=st.booleans(), carried_out=st.booleans())
    def it_dies_and_is_born_again(self, lost: bool, carried_out: bool) -> None:
        self.policy_run.tick(carried_out=carried_out)
        self.policy_run.restart(lost=lost)
        self.policy_run.tick()

    @precondition(lambda self: self.world.view.measured)
    @rule(place=st.sampled_from(['', *ROVER.places]), energy=st.floats(0.0, 1.0))
    def the_rover_is_moved(self, place: str, energy: float) -> None:
        self.policy_run.twin.place, self.policy_run.twin.energy = place, energy

    @rule(usable=st.booleans())
    def a_device_changes(self, usable: bool) -> None:
        devices = dict.fromkeys(self.world.view.devices, usable)
        self.policy_run.saved = self.policy_run.saved.model_copy(update={'devices': devices})
        self.policy_run.restart()

    @rule()
    def it_is_switched_off_and_on(self) -> None:
        self.policy_run.off('for a moment')
        assert self.policy_run.rules.open == []
        assert self.policy_run.twin.live() == []

    @invariant()
    def decisions_can_be_drawn(self) -> None:
        if hasattr(self, 'policy_run'):
            assert self.policy_run.policy.ascii().startswith('[o] Root')

    def teardown(self) -> None:
        if hasattr(self, 'policy_run'):
            self.policy_run.off('the end')
            assert self.policy_run.rules.open == []
            self.policy_run.policy.close()


TestAnyLife = AnyLife.TestCase
TestAnyLife.settings = settings(deadline=None, max_examples=examples(100), stateful_step_count=25)
