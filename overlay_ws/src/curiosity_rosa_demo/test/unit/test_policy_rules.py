# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What may begin: the calendar, the safety filter, the guards and the leaves of the tree."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from curiosity_rosa_demo.agent.policy.action import ActionProposal, PolicyAction, Senses
from curiosity_rosa_demo.agent.policy.blackboard import (
    ClientRole,
    NO_OUTCOME,
    PolicyBoard,
    PolicyTickInputs,
    TickOutcome,
)
from curiosity_rosa_demo.agent.policy.guards import (
    Guard,
    IsDue,
    MayAsk,
    NO_MODEL,
)
from curiosity_rosa_demo.agent.policy.leaves import (
    AnswerMessage,
    BeginProposal,
)
from curiosity_rosa_demo.agent.policy.safety_filter import SafetyFilter
from curiosity_rosa_demo.agent.policy.suggestion import PromptSituation
from curiosity_rosa_demo.agent.policy.suggestion_provider import LLMPolicyProvider
from curiosity_rosa_demo.agent.policy.world_state import (
    ExternalMessage,
    Memory,
    Ongoing,
    Source,
    WorldState,
)
from curiosity_rosa_demo.agent.policy.world_view import energy_now, WorldModel
from curiosity_rosa_demo.infra.config.base import time_zone
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
from policy_world import COMPANION, instant, is_open, ROVER, SETTINGS, world_of
from py_trees.behaviour import Behaviour
from py_trees.common import Status
import pytest

# --- the calendar and the world ----------------------------------------------------------------

ZONES = ('UTC', 'UTC+08:00', 'Asia/Kathmandu', 'Europe/Berlin', 'Australia/Lord_Howe')
BERLIN = WorldModel(COMPANION, time_zone('Europe/Berlin'))
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


def asleep(energy: float, *, activity: str = 'sleep', **ongoing: object) -> WorldState:
    values = {'activity': activity, 'by': Source.ROUTINE, 'began_at': T0, 'energy_at': T0}
    slept = Ongoing.model_validate({**values, **ongoing})
    return WorldState(place='home', energy=energy, activity=slept)


@pytest.mark.parametrize(
    ('state', 'energy'),
    [
        (asleep(0.5), 0.5 + 2 * 0.12),
        (asleep(0.5, energy_at=T0 + 3600.0), 0.5 + 0.12),
        (asleep(0.5, until=T0 + 1800.0), 0.5 + 0.06),  # nobody looked when it ended
        (asleep(0.9), 1.0),
        (asleep(0.05, activity='go_to_school'), 0.0),
        (asleep(0.5, held=True), 0.5),
        (asleep(0.5, energy_at=T0 + 9000.0), 0.5),
        (asleep(0.5, activity='of_yesterdays_world'), 0.5),
        (WorldState(place='home', energy=0.5), 0.5),
    ],
)
def test_an_activity_changes_the_energy_by_the_hour(state: WorldState, energy: float) -> None:
    assert energy_now(state, BERLIN, T0 + 7200.0) == pytest.approx(energy)


def test_measured_energy_is_left_as_it_is() -> None:
    world = WorldModel(ROVER, time_zone('UTC'))
    assert energy_now(asleep(0.5), world, T0 + 7200.0) == 0.5


# --- the filter: nothing passes that breaks a rule, and what breaks none passes ------------------

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


def test_each_rule_refuses_and_says_why() -> None:
    assert [said for said, _ in REFUSALS] == [wanted for _, wanted in REFUSALS]


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
    may_end = ends and (proposal.action.preemptive or proposal.source is not Source.MODEL)
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
        'time': not is_open(activity.window, activity.days, datetime.fromtimestamp(at, ZONE)),
        'energy': energy < activity.energy_min,
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
        stays = goes_on in view.activities and not view.activities[goes_on].interruptible
        rules['conflict'] = stays or not proposal.action.preemptive
    return {rule for rule, is_broken in rules.items() if is_broken}


@given(views, proposals, states, seldom(st.just('SAFE'), ''), moments)
@settings(max_examples=examples(250))
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
@settings(max_examples=examples(100))
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


# --- guards and leaves ---------------------------------------------------------------------------

WORLD = world_of(COMPANION)
FILTER = SafetyFilter(WORLD, 900.0)
MONDAY = instant('2026-11-23 07:30', WORLD)
FIRST = WorldState.first(COMPANION)


def rest(situation: PromptSituation, refusals: str) -> PolicyAction:
    return PolicyAction(type='rest')


def ongoing(name: str, by: Source = Source.ROUTINE) -> WorldState:
    began = Ongoing(activity=name, by=by, began_at=MONDAY - 60.0, energy_at=MONDAY - 60.0)
    return FIRST.model_copy(update={'activity': began})


def proposal(name: str, by: Source = Source.ROUTINE, *, preemptive: bool = True) -> ActionProposal:
    return ActionProposal(PolicyAction(type=name, preemptive=preemptive), by)


class Scripted(Behaviour):
    """A child that says what a test tells it to, and counts."""

    def __init__(self, says: Status = Status.SUCCESS) -> None:
        super().__init__('child')
        self.says, self.ticks, self.ends = says, 0, 0

    def update(self) -> Status:
        self.ticks += 1
        return self.says

    def terminate(self, new_status: Status) -> None:
        self.ends += 1


class Told(Guard):
    """A guard whose reason a test gives."""

    reason = ''

    def refuses(self, moment: PolicyTickInputs) -> str:
        return self.reason


class Table:
    """A blackboard with one moment on it."""

    def __init__(self) -> None:
        self.board = PolicyBoard()
        self.engine = self.board.client(ClientRole.ENGINE)
        self.engine.outcome = NO_OUTCOME
        self.put()

    def put(
        self,
        state: WorldState = FIRST,
        at: float = MONDAY,
        *messages: str,
        holding: str = '',
    ) -> None:
        waiting = tuple(ExternalMessage(at, text) for text in messages)
        self.engine.moment = PolicyTickInputs(at, state, Senses(hold_reason=holding), waiting)

    @property
    def outcome(self) -> TickOutcome:
        found = self.engine.outcome
        assert isinstance(found, TickOutcome)
        return found


@pytest.fixture
def table() -> Table:
    return Table()


def tick(node: Behaviour) -> Status:
    node.tick_once()
    return node.status


def test_a_guard_that_refuses_ends_a_child_that_was_running(table: Table) -> None:
    child = Scripted(Status.RUNNING)
    guard = Told('guard', child, table.board)
    tick(guard)
    guard.reason = 'it rains'
    assert tick(guard) is Status.FAILURE
    assert child.status is Status.INVALID
    assert child.ends == 1
    tick(guard)
    assert child.ends == 1, 'it was ended already'


@given(
    st.lists(
        st.tuples(st.sampled_from(['', 'no']), st.sampled_from([*Status][:3])), max_size=12
    ).filter(bool)
)
def test_a_guard_is_its_child_wherever_it_does_not_refuse(
    script: list[tuple[str, Status]],
) -> None:
    child = Scripted()
    guard = Told('guard', child, Table().board)
    ticks = 0
    for guard.reason, says in script:
        child.says = says
        ticks += not guard.reason
        assert tick(guard) is (Status.FAILURE if guard.reason else says)
        assert child.ticks == ticks
        assert guard.feedback_message == guard.reason


@pytest.mark.parametrize(
    ('state', 'holding', 'asked', 'refusal'),
    [
        (FIRST, '', True, ''),
        (ongoing('read'), '', True, ''),
        (ongoing('sleep', Source.MODEL), '', True, ''),
        (ongoing('wake'), '', True, 'wake may not be interrupted'),
        (FIRST, 'SAFE: e-stop', True, 'SAFE: e-stop'),
        (FIRST, '', False, NO_MODEL),
    ],
)
def test_a_model_may_be_asked_while_it_could_begin_something(
    table: Table, state: WorldState, holding: str, asked: bool, refusal: str
) -> None:
    child = Scripted(Status.RUNNING)
    provider = LLMPolicyProvider(rest, SETTINGS) if asked else None
    guard = MayAsk('may ask', child, table.board, world=WORLD, provider=provider)
    table.put(state, holding=holding)
    assert tick(guard) is (Status.FAILURE if refusal else Status.RUNNING)
    assert guard.feedback_message == refusal
    assert child.ticks == (not refusal)


def due(entry: RoutineConfig, table: Table) -> IsDue:
    wish = proposal(entry.activity, preemptive=entry.preemptive)
    child = BeginProposal('begins', table.board, proposal=wish)
    return IsDue('due', child, table.board, entry=entry, proposal=wish, world=WORLD, safety=FILTER)


WINDOWS = ['', '07:20-07:40', '21:30-04:00', '00:00-12:00', '12:00-00:00', '23:59-00:01']
DAYS_OF = st.lists(st.sampled_from(['mon', 'fri', 'sat', 'sun']), unique=True)


@settings(max_examples=examples(300))
@given(
    window=st.sampled_from(WINDOWS),
    days=DAYS_OF,
    below=st.sampled_from([2.0, 0.3, 1.0]),
    energy=st.sampled_from([0.0, 0.29, 0.3, 0.99, 1.0]),
    minutes=st.integers(0, 7 * 1440),
)
def test_an_entry_is_due_in_its_window_on_its_days_below_its_energy(
    window: str, days: list[str], below: float, energy: float, minutes: int
) -> None:
    table = Table()
    entry = RoutineConfig.model_validate(
        {'activity': 'rest', 'window': window, 'days': days, 'energy_below': below}
    )
    at = MONDAY + minutes * 60.0
    table.put(FIRST.model_copy(update={'energy': energy}), at)
    local = datetime(2026, 11, 23, 7, 30) + timedelta(minutes=minutes)
    expected = is_open(window, days, local) and (below == 2.0 or energy < below)
    guard = due(entry, table)
    assert tick(guard) is (Status.SUCCESS if expected else Status.FAILURE)
    assert bool(guard.feedback_message) is not expected
    table.board.close()


def test_a_message_that_is_refused_is_told_once_for_each_reason(table: Table) -> None:
    leaf = AnswerMessage('answer', table.board, activity='read_message', safety=FILTER)
    broken = FIRST.model_copy(update={'devices': {'phone': False}})
    busy = ongoing('rest', Source.EMERGENCY)
    told = []
    for state in (broken, broken, busy, busy, broken):
        table.engine.outcome = NO_OUTCOME
        table.put(state, MONDAY, 'hello')
        assert tick(leaf) is Status.FAILURE
        assert table.outcome.chosen is None
        told.append([each.reason for each in table.outcome.rejected])
    phone = 'phone cannot be used; the message waits: hello'
    rest = 'rest goes on, an emergency; the message waits: hello'
    assert told == [[phone], [], [rest], [], [phone]]
