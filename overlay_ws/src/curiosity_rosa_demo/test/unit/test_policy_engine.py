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
    PauseTasks,
    Senses,
    SubmitTasks,
)
from curiosity_rosa_demo.agent.policy.decision_record import Decision, Rejection
from curiosity_rosa_demo.agent.policy.events import (
    ActionEnded,
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
from policy_world import COMPANION, instant, PolicyRun, ROVER, world_of
import pytest

HOME = world_of(COMPANION)
FIELD = world_of(ROVER)
SAFE = 'SAFE: e-stop pressed'

READS = 'began read_message, by the emergency; the message is said aloud'


def pupil(when: str = '2026-11-28 10:00', *, model: ScriptedModel | None = None) -> PolicyRun:
    """On a Saturday, unless a test says otherwise: nothing is due."""
    at = instant(when, HOME)
    return PolicyRun(HOME, at, provider=model.provider if model else None)


def names(events: list[Event]) -> list[str]:
    return [f'{event.name} {event}' for event in events]


# --- a quiet tick, and one in which something begins -----------------------------------------


def test_a_quiet_tick_decides_nothing_and_says_where_it_is() -> None:
    policy_run = pupil()
    tick = policy_run.tick()
    decision = tick.decision
    assert (decision.number, decision.at, decision.cause) == (1, policy_run.at, 'minute')
    assert (decision.place, decision.activity, decision.done) == ('home', '', '')
    assert decision.energy == pytest.approx(0.9)
    assert decision.path[0] == 'Root: yes'
    assert tick.commands == ()
    assert tick.state is policy_run.policy.state
    assert policy_run.events == []


def test_what_is_due_begins_and_is_told() -> None:
    policy_run = pupil('2026-11-23 07:20')
    tick = policy_run.tick(cause='minute')
    assert tick.decision.done == 'began go_to_school, by the routine'
    assert tick.decision.activity == 'go_to_school'
    assert '3 go_to_school due: yes' in tick.decision.path
    (command,) = tick.commands
    assert isinstance(command, SubmitTasks)
    assert command.ongoing == tick.state.activity
    assert policy_run.events == [ActionStarted(policy_run.at, 'go_to_school', Source.ROUTINE)]


def test_what_ended_and_what_began_are_told_together() -> None:
    policy_run = pupil('2026-11-23 07:20')
    policy_run.tick()
    policy_run.at += 20 * 60.0
    tick = policy_run.tick()
    assert tick.decision.done == (
        'place: home -> school; go_to_school: done; began study, by the routine'
    )
    assert tick.decision.place == 'school'
    kinds = [type(event) for event in policy_run.events]
    assert kinds == [ActionStarted, StateChanged, StateChanged, ActionEnded, ActionStarted]
    assert [str(event) for event in policy_run.events[1:3]] == [
        'energy: 90% -> 88%',
        'place: home -> school',
    ]


def test_numbers_go_on_from_the_last_decision_that_was_kept() -> None:
    policy_run = pupil()
    assert [policy_run.tick().decision.number for _ in range(3)] == [1, 2, 3]
    policy_run.restart()
    assert policy_run.tick().decision.number == 4


def test_each_of_many_quiet_ticks_has_its_own_decision() -> None:
    policy_run = pupil('2026-11-28 21:30')
    first = policy_run.tick().decision
    decisions = []
    for number, (cause, missed) in enumerate([('minute', 0), ('event', 7), ('minute', 0)], 2):
        policy_run.at += 60.0
        decision = policy_run.policy.tick(
            policy_run.at, cause, policy_run.senses(), missed=missed
        ).decision
        assert (decision.number, decision.at) == (number, policy_run.at)
        assert (decision.cause, decision.missed) == (cause, missed)
        assert (decision.activity, decision.done) == ('sleep', '')
        assert Decision.model_validate_json(decision.model_dump_json()) == decision
        decisions.append(decision)
    energies = [first.energy, *(decision.energy for decision in decisions)]
    assert energies == sorted(set(energies)), 'it sleeps'
    assert decisions[0].number == 2, 'an older one is not touched'


def test_the_energy_told_is_that_of_the_moment() -> None:
    policy_run = pupil('2026-11-28 21:30')
    policy_run.tick()
    policy_run.at += 3600.0
    assert policy_run.tick().decision.energy == pytest.approx(0.9 + 0.1)  # 0.12 more, clipped
    policy_run = pupil('2026-11-23 07:20')
    policy_run.tick()
    policy_run.at += 600.0
    assert policy_run.tick().decision.energy == pytest.approx(0.9 - 0.06 / 6)


def test_the_way_through_the_tree_is_that_of_this_tick() -> None:
    policy_run = pupil('2026-11-28 21:29')
    before = policy_run.tick().decision.path
    policy_run.run(1)
    after = policy_run.decisions[-1].decision.path
    assert '2 sleep due: no (due 21:30-04:00)' in before
    assert '2 sleep due: yes' in after
    assert before[-1] == 'rest: yes', 'an older decision keeps its own'
    policy_run.run(1)
    assert policy_run.decisions[-1].decision.path[-1] == 'continue: goes on (sleep)'


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


def test_a_message_waits_while_another_is_read_and_that_is_told_once() -> None:
    policy_run = pupil()
    policy_run.tick('first')
    policy_run.run(1)
    tick = policy_run.tick('second')
    reason = 'read_message goes on already; the message waits: second'
    assert tick.decision.rejected == [
        Rejection(type='read_message', by=Source.EMERGENCY, reason=reason)
    ]
    assert tick.decision.done == 'a message came: second; messages that wait: 1'
    assert policy_run.tick().decision.rejected == []


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


def test_the_model_is_told_the_situation() -> None:
    model = ScriptedModel(suggests('rest'))
    policy_run = pupil('2026-11-28 16:00', model=model)
    policy_run.tick('a walk?')
    policy_run.run(2)
    lines = model.asked[0].text.splitlines()
    assert lines[:2] == ['It is Saturday, 2026-11-28 16:02.', 'Place: home. Energy: 90%.']
    assert 'Sat 16:02: read_message ended.' in lines


def test_a_situation_says_what_goes_on_what_was_put_aside_and_what_is_broken() -> None:
    policy_run = pupil('2026-11-28 21:30')
    policy_run.tick()
    policy_run.run(3)
    policy_run.tick('hello')
    state = policy_run.saved.model_copy(update={'devices': {'phone': False}})
    lines = situation_text(HOME, state, policy_run.at).splitlines()
    assert 'Goes on: read_message, since Sat 21:33.' in lines
    assert 'Put aside, goes on afterwards: sleep.' in lines
    assert 'Cannot be used: phone.' in lines


def test_a_situation_tells_the_latest_of_what_it_remembers() -> None:
    policy_run = pupil('2026-11-23 05:00')
    policy_run.run(3 * 1440)
    lines = situation_text(HOME, policy_run.saved, policy_run.at).splitlines()
    memory = [
        line for line in lines if line.endswith((' ended.', ' failed.')) or 'came to' in line
    ]
    assert len(memory) == MAX_RECENT
    assert memory[0] == 'Wed 18:00: homework ended.'
    assert 'Wed 16:20: came to home.' in memory


def test_a_suggestion_that_is_refused_is_told_and_the_routine_decides() -> None:
    model = ScriptedModel(suggests('study'))
    policy_run = pupil('2026-11-23 07:20', model=model)
    tick = policy_run.tick()
    assert tick.decision.answer_text == 'study: study would be good'
    reason = 'it is at home, not at school'
    assert tick.decision.rejected == [Rejection(type='study', by=Source.MODEL, reason=reason)]
    assert f'model: no ({reason})' in tick.decision.path
    assert tick.decision.done == 'began go_to_school, by the routine'


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


def test_the_provider_hears_of_a_refusal() -> None:
    model = ScriptedModel(suggests('study'))
    policy_run = pupil(model=model)
    policy_run.run(1)
    assert 'it is at home, not at school' in model.provider.unavailable_reason(
        model.asked[0], policy_run.at + 900.0
    )


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


def test_no_model_is_asked_while_nothing_may_be_interrupted() -> None:
    model = ScriptedModel(suggests('rest', preemptive=True))
    policy_run = pupil('2026-11-23 07:20')
    policy_run.tick()
    policy_run.provider = model.provider
    policy_run.restart()
    policy_run.run(5)
    policy_run.holding = SAFE
    policy_run.run(5)
    assert model.asked == []


def test_a_model_that_fails_leaves_it_to_the_routine() -> None:
    def fails(situation: object) -> None:
        raise SuggestionFailed('The model answered nothing.', 'hm')

    model = ScriptedModel(fails)
    policy_run = pupil('2026-11-23 07:20', model=model)
    tick = policy_run.tick()
    assert tick.decision.answer_text == 'hm'
    assert 'model: no (The model answered nothing.)' in tick.decision.path
    assert tick.decision.done == 'began go_to_school, by the routine'


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


def test_a_message_is_not_lost_in_a_tick_that_breaks(monkeypatch: pytest.MonkeyPatch) -> None:
    policy_run = pupil()
    with monkeypatch.context() as patch:
        patch.setattr(SafetyFilter, 'refusal_reason', lambda *args: 1 / 0)
        done = policy_run.tick('hello').decision.done
    assert 'the tree broke (ZeroDivisionError: division by zero), nothing begins' in done
    assert done.endswith('messages that wait: 1')
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


def test_off_when_nothing_goes_on() -> None:
    policy_run = pupil()
    tick = policy_run.policy.switch_off('the user said stop', policy_run.at)
    assert (tick.commands, tick.decision.done) == ((), 'off: the user said stop')


def test_it_can_be_ticked_again_after_off() -> None:
    policy_run = pupil('2026-11-23 07:20')
    policy_run.tick('hello')
    policy_run.tick('and again')
    policy_run.off('for a moment')
    policy_run.run(1)
    assert policy_run.doing == 'go_to_school', 'the second message is forgotten'


# --- interruption ----------------------------------------------------------------------------


def test_an_interruption_is_one_pause_and_one_begin() -> None:
    policy_run = pupil('2026-11-28 21:30')
    policy_run.tick()
    sleeping = policy_run.saved.activity
    assert sleeping is not None
    policy_run.run(1)
    tick = policy_run.tick('hello')
    pause, begin = tick.commands
    assert isinstance(pause, PauseTasks)
    assert list(pause.task_ids) == sleeping.task_ids
    assert isinstance(begin, SubmitTasks)


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
