# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What users say: the labelled utterances, property 3 (stops stay stops), and the inbox."""

from __future__ import annotations

from curiosity_rosa_demo.agent.kernel.hci_ingress import classify, hci_ingress, LOG_LINES
from curiosity_rosa_demo.agent.kernel.intent.normalize import canonical, fold
from curiosity_rosa_demo.domain.brain_state import (
    BrainState,
    HCIState,
    ProposedOps,
    ReactState,
    TasksState,
    TraceState,
    UserInterruptType,
)
from examples import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
from orders_world import fields
import pytest

STOP = UserInterruptType.STOP
NEW_GOAL = UserInterruptType.NEW_GOAL

LANGUAGES = ('en', 'ja', 'zh', 'mixed')
UTTERANCES = fields('utterances.tsv')
SAID = [row[-1] for name in ('utterances.tsv', 'questions.tsv') for row in fields(name)]


def label(text: str) -> str:
    intent = classify(text)
    return str(intent.payload.get('action', intent.type.value))


@pytest.mark.parametrize('language', LANGUAGES)
def test_every_utterance_is_heard_as_it_was_labelled(language: str) -> None:
    said = [(wanted, text) for wanted, spoken, text in UTTERANCES if spoken == language]
    assert said
    assert [(text, label(text)) for wanted, text in said if label(text) != wanted] == []


# --- property 3: a stop stays a stop ----------------------------------------------------------

STOPS = [text for wanted, _, text in UTTERANCES if wanted == 'STOP']
WORDS = {
    'en': 'stop|halt|freeze|abort|cancel|whoa|emergency|stop the rover|stop it|stop moving'
    '|all stop|cancel everything|halt the rover|abort the mission|emergency stop',
    'ja': '止まれ|止まって|とまれ|停止|停止して'
    '|ストップ|やめて|やめろ|中止|緊急停止|動くな|止めて',
    'zh': '停|停下|停下来|停止|停车|站住|别动|不要动|紧急停止|中止|取消|住手',
}
PREFIXES = {
    'en': 'please |hey rover, |ok |ok ok |could you please |no! |wait, |now ',
    'ja': 'ローバー、|すぐに|いますぐ|お願い、|おい、|早く|ちょっと、',
    'zh': '请|快|马上|麻烦你|喂，|火星车，|给我|立刻',
}
SUFFIXES = {
    'en': ' please| now|, rover| right now| immediately| already| thanks',
    'ja': '！お願いします|、早く|。危ないよ|、ローバー|！！もう',
    'zh': '，快点|！马上|，谢谢|，听见没有|！！',
}
SPACE = st.sampled_from(['', ' ', '   ', '\t', '\u3000', '\u200b', '\n', '\u00a0', '\ufeff'])
EMOJI = st.sampled_from(['', ' 🛑', '🙏', ' 😡😡', '❗', ' 🤖'])
# A question mark can make a question of it.
MARKS = st.text(st.sampled_from('.!。！…,、~'), max_size=4)
PUNCTUATION = st.text(st.sampled_from('.!?。！？…,、~'), max_size=4)


def full_width(text: str) -> str:
    return ''.join(chr(ord(c) + 0xFEE0) if '!' <= c <= '~' else c for c in text)


@st.composite
def dressed_stops(draw: st.DrawFn) -> str:
    language = draw(st.sampled_from(list(WORDS)))
    text = draw(st.sampled_from(WORDS[language].split('|')))
    if language == 'en':
        text += text[-1] * draw(st.integers(0, 6))
    prefix = draw(st.sampled_from(['', *PREFIXES[language].split('|')]))
    suffix = draw(st.sampled_from(['', *SUFFIXES[language].split('|')]))
    text = draw(EMOJI) + prefix + text + suffix + draw(PUNCTUATION) + draw(EMOJI)
    upper = draw(st.lists(st.booleans(), min_size=len(text), max_size=len(text)))
    text = ''.join(c.upper() if up else c for c, up in zip(text, upper, strict=True))
    if draw(st.booleans()):
        text = full_width(text)
    return draw(SPACE) + text + draw(SPACE)


@settings(max_examples=examples(500))
@given(dressed_stops(), st.sampled_from(STOPS), SPACE, SPACE, MARKS)
def test_a_stop_stays_a_stop_however_it_is_dressed(
    dressed: str, text: str, before: str, after: str, marks: str
) -> None:
    for each in (dressed, before + text + marks + after, text.upper(), full_width(text)):
        assert classify(each).type is STOP, each


@pytest.mark.parametrize('dressed', ['{} 🙏', '🙏 {}', '{}🙏', '🙏{}', '😡 {} 🤖'])
def test_a_pictograph_without_a_meaning_changes_nothing(dressed: str) -> None:
    changed = [text for _, _, text in UTTERANCES if label(dressed.format(text)) != label(text)]
    assert changed == []


@st.composite
def misspelt(draw: st.DrawFn, word: str) -> str:
    """``word`` with two letters swapped, one doubled or one dropped."""
    at = draw(st.integers(0, len(word) - 1))
    kind = draw(st.sampled_from(['swapped', 'doubled', 'dropped']))
    if kind == 'doubled':
        return word[:at] + word[at] + word[at:]
    if kind == 'dropped':
        return word[:at] + word[at + 1 :]
    at = min(at, len(word) - 2)
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


COMMON_WORDS = {'top', 'sop', 'hat', 'alt', 'who'}
SLIPS = st.sampled_from(['stop', 'halt', 'freeze', 'abort', 'cancel', 'emergency', 'whoa'])
FRAMES = '{}|please {}|{} now|hey rover {} please|ok {}|{} the rover|now {} it!'


@settings(max_examples=examples(1000))
@given(SLIPS.flatmap(misspelt), st.sampled_from(FRAMES.split('|')))
def test_one_slip_of_the_finger_leaves_a_stop(word: str, frame: str) -> None:
    if word not in COMMON_WORDS:
        assert classify(frame.format(word)).type is STOP


def test_a_word_that_is_only_nearly_a_stop_is_one_when_nothing_else_is_said() -> None:
    for word in COMMON_WORDS - {'who'}:
        assert classify(f'{word}!').type is STOP
        assert classify(f'please {word} now').type is STOP
        assert classify(f'take a picture of the {word} of the hill').type is NEW_GOAL


@settings(max_examples=examples(500))
@given(st.sampled_from(SAID), st.sampled_from(['stop!', '止まれ！', '停！', '停下！', 'STOP now']))
def test_a_stop_after_anything_else_is_a_stop(said: str, stop: str) -> None:
    """The end of what is said counts, whatever was asked, negated or answered before it."""
    for text in (f'{said}. {stop}', f'{said} {stop}', f'{stop} {said}'):
        assert classify(text).type is STOP, text


def test_a_stop_is_heard_anywhere_in_a_long_text() -> None:
    for stop in ('stop', '止まれ', '停下'):
        for before, after in ((0, 9000), (4500, 4500), (9000, 0)):
            assert classify('rock, ' * before + f'{stop}, ' + 'sand, ' * after).type is STOP


# --- property 3: any text at all --------------------------------------------------------------

ANY_TEXT = st.text(max_size=60) | st.text(
    st.characters(categories=['Cs', 'Cc', 'Cf', 'Mn', 'Lo', 'So']), max_size=60
)
PIECES = (
    "don't stop never wait until ok no yes please go drive to the rock and then say what how "
    '停 不要 别 再 下来 止まら ないで とまれ まで 進んで '
    '🛑 ? ! , . \u0301 \u200d \ud800 ｽ ﾟ s t o p'
)


@settings(max_examples=examples(1000))
@given(ANY_TEXT | st.lists(st.sampled_from(PIECES.split()), max_size=12).map(' '.join))
@example('\ud800')
@example('\x00')
@example('')
def test_any_text_means_something(text: str) -> None:
    intent = classify(text)
    said = canonical(fold(text.strip()))
    assert (intent.type is UserInterruptType.NONE) == (not said)
    if intent.type is NEW_GOAL:
        assert isinstance(intent.payload['text'], str)
        intent.payload['text'].encode()
    hci_ingress(inbox({'text': text.encode('utf-8', 'replace').decode()}))


LONG = [
    *('a', ' ', '.', 'ok ', 'please ', 'wait ', ',ok, ok', 's', 'st', 's t o ', "don't "),
    *('until i ', 'go to the rock and ', ',go', 'how fast ', 'enough ', ',enough', '停', '不'),
    *('到我', '走', 'とま', '止ま', '\u0301\u0323', '\u0f73\u0f81', 'ｽﾟ', 'か\u3099', '\ud800'),
    *('0', "'", '-', '🛑'),
]
ANSWERS = ['ok ', 'no ', 'はい', 'よね', '不', '好的', '行了', 'please ', 'y', 'wait ']


def test_a_text_of_any_length_is_read() -> None:
    """Work that grew with the square of the text, or faster, would pass pytest's time limit."""
    for piece in LONG:
        classify(piece * (160_000 // len(piece)))
    for piece in ANSWERS:  # as long as an answer may be
        classify(piece * (190 // len(piece)) + 'x')


# --- payloads -----------------------------------------------------------------------------------

URGENCY = {
    'drive home': 3,
    'drive home immediately': 5,
    'this is urgent: take a picture': 5,
    'not urgent: take a picture': 3,
    'すぐに基地へ戻って': 5,
    'まっすぐ進んで': 3,
    '马上回基地': 5,
    '回基地': 3,
}


def test_an_urgent_goal_has_a_higher_priority() -> None:
    for text, priority in URGENCY.items():
        assert classify(f' {text} ').payload == {'text': text, 'priority': priority}


# --- the inbox ----------------------------------------------------------------------------------


def inbox(
    *messages: object, question: bool = False, asked: str = '', log: tuple[str, ...] = ()
) -> BrainState:
    """A state with these messages, even ones that no validation would let through; with an open
    question, whose ID is ``asked``.
    """
    ops = ProposedOps(
        need_approval=question or asked != '', approval_payload={'id': asked} if asked else {}
    )
    return BrainState(
        tasks=TasksState.model_construct(inbox=list(messages)),
        react=ReactState(proposed_ops=ops),
        trace=TraceState(log=list(log)),
    )


MESSAGES = st.one_of(
    st.sampled_from([text for _, _, text in UTTERANCES]).map(lambda text: {'text': text}),
    st.sampled_from(['PAUSE', 'RESUME', 'CLEAR', 'resume']).map(lambda name: {'intent': name}),
    st.builds(lambda text: {'intent': 'NEW_GOAL', 'payload': {'text': text}}, st.text(min_size=1)),
    st.sampled_from(
        [{}, {'text': 3}, {'text': ' '}, {'intent': 'DANCE'}, {'intent': None}, 7, None]
    ),
    st.sampled_from([{'intent': 'STOP'}, {'intent': 'stop', 'payload': 3}]),
)


@settings(max_examples=examples(500))
@given(st.lists(MESSAGES, max_size=6), st.booleans())
def test_a_stop_anywhere_in_the_inbox_is_taken_and_the_rest_is_dropped(
    messages: list[object], question: bool
) -> None:
    after = hci_ingress(inbox(*messages, question=question))
    alone = [hci_ingress(inbox(message, question=question)).hci for message in messages]
    meant = [hci for hci in alone if hci.user_interrupt is not UserInterruptType.NONE]
    found = [hci for hci in meant if hci.user_interrupt is STOP]
    assert after.hci == (found or meant or [HCIState()])[0]
    assert len(after.tasks.inbox) == (0 if found else max(0, len(meant) - 1))
    assert BrainState.model_validate_json(after.model_dump_json()) == after


def test_messages_are_taken_oldest_first_one_in_a_tick() -> None:
    state = hci_ingress(inbox({'text': 'turn left'}, {'intent': 'PAUSE', 'payload': {'id': 'a'}}))
    assert state.hci == HCIState(
        user_utterance='turn left',
        user_interrupt=NEW_GOAL,
        interrupt_payload={'text': 'turn left', 'priority': 3},
    )
    state = hci_ingress(state)
    assert state.hci.user_interrupt is UserInterruptType.PAUSE
    assert state.hci.interrupt_payload == {'id': 'a'}
    assert hci_ingress(state).hci == HCIState()


DROPPED: list[tuple[object, str]] = [
    (7, 'it is no object but int'),
    ({}, 'neither text nor intent is a string'),
    ({'text': 3}, 'neither text nor intent is a string'),
    ({'text': ' \u200b'}, 'its text is empty'),
    ({'intent': 'DANCE'}, "no intent 'DANCE'; there are APPROVAL, CLEAR"),
    ({'intent': 'NONE'}, "no intent 'NONE'"),
    ({'intent': 'PAUSE', 'payload': 3}, 'PAUSE: payload must be an object, not int'),
    ({'intent': 'NEW_GOAL'}, 'NEW_GOAL: payload.text must say what is to be done'),
    (
        {'intent': 'NEW_GOAL', 'payload': {'text': 'x', 'priority': True}},
        'payload.priority must be a whole number',
    ),
    ({'intent': 'PAUSE', 'payload': {'x': float('nan')}}, 'PAUSE: payload is no JSON'),
    ({'intent': 'PAUSE', 'payload': {'x': object()}}, 'PAUSE: payload is no JSON'),
    ({'intent': 'APPROVAL', 'payload': {'action': 'YES'}}, 'payload.action must be one of'),
]


def test_a_message_that_means_nothing_is_dropped_with_a_reason() -> None:
    for message, reason in DROPPED:
        after = hci_ingress(inbox(message, {'text': 'turn left'}))
        assert after.hci.user_utterance == 'turn left'
        (line,) = after.trace.log
        assert reason in line


def test_the_trace_keeps_its_last_lines() -> None:
    old = tuple(f'line {number}' for number in range(LOG_LINES))
    after = hci_ingress(inbox({}, {'text': 'stop'}, {'text': 'turn left'}, log=old))
    assert len(after.trace.log) == LOG_LINES
    assert after.trace.log[0] == 'line 2'
    assert after.trace.log[-1] == 'inbox: stop; 1 other messages dropped'


def test_a_stop_counts_in_a_message_that_says_something_else_too() -> None:
    def heard(message: object) -> UserInterruptType:
        return hci_ingress(inbox(message)).hci.user_interrupt

    assert heard({'text': 'stop', 'intent': 'RESUME'}) is STOP
    assert heard({'intent': 'STOP', 'payload': ['garbage']}) is STOP
    assert heard({'text': 'turn left', 'intent': 'RESUME'}) is UserInterruptType.RESUME


def test_a_yes_counts_only_while_a_question_is_open() -> None:
    for text in ('yes', '好的'):
        asked = hci_ingress(inbox({'text': text}, question=True)).hci
        assert asked.user_interrupt is UserInterruptType.APPROVAL
        assert asked.approval_response == asked.interrupt_payload == {'action': 'APPROVE'}
        unasked = hci_ingress(inbox({'text': text})).hci
        assert unasked.interrupt_payload == {'text': text, 'priority': 3}
        assert (unasked.user_interrupt, unasked.approval_response) == (NEW_GOAL, None)


def test_a_no_that_answers_nothing_is_a_stop() -> None:
    for text in ('no', 'No no no!', 'だめ！', '不行', 'いいえ', "don't do that"):
        asked = hci_ingress(inbox({'text': text}, question=True)).hci
        assert asked.approval_response == {'action': 'REJECT'}
        assert hci_ingress(inbox({'text': text})).hci.user_interrupt is STOP


YES = st.sampled_from(['yes', 'はい', '好的'])
NO = st.sampled_from(['no', 'いいえ', '不行'])
QUESTIONS = st.sampled_from(['', 'q1', 'q2', 'q12'])  # '': none


@settings(max_examples=examples(200))
@given(st.one_of(YES, NO), QUESTIONS, QUESTIONS)
def test_an_answer_is_for_the_question_that_was_shown(text: str, shown: str, now: str) -> None:
    """Never for one that took its place; a no to one that is gone is an objection."""
    heard = hci_ingress(inbox({'text': text, 'question': shown}, asked=now)).hci
    action = label(text)
    if heard.approval_response is not None:
        assert heard.approval_response == {'action': action, 'id': shown}
        assert shown
        assert (
            shown == now or action == 'APPROVE'
        )  # that it is gone is told where it is carried out
    elif action == 'REJECT':
        assert heard.user_interrupt is STOP
        assert shown != now or not now
    else:
        assert heard.user_interrupt is NEW_GOAL
        assert not shown


@pytest.mark.parametrize('shown', [3, None, ['q1'], {'id': 'q1'}, '\ud800'])
def test_a_question_that_nobody_asked_answers_none(shown: object) -> None:
    state = inbox({'text': 'no', 'question': shown}, asked='q1')
    assert hci_ingress(state).hci.user_interrupt is STOP
    after = hci_ingress(inbox({'text': 'yes', 'question': shown}, asked='q1'))
    assert (after.hci.approval_response or {}).get('id') != 'q1'
    assert BrainState.model_validate_json(after.model_dump_json()) == after


@pytest.mark.parametrize('asked', ['', 'q1'])
def test_an_edited_answer_carries_its_payload(asked: str) -> None:
    """Also when nothing is asked: whoever carries it out says so to the one who answered."""
    payload = {'action': 'EDIT', 'arguments': {'duration_s': 2}, 'id': 'q1'}
    after = hci_ingress(inbox({'intent': 'APPROVAL', 'payload': payload}, asked=asked))
    assert after.hci.approval_response == payload


def test_doubt_about_clear_is_no_clear() -> None:
    for text in ('clear', 'all clear?', 'is it safe now?', 'it is not safe now'):
        assert classify(text).type is not UserInterruptType.CLEAR
