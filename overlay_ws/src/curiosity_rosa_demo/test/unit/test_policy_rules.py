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
from pathlib import Path
import re
from typing import Any

from curiosity_rosa_demo.agent.policy.action import ActionProposal, PolicyAction, Senses
from curiosity_rosa_demo.agent.policy.autonomy.suggestion_model import write_tree
from curiosity_rosa_demo.agent.policy.blackboard import (
    ClientRole,
    KEYS,
    NO_OUTCOME,
    PolicyBoard,
    reader,
)
from curiosity_rosa_demo.agent.policy.policy import MAX_MESSAGE_CHARS
from curiosity_rosa_demo.agent.policy.safety_filter import SafetyFilter
from curiosity_rosa_demo.agent.policy.tree_text import ANSI_COLOUR
from curiosity_rosa_demo.agent.policy.world_state import Memory, Ongoing, Source, WorldState
from curiosity_rosa_demo.agent.policy.world_view import energy_now, WorldModel
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
from py_trees.blackboard import Blackboard
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


def wish(name: str, by: Source = Source.MODEL, *, preemptive: bool = False) -> ActionProposal:
    return ActionProposal(PolicyAction(type=name, preemptive=preemptive), by)


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


def energy_of(view: WorldView, state: WorldState, at: float) -> float:
    ongoing = state.activity
    if view.measured or not ongoing or ongoing.held or ongoing.activity not in view.activities:
        return state.energy
    end = at if ongoing.until is None else min(ongoing.until, at)
    hours = (end - ongoing.energy_at) / 3600.0
    rate = view.activities[ongoing.activity].energy_per_h
    return sorted([0.0, state.energy + rate * hours, 1.0])[1]


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
        stays = goes_on in view.activities and not view.activities[goes_on].interruptible
        rules['conflict'] = stays or not proposal.action.preemptive
    return {rule for rule, is_broken in rules.items() if is_broken}


WORDS = {
    **{'unknown': 'no activity|SAFE', 'hold': 'SAFE', 'answer': 'that it answers'},
    **{'ends': 'begins only during', 'same': 'goes on already', 'suspended': 'was interrupted'},
    **{'at': 'not at|not known', 'to': 'no way|not known|already', 'there': 'already'},
    **{'time': '^only', 'energy': '^its energy is', 'again': 'the last time', 'failed': 'min ago'},
    **{'emergency': 'an emergency', 'needs': 'cannot', 'conflict': 'interrupted|not preemptive'},
}


@given(views, proposals, states, seldom(st.just('SAFE'), ''), moments)
@settings(max_examples=examples(250))
def test_exactly_what_breaks_no_rule_passes(
    view: WorldView, proposal: ActionProposal, state: WorldState, holding: str, at: float
) -> None:
    rules = broken(view, proposal, state, holding, at)
    event(f'{min(len(rules), 2)} broken')
    before = state.model_dump()
    assert energy_now(state, WorldModel(view, ZONE), at) == energy_of(view, state, at)
    safety, senses = SafetyFilter(WorldModel(view, ZONE), RETRY_S), Senses(hold_reason=holding)
    said = safety.refusal_reason(proposal, state, senses, at)
    assert (said == '') == (not rules), (said, rules)
    assert not rules or [rule for rule in rules if re.search(WORDS[rule.split()[0]], said)], said
    assert safety.refusal_reason(proposal, state, senses, at) == said
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
    view = shipped_world(name)
    world = WorldModel(view, ZONE)
    safety = SafetyFilter(world, RETRY_S)

    def may_begin(entry: RoutineConfig, place: str, at: float) -> bool:
        proposal = wish(entry.activity, Source.ROUTINE, preemptive=entry.preemptive)
        energy = min(0.99 * entry.energy_below, 1.0)
        ends = view.activities[entry.activity].ends
        goes_on = ends and Ongoing(activity=ends[0], by='routine', began_at=at, energy_at=at)
        state = WorldState(place=place, energy=energy, activity=goes_on or None)
        return not safety.refusal_reason(proposal, state, Senses(), at)

    for entry in view.routine:
        quarters = [NOON + each * 900.0 for each in range(7 * 96)]
        due = [at for at in quarters if world.within(entry.window, entry.days, at)]
        assert any(may_begin(entry, place, at) for at in due for place in view.places), entry


# --- the tree and its two renderings -------------------------------------------------------------


def life_in(view: WorldView, when: str = '2026-11-23 05:00', **changes: Any) -> PolicyRun:
    world = world_of(view, **changes)
    return PolicyRun(world, instant(when, world))


NAME, VALUE = r'(?:"[^"]*"|\w+)', r'(?:"(?:[^"\\]|\\.)*"|[\w.]+)'
SHOWN = r'( *)(?:\[o\]|-\^-|-->) (.+?)(?: \[[ox*-]\](?: -- .*)?)?'
NODE = re.compile(rf'({NAME}) \[((?:\w+={VALUE}(?:, )?)*)\];')


ANY_TEXT = st.text(max_size=40) | st.sampled_from(
    ['\\', '"', '\x1b[31mred', 'a\nb', '\ud800', '\\"', '\ud800\x1b[2J\n', 'x' * 9999]
)


def test_a_node_shows_the_last_tick_and_why() -> None:
    life = life_in(COMPANION)
    life.tick()
    assert '-^- 1 wake due [x] -- due 06:30-12:00' in life.policy.ascii()
    assert '[o] RoutineFallback [o]' in life.policy.ascii()
    life.tick('say "hi" \\')
    text = life.policy.ascii()
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
    way: list[str] = []
    shown: dict[str, str] = {}  # the parent of each node, from the indentation
    for line in life.policy.ascii().splitlines():
        found = re.fullmatch(SHOWN, line)
        assert found, line
        way[len(found[1]) // 4 :] = [found[2]]
        shown[found[2]] = way[-2] if way[1:] else ''
    drawn: dict[str, str] = {}
    for line in life.policy.dot().splitlines()[2:-1]:  # reading it with pydot takes 0.2 s
        edge, node = re.fullmatch(rf'({NAME}) -> ({NAME});', line), NODE.fullmatch(line)
        assert edge or node, line
        if edge:
            drawn[edge[2].strip('"')] = edge[1].strip('"')
        elif node and node[1] not in ('node', 'edge', 'graph'):
            drawn.setdefault(node[1].strip('"'), '')
    assert shown == drawn
    assert not ANSI_COLOUR.search(life.policy.ascii())
    life.policy.close()


DOT = 'digraph tree {\n"a" -> "b";\n}\n'


def test_the_tree_goes_into_a_file_and_is_drawn_where_graphviz_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv('PATH', str(tmp_path))
    for name in ('no/such/folder/tree.dot', '.', '/', 'a\0b', 'tree.pdf', 'x' * 300):
        refused = write_tree(DOT, name)
        assert (refused.ok, refused.answer.startswith(name)) == (False, True), refused
    assert list(tmp_path.iterdir()) == []
    for name in ('tree', 'tree.dot', 'my tree.DOT'):
        written = f'{name.split(".")[0]}.dot'
        assert write_tree(DOT, name).answer == f'wrote {written}'
        assert Path(written).read_text() == DOT
    missing = write_tree(DOT, 'tree.svg')
    assert not missing.ok
    assert "graphviz's dot is not installed; apt install graphviz" in missing.answer
    program = tmp_path / 'dot'
    program.write_text('#!/bin/sh\necho "$1" > "$3"\n')
    program.chmod(0o755)
    for name, kind in (('tree.svg', 'svg'), ('-o.PNG', 'png')):
        outcome = write_tree(DOT, name)
        assert outcome.ok, outcome.answer
        assert (tmp_path / name).read_text() == f'-T{kind}\n'
    program.write_text('#!/bin/sh\necho "syntax error" >&2; exit 1\n')
    assert write_tree(DOT, 'tree.svg').answer.endswith('but not tree.svg: syntax error')


# --- the blackboard ------------------------------------------------------------------------------


def test_a_client_may_do_what_the_table_says_and_nothing_else() -> None:
    board = PolicyBoard()
    clients = {part: board.client(part) for part in ClientRole}
    clients[ClientRole.ENGINE].moment = clients[ClientRole.ENGINE].outcome = NO_OUTCOME
    for part, client in clients.items():
        for key, (reads, writes) in KEYS.items():
            if part in reads:
                assert getattr(client, key) is reader(client, key)() is NO_OUTCOME
            else:
                if part not in writes:  # py_trees lets a writer read
                    with pytest.raises(AttributeError, match='read/write access'):
                        getattr(client, key)
                with pytest.raises(AttributeError, match=f'{part.value} may not read {key}'):
                    reader(client, key)
            if part in writes:
                setattr(client, key, NO_OUTCOME)
            else:
                with pytest.raises(AttributeError, match='write access'):
                    setattr(client, key, NO_OUTCOME)
    with pytest.raises(AttributeError, match='exclusive'):
        board.client(ClientRole.ENGINE)
    board.close()


def test_two_policies_do_not_meet_and_a_closed_one_leaves_nothing_behind() -> None:
    kept = (Blackboard.storage, Blackboard.metadata, Blackboard.clients)
    before = [set(each) for each in kept]
    lives = [life_in(ROVER), life_in(COMPANION)]
    for life in lives:
        life.run(5)
    assert [life.doing for life in lives] == ['', '']
    lives[1].tick('hello')
    assert [life.doing for life in lives] == ['', 'read_message']
    assert set(Blackboard.storage) > before[0]
    for life in lives:
        life.policy.close()
    assert [set(each) for each in kept] == before
