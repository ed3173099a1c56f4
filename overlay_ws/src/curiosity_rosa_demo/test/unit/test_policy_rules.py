# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What may begin: the calendar, the safety filter, and the tree that decides and is drawn."""

from __future__ import annotations

from datetime import datetime
import re
from typing import Any
from xml.etree import ElementTree

from curiosity_rosa_demo.agent.policy.policy import MAX_MESSAGE_CHARS
from curiosity_rosa_demo.agent.policy.safety_filter import SafetyFilter
from curiosity_rosa_demo.agent.policy.tree import ANSI_COLOUR, INDENT
from curiosity_rosa_demo.agent.policy.world import (
    Blackboard,
    Memory,
    Ongoing,
    PolicyAction,
    Senses,
    Source,
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
from policy_world import COMPANION, instant, is_open, PolicyRun, ROVER, shipped_world, world_of
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
