# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The answers to questions: their texts, and that they come at once and change nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from curiosity_rosa_demo.agent.kernel.actions import Answer
from curiosity_rosa_demo.agent.kernel.intent.topics import Topic
from curiosity_rosa_demo.agent.runtime.answers import answer_to, AnswerFacts
from curiosity_rosa_demo.agent.tasks import LifecycleState, Task
from curiosity_rosa_demo.domain.brain_state import (
    BatteryLevel,
    BrainState,
    Doubt,
    HCIState,
    Mode,
    Pose,
    Question,
    ReactState,
    Reading,
    RobotState,
    Spent,
    TasksState,
)
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_strategies import states
import pytest
from robot_service_world import RobotServiceBench, run
from runtime_world import RuntimeBench

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


@settings(max_examples=examples(200), deadline=None)
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
