# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Questions, orders and doubts: how each is read, what is done with it, what is answered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from curiosity_rosa_demo.agent.kernel.actions import Answer, plan, SubmitGoal
from curiosity_rosa_demo.agent.kernel.hci_ingress import classify, DOUBT_MAX_AGE_S, hci_ingress
from curiosity_rosa_demo.agent.kernel.intent.normalize import canonical, fold
from curiosity_rosa_demo.agent.kernel.intent.questions import Kind, order_in, read_text
from curiosity_rosa_demo.agent.kernel.intent.topics import Topic
from curiosity_rosa_demo.agent.kernel.kernel_route import event_arbitrate, kernel_route, task_queue
from curiosity_rosa_demo.agent.runtime.answers import answer_to, AnswerFacts
from curiosity_rosa_demo.agent.tasks import LifecycleState, Task
from curiosity_rosa_demo.domain.brain_state import (
    BatteryLevel,
    BrainState,
    Doubt,
    HCIState,
    Json,
    Mode,
    Pose,
    ProposedOps,
    Question,
    ReactState,
    Reading,
    RobotState,
    Spent,
    TasksState,
    UserInterruptType,
)
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_strategies import RULES, states
from orders_world import fields
import pytest
from robot_service_world import RobotServiceBench, run
from runtime_world import RuntimeBench

STOP, NORMAL = UserInterruptType.STOP, UserInterruptType.NORMAL
NEW_GOAL, APPROVAL = UserInterruptType.NEW_GOAL, UserInterruptType.APPROVAL

ROWS = [row[1:] for row in fields('questions.tsv')]  # label, topics, language, text
QUESTIONS, DOUBTS, ORDERS = (
    [text for label, _, _, text in ROWS if label == wanted]
    for wanted in ('QUESTION', 'DOUBT', 'ORDER')
)


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


@pytest.mark.parametrize('language', ['en', 'ja', 'zh'])
def test_every_sentence_is_read_as_it_was_labelled(language: str) -> None:
    chosen = [row for row in ROWS if row[2] == language]
    assert chosen
    assert [(row[3], heard(row[3])) for row in chosen if heard(row[3]) != (*row[:2],)] == []


def test_an_open_question_is_a_goal_that_interrupts_nothing() -> None:
    for text in (
        'who painted the Mona Lisa, right now?',
        '今すぐ、火星の天気は？',
        '请马上，火星上有人吗？',
    ):
        assert read_text(canonical(fold(text))).kind is Kind.OPEN_QUESTION
        assert classify(text).payload == {'text': text, 'priority': 3}


IN_A_DOUBT = {
    'drive forward?': 'drive forward',
    'shall we go to the light?': 'go to the light',
    'do you want to take a picture?': 'take a picture',
    '前進できますか': '前進して',
    '撮影しますか？': '撮影して',
    '要不要打开桅杆？': '打开桅杆',
    '前进吗？': '前进',
    '?': '?',
}


def test_the_order_in_a_doubt() -> None:
    assert {text: order_in(text) for text in IN_A_DOUBT} == IN_A_DOUBT


@settings(max_examples=examples(500))
@given(st.text(max_size=400) | st.lists(st.sampled_from([row[3] for row in ROWS])).map(' '.join))
def test_any_text_has_a_reading(text: str) -> None:
    reading = read_text(canonical(fold(text)))
    assert bool(reading.topics) == (reading.kind is Kind.QUESTION)


@settings(max_examples=examples(200))
@given(st.sampled_from(QUESTIONS + DOUBTS), st.sampled_from(ORDERS))
def test_an_order_beside_a_question_is_not_lost(question: str, order: str) -> None:
    """Nor is it carried out unseen: the whole text is a goal, or the agent asks back."""
    label, _ = heard(f'{question}{"" if question.endswith(("?", "？")) else "."} {order}.')
    assert label in ('ORDER', 'DOUBT')


# --- in the kernel ----------------------------------------------------------------------------


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


@settings(max_examples=examples(300))
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


def test_a_yes_makes_an_order_of_a_doubt() -> None:
    for yes in ('yes', 'go ahead', 'はい', '好'):
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
        {'text': 'where are you?', 'by': 'operator'},
        {'intent': 'RESUME'},
        {'text': 'take a picture', 'by': 'operator'},
        {'text': 'stop'},
        {'text': 'hello', 'by': 'http'},
    ],
)
def test_any_other_message_drops_a_doubt(between: Json) -> None:
    other = said(said(BrainState(), ASK), between)
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
    assert plan(BrainState(), asked) == [Answer((Topic.POSITION,), 'where are you?')]


# --- what is answered -------------------------------------------------------------------------


NOW_S = 1000.0
NOTHING_KNOWN = AnswerFacts(BrainState(), ReactState(), [], [], [], NOW_S)
STATUS = {
    **{'mast': 'closed', 'mast_is_open': False, 'moving': False, 'move_allowed': True},
    **{'rover_x': 1.5, 'rover_y': -2.0, 'yaw_rad': 1.5708, 'last_error_reason': ''},
}
LANGUAGES = {'en': 'x', 'ja': 'の', 'zh': '的'}


def event(kind: TraceKind, message: str, **fields: Any) -> TraceEvent:
    return TraceEvent(event_id=message, ts=NOW_S - 5.0, kind=kind, message=message, **fields)


def task(text: str, state: LifecycleState, **fields: Any) -> Task:
    return Task('react', metadata={'text': text}, state=state, **fields)


KNOWN = AnswerFacts(
    BrainState(
        robot=RobotState(
            heard={'adapter': Reading(value=STATUS, received_s=1.0)},
            battery_state=BatteryLevel.OK,
            battery_pct=81.6,
            mast='closed',
        ),
        tasks=TasksState(mode=Mode.SAFE, mode_reason='e-stop pressed'),
    ),
    ReactState(spent=Spent(metres=3.25)),
    [
        task('find the light', LifecycleState.FAILED, reason='the mast is stuck'),
        task('go home', LifecycleState.PAUSED, held=True, reason='left from an earlier run'),
        task('look around', LifecycleState.ACTIVE),
    ],
    [
        event(TraceKind.DECIDE, 'It is dark: drive.'),
        event(
            TraceKind.RESULT,
            'capture_and_score: score 0.8',
            tool_name='capture_and_score',
            score=0.8,
            data={'is_good': True},
        ),
        event(TraceKind.ERROR, 'mast_open: timed out'),
    ],
    [Question(id='q1', text='Drive for 9 s?')],
    NOW_S,
)


def text(topic: Topic, facts: AnswerFacts, said: str = 'x') -> str:
    return answer_to(Answer((topic,), said), facts).answer


@pytest.mark.parametrize(
    ('topic', 'unknown', 'known'),
    [
        (Topic.POSITION, 'position is unknown', 'x = 1.50 m, y = -2.00 m, heading 90 degrees'),
        (Topic.STATUS, 'rover is unknown', 'mast is closed; moving: no; may drive: yes'),
        (Topic.STATUS, 'Mode IDLE: starting', 'Mode SAFE: e-stop pressed'),
        (Topic.BATTERY, 'level is unknown', 'Battery: 82 % (OK)'),
        (Topic.MAST, 'The mast is unknown', 'The mast is closed'),
        (Topic.TASKS, 'no task', 'Tasks: 1 running, 0 waiting, 1 held.\n- look around: ACTIVE'),
        (Topic.TASKS, 'no task', 'I wait for an answer: Drive for 9 s?'),
        (Topic.PICTURE, 'No picture', 'score 0.80: good. It was taken 5 s ago'),
        (Topic.PLAN, 'no plan', 'The goal is: look around'),
        (Topic.HISTORY, 'No task has ended', 'the last turn: 3.2 m:\n- find the light: FAILED'),
        (Topic.ERRORS, 'no error', '- 5 s ago: [ERROR] mast_open: timed out'),
        (Topic.WHY, 'unknown whether the rover moves', 'The rover stands still.\nMode SAFE'),
        (Topic.WHY, 'no task', 'go home: PAUSED (left from an earlier run)'),
        (Topic.WHY, 'no task', 'The last decision: It is dark: drive.'),
        (Topic.HOWTO, 'I can: ', ':help lists all'),
        (Topic.HELP, 'I can: ', ':help lists all'),
        (Topic.DROPPED, 'I do nothing', 'I do nothing'),
        (Topic.UNCLEAR_YES, 'no effect', ':approve'),
    ],
)
def test_an_answer_says_what_is_known_or_that_it_is_not(
    topic: Topic, unknown: str, known: str
) -> None:
    assert unknown in text(topic, NOTHING_KNOWN)
    assert known in text(topic, KNOWN)


def test_a_question_about_a_rover_that_has_not_reported_is_not_answered() -> None:
    about_the_rover = {Topic.STATUS, Topic.POSITION, Topic.MAST}
    for topic in set(Topic) - {Topic.GRAPH}:
        assert answer_to(Answer((topic,), 'x'), NOTHING_KNOWN).ok == (topic not in about_the_rover)
        assert answer_to(Answer((topic,), 'x'), KNOWN).ok


def test_a_silent_source_gives_the_age_of_its_value() -> None:
    robot = KNOWN.state.robot.model_copy(update={'silent': ['adapter'], 'ages_s': {'adapter': 7}})
    facts = replace(KNOWN, state=KNOWN.state.model_copy(update={'robot': robot}))
    for topic in (Topic.POSITION, Topic.STATUS, Topic.MAST):
        assert '(This is 7 s old: adapter is silent.)' in text(topic, facts)


def test_what_runs_is_told_where_nothing_has_ended() -> None:
    facts = replace(NOTHING_KNOWN, tasks=[task('look around', LifecycleState.ACTIVE)])
    answer = text(Topic.WHY, facts)
    assert 'look around: ACTIVE' in answer
    assert 'no task' not in answer


def test_without_tf_the_position_is_that_of_the_odometry() -> None:
    robot = RobotState(
        heard={'odometry': Reading(value={}, received_s=1.0)},
        pose=Pose(x=3.0, y=4.0, orientation_z=-0.7071, orientation_w=0.7071),
    )
    facts = replace(NOTHING_KNOWN, state=BrainState(robot=robot))
    assert 'x = 3.00 m, y = 4.00 m, heading -90 degrees' in text(Topic.POSITION, facts)


def test_a_question_about_how_names_the_commands() -> None:
    assert ':mast_open' in text(Topic.HOWTO, KNOWN, 'how do I open the mast?')
    assert ':cap' in text(Topic.HOWTO, KNOWN, '怎么拍照')


@pytest.mark.parametrize(('doubt', 'words'), [(None, 'is open'), (Doubt(text=''), 'within 60 s')])
def test_a_doubt_is_asked_back(doubt: Doubt | None, words: str) -> None:
    facts = replace(NOTHING_KNOWN, state=BrainState(hci=HCIState(doubt=doubt)))
    answer = text(Topic.DOUBT, facts, 'shall we go forward?')
    assert '"go forward"' in answer
    assert words in answer


@settings(max_examples=examples(200))
@given(
    states(),
    st.sampled_from([each for each in Topic if each is not Topic.GRAPH]),
    st.sampled_from([*LANGUAGES.values()]),
)
def test_every_topic_has_an_answer_in_every_state_and_language(
    state: BrainState, topic: Topic, said: str
) -> None:
    for facts in (replace(NOTHING_KNOWN, state=state), replace(KNOWN, state=state)):
        answer = text(topic, facts, said)
        assert answer.strip()
        assert '{' not in answer


# --- in the running agent ---------------------------------------------------------------------

WHERE = ('where are you right now?', 'どこにいますか', '你在哪里')
UNKNOWN_PLACE = ('My position is unknown', '位置は不明です', '位置未知')


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[RuntimeBench]:
    with RuntimeBench(tmp_path) as bench:
        yield bench


def answered(bench: RuntimeBench, line: str, words: str) -> None:
    before = len(bench.said)
    bench.console.handle_line(line)
    bench.until(lambda: any(words in each for each in bench.said[before:]), f'{words!r}')


def test_a_question_is_answered_while_a_task_runs(bench: RuntimeBench) -> None:
    bench.runs(':demo')
    before = bench.tasks()
    for line, words in zip(WHERE, UNKNOWN_PLACE, strict=True):
        answered(bench, line, words)
    answered(bench, 'what are you doing?', 'Tasks: 1 running')
    assert (bench.tasks(), bench.session.stops) == (before, 0)
    assert not any('queued behind' in each for each in bench.said)


def test_an_answer_that_fails_does_not_end_the_kernel(bench: RuntimeBench) -> None:
    bench.session.react_state = ReactState(plan={'goal': 5})  # no plan
    answered(bench, 'what is the plan?', 'This question cannot be answered')
    answered(bench, WHERE[0], UNKNOWN_PLACE[0])
    assert (bench.runtime.failure, bench.session.stops) == ('', 0)


def test_a_question_is_answered_before_the_agent_is_ready(tmp_path: Path) -> None:
    with RuntimeBench(tmp_path, ready=False) as bench:
        answered(bench, WHERE[0], UNKNOWN_PLACE[0])
        bench.console.handle_line(':forward 1')
        bench.console.handle_line('why did you stop?')  # it may ask about the line before
        assert '(queued until the other nodes are up; :stop drops it) why did you stop?' in (
            bench.said
        )
        bench.session.release.set()
        bench.begin()


def test_a_doubt_becomes_an_order_only_by_a_yes_at_the_same_door(bench: RuntimeBench) -> None:
    service = RobotServiceBench(bench)

    async def conversation() -> list[Any]:
        return [await service.robot.say(each) for each in ('drive forward?', 'where are you?')]

    asked, unknown = run(conversation)
    assert (asked.task, asked.ok) == (None, True)
    assert (unknown.task, unknown.ok) == (None, False)
    assert 'Nothing was done' in asked.text
    assert bench.tasks() == {}

    bench.session.release.set()
    answered(bench, 'drive forward?', 'Nothing was done')
    bench.console.handle_line('yes')
    bench.becomes('drive forward', 'COMPLETED')
    assert bench.tasks() == {'drive forward': 'COMPLETED'}
