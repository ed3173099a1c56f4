# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""One tick of the engine: what it decides, tells and wants done."""

from __future__ import annotations

from typing import Any

from curiosity_rosa_demo.agent.policy.action import (
    CancelTasks,
    Senses,
    SubmitTasks,
)
from curiosity_rosa_demo.agent.policy.decision_record import Decision, Rejection
from curiosity_rosa_demo.agent.policy.events import (
    ActionStarted,
    Event,
    StateChanged,
)
from curiosity_rosa_demo.agent.policy.guards import MayAsk
from curiosity_rosa_demo.agent.policy.leaves import ChoosingLeaf
from curiosity_rosa_demo.agent.policy.policy import MAX_MESSAGE_CHARS, MAX_WAITING_MESSAGES
from curiosity_rosa_demo.agent.policy.prompt_situation import MAX_RECENT, situation_text
from curiosity_rosa_demo.agent.policy.safety_filter import SafetyFilter
from curiosity_rosa_demo.agent.policy.suggestion import SuggestionFailed
from curiosity_rosa_demo.agent.policy.world_state import Source
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from policy_doubles import ScriptedModel, suggests
from policy_world import COMPANION, instant, PolicyRun, world_of
import pytest

HOME = world_of(COMPANION)
SAFE = 'SAFE: e-stop pressed'

READS = 'began read_message, by the emergency; the message is said aloud'


def pupil(when: str = '2026-11-28 10:00', *, model: ScriptedModel | None = None) -> PolicyRun:
    """On a Saturday, unless a test says otherwise: nothing is due."""
    at = instant(when, HOME)
    return PolicyRun(HOME, at, provider=model.provider if model else None)


def names(events: list[Event]) -> list[str]:
    return [f'{event.name} {event}' for event in events]


# --- a quiet tick, and one in which something begins -----------------------------------------


def test_numbers_go_on_and_each_quiet_tick_has_its_own_decision() -> None:
    policy_run = pupil('2026-11-28 21:29')
    waits = policy_run.tick().decision
    policy_run.run(1)
    policy_run.restart()
    quiet = []
    for cause, missed in (('minute', 0), ('event', 7)):
        policy_run.at += 60.0
        tick = policy_run.policy.tick(policy_run.at, cause, policy_run.senses(), missed=missed)
        each = tick.decision
        assert (each.at, each.cause, each.missed) == (policy_run.at, cause, missed)
        assert (each.place, each.activity, each.done) == ('home', 'sleep', '')
        assert each.path[-1] == 'continue: goes on (sleep)'
        quiet.append(each)
    begins = policy_run.decisions[-1].decision
    assert [each.number for each in (waits, begins, *quiet)] == [1, 2, 3, 4]
    assert (waits.activity, waits.done, waits.path[-1]) == ('', '', 'rest: yes')
    assert '2 sleep due: no (due 21:30-04:00)' in waits.path
    assert '2 sleep due: yes' in begins.path
    assert waits.energy == begins.energy < quiet[0].energy < quiet[1].energy, 'it sleeps'


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


# --- messages --------------------------------------------------------------------------------


def test_a_message_is_read_at_once() -> None:
    policy_run = pupil()
    tick = policy_run.tick('hello', cause='message')
    assert tick.decision.done == (
        'a message came: hello; began read_message, by the emergency; the message is said aloud'
    )
    assert tick.spoken_texts == ('A message came: hello',)
    assert tick.state.activity is not None
    assert tick.state.activity.rationale == 'hello'
    assert names(policy_run.events) == [
        'external.message hello',
        'action.started read_message, by emergency (hello)',
    ]


def test_messages_that_come_together_are_read_one_after_the_other() -> None:
    policy_run = pupil()
    tick = policy_run.tick('first', 'second', 'third')
    assert tick.decision.done.endswith(
        'began read_message, by the emergency; the message is said aloud; messages that wait: 2'
    )
    assert tick.decision.rejected == []
    policy_run.run(10)
    read = [event.rationale for event in policy_run.events if isinstance(event, ActionStarted)]
    assert read == ['first', 'second', 'third']


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


@settings(deadline=None, max_examples=examples(60))
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


# --- the model -------------------------------------------------------------------------------


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
    assert lines[:2] == ['It is Wednesday, 2026-11-25 19:01.', 'Place: home. Energy: 59%.']
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


def fails(situation: object) -> None:
    raise SuggestionFailed('The model answered nothing.', 'hm')


@pytest.mark.parametrize(
    ('say', 'answer', 'reason', 'refused'),
    [
        (suggests('study'), 'study: study would be good', 'it is at home, not at school', True),
        (fails, 'hm', 'The model answered nothing.', False),
    ],
    ids=['what the filter refuses', 'a failed call'],
)
def test_without_a_possible_suggestion_the_routine_decides(
    say: Any, answer: str, reason: str, refused: bool
) -> None:
    policy_run = pupil('2026-11-23 07:20', model=ScriptedModel(say))
    decision = policy_run.tick().decision
    assert decision.answer_text == answer
    rejection = Rejection(type='study', by=Source.MODEL, reason=reason)
    assert decision.rejected == ([rejection] if refused else [])
    assert f'model: no ({reason})' in decision.path
    assert decision.done == 'began go_to_school, by the routine'


# --- what breaks -----------------------------------------------------------------------------


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


# --- off -------------------------------------------------------------------------------------


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


def test_it_can_be_ticked_again_after_off() -> None:
    policy_run = pupil('2026-11-23 07:20')
    policy_run.tick('hello')
    policy_run.tick('and again')
    policy_run.off('for a moment')
    policy_run.run(1)
    assert policy_run.doing == 'go_to_school', 'the second message is forgotten'


# --- devices ---------------------------------------------------------------------------------


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
