# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The policy: what may begin, by calendar and filter; the tree that decides and is drawn; and from
tick to tick, days as they are written down, faults, and any life at random.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
import json
from pathlib import Path
import re
from typing import Any, ClassVar
from xml.etree import ElementTree

from curiosity_rosa_demo.agent.policy.policy import MAX_MESSAGE_CHARS
from curiosity_rosa_demo.agent.policy.safety_filter import SafetyFilter
from curiosity_rosa_demo.agent.policy.store import Decision, decision_log
from curiosity_rosa_demo.agent.policy.tree import ANSI_COLOUR, INDENT, Leaf
from curiosity_rosa_demo.agent.policy.world import (
    Blackboard,
    Command,
    Memory,
    Ongoing,
    PolicyAction,
    Senses,
    situation_of,
    Source,
    SuggestionFailed,
    WorldModel,
    WorldState,
)
from curiosity_rosa_demo.infra.config.base import time_zone
from curiosity_rosa_demo.infra.config.behaviour import (
    ActivityConfig,
    DAYS,
    DeviceConfig,
    EmergencyConfig,
    PlaceConfig,
    RoutineConfig,
    WorldView,
)
from examples import examples
from hypothesis import event, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule, RuleBasedStateMachine
from policy_world import (
    anytime,
    COMPANION,
    HELD,
    instant,
    is_open,
    NO_IDEA,
    PolicyRun,
    ROVER,
    ScriptedModel,
    SETTINGS,
    shipped_world,
    WORK_S,
    world_of,
)
from py_trees.common import Status
import pytest

# --- the calendar and the world ----------------------------------------------------------------

ZONES = ('UTC', 'UTC+08:00', 'Asia/Kathmandu', 'Europe/Berlin', 'Australia/Lord_Howe')
T0 = 1_767_225_600.0  # Thursday, 2026-01-01 00:00 UTC
YEAR = 365 * 86_400


clock_times = st.times().map(lambda each: f'{each:%H:%M}')
windows = st.one_of(
    st.just(''),
    st.tuples(clock_times, clock_times).filter(lambda pair: pair[0] != pair[1]).map('-'.join),
)


@given(
    st.sampled_from(ZONES),
    windows,
    st.lists(st.sampled_from(DAYS), max_size=4),
    st.floats(T0, T0 + YEAR),
    st.sampled_from([None, 'begin', 'end']),
)
@settings(max_examples=examples(400))
def test_a_window_is_that_of_the_calendar(
    zone: str, window: str, days: list[str], at: float, edge: str | None
) -> None:
    world = WorldModel(COMPANION, time_zone(zone))
    if edge and window:  # often on the minute of its begin or its end
        hour, minute = map(int, window.split('-')[edge == 'end'].split(':'))
        local = world.local(at).replace(hour=hour, minute=minute, second=0, microsecond=0)
        at = local.timestamp()
    assert world.within(window, days, at) == is_open(window, days, world.local(at))
    assert world.local(at) == datetime.fromtimestamp(at, time_zone(zone))


def test_the_place_is_the_one_whose_zone_was_measured() -> None:
    world = WorldModel(ROVER, time_zone('UTC'))
    zones = {('base',): 'base', ('bright',): 'bright_zone', ('bright', 'base'): 'base'}
    for measured, place in (zones | {(): 'field', ('shade',): 'field'}).items():
        assert world.place_of(list(measured)) == place


# --- the filter: nothing passes that breaks a rule, and what breaks none passes ------------------

ZONE = time_zone('Europe/Berlin')
RETRY_S = 900.0
NOON = datetime(2026, 1, 7, 12, 0, tzinfo=ZONE).timestamp()  # a Wednesday


NAMES = ('a', 'b', 'c', 'd')
PLACES = ('home', 'school', 'moon')
some = {
    'places': st.lists(st.sampled_from(PLACES), max_size=2),
    'names': st.lists(st.sampled_from(NAMES), max_size=2),
    'days': st.lists(st.sampled_from(DAYS), min_size=3, max_size=6),
    'windows': st.sampled_from(['06:00-20:00', '20:00-08:00', '00:00-12:00']),
}


def seldom(strategy: st.SearchStrategy[Any], otherwise: Any) -> st.SearchStrategy[Any]:
    return st.one_of(st.just(otherwise), st.just(otherwise), strategy)


activities = st.builds(
    ActivityConfig.model_construct,
    says=st.just('x'),
    minutes=st.just(5.0),
    at=seldom(some['places'], []),
    to=seldom(st.sampled_from(PLACES), ''),
    days=seldom(some['days'], []),
    window=seldom(some['windows'], ''),
    interruptible=st.booleans(),
    needs=seldom(st.lists(st.sampled_from(['phone.ring', 'phone.look', 'bell.ring'])), []),
    energy_per_h=st.sampled_from([-0.1, 0.0, 0.1]),
    energy_min=seldom(st.floats(0.0, 1.0), 0.0),
    again_after_h=seldom(st.floats(0.0, 48.0), 0.0),
    ends=seldom(some['names'], []),
)
views = st.builds(
    WorldView.model_construct,
    measured=st.booleans(),
    places=st.fixed_dictionaries(
        {name: st.builds(PlaceConfig, leads_to=some['places']) for name in PLACES}
    ),
    devices=st.fixed_dictionaries(
        {
            'phone': st.builds(DeviceConfig, abilities=st.just(['ring']), available=st.booleans()),
            'bell': st.just(DeviceConfig(abilities=['ring', 'look'])),
        }
    ),
    activities=st.fixed_dictionaries(dict.fromkeys(NAMES, activities)),
    routine=st.just([]),
    emergencies=seldom(
        st.builds(
            EmergencyConfig, event=st.just('external.message'), activity=st.sampled_from(NAMES)
        ).map(lambda each: [each]),
        [],
    ),
)
times = st.floats(NOON - 2 * 86_400.0, NOON)
moments = st.one_of(st.just(NOON), st.floats(NOON, NOON + 7 * 86_400.0))
ongoings = st.builds(
    Ongoing,
    activity=st.sampled_from(NAMES),
    by=st.sampled_from(Source),
    began_at=times,
    until=st.none() | moments,
    energy_at=times,
    held=st.booleans(),
)
memories = st.dictionaries(st.sampled_from(NAMES), times, max_size=2)
states = st.builds(
    WorldState,
    place=st.sampled_from([*PLACES, *PLACES, '', 'mars']),
    energy=st.floats(0.0, 1.0),
    activity=st.none() | ongoings,
    suspended=seldom(st.lists(ongoings, max_size=2), []),
    devices=st.dictionaries(st.sampled_from(['phone', 'bell']), st.booleans()),
    memory=st.builds(Memory, began=memories, ended=memories, failed=memories),
)
actions = st.builds(
    PolicyAction, type=seldom(st.sampled_from(['e', 'A']), 'a'), preemptive=st.booleans()
)


def energy_of(view: WorldView, state: WorldState, at: float) -> float:
    ongoing = state.activity
    if view.measured or not ongoing or ongoing.held:
        return state.energy
    end = at if ongoing.until is None else min(ongoing.until, at)
    hours = (end - ongoing.energy_at) / 3600.0
    rate = view.activities[ongoing.activity].energy_per_h
    return sorted([0.0, state.energy + rate * hours, 1.0])[1]


def broken(
    view: WorldView, action: PolicyAction, by: Source, state: WorldState, holding: str, at: float
) -> set[str]:
    """The rules that the action breaks, all of them."""
    name, emergency = action.type, by is Source.EMERGENCY
    if name not in view.activities:
        return {'unknown'}
    activity, ongoing = view.activities[name], state.activity
    goes_on = None if ongoing is None else ongoing.activity
    ends = goes_on in activity.ends
    may_end = ends and (action.preemptive or by is not Source.MODEL)
    place = view.places.get(state.place)
    memory = state.memory
    last = [memory.ended[name]] if name in memory.ended else []
    if name in memory.began and memory.failed.get(name, 0.0) < memory.began[name]:
        last.append(memory.began[name])
    rules = {
        'hold': bool(holding),
        'answer': not emergency and name in [each.activity for each in view.emergencies],
        'ends': bool(activity.ends) and not ends,
        'same': goes_on == name,
        'suspended': not emergency and name in [each.activity for each in state.suspended],
        'at': bool(activity.at) and state.place not in activity.at,
        'to': bool(activity.to) and (place is None or activity.to not in place.leads_to),
        'there': bool(activity.to) and activity.to == state.place,
        'time': not is_open(activity.window, activity.days, datetime.fromtimestamp(at, ZONE)),
        'energy': energy_of(view, state, at) < activity.energy_min,
        'again': bool(last) and at - max(last) < activity.again_after_h * 3600.0,
        'failed': name in memory.failed and at - memory.failed[name] < RETRY_S,
        'emergency': ongoing is not None and ongoing.by is Source.EMERGENCY and not may_end,
    }
    for need in activity.needs:
        device, ability = need.split('.')
        known = view.devices[device]
        rules[f'needs {need}'] = (
            not state.devices.get(device, known.available) or ability not in known.abilities
        )
    if ongoing and not may_end and not emergency:
        stays = not view.activities[ongoing.activity].interruptible
        rules['conflict'] = stays or not action.preemptive
    return {rule for rule, is_broken in rules.items() if is_broken}


WORDS = {
    **{'unknown': 'no activity|SAFE', 'hold': 'SAFE', 'answer': 'that it answers'},
    **{'ends': 'begins only during', 'same': 'goes on already', 'suspended': 'was interrupted'},
    **{'at': 'not at|not known', 'to': 'no way|not known|already', 'there': 'already'},
    **{'time': '^only', 'energy': '^its energy is', 'again': 'the last time', 'failed': 'min ago'},
    **{'emergency': 'an emergency', 'needs': 'cannot', 'conflict': 'interrupted|not preemptive'},
}


@given(views, actions, st.sampled_from(Source), states, seldom(st.just('SAFE'), ''), moments)
@settings(max_examples=examples(250))
def test_exactly_what_breaks_no_rule_passes(
    view: WorldView, action: PolicyAction, by: Source, state: WorldState, holding: str, at: float
) -> None:
    rules = broken(view, action, by, state, holding, at)
    event(f'{min(len(rules), 2)} broken')
    before = state.model_dump()
    assert WorldModel(view, ZONE).energy(state, at) == energy_of(view, state, at)
    safety = SafetyFilter(WorldModel(view, ZONE), RETRY_S)
    board = Blackboard(at, state, Senses(hold_reason=holding))
    said = safety.refusal_reason(action, by, board)
    assert (said == '') == (not rules), (said, rules)
    assert not rules or [rule for rule in rules if re.search(WORDS[rule.split()[0]], said)], said
    assert safety.refusal_reason(action, by, board) == said
    assert state.model_dump() == before


@given(views, states, seldom(st.just('SAFE'), ''), moments)
@settings(max_examples=examples(100))
def test_the_options_are_what_a_preemptive_idea_of_the_model_may_be(
    view: WorldView, state: WorldState, holding: str, at: float
) -> None:
    board = Blackboard(at, state, Senses(hold_reason=holding))
    bold = [PolicyAction(type=name, preemptive=True) for name in view.activities]
    assert SafetyFilter(WorldModel(view, ZONE), RETRY_S).options(board) == tuple(
        each.type for each in bold if not broken(view, each, Source.MODEL, state, holding, at)
    )


@pytest.mark.parametrize('name', ['world_view', 'companion', 'stationary'])
def test_each_rule_of_a_shipped_routine_can_come_true(name: str) -> None:
    view = shipped_world(name)
    world = WorldModel(view, ZONE)
    safety = SafetyFilter(world, RETRY_S)

    def may_begin(entry: RoutineConfig, place: str, at: float) -> bool:
        action = PolicyAction(type=entry.activity, preemptive=entry.preemptive)
        energy = min(0.99 * entry.energy_below, 1.0)
        ends = view.activities[entry.activity].ends
        goes_on = ends and Ongoing(activity=ends[0], by='routine', began_at=at, energy_at=at)
        state = WorldState(place=place, energy=energy, activity=goes_on or None)
        return not safety.refusal_reason(action, Source.ROUTINE, Blackboard(at, state, Senses()))

    for entry in view.routine:
        quarters = [NOON + each * 900.0 for each in range(7 * 96)]
        due = [at for at in quarters if world.within(entry.window, entry.days, at)]
        assert any(may_begin(entry, place, at) for at in due for place in view.places), entry


# --- the tree and its two renderings -------------------------------------------------------------


def life_in(view: WorldView, when: str = '2026-11-23 05:00', **changes: Any) -> PolicyRun:
    world = world_of(view, **changes)
    return PolicyRun(world, instant(when, world))


SHOWN = r'( *)(?:\[o\]|-\^-|-->) (.+?)(?: \[[ox*-]\](?: -- .*)?)?'


ANY_TEXT = st.text(max_size=40) | st.sampled_from(
    ['\\', '"', '\x1b[31mred', 'a\nb', '\ud800', '\\"', '\ud800\x1b[2J\n', 'x' * 9999]
)


def test_a_node_shows_the_last_tick_and_why() -> None:
    life = life_in(COMPANION)
    life.tick()
    assert '-^- 1 wake due [x] -- due 06:30-12:00' in life.policy.tree.text()
    assert '[o] RoutineFallback [o]' in life.policy.tree.text()
    life.tick('say "hi" \\')
    text = life.policy.tree.text()
    assert '--> read_message answers 1 [o] -- say "hi"' in text
    assert '[o] RoutineFallback\n' in text, 'what was not asked shows no old outcome'
    assert '-^- 1 wake due\n' in text


@settings(max_examples=examples(60))
@given(ANY_TEXT)
def test_any_text_is_a_message_and_none_breaks_the_picture(text: str) -> None:
    life = life_in(COMPANION)
    tick = life.tick(text)
    assert tick.state.activity is not None
    said = tick.state.activity.rationale
    assert len(said) <= MAX_MESSAGE_CHARS
    assert not said or said.isprintable()
    found = [re.fullmatch(SHOWN, line) for line in life.policy.tree.text().splitlines()]
    shapes = list(ElementTree.fromstring(life.policy.tree.svg()))[1:]  # a box, its name, why
    drawn = [
        (float(box.attrib['x']) // INDENT, name.text)
        for box, name in zip(shapes[::3], shapes[1::3], strict=True)
    ]
    assert drawn == [each and (len(each[1]) // 4, each[2]) for each in found]
    assert not ANSI_COLOUR.search(life.policy.tree.text())


HOME = world_of(COMPANION)
WRITTEN = (Path(__file__).parent / 'corpus/policy_days.tsv').read_text(encoding='utf-8')
SCENARIOS = WRITTEN.split('\n== ')[1:]


def pupil(when: str, *, model: ScriptedModel | None = None) -> PolicyRun:
    """2026-11-23 is a Monday."""
    return PolicyRun(HOME, instant(when, HOME), provider=model.provider if model else None)


# --- whole days -------------------------------------------------------------------------------


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

ANY_NAME = sorted({*ROVER.activities, *COMPANION.activities, 'fly_to_the_moon'})
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

    @rule()
    def the_model_answers(self) -> None:
        self.model.speak()
        self.policy_run.tick(cause='answer')

    @rule(name=st.sampled_from(ANY_NAME), fails=st.booleans(), slow=st.booleans())
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
