# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A policy from tick to tick: days as they are written down, faults, and any life at random."""

from __future__ import annotations

from collections.abc import Callable
import json
from pathlib import Path
from typing import Any, ClassVar

from curiosity_rosa_demo.agent.policy.decisions import Decision, decision_log
from curiosity_rosa_demo.agent.policy.safety_filter import SafetyFilter
from curiosity_rosa_demo.agent.policy.suggestion import situation_of, SuggestionFailed
from curiosity_rosa_demo.agent.policy.tree import Leaf
from curiosity_rosa_demo.agent.policy.world import (
    Blackboard,
    Command,
    PolicyAction,
    Senses,
    WorldModel,
)
from curiosity_rosa_demo.infra.config.behaviour import WorldView
from examples import examples
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule, RuleBasedStateMachine
from policy_world import (
    anytime,
    COMPANION,
    HELD,
    instant,
    NO_IDEA,
    PolicyRun,
    ROVER,
    ScriptedModel,
    SETTINGS,
    WORK_S,
    world_of,
)
from py_trees.common import Status
import pytest

HOME = world_of(COMPANION)
WRITTEN = (Path(__file__).parent / 'corpus/policy_days.tsv').read_text(encoding='utf-8')
SCENARIOS = WRITTEN.split('\n== ')[1:]


def pupil(when: str, *, model: ScriptedModel | None = None) -> PolicyRun:
    """2026-11-23 is a Monday."""
    return PolicyRun(HOME, instant(when, HOME), provider=model.provider if model else None)


# --- days ---------------------------------------------------------------------------------------


class Scenario:
    """A life that a file directs: a step is a name here and its argument."""

    STEPS: ClassVar[dict[str, Callable[[PolicyRun, str], Any]]] = {
        'until': lambda life, when: life.until(when),
        'run': lambda life, minutes: life.run(float(minutes)),
        'tick': lambda life, _: life.tick(),
        'say': lambda life, messages: life.tick(*messages.split('/'), cause='message'),
        'restart': lambda life, _: life.restart(),
        'end': lambda life, state: life.twin.end(life.twin.not_ended()[0], state),
        'lose': lambda life, _: life.twin.lose(life.twin.not_ended()[-1]),  # the last task
    }

    def __init__(self, world: str, begin: str, zone: str = 'UTC+08:00') -> None:
        name, _, changes = world.partition(' ')
        view = ROVER if name == 'rover' else COMPANION
        own = anytime() if name == 'anytime' else {}
        world_model = world_of(view, zone, **own | json.loads(changes or '{}'))
        self.model = ScriptedModel()
        at = instant(begin, world_model)
        self.life = PolicyRun(world_model, at, provider=self.model.provider)
        self.ids: list[str] = []
        self.lived: list[Decision] = []

    def take(self, step: str) -> str:
        """What was told meanwhile."""
        name, _, argument = step.partition(' ')
        self.life.decisions.clear()
        step = self.STEPS.get(name)
        answer = step(self.life, argument) if step else getattr(self, name)(argument)
        self.lived += [tick.decision for tick in self.life.decisions]
        ticks = [self.tick_text(tick) for tick in self.life.decisions]
        return answer if isinstance(answer, str) else ' | '.join(filter(None, ticks))

    def tick_text(self, tick: Any) -> str:
        decision = tick.decision
        refused = [f'{each.type} is refused: {each.reason}' for each in decision.rejected]
        told = [*filter(None, [decision.done]), *refused, *map(self.command_text, tick.commands)]
        local = self.life.world.local(decision.at)
        return f'{local:%a %H:%M} {"; ".join(told)}' if told else ''

    def command_text(self, command: Command) -> str:
        if command.does == 'submit':
            self.ids += command.task_ids
        numbers = [str(self.ids.index(each) + 1) for each in command.task_ids]
        return ' '.join([command.does, *numbers])

    def hold(self, why: str) -> None:
        self.life.holding = why

    def idea(self, name: str) -> None:
        """With an exclamation mark it is preemptive; -: none."""
        action = PolicyAction(type=name.rstrip('!'), preemptive=name.endswith('!'))
        self.model.reply = NO_IDEA if name == '-' else action

    def silent(self, _: str) -> None:
        self.model.silent = True

    def speak(self, _: str) -> None:
        self.model.speak()
        self.life.tick(cause='answer')

    def asked(self, _: str) -> str:
        """The situation as a model would be told it."""
        board = Blackboard(self.life.at, self.life.saved, Senses())
        return situation_of(self.life.world, board, ()).text.replace('\n', ' / ')

    def diary(self, entries: str) -> str:
        told = decision_log(self.lived, self.life.world, int(entries or 1000))
        return told.replace('\n', ' / ')

    def put(self, values: str) -> None:
        self.life.saved = self.life.saved.model_copy(update=json.loads(values))
        self.life.restart()

    def sense(self, value: str) -> None:
        what, _, value = value.partition(' ')
        setattr(self.life.twin, what, float(value) if what == 'energy' else value)

    def device(self, value: str) -> None:
        name, _, usable = value.partition(' ')
        self.life.devices = {name: usable == 'true'}

    def miss(self, _: str) -> None:
        """A tick in which the kernel shows no task."""
        known, self.life.twin.states = self.life.twin.states, {}
        self.life.tick()
        self.life.twin.states = known

    def off(self, why: str) -> None:
        self.life.decisions.append(self.life.off(why))


@pytest.mark.parametrize('written', SCENARIOS, ids=[each.split('\t')[0] for each in SCENARIOS])
def test_a_day_is_lived_as_it_is_written(written: str) -> None:
    head, *lines = written.splitlines()
    scenario = Scenario(*head.split('\t')[1:])
    for line in lines:
        step, _, wanted = line.partition('\t')
        assert scenario.take(step) == wanted, step


NOT_NOW = ['fly_to_the_moon', ' ', 'rest\nand more', 'library', 'nap', 'study', 'wake', 'go_home']
SAYINGS = [
    *(PolicyAction(type=name, preemptive=name != 'wake', rationale='why not') for name in NOT_NOW),
    *(SuggestionFailed('?', 'I will rest.'), ValueError('torn JSON'), RecursionError()),
    *(TimeoutError(), SystemExit(1), 'rest'),
]


def test_whatever_the_model_says_the_routine_s_day_is_lived() -> None:
    for number, reply in enumerate(SAYINGS):
        model = ScriptedModel(reply)
        policy_run = pupil('2026-11-22 20:30', model=model)
        policy_run.until('2026-11-23 07:30')
        began = ['Sun 21:30 sleep', 'Mon 06:30 wake', 'Mon 07:20 go_to_school']
        assert policy_run.began() == began, number
        assert model.asked


def test_a_node_that_breaks_does_not_lose_the_tick_and_nothing_begins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def breaks(*args: object) -> str:
        raise KeyError('no\nsuch')

    def chooses_and_breaks(leaf: Leaf) -> None:
        if update(leaf) is Status.SUCCESS:
            breaks()

    update = Leaf.update
    for owner, name, broken, texts in (
        (SafetyFilter, 'refusal_reason', breaks, ['hello']),
        (WorldModel, 'within', breaks, []),
        (Leaf, 'update', chooses_and_breaks, ['hello']),
    ):
        policy_run = pupil('2026-11-23 07:20')
        policy_run.tick()
        policy_run.at += 20 * 60.0
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, broken)
            ticks = [policy_run.tick(), policy_run.tick(*texts)]
        for tick in ticks:
            assert (tick.commands, tick.state.activity) == ((), None)
            assert r"the tree broke (KeyError: 'no\nsuch'), nothing begins" in tick.decision.done
            assert not any('goes on' in line for line in tick.decision.path)
        assert 'go_to_school: done' in ticks[0].decision.done  # what ended is not lost
        assert policy_run.policy.tree.text()
        begins = 'read_message, by the emergency' if texts else 'study, by the routine'
        assert f'began {begins}' in policy_run.tick().decision.done


# --- any life -----------------------------------------------------------------------------------

NAMES = sorted({*ROVER.activities, *COMPANION.activities, 'fly_to_the_moon'})
BEGINS = ['2026-11-23 05:00', '2026-11-23 07:15', '2026-11-28 21:20', '2026-03-28 23:30']


class AnyLife(RuleBasedStateMachine):
    """Minutes, messages, answers of a model, failures, deaths and the kernel's moods in any
    order; ``Rules`` of policy_world judge each tick.
    """

    @initialize(
        life=st.sampled_from([(ROVER, {}), (COMPANION, {}), (COMPANION, anytime())]),
        begin=st.sampled_from(BEGINS),
        zone=st.sampled_from(['UTC+08:00', 'Europe/Berlin']),
        asked=st.booleans(),
        energy=st.floats(0.0, 1.0),
    )
    def born(
        self, life: tuple[WorldView, Any], begin: str, zone: str, asked: bool, energy: float
    ) -> None:
        view, changes = life
        self.world = world_of(view, zone, **changes)
        often = SETTINGS.model_copy(update={'window_s': 60.0, 'cache_s': 0.0})
        self.model = ScriptedModel(NO_IDEA, often)
        self.failing: set[str] = set()
        self.slow: set[str] = set()
        at = instant(begin, self.world)
        provider = self.model.provider if asked else None
        self.policy_run = PolicyRun(self.world, at, provider=provider, work_s=self.work_s, keep=0)
        self.policy_run.saved = self.policy_run.saved.model_copy(update={'energy': energy})
        self.policy_run.twin.energy = self.policy_run.rules.energy = energy
        self.policy_run.restart()

    def work_s(self, name: str) -> float:
        seconds = 7200.0 if name in self.slow else WORK_S
        return -seconds if name in self.failing else seconds

    @rule(minutes=st.integers(1, 150))
    def minutes_pass(self, minutes: int) -> None:
        self.policy_run.run(minutes)

    @rule(
        seconds=st.floats(0.0, 59.0)
        | st.sampled_from([3.0, 9.5, 26.0, 170.0]).map((3600.0).__mul__)
    )
    def it_is_woken_between_minutes_or_sleeps_through_hours(self, seconds: float) -> None:
        self.policy_run.at += seconds
        self.policy_run.tick(cause='event')

    @rule(texts=st.lists(st.text(max_size=5), min_size=1, max_size=3))
    def messages_come(self, texts: list[str]) -> None:
        self.policy_run.tick(*texts, cause='message')

    @rule(why=st.sampled_from(['', *HELD]))
    def the_kernel_s_mood_changes(self, why: str) -> None:
        self.policy_run.holding = why
        self.policy_run.tick(cause='event')

    @rule(minutes=st.integers(1, 9))
    def it_is_held_for_a_while(self, minutes: int) -> None:
        self.the_kernel_s_mood_changes('')
        for why in ('', HELD[0], ''):
            self.policy_run.holding = why
            self.policy_run.run(minutes)
            self.place_and_energy_are_as_its_activities_have_it()

    @rule(data=st.data(), preemptive=st.booleans(), silent=st.booleans())
    def the_model_has_an_idea(self, data: st.DataObject, preemptive: bool, silent: bool) -> None:
        """Or none."""
        name = data.draw(st.sampled_from(['', *self.world.view.activities, 'fly_to_the_moon']))
        action = PolicyAction(type=name or 'rest', preemptive=preemptive, rationale='why not')
        self.model.reply = action if name else NO_IDEA
        self.model.silent = silent
        self.policy_run.run(2)

    @rule(late_s=st.sampled_from([0.0, 31.0]))
    def the_model_answers(self, late_s: float) -> None:
        self.model.steady_s += late_s
        self.model.speak()
        self.policy_run.tick(cause='answer')

    @rule(name=st.sampled_from(NAMES), fails=st.booleans(), slow=st.booleans())
    def work_changes(self, name: str, fails: bool, slow: bool) -> None:
        (self.failing.add if fails else self.failing.discard)(name)
        (self.slow.add if slow else self.slow.discard)(name)

    @rule()
    def somebody_cancels_what_runs(self) -> None:
        self.policy_run.twin.cancel_all()
        self.policy_run.tick()

    @precondition(lambda self: self.policy_run.twin.not_ended())
    @rule(how=st.sampled_from(['COMPLETED', 'FAILED', 'CANCELLED', 'lost']), data=st.data())
    def a_task_ends(self, how: str, data: st.DataObject) -> None:
        task_id = data.draw(st.sampled_from(self.policy_run.twin.not_ended()))
        if how == 'lost':
            self.policy_run.twin.lose(task_id)
        else:
            self.policy_run.twin.end(task_id, how)
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
        self.policy_run.devices = dict.fromkeys(self.world.view.devices, usable)

    @rule()
    def it_is_switched_off_and_on(self) -> None:
        self.policy_run.off('for a moment')
        assert self.policy_run.rules.open == []
        assert self.policy_run.twin.live() == []

    @invariant()
    def place_and_energy_are_as_its_activities_have_it(self) -> None:
        if hasattr(self, 'policy_run') and not self.world.view.measured:
            life = self.policy_run
            life.rules.at = life.at
            energy = self.world.energy(life.saved, life.at)
            assert energy == pytest.approx(life.rules.energy_now())
            assert life.saved.place == life.rules.place

    def teardown(self) -> None:
        if hasattr(self, 'policy_run'):
            self.it_is_switched_off_and_on()
            assert self.policy_run.policy.tree.text().startswith('[o] Root')


TestAnyLife = AnyLife.TestCase
TestAnyLife.settings = settings(max_examples=examples(100), stateful_step_count=40)
