# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Nothing passes the safety filter that breaks a rule, and what breaks none passes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from curiosity_rosa_demo.agent.policy.action import ActionProposal, PolicyAction, Senses
from curiosity_rosa_demo.agent.policy.safety_filter import SafetyFilter
from curiosity_rosa_demo.agent.policy.world_state import Memory, Ongoing, Source, WorldState
from curiosity_rosa_demo.agent.policy.world_view import WorldModel
from curiosity_rosa_demo.infra.config.time_zone import time_zone
from curiosity_rosa_demo.infra.config.world import (
    ActivityConfig,
    DAYS,
    DeviceConfig,
    EmergencyConfig,
    PlaceConfig,
    RoutineConfig,
    WorldView,
)
from curiosity_rosa_demo.infra.config_loader import load_world, shipped_config_dir
from examples import examples
from hypothesis import event, given, settings
from hypothesis import strategies as st
import pytest

ZONE = time_zone('Europe/Berlin')
RETRY_S = 900.0
NOON = datetime(2026, 1, 7, 12, 0, tzinfo=ZONE).timestamp()  # a Wednesday
VIEW = WorldView.model_validate(
    {
        'says': 'a world with one of everything',
        'measured': False,
        'begins': {'place': 'home', 'energy': 0.5},
        'places': {
            'home': {'leads_to': ['school']},
            'school': {'leads_to': ['home']},
            'moon': {},
        },
        'devices': {'phone': {'abilities': ['receive']}},
        'activities': {
            'plain': {'says': 'p', 'minutes': 10.0},
            'firm': {'says': 'f', 'minutes': 10.0, 'interruptible': False},
            'walk': {'says': 'w', 'minutes': 5.0, 'at': ['home'], 'to': 'school'},
            'fly': {'says': 'f', 'minutes': 5.0, 'at': ['home', 'school'], 'to': 'school'},
            'read': {'says': 'r', 'minutes': 5.0, 'needs': ['phone.receive']},
            'work': {'says': 'w', 'minutes': 5.0, 'energy_min': 0.6, 'energy_per_h': -0.1},
            'lunch': {
                'says': 'l',
                'minutes': 5.0,
                'days': ['mon', 'tue'],
                'window': '11:00-13:00',
                'again_after_h': 6.0,
            },
            'night': {'says': 'n', 'minutes': 5.0, 'days': ['mon'], 'window': '22:00-04:00'},
            'finish': {'says': 'f', 'minutes': 5.0, 'ends': ['firm', 'plain']},
            'reply': {'says': 'r', 'minutes': 5.0},
        },
        'emergencies': [{'event': 'external.message', 'activity': 'reply'}],
        'routine': [],
    }
)
AT_HOME = WorldState.first(VIEW)


def changed(view: WorldView, section: str, name: str, value: object) -> WorldView:
    """``view`` with an entry that its schema may refuse."""
    return view.model_copy(update={section: {**getattr(view, section), name: value}})


def during(activity: str, by: Source = Source.ROUTINE, **values: Any) -> WorldState:
    ongoing = Ongoing(activity=activity, by=by, began_at=NOON, energy_at=NOON)
    return AT_HOME.model_copy(update={'activity': ongoing, **values})


def remembering(**memory: dict[str, float]) -> WorldState:
    return AT_HOME.model_copy(update={'memory': Memory(**memory)})


def wish(name: str, by: Source = Source.MODEL, *, preemptive: bool = False) -> ActionProposal:
    return ActionProposal(PolicyAction(type=name, preemptive=preemptive), by)


def reason(
    proposal: ActionProposal,
    state: WorldState = AT_HOME,
    at: float = NOON,
    *,
    view: WorldView = VIEW,
    holding: str = '',
) -> str:
    safety = SafetyFilter(WorldModel(view, ZONE), RETRY_S)
    return safety.refusal_reason(proposal, state, Senses(hold_reason=holding), at)


def on(day: str, clock: str) -> float:
    """That time of the week of NOON."""
    hour, minute = map(int, clock.split(':'))
    return datetime(2026, 1, 5 + DAYS.index(day), hour, minute, tzinfo=ZONE).timestamp()


HOUR = 3600.0
AT_SCHOOL = AT_HOME.model_copy(update={'place': 'school'})
AWAY = AT_HOME.model_copy(update={'devices': {'phone': False}})
WALKED = [during('walk').activity]  # and was interrupted
LEAP = changed(VIEW, 'activities', 'leap', ActivityConfig(says='l', to='moon', asks='?'))
RINGS = changed(VIEW, 'devices', 'phone', DeviceConfig(abilities=['ring']))
ATE = remembering(ended={'lunch': on('mon', '06:00')})
FAILED = remembering(failed={'plain': NOON - 899.0})
URGENT = during('plain', Source.EMERGENCY)
# Each reason once; which of them applies when is the property's matter.
REFUSALS = [
    (reason(wish('plain', Source.EMERGENCY), holding='SAFE: tilt'), 'SAFE: tilt'),
    (
        reason(wish('dance')),
        'there is no activity dance; there are plain, firm, walk, fly, read, work, lunch, night, '
        'finish, reply',
    ),
    (
        reason(wish('reply', preemptive=True)),
        'reply begins only when something happens that it answers',
    ),
    (reason(wish('finish')), 'finish begins only during firm or plain'),
    (reason(wish('plain', preemptive=True), during('plain')), 'plain goes on already'),
    (
        reason(wish('walk', preemptive=True), during('plain', suspended=WALKED)),
        'walk was interrupted and goes on by itself',
    ),
    (
        reason(wish('walk'), AT_HOME.model_copy(update={'place': 'mars'})),
        'it is not known where it is',
    ),
    (reason(wish('walk'), AT_SCHOOL), 'it is at school, not at home'),
    (reason(wish('fly'), AT_SCHOOL), 'it is at school already'),
    (reason(wish('leap'), view=LEAP), 'no way leads from home to moon'),
    (reason(wish('lunch'), at=on('wed', '12:00')), 'only on mon, tue'),
    (reason(wish('night'), at=on('mon', '03:00')), 'only on mon'),  # the night before its day
    (reason(wish('night'), at=on('tue', '03:59')), ''),  # the night after it
    (reason(wish('lunch'), at=on('mon', '10:59')), 'only in 11:00-13:00'),
    (reason(wish('lunch'), at=on('mon', '11:00')), ''),
    (reason(wish('lunch'), at=on('mon', '13:00')), 'only in 11:00-13:00'),
    (reason(wish('read'), AWAY), 'phone cannot be used'),
    (reason(wish('read'), view=RINGS), 'phone cannot receive'),
    (reason(wish('work')), 'its energy is 50%, below 60%'),
    (
        reason(wish('lunch'), ATE, on('mon', '11:59')),
        'again 6 h after the last time at the earliest',
    ),
    (reason(wish('lunch'), ATE, on('mon', '12:00')), ''),
    (reason(wish('plain'), FAILED), 'it failed or was cancelled 15 min ago'),
    (reason(wish('plain'), FAILED, NOON + 1.0), ''),
    (reason(wish('firm', preemptive=True), URGENT), 'plain goes on, an emergency'),
    (
        reason(wish('plain', preemptive=True), during('firm')),
        'firm goes on and cannot be interrupted',
    ),
    (
        reason(wish('firm'), during('plain')),
        'plain goes on, and the action is not preemptive',
    ),
]


@pytest.mark.parametrize(('said', 'wanted'), REFUSALS)
def test_each_rule_refuses_and_says_why(said: str, wanted: str) -> None:
    assert said == wanted


def test_the_energy_is_that_of_now() -> None:
    """An hour of work has used up what was left above the limit."""
    state = during('work', energy=0.65)
    view = changed(
        VIEW, 'activities', 'other', ActivityConfig(says='o', minutes=1.0, energy_min=0.6)
    )
    proposal = wish('other', preemptive=True)
    assert reason(proposal, state, NOON, view=view) == ''
    assert reason(proposal, state, NOON + HOUR, view=view) == 'its energy is 55%, below 60%'


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
    activity=st.sampled_from([*NAMES, 'older']),
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
proposals = st.builds(
    ActionProposal,
    st.builds(
        PolicyAction,
        type=seldom(st.sampled_from(['e', 'older', 'A']), 'a'),
        preemptive=st.booleans(),
    ),
    st.sampled_from(Source),
)


def within(window: str, days: Sequence[str], at: float) -> bool:
    """Looks at each of the last 24 hours' minutes for the window's beginning."""
    now = datetime.fromtimestamp(at, ZONE).replace(tzinfo=None)
    begin, end = (window or '00:00-24:00').split('-')
    minutes = [int(each[:2]) * 60 + int(each[3:]) for each in (begin, end)]
    length = (minutes[1] - minutes[0]) % 1440 or 1440
    since = (now.hour * 60 + now.minute - minutes[0]) % 1440
    today = now.hour * 60 + now.minute >= minutes[0]
    day = DAYS[(now.weekday() - (not today)) % 7]
    return since < length and (not days or day in days)


def broken(
    view: WorldView, proposal: ActionProposal, state: WorldState, holding: str, at: float
) -> set[str]:
    """The rules that the proposal breaks, all of them."""
    name, emergency = proposal.action.type, proposal.source is Source.EMERGENCY
    if name not in view.activities:
        return {'unknown'}
    activity, ongoing = view.activities[name], state.activity
    goes_on = None if ongoing is None else ongoing.activity
    ends = goes_on in activity.ends
    place = view.places.get(state.place)
    energy = state.energy
    if not view.measured and ongoing and not ongoing.held and goes_on in view.activities:
        end = at if ongoing.until is None else min(ongoing.until, at)
        hours = (end - ongoing.energy_at) / 3600.0
        energy = sorted([0.0, energy + view.activities[goes_on].energy_per_h * hours, 1.0])[1]
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
        'time': not within(activity.window, activity.days, at),
        'energy': energy < activity.energy_min,
        'again': bool(last) and at - max(last) < activity.again_after_h * 3600.0,
        'failed': name in memory.failed and at - memory.failed[name] < RETRY_S,
        'emergency': ongoing is not None and ongoing.by is Source.EMERGENCY and not ends,
    }
    for need in activity.needs:
        device, ability = need.split('.')
        known = view.devices[device]
        rules[f'needs {need}'] = (
            not state.devices.get(device, known.available) or ability not in known.abilities
        )
    if ongoing and not ends and not emergency:
        stays = goes_on in view.activities and not view.activities[goes_on].interruptible
        rules['conflict'] = stays or not proposal.action.preemptive
    return {rule for rule, is_broken in rules.items() if is_broken}


@given(views, proposals, states, seldom(st.just('SAFE'), ''), moments)
@settings(deadline=None, max_examples=examples(250))
def test_exactly_what_breaks_no_rule_passes(
    view: WorldView, proposal: ActionProposal, state: WorldState, holding: str, at: float
) -> None:
    rules = broken(view, proposal, state, holding, at)
    event(f'{min(len(rules), 2)} broken')
    before = state.model_dump()
    said = reason(proposal, state, at, view=view, holding=holding)
    assert (said == '') == (not rules), (said, rules)
    assert reason(proposal, state, at, view=view, holding=holding) == said
    assert state.model_dump() == before


@given(views, states, seldom(st.just('SAFE'), ''), moments)
@settings(deadline=None, max_examples=examples(100))
def test_the_options_are_what_a_preemptive_idea_of_the_model_may_be(
    view: WorldView, state: WorldState, holding: str, at: float
) -> None:
    options = SafetyFilter(WorldModel(view, ZONE), RETRY_S).options(
        state, Senses(hold_reason=holding), at
    )
    assert options == tuple(
        name
        for name in view.activities
        if not broken(view, wish(name, preemptive=True), state, holding, at)
    )


@pytest.mark.parametrize('name', ['world_view', 'companion', 'stationary'])
def test_each_rule_of_a_shipped_routine_can_come_true(name: str) -> None:
    view = load_world(name, shipped_config_dir())
    world = WorldModel(view, ZONE)
    safety = SafetyFilter(world, RETRY_S)

    def may_begin(entry: RoutineConfig, place: str, at: float) -> bool:
        proposal = wish(entry.activity, Source.ROUTINE, preemptive=entry.preemptive)
        energy = min(0.99 * entry.energy_below, 1.0)
        goes_on = [during(each).activity for each in view.activities[entry.activity].ends]
        state = WorldState(place=place, energy=energy, activity=next(iter(goes_on), None))
        return not safety.refusal_reason(proposal, state, Senses(), at)

    for entry in view.routine:
        quarters = [NOON + each * 900.0 for each in range(7 * 96)]
        due = [at for at in quarters if world.within(entry.window, entry.days, at)]
        assert any(may_begin(entry, place, at) for at in due for place in view.places), entry
