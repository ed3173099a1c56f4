# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A policy from tick to tick: days, messages, ideas of a model, faults, and any life at random."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from curiosity_rosa_demo.agent.policy.action import (
    CancelTasks,
    PauseTasks,
    PolicyAction,
    ResumeTasks,
    Senses,
    SubmitTasks,
)
from curiosity_rosa_demo.agent.policy.decision_record import Decision
from curiosity_rosa_demo.agent.policy.guards import MayAsk
from curiosity_rosa_demo.agent.policy.leaves import ChoosingLeaf
from curiosity_rosa_demo.agent.policy.policy import MAX_MESSAGE_CHARS, MAX_WAITING_MESSAGES
from curiosity_rosa_demo.agent.policy.prompt_situation import MAX_RECENT, situation_text
from curiosity_rosa_demo.agent.policy.safety_filter import SafetyFilter
from curiosity_rosa_demo.agent.policy.suggestion import PromptSituation, SuggestionFailed
from curiosity_rosa_demo.agent.policy.world_state import (
    ActionEnded,
    ActionStarted,
    Event,
    Source,
    StateChanged,
)
from curiosity_rosa_demo.infra.config.world import WorldView
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule, RuleBasedStateMachine
from policy_world import (
    COMPANION,
    HELD,
    instant,
    PolicyRun,
    ROVER,
    ScriptedModel,
    suggests,
    WORK_S,
    world_of,
)
import pytest

HOME = world_of(COMPANION)
FIELD = world_of(ROVER)
SAFE = 'SAFE: e-stop pressed'
SATURDAY = '2026-11-28 10:00'  # on which nothing is due
READS = 'began read_message, by the emergency; the message is said aloud'


def pupil(when: str = SATURDAY, *, model: ScriptedModel | None = None) -> PolicyRun:
    """2026-11-23 is a Monday."""
    return PolicyRun(HOME, instant(when, HOME), provider=model.provider if model else None)


def rover(when: str = '2026-11-23 05:00', **values: Any) -> PolicyRun:
    return PolicyRun(FIELD, instant(when, FIELD), **values)


def ended(policy_run: PolicyRun, name: str) -> list[str]:
    return [
        event.how
        for event in policy_run.events
        if isinstance(event, ActionEnded) and event.activity == name
    ]


def by_whom(policy_run: PolicyRun, name: str) -> set[Source]:
    return {by for _, activity, by in policy_run.rules.begun if activity == name}


def names(events: list[Event]) -> list[str]:
    return [f'{event.name} {event}' for event in events]


# --- days --------------------------------------------------------------------------------------

WEEKEND = [
    'Thu 21:30 sleep',
    'Fri 06:30 wake',
    'Fri 07:20 go_to_school',
    'Fri 07:40 study',
    'Fri 11:40 study',
    'Fri 12:00 lunch',
    'Fri 16:00 go_home',
    'Fri 17:00 homework',
    'Fri 21:30 sleep',
    'Sat 06:30 wake',
    'Sat 21:30 sleep',
    'Sun 06:30 wake',
    'Sun 21:30 sleep',
    'Mon 06:30 wake',
    'Mon 07:20 go_to_school',
]


@pytest.mark.parametrize(
    ('begin', 'end', 'began'),
    [
        pytest.param(
            '2026-11-26 21:00', '2026-11-30 07:30', WEEKEND, id='a school day, a weekend'
        ),
        pytest.param(
            '2026-11-24 00:30',
            '2026-11-24 07:00',
            ['Tue 00:31 sleep', 'Tue 06:30 wake'],
            id='it came late',
        ),
        pytest.param('2026-11-23 07:40', '2026-11-23 10:40', [], id='it missed the way to school'),
    ],
)
def test_a_pupil_s_days(begin: str, end: str, began: list[str]) -> None:
    policy_run = pupil(begin)
    policy_run.until(end)
    assert policy_run.began() == began


@pytest.mark.parametrize(
    ('begin', 'began'),
    [  # at 11:40 study waits for its end, at 12:00 lunch does not
        ('2026-11-23 11:04', ['Mon 11:05 library', 'Mon 11:45 study', 'Mon 12:00 lunch']),
        ('2026-11-23 11:34', ['Mon 11:35 library', 'Mon 12:00 lunch']),
    ],
)
def test_only_a_preemptive_entry_of_the_routine_interrupts(begin: str, began: list[str]) -> None:
    model = ScriptedModel(suggests('library'))
    policy_run = pupil(begin, model=model)
    policy_run.saved = policy_run.saved.model_copy(update={'place': 'school'})
    policy_run.restart()
    policy_run.run(5)
    model.say = says_nothing_useful(SuggestionFailed('It has no idea.'))
    policy_run.until('2026-11-23 12:10')
    assert policy_run.began() == began


@pytest.mark.parametrize(
    ('zone', 'last', 'hours'),
    [
        ('Europe/Berlin', '2026-03-28', 8),  # 02:00 is 03:00
        ('Europe/Berlin', '2026-10-24', 10),  # 03:00 is 02:00 once more
        ('Australia/Lord_Howe', '2026-10-03', 8.5),
        ('America/New_York', '2026-10-31', 10),
        ('UTC+08:00', '2026-03-28', 9),
    ],
)
def test_the_night_in_which_the_clocks_change(zone: str, last: str, hours: float) -> None:
    world = world_of(COMPANION, zone)
    policy_run = PolicyRun(world, instant(f'{last} 20:00', world))
    policy_run.run(13 * 60)
    times = {name: at for at, name, _ in policy_run.rules.begun}
    assert [each[4:] for each in policy_run.began()] == ['21:30 sleep', '06:30 wake']
    assert times['wake'] - times['sleep'] == hours * 3600.0


def test_a_rover_s_day() -> None:
    policy_run = rover()
    policy_run.until('2026-11-24 06:30')
    assert policy_run.began('sleep')[-1] == 'Mon 21:00'
    assert policy_run.began('wake')[-1] == 'Tue 06:00'
    assert policy_run.began('go_to_work') == ['Mon 07:00']
    assert policy_run.began('survey')[0] == 'Mon 07:02'
    assert policy_run.began('go_home') == ['Mon 17:00']
    assert by_whom(policy_run, 'survey') == {Source.ROUTINE}


def test_a_low_battery_brings_the_rover_home_to_charge() -> None:
    policy_run = rover(work_s=lambda name: 3600.0 if name == 'charge' else WORK_S)
    policy_run.until('2026-11-23 10:00')
    assert policy_run.saved.place == 'bright_zone'
    policy_run.twin.energy = 0.34
    policy_run.run(1)
    assert policy_run.doing == 'go_home'
    policy_run.run(4)
    assert policy_run.saved.place == 'base'
    assert policy_run.began('charge') == ['Mon 10:03']


def test_a_rover_that_does_not_know_where_it_is_does_not_drive() -> None:
    policy_run = rover()
    policy_run.until('2026-11-23 06:59')
    policy_run.twin.place = ''
    policy_run.run(30)
    assert policy_run.began('go_to_work') == []
    policy_run.twin.place = 'base'
    policy_run.run(1)
    assert len(policy_run.began('go_to_work')) == 1
    changes = [str(event) for event in policy_run.events if isinstance(event, StateChanged)]
    assert changes == ['place: base -> ', 'place:  -> base']


# --- what a tick tells ---------------------------------------------------------------------------


def test_what_ended_and_what_began_are_told_together() -> None:
    policy_run = pupil('2026-11-23 07:20')
    tick = policy_run.tick()
    assert tick.decision.done == 'began go_to_school, by the routine'
    (command,) = tick.commands
    assert command == SubmitTasks(tick.state.activity)
    assert tick.state is policy_run.policy.state
    policy_run.at += 20 * 60.0
    tick = policy_run.tick()
    assert tick.decision.done == (
        'place: home -> school; go_to_school: done; began study, by the routine'
    )
    assert tick.decision.place == 'school'
    assert names(policy_run.events) == [
        'action.started go_to_school, by routine',
        'state.changed energy: 90% -> 88%',
        'state.changed place: home -> school',
        'action.ended go_to_school: done',
        'action.started study, by routine',
    ]


# --- messages ------------------------------------------------------------------------------------


def test_a_message_waits_while_nothing_may_begin() -> None:
    policy_run = pupil()
    policy_run.holding = SAFE
    tick = policy_run.tick('hello')
    assert tick.commands == ()
    assert tick.decision.done == 'a message came: hello; messages that wait: 1'
    assert tick.decision.path[:3] == [
        'Root: goes on',
        'EmergencyBranch: goes on',
        f'held: goes on ({SAFE})',
    ]
    policy_run.run(30)
    assert policy_run.doing == ''
    policy_run.holding = ''
    assert policy_run.tick().decision.done == READS


def test_too_many_messages_are_dropped_and_that_is_told() -> None:
    policy_run = pupil()
    policy_run.holding = SAFE
    texts = [f'message {number}' for number in range(MAX_WAITING_MESSAGES + 2)]
    done = policy_run.tick(*texts).decision.done
    assert done.count(f'it is dropped: {MAX_WAITING_MESSAGES} messages wait already') == 2
    assert done.endswith(f'messages that wait: {MAX_WAITING_MESSAGES}')
    policy_run.holding = ''
    policy_run.run(MAX_WAITING_MESSAGES * 4)
    read = [event.rationale for event in policy_run.events if isinstance(event, ActionStarted)]
    assert read == texts[:MAX_WAITING_MESSAGES]


def test_a_world_without_emergencies_makes_nothing_of_a_message() -> None:
    world = world_of(COMPANION.model_copy(update={'emergencies': []}))
    policy_run = PolicyRun(world, instant('2026-11-28 10:00', world))
    tick = policy_run.tick('hello')
    assert tick.decision.done == (
        'a message came: hello; the world view names no activity for a message; '
        'the message is said aloud'
    )
    assert tick.state.activity is None


@settings(max_examples=examples(60))
@given(
    st.text(alphabet=st.characters(), max_size=80)
    | st.just('\ud800\x1b[2J\n')
    | st.just('x' * 9999)
)
def test_any_text_is_a_message(text: str) -> None:
    policy_run = pupil()
    tick = policy_run.tick(text)
    assert tick.state.activity is not None
    said = tick.state.activity.rationale
    assert len(said) <= MAX_MESSAGE_CHARS
    assert not said or said.isprintable()
    assert Decision.model_validate_json(tick.decision.model_dump_json()) == tick.decision
    policy_run.policy.close()


EARLY = {'person': {'sleep_tendency': {'minutes': -30, 'later': ['sleep', 'wake']}}}
FAR = {
    'person': {'commute': {'minutes': 15, 'earlier': ['go_to_school'], 'longer': ['go_to_school']}}
}
MONDAY = ['Mon 06:30 wake', 'Mon 07:20 go_to_school', 'Mon 07:40 study', 'Mon 11:40 study']


@pytest.mark.parametrize(
    ('own', 'began'),
    [
        ({}, MONDAY),
        ({'holidays': ['2026-11-23']}, ['Mon 06:30 wake']),
        ({'holidays': ['2026-11-22', '2026-11-24']}, MONDAY),
        (EARLY, ['Mon 06:00 wake', *MONDAY[1:]]),
        (FAR, ['Mon 06:30 wake', 'Mon 07:05 go_to_school', *MONDAY[2:]]),
    ],
)
def test_holidays_and_the_person_shift_the_day(own: dict[str, Any], began: list[str]) -> None:
    view = WorldView.model_validate({**COMPANION.model_dump(), **own})
    world = world_of(view)
    policy_run = PolicyRun(world, instant('2026-11-22 21:45', world))
    policy_run.until('2026-11-23 11:59')
    assert policy_run.began() == ['Sun 21:46 sleep', *began]


@pytest.mark.parametrize(
    ('when', 'doing'), [('2026-11-23 02:00', 'sleep'), ('2026-11-23 09:00', 'study')]
)
@pytest.mark.parametrize(
    ('idea', 'interrupts'),
    [
        (suggests('rest'), False),
        (suggests('wake'), False),  # it would end sleep
        (suggests('rest', preemptive=True), True),
    ],
    ids=['rest', 'wake', 'preemptive rest'],
)
def test_only_a_preemptive_idea_interrupts_sleep_and_class(
    when: str, doing: str, idea: Callable[[PromptSituation], PolicyAction], interrupts: bool
) -> None:
    policy_run = pupil('2026-11-22 21:00')
    policy_run.until(when)
    policy_run.provider = ScriptedModel(idea).provider
    policy_run.restart()
    policy_run.run(3)
    assert policy_run.doing == ('rest' if interrupts else doing)
    assert [each.activity for each in policy_run.saved.suspended] == [doing] * interrupts
    policy_run.run(30)
    assert ended(policy_run, 'rest') == ['done'] * interrupts
    assert policy_run.doing == doing


@pytest.mark.parametrize(
    ('when', 'long', 'activity'),
    [
        ('2026-11-22 21:00', '2026-11-23 03:00', 'sleep'),
        ('2026-11-23 07:00', '2026-11-23 09:00', 'study'),
        ('2026-11-23 07:00', '2026-11-23 07:30', 'go_to_school'),
    ],
)
def test_a_message_interrupts_what_may_not_be_interrupted_and_it_goes_on(
    when: str, long: str, activity: str
) -> None:
    policy_run = pupil(when)
    policy_run.until(long)
    assert policy_run.doing == activity
    before = policy_run.saved.activity
    assert before is not None
    policy_run.tick('hello', cause='message')
    assert policy_run.doing == 'read_message'
    policy_run.run(1)
    assert policy_run.doing == 'read_message'
    policy_run.run(1)
    after = policy_run.saved.activity
    assert after is not None
    assert (after.activity, after.task_ids, after.began_at) == (
        activity,
        before.task_ids,
        before.began_at,
    )
    assert ended(policy_run, 'read_message') == ['done']
    assert ended(policy_run, activity) == []
    commands = [type(c) for tick in policy_run.decisions[-3:] for c in tick.commands]
    assert commands == [PauseTasks, SubmitTasks, ResumeTasks]


# --- the model -----------------------------------------------------------------------------------


def test_what_the_model_suggests_begins() -> None:
    model = ScriptedModel(suggests('read'))
    policy_run = pupil(model=model)
    tick = policy_run.tick()
    assert tick.decision.answer_text == 'read: read would be good'
    assert tick.decision.done == 'began read, by the model'
    assert tick.decision.path[-2:] == ['LLMDrivenBranch: yes', 'model: yes (read would be good)']
    (situation,) = model.asked
    assert situation.options == ('read', 'rest')
    assert (situation.place, situation.activity) == ('home', '')


def test_all_that_was_refused_in_a_tick_is_told() -> None:
    model = ScriptedModel(suggests('study'))
    policy_run = pupil(model=model)
    policy_run.saved = policy_run.saved.model_copy(update={'devices': {'phone': False}})
    policy_run.restart()
    decision = policy_run.tick('hello').decision
    assert [(each.type, each.by) for each in decision.rejected] == [
        ('read_message', Source.EMERGENCY),
        ('study', Source.MODEL),
    ]
    assert decision.answer_text


def test_while_the_model_is_asked_the_routine_waits() -> None:
    model = ScriptedModel(suggests('rest'))
    model.silent = True
    policy_run = pupil('2026-11-23 07:20', model=model)
    tick = policy_run.tick()
    assert tick.decision.path[-2:] == ['LLMDrivenBranch: goes on', 'model: goes on (it is asked)']
    assert tick.commands == ()
    model.speak()
    assert policy_run.tick(cause='answer').decision.done == 'began rest, by the model'
    policy_run.run(1)
    assert policy_run.decisions[-1].decision.done == 'began go_to_school, by the routine'


def test_the_model_is_told_the_situation() -> None:
    model = ScriptedModel(suggests('rest'))
    policy_run = pupil('2026-11-23 05:00')
    policy_run.until('2026-11-25 19:00')
    policy_run.provider = model.provider
    policy_run.restart()
    policy_run.run(1)
    lines = model.asked[0].text.splitlines()
    assert lines[:2] == ['It is Wednesday, 2026-11-25 19:01.', 'Place: home. Energy: 66%.']
    memory = lines[-MAX_RECENT:]
    assert memory[0] == 'Wed 18:00: homework ended.'
    assert 'Wed 16:20: came to home.' in memory
    assert len(lines) == 2 + MAX_RECENT


def test_a_situation_says_what_goes_on_what_was_put_aside_and_what_is_broken() -> None:
    policy_run = pupil('2026-11-28 21:30')
    policy_run.tick()
    policy_run.run(3)
    policy_run.tick('hello')
    state = policy_run.saved.model_copy(update={'devices': {'phone': False}})
    lines = situation_text(HOME, state, policy_run.at).splitlines()
    assert lines[2:] == [
        'Goes on: read_message, since Sat 21:33.',
        'Put aside, goes on afterwards: sleep.',
        'Cannot be used: phone.',
    ]


def says_nothing_useful(error: BaseException) -> Callable[[PromptSituation], PolicyAction]:
    def say(situation: PromptSituation) -> PolicyAction:
        raise error

    return say


SAYINGS: dict[str, Callable[[PromptSituation], PolicyAction]] = {
    'an unknown activity': suggests('fly_to_the_moon', preemptive=True),
    'an empty-looking name': suggests(' '),
    'a name with a line in it': suggests('rest\nand more'),
    'what the place forbids': suggests('library', preemptive=True),
    'what the hour forbids': suggests('nap', preemptive=True),
    'what the day forbids': suggests('study', preemptive=True),
    'what only ends something else': suggests('wake'),
    'what is far away': suggests('go_home', preemptive=True),
}
SAYINGS |= {
    f'it fails with {type(error).__name__}': says_nothing_useful(error)
    for error in (
        SuggestionFailed('The model answered with text.', 'I think I will rest.'),
        ValueError('torn JSON'),
        RecursionError(),
        TimeoutError(),
        SystemExit(1),
    )
}
SAYINGS['it answers something else'] = lambda situation: 'rest'  # type: ignore
SAYINGS['it answers nothing'] = lambda situation: None  # type: ignore[assignment,return-value]


@pytest.mark.parametrize('say', SAYINGS.values(), ids=list(SAYINGS))
def test_whatever_the_model_says_the_routine_s_day_is_lived(
    say: Callable[[PromptSituation], PolicyAction],
) -> None:
    model = ScriptedModel(say)
    policy_run = pupil('2026-11-22 20:30', model=model)
    policy_run.until('2026-11-23 07:30')
    assert policy_run.began() == [
        'Sun 21:30 sleep',
        'Mon 06:30 wake',
        'Mon 07:20 go_to_school',
    ]
    first = policy_run.decisions[0].decision
    assert model.asked[0].activity == ''
    assert any(line.startswith('model: no (') for line in first.path), first.path
    assert first.activity == ''


def test_what_a_preemptive_idea_put_aside_goes_on_and_is_left_alone() -> None:
    model = ScriptedModel(suggests('homework'))
    policy_run = pupil('2026-11-28 17:30', model=model)
    policy_run.run(1)
    assert policy_run.doing == 'homework'
    model.say = suggests('rest', preemptive=True)
    policy_run.run(14)
    assert policy_run.doing == 'rest'
    assert [each.activity for each in policy_run.saved.suspended] == ['homework']
    policy_run.run(30)
    assert ended(policy_run, 'rest') == ['done']
    assert policy_run.doing == 'homework', 'the answer that interrupted it does so once'
    assert (
        'model: no (an interruption needs a fresh answer)'
        in policy_run.decisions[-1].decision.path
    )
    policy_run.run(16)
    assert ended(policy_run, 'homework') == ['done']


# --- what breaks, and off ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('broken', 'where'), [(SafetyFilter, 'refusal_reason'), (MayAsk, 'refuses')]
)
def test_a_node_that_breaks_does_not_lose_the_tick(
    monkeypatch: pytest.MonkeyPatch, broken: type, where: str
) -> None:
    def breaking(*args: object) -> str:
        raise KeyError('no\nsuch')

    policy_run = pupil('2026-11-23 07:20')
    with monkeypatch.context() as patch:
        patch.setattr(broken, where, breaking)
        tick = policy_run.tick()
    assert tick.commands == ()
    assert tick.state.activity is None
    assert tick.decision.done == r"the tree broke (KeyError: 'no\nsuch'), nothing begins"
    assert 'held: no' in tick.decision.path
    assert not any('goes on' in line for line in tick.decision.path)
    policy_run.policy.ascii()
    policy_run.policy.dot()
    assert policy_run.tick().decision.done == 'began go_to_school, by the routine'


def test_what_was_chosen_before_it_broke_does_not_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    def chooses_and_breaks(leaf: ChoosingLeaf, *args: Any) -> None:
        choose(leaf, *args)
        raise ValueError('too late')

    choose = ChoosingLeaf.choose
    policy_run = pupil('2026-11-23 07:20')
    with monkeypatch.context() as patch:
        patch.setattr(ChoosingLeaf, 'choose', chooses_and_breaks)
        ticks = [policy_run.tick(), policy_run.tick('hello')]
    for tick in ticks:
        assert tick.commands == ()
        assert 'the tree broke (ValueError: too late), nothing begins' in tick.decision.done
    assert policy_run.tick().decision.done == READS


def test_what_ended_is_not_lost_in_a_tick_that_breaks(monkeypatch: pytest.MonkeyPatch) -> None:
    policy_run = pupil('2026-11-23 07:20')
    policy_run.tick()
    policy_run.at += 20 * 60.0
    with monkeypatch.context() as patch:
        patch.setattr(MayAsk, 'refuses', lambda *args: 1 / 0)
        tick = policy_run.tick()
    assert tick.state.place == 'school'
    assert 'go_to_school: done' in tick.decision.done


def test_off_ends_everything_and_says_so() -> None:
    policy_run = pupil('2026-11-28 21:30')
    policy_run.tick()
    policy_run.run(60)
    policy_run.tick('first', 'second')
    reading, sleeping = policy_run.saved.activity, policy_run.saved.suspended[0]
    assert reading is not None
    tick = policy_run.policy.switch_off(':auto off', policy_run.at)
    assert tick.state.activity is None
    assert tick.state.suspended == []
    decision = tick.decision
    assert decision.cause == 'off'
    assert 'nobody answered the message: second' in decision.done
    assert decision.done.endswith('off: :auto off')
    assert 'sleep: off: :auto off; ' in decision.done
    assert decision.activity == ''
    assert decision.path == []
    cancelled = [each for each in tick.commands if isinstance(each, CancelTasks)]
    ids = {task_id for each in cancelled for task_id in each.task_ids}
    assert ids == {*reading.task_ids, *sleeping.task_ids}
    assert '[x]' not in policy_run.policy.ascii()


# --- devices -------------------------------------------------------------------------------------


def test_a_device_that_is_switched_off_is_told_and_nothing_that_needs_it_begins() -> None:
    policy_run = pupil()
    at = policy_run.at
    tick = policy_run.policy.tick(at, 'minute', Senses(devices={'phone': False}), ['hello'])
    assert tick.decision.done.startswith('device phone: usable -> not usable; a message came')
    assert tick.state.devices == {'phone': False}
    assert tick.state.activity is None
    again = policy_run.policy.tick(at + 60.0, 'minute', Senses(devices={'phone': True}))
    assert again.decision.done.startswith('device phone: not usable -> usable; began read_message')
    changes = [event for event in policy_run.events if isinstance(event, StateChanged)]
    assert [change.what for change in changes] == ['device phone', 'device phone']


def test_a_device_that_the_file_says_is_not_there_cannot_be_switched_on() -> None:
    phone = COMPANION.devices['phone'].model_copy(update={'available': False})
    view = COMPANION.model_copy(update={'devices': {'phone': phone}})
    world = world_of(view)
    policy_run = PolicyRun(world, instant('2026-11-23 09:00', world))
    tick = policy_run.policy.tick(
        policy_run.at, 'minute', Senses(devices={'phone': True}), ['hello']
    )
    assert tick.state.devices == {'phone': False}
    assert [each.type for each in tick.decision.rejected] == ['read_message']


# --- any life ------------------------------------------------------------------------------------

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
TestAnyLife.settings = settings(max_examples=examples(100), stateful_step_count=25)
