# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What is a question, an order or a doubt: a corpus, and what the kernel does with each."""

from __future__ import annotations

from pathlib import Path

from curiosity_rosa_demo.agent.kernel.actions import Answer, Notice, plan, SubmitGoal
from curiosity_rosa_demo.agent.kernel.event_arbitrate import event_arbitrate
from curiosity_rosa_demo.agent.kernel.hci_ingress import classify, DOUBT_MAX_AGE_S, hci_ingress
from curiosity_rosa_demo.agent.kernel.intent.normalize import canonical, fold
from curiosity_rosa_demo.agent.kernel.intent.questions import Kind, order_in, read_text
from curiosity_rosa_demo.agent.kernel.intent.topics import Topic
from curiosity_rosa_demo.agent.kernel.kernel_route import kernel_route
from curiosity_rosa_demo.agent.kernel.task_queue import task_queue
from curiosity_rosa_demo.domain.brain_state import (
    BrainState,
    HCIState,
    Json,
    ProposedOps,
    UserInterruptType,
)
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_strategies import RULES, states
import pytest

CORPUS = Path(__file__).parent / 'corpus' / 'questions.tsv'
Row = tuple[str, str, str, str]  # label, topics, language, text
STOP, NORMAL = UserInterruptType.STOP, UserInterruptType.NORMAL
NEW_GOAL, APPROVAL = UserInterruptType.NEW_GOAL, UserInterruptType.APPROVAL


def rows() -> list[Row]:
    """The rows of ``dev`` and ``held`` were written before the rules, and ``held`` was measured
    before any rule was changed for it. ``tricky`` and ``blind`` came later, and were labelled
    before they were measured.
    """
    lines = CORPUS.read_text(encoding='utf-8').splitlines()
    found = [line.split('\t') for line in lines if not line.startswith('# ')]
    return [(label, topics, language, text) for _, label, topics, language, text in found]


ROWS = rows()
QUESTIONS = [text for label, _, _, text in ROWS if label == 'QUESTION']
DOUBTS = [text for label, _, _, text in ROWS if label == 'DOUBT']
ORDERS = [text for label, _, _, text in ROWS if label == 'ORDER']


def heard(text: str) -> tuple[str, str]:
    """Label and topics of ``text``, as the corpus has them."""
    intent = classify(text)
    if intent.type is NEW_GOAL:
        return 'ORDER', '-'
    if intent.type is not NORMAL:
        return intent.type.value, '-'
    topics = intent.payload['topics']
    assert isinstance(topics, list)
    return ('DOUBT', '-') if topics == ['doubt'] else ('QUESTION', ','.join(map(str, topics)))


@pytest.mark.parametrize(('label', 'topics', 'language', 'text'), ROWS)
def test_a_sentence_is_read_as_it_was_labelled(
    label: str, topics: str, language: str, text: str
) -> None:
    assert heard(text) == (label, topics)


def test_the_corpus_is_large_enough_and_mixed() -> None:
    languages = [language for _, _, language, _ in ROWS]
    assert languages.count('en') >= 90
    assert languages.count('ja') >= 60
    assert languages.count('zh') >= 50
    assert len(ORDERS) + len(DOUBTS) >= len(ROWS) / 3
    assert len({text for _, _, _, text in ROWS}) == len(ROWS)
    asked = {topic for _, topics, _, _ in ROWS for topic in topics.split(',')}
    assert asked >= {topic.value for topic in Topic} - {'doubt', 'dropped', 'unclear_yes'}


@pytest.mark.parametrize(
    'text',
    ['who painted the Mona Lisa, right now?', '今すぐ、火星の天気は？', '请马上，火星上有人吗？'],
)
def test_an_open_question_is_a_goal_that_interrupts_nothing(text: str) -> None:
    assert read_text(canonical(fold(text))).kind is Kind.OPEN_QUESTION
    assert classify(text).payload == {'text': text, 'priority': 3}


@pytest.mark.parametrize(
    ('text', 'order'),
    [
        ('drive forward?', 'drive forward'),
        ('shall we go to the light?', 'go to the light'),
        ('do you want to take a picture?', 'take a picture'),
        ('前進できますか', '前進して'),
        ('撮影しますか？', '撮影して'),
        ('要不要打开桅杆？', '打开桅杆'),
        ('前进吗？', '前进'),
        ('?', '?'),
    ],
)
def test_the_order_in_a_doubt(text: str, order: str) -> None:
    assert order_in(text) == order


# --- properties -------------------------------------------------------------------------------


@settings(max_examples=examples(500), deadline=None)
@given(st.text(max_size=400) | st.lists(st.sampled_from([row[3] for row in ROWS])).map(' '.join))
def test_any_text_has_a_reading(text: str) -> None:
    reading = read_text(canonical(fold(text)))
    assert bool(reading.topics) == (reading.kind is Kind.QUESTION)


@settings(max_examples=examples(200), deadline=None)
@given(st.sampled_from(QUESTIONS + DOUBTS), st.sampled_from(ORDERS))
def test_an_order_beside_a_question_is_not_lost(question: str, order: str) -> None:
    """Nor is it carried out unseen: the whole text is a goal, or the agent asks back."""
    label, _ = heard(f'{question}{"" if question.endswith(("?", "？")) else "."} {order}.')
    assert label in ('ORDER', 'DOUBT')


def said(state: BrainState, *messages: Json, question: str = '') -> BrainState:
    """After a tick with these messages; ``question``: the ID of an open question."""
    ops = ProposedOps(need_approval=True, approval_payload={'id': question}) if question else None
    before = state.model_copy(
        update={
            'tasks': state.tasks.model_copy(update={'inbox': list(messages)}),
            'react': state.react.model_copy(update={'proposed_ops': ops}),
        }
    )
    return kernel_route(task_queue(event_arbitrate(hci_ingress(before), RULES)))


@settings(max_examples=examples(300), deadline=None)
@given(states(), st.sampled_from(QUESTIONS + DOUBTS), st.booleans())
def test_a_question_or_a_doubt_changes_nothing_and_is_answered(
    state: BrainState, text: str, asked: bool
) -> None:
    """In any state, the tick does what it would do without the message, and answers."""
    state = state.model_copy(update={'hci': HCIState()})
    question = 'q1' if asked else ''
    silent, spoken = said(state, question=question), said(state, {'text': text}, question=question)
    assert spoken.model_copy(update={'hci': silent.hci}) == silent
    answers = [action for action in plan(state, spoken) if isinstance(action, Answer)]
    assert [answer.text for answer in answers] == [text]
    assert [each for each in plan(state, spoken) if each not in answers] == plan(state, silent)


# --- a doubt ----------------------------------------------------------------------------------


def goals(before: BrainState, after: BrainState) -> list[str]:
    return [action.text for action in plan(before, after) if isinstance(action, SubmitGoal)]


def topics(after: BrainState) -> object:
    return after.hci.interrupt_payload.get('topics')


def later(state: BrainState, seconds: float) -> BrainState:
    now_s = state.telemetry.now_s + seconds
    return state.model_copy(
        update={'telemetry': state.telemetry.model_copy(update={'now_s': now_s})}
    )


ASK: Json = {'text': 'drive forward?', 'by': 'operator'}


@pytest.mark.parametrize('yes', ['yes', 'go ahead', 'はい', '好'])
def test_a_yes_makes_an_order_of_a_doubt(yes: str) -> None:
    asked = said(BrainState(), ASK)
    assert (topics(asked), goals(BrainState(), asked)) == (['doubt'], [])
    idle = said(later(asked, DOUBT_MAX_AGE_S))
    answered = said(idle, {'text': yes, 'by': 'operator'})
    assert goals(idle, answered) == ['drive forward']
    assert answered.hci.doubt is None
    assert goals(answered, said(answered, {'text': yes, 'by': 'operator'})) == [yes]


@pytest.mark.parametrize(
    'between',
    [
        pytest.param([{'text': 'where are you?', 'by': 'operator'}], id='a question'),
        pytest.param([{'intent': 'RESUME'}], id='a command'),
        pytest.param([{'text': 'take a picture', 'by': 'operator'}], id='an order'),
        pytest.param([{'text': 'stop'}], id='a stop'),
        pytest.param([{'text': 'hello', 'by': 'http'}], id='somebody else'),
    ],
)
def test_any_other_message_drops_a_doubt(between: list[Json]) -> None:
    asked = said(BrainState(), ASK)
    other = said(asked, *between)
    assert other.hci.doubt is None
    assert 'drive forward' not in goals(other, said(other, {'text': 'yes', 'by': 'operator'}))


def test_a_doubt_expires_and_belongs_to_its_speaker() -> None:
    asked = said(later(BrainState(), 500.0), ASK)
    half = said(later(asked, DOUBT_MAX_AGE_S / 2))
    assert half.hci.doubt == asked.hci.doubt is not None
    late = later(half, DOUBT_MAX_AGE_S / 2 + 0.1)
    assert said(late).hci.doubt is None
    assert goals(late, said(late, {'text': 'yes', 'by': 'operator'})) == ['yes']
    assert goals(asked, said(asked, {'text': 'yes', 'by': 'http'})) == ['yes']


def test_a_no_drops_a_doubt_but_stops_a_rover_that_moves() -> None:
    no: Json = {'text': 'no', 'by': 'operator'}
    asked = said(BrainState(), ASK)
    assert topics(said(asked, no)) == ['dropped']
    moving = asked.model_copy(update={'robot': asked.robot.model_copy(update={'moving': True})})
    assert said(moving, no).hci.user_interrupt is STOP
    assert said(BrainState(), no).hci.user_interrupt is STOP


def test_a_yes_never_answers_two_questions() -> None:
    open_first = said(BrainState(), ASK, question='q1')
    assert (topics(open_first), open_first.hci.doubt) == (['doubt'], None)
    yes: Json = {'text': 'yes', 'by': 'operator', 'question': 'q1'}
    assert said(open_first, yes, question='q1').hci.user_interrupt is APPROVAL

    asked = said(BrainState(), ASK)
    both = said(asked, yes, question='q1')  # the question opened after the doubt
    assert topics(both) == ['unclear_yes']
    assert said(both, yes, question='q1').hci.user_interrupt is APPROVAL
    closed = said(asked, yes)
    assert topics(closed) == ['unclear_yes']


def test_an_answer_to_an_open_question_is_no_notice() -> None:
    asked = said(BrainState(), {'text': 'where are you?'}, question='q1')
    actions = plan(BrainState(), asked)
    assert actions == [Answer((Topic.POSITION,), 'where are you?')]
    assert not any(isinstance(each, Notice) for each in actions)
