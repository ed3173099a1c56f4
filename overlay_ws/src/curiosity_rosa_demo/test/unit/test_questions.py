# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Questions, doubts and their answers, from the inbox to the agent; who reads the ROS graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
import re
from typing import Any
import xml.etree.ElementTree as ElementTree

from curiosity_rosa_demo.agent.kernel.actions import Answer, plan, SubmitGoal
from curiosity_rosa_demo.agent.kernel.decide import event_arbitrate, kernel_route, task_queue
from curiosity_rosa_demo.agent.kernel.hear import (
    Answered,
    Asked,
    DOUBT_MAX_AGE_S,
    hci_ingress,
    Message,
    Said,
    Stopped,
)
from curiosity_rosa_demo.agent.language.questions import Topic
from curiosity_rosa_demo.agent.language.understand import understand
from curiosity_rosa_demo.agent.runtime.answers import answer_to, AnswerFacts
from curiosity_rosa_demo.agent.tasks import LifecycleState, Task
from curiosity_rosa_demo.agent.topics import graph_reader
from curiosity_rosa_demo.agent.topics.graph_answers import GraphAnswers, MAX_ROWS
from curiosity_rosa_demo.agent.topics.graph_links import incompatibilities
from curiosity_rosa_demo.domain.brain_state import (
    ApprovalAction,
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
    UserInterruptType,
)
from curiosity_rosa_demo.domain.cancellation import Cancellation, TurnCancelled
from curiosity_rosa_demo.domain.graph import (
    Endpoint,
    FrameAge,
    GraphKind,
    GraphQuery,
    GraphSnapshot,
    Qos,
    Sample,
    ServiceInfo,
    TopicInfo,
)
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.domain.text import valid_unicode
from curiosity_rosa_demo.infra.config_loader import load_config
from examples import examples, fields
from harness import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest
from rclpy.duration import Duration
from rclpy.qos import (
    DurabilityPolicy,
    LivelinessPolicy,
    qos_check_compatible,
    QoSCompatibility,
    QoSProfile,
    ReliabilityPolicy,
)
from runtime_world import RobotBench, run, RuntimeBench
from sros2_policy import Grant, grants, OVERLAY, read, ROVER
from strategies import RULES, states

STOP, NEW_GOAL = UserInterruptType.STOP, UserInterruptType.NEW_GOAL
APPROVAL, RESUME = UserInterruptType.APPROVAL, UserInterruptType.RESUME
ASKED = [row[-1] for row in fields('questions.tsv') if row[1] in ('QUESTION', 'DOUBT')]

# --- what a message means -----------------------------------------------------------------------


def heard(message: Message, *, asked: str = '') -> HCIState:
    """``asked``: the ID of the open question; '': none."""
    question = Question(id=asked, text='') if asked else None
    state = BrainState(tasks=TasksState(inbox=[message]), react=ReactState(question=question))
    after = hci_ingress(state, RULES)
    assert after.tasks.inbox == []
    assert BrainState.model_validate_json(after.model_dump_json()) == after
    return after.hci


def test_what_a_button_a_program_and_an_empty_text_mean() -> None:
    for intent in (RESUME, UserInterruptType.PAUSE, UserInterruptType.CLEAR):
        assert heard(Asked(intent)).user_interrupt is intent
    assert heard(Asked(RESUME, 't1')).interrupt_payload == {'task_id': 't1'}
    assert heard(Stopped('a client', 1)).user_interrupt is STOP
    for text in ('', ' \u200b'):
        assert heard(Said(text)).user_interrupt is UserInterruptType.NONE


ANSWERS = {
    **dict.fromkeys(['yes', 'はい', '好的'], 'APPROVE'),
    **dict.fromkeys(['no', 'No no no!', 'だめ！', '不行', 'いいえ', "don't do that"], 'REJECT'),
}


QUESTIONS = st.sampled_from(['', 'q1', 'q2', 'q12'])  # '': none


@settings(max_examples=examples(200))
@given(st.sampled_from([*ANSWERS]), QUESTIONS | st.sampled_from([None, '\ud800']), QUESTIONS)
def test_an_answer_is_for_the_question_that_was_shown(
    text: str, shown: str | None, now: str
) -> None:
    """None: nobody knows which that was. A no to one that is gone is an objection. That a question
    is gone is told where its approval is carried out.
    """
    hci, action = heard(Said(text, question=shown), asked=now), ANSWERS[text]
    of = now if shown is None else valid_unicode(shown)
    if hci.approval_response is not None:
        assert hci.approval_response == hci.interrupt_payload == {'action': action, 'id': of}
        assert hci.user_interrupt is APPROVAL
        assert of
        assert of == now or action == 'APPROVE'
    elif action == 'REJECT':
        assert hci.user_interrupt is STOP
        assert of != now or not now
    else:
        assert hci.user_interrupt is NEW_GOAL
        assert not of


def test_an_edit_carries_its_arguments() -> None:
    payload = {'action': 'EDIT', 'arguments': {'duration_s': 2}, 'id': 'q1'}
    for asked in ('', 'q1'):  # whoever carries it out says so where nothing is asked
        message = Answered(ApprovalAction.EDIT, 'q1', arguments={'duration_s': 2})
        assert heard(message, asked=asked).approval_response == payload


# --- questions and doubts in the kernel ---------------------------------------------------------


def said(state: BrainState, *messages: Message, question: str = '') -> BrainState:
    """After a tick with these messages; ``question``: the ID of an open question."""
    open_ = Question(id=question, text='') if question else None
    before = state.model_copy(
        update={
            'tasks': state.tasks.model_copy(update={'inbox': list(messages)}),
            'react': state.react.model_copy(update={'question': open_}),
        }
    )
    for step in (hci_ingress, event_arbitrate, task_queue, kernel_route):
        before = step(before, RULES)
    return before


@settings(max_examples=examples(300))
@given(states(), st.sampled_from(ASKED), st.booleans())
def test_a_question_or_a_doubt_changes_nothing_and_is_answered(
    state: BrainState, text: str, asked: bool
) -> None:
    """In any state, the tick does what it would do without the message, and answers."""
    state = state.model_copy(update={'hci': HCIState()})
    question = 'q1' if asked else ''
    silent, spoken = said(state, question=question), said(state, Said(text), question=question)
    assert spoken.model_copy(update={'hci': silent.hci}) == silent
    answers = [action for action in plan(state, spoken) if isinstance(action, Answer)]
    assert [answer.text for answer in answers] == [text]
    assert [each for each in plan(state, spoken) if each not in answers] == plan(state, silent)


def goals(before: BrainState, after: BrainState) -> list[str]:
    return [each.said.text for each in plan(before, after) if isinstance(each, SubmitGoal)]


def topics(after: BrainState) -> object:
    return after.hci.interrupt_payload.get('topics')


def later(state: BrainState, seconds: float) -> BrainState:
    telemetry = state.telemetry.model_copy(update={'now_s': state.telemetry.now_s + seconds})
    return state.model_copy(update={'telemetry': telemetry})


ASK, YES, NO = (Said(text, 'operator') for text in ('drive forward?', 'yes', 'no'))


def test_a_yes_makes_an_order_of_a_doubt_once() -> None:
    for yes in ('yes', 'go ahead', 'はい', '好'):
        asked = said(BrainState(), ASK)
        assert (topics(asked), goals(BrainState(), asked)) == (['doubt'], [])
        idle = said(later(asked, DOUBT_MAX_AGE_S))
        answered = said(idle, replace(YES, text=yes))
        assert goals(idle, answered) == ['drive forward']
        assert answered.hci.doubt is None
        assert goals(answered, said(answered, replace(YES, text=yes))) == [yes]


def test_any_other_message_another_speaker_or_time_drops_a_doubt() -> None:
    asked = said(later(BrainState(), 500.0), ASK)
    for between in (
        Said('where are you?', 'operator'),
        Asked(RESUME),
        Said('take a picture', 'operator'),
        Said('stop'),
        Said('hello', 'http'),
    ):
        other = said(asked, between)
        assert other.hci.doubt is None
        assert 'drive forward' not in goals(other, said(other, YES))
    half = said(later(asked, DOUBT_MAX_AGE_S / 2))
    assert half.hci.doubt == asked.hci.doubt is not None
    late = later(half, DOUBT_MAX_AGE_S / 2 + 0.1)
    assert said(late).hci.doubt is None
    assert goals(late, said(late, YES)) == ['yes']
    assert goals(asked, said(asked, replace(YES, by='http'))) == ['yes']


def test_a_no_drops_a_doubt_but_stops_a_rover_that_moves() -> None:
    asked = said(BrainState(), ASK)
    assert topics(said(asked, NO)) == ['dropped']
    moving = asked.model_copy(update={'robot': asked.robot.model_copy(update={'moving': True})})
    assert said(moving, NO).hci.user_interrupt is STOP
    assert said(BrainState(), NO).hci.user_interrupt is STOP


def test_a_yes_never_answers_two_questions_and_an_answer_is_no_notice() -> None:
    open_first = said(BrainState(), ASK, question='q1')
    assert (topics(open_first), open_first.hci.doubt) == (['doubt'], None)
    yes = replace(YES, question='q1')
    assert said(open_first, yes, question='q1').hci.user_interrupt is APPROVAL
    asked = said(BrainState(), ASK)
    both = said(asked, yes, question='q1')  # the question opened after the doubt
    assert topics(both) == topics(said(asked, yes)) == ['unclear_yes']
    assert said(both, yes, question='q1').hci.user_interrupt is APPROVAL
    asked = said(BrainState(), Said('where are you?'), question='q1')
    assert plan(BrainState(), asked) == [Answer((Topic.POSITION,), 'where are you?')]


# --- what is answered ---------------------------------------------------------------------------

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


CAPTURED = {'tool_name': 'capture_and_score', 'score': 0.8, 'data': {'is_good': True}}
RUNNING = task('look around', LifecycleState.ACTIVE)
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
        RUNNING,
    ],
    [
        event(TraceKind.DECIDE, 'It is dark: drive.'),
        event(TraceKind.RESULT, 'capture_and_score: score 0.8', **CAPTURED),
        event(TraceKind.ERROR, 'mast_open: timed out'),
    ],
    [Question(id='q1', text='Drive for 9 s?')],
    NOW_S,
)
ABOUT_THE_ROVER = {Topic.STATUS, Topic.POSITION, Topic.MAST}


def text(topic: Topic, facts: AnswerFacts, said: str = 'x') -> str:
    return answer_to(Answer((topic,), said, understand(said).language), facts).answer


def with_state(state: BrainState) -> AnswerFacts:
    return replace(NOTHING_KNOWN, state=state)


def test_an_answer_says_what_is_known_or_that_it_is_not() -> None:
    for name, unknown, known in fields('answers.tsv'):
        assert unknown in text(Topic[name], NOTHING_KNOWN)
        assert known in text(Topic[name], KNOWN)
    for topic in set(Topic) - {Topic.GRAPH}:
        assert answer_to(Answer((topic,), 'x'), NOTHING_KNOWN).ok == (topic not in ABOUT_THE_ROVER)
        assert answer_to(Answer((topic,), 'x'), KNOWN).ok


def test_an_answer_names_its_source_and_the_way_on() -> None:
    robot = KNOWN.state.robot.model_copy(update={'silent': ['adapter'], 'ages_s': {'adapter': 7}})
    silent = replace(KNOWN, state=KNOWN.state.model_copy(update={'robot': robot}))
    for topic in ABOUT_THE_ROVER:
        assert '(This is 7 s old: adapter is silent.)' in text(topic, silent)
    running = text(Topic.WHY, replace(NOTHING_KNOWN, tasks=[RUNNING]))
    assert 'look around: ACTIVE' in running
    assert 'no task' not in running
    odometry = RobotState(
        heard={'odometry': Reading(value={}, received_s=1.0)},
        pose=Pose(x=3.0, y=4.0, orientation_z=-0.7071, orientation_w=0.7071),
    )
    told = text(Topic.POSITION, with_state(BrainState(robot=odometry)))
    assert 'x = 3.00 m, y = 4.00 m, heading -90 degrees' in told
    for said, command in (
        ('how do I open the mast?', ':mast_open'),
        ('怎么拍照', ':cap'),
        ('右に曲がらせるには何と入力すればいいの', ':right'),
        ('¿cómo hago una foto?', ':cap'),
        ('¿cómo giro a la izquierda?', ':left'),
        ('what can you do?', ':demo, :status, :stop'),
    ):
        assert command in text(Topic.HOWTO, KNOWN, said), said
    for doubt, words in ((None, 'is open'), (Doubt(text=''), 'within 60 s')):
        facts = with_state(BrainState(hci=HCIState(doubt=doubt)))
        back = text(Topic.DOUBT, facts, 'shall we go forward?')
        assert '"go forward"' in back
        assert words in back


@settings(max_examples=examples(200))
@given(
    states(),
    st.sampled_from([each for each in Topic if each is not Topic.GRAPH]),
    st.sampled_from([*LANGUAGES.values()]),
)
def test_every_topic_has_an_answer_in_every_state_and_language(
    state: BrainState, topic: Topic, said: str
) -> None:
    for facts in (with_state(state), replace(KNOWN, state=state)):
        answer = text(topic, facts, said)
        assert answer.strip()
        assert '{' not in answer


# --- in the running agent -----------------------------------------------------------------------


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[RuntimeBench]:
    with RuntimeBench(tmp_path) as bench:
        yield bench


def answered(bench: RuntimeBench, line: str, words: str) -> None:
    before = len(bench.said)
    bench.console.handle_line(line)
    bench.until(lambda: any(words in each for each in bench.said[before:]), f'{words!r}')


def test_a_question_is_answered_while_a_task_runs_and_one_that_fails_ends_nothing(
    bench: RuntimeBench,
) -> None:
    bench.runs(':demo')
    before = bench.tasks()
    bench.session.react_state = ReactState(plan={'goal': 5})  # no plan
    answered(bench, 'what is the plan?', 'This question cannot be answered')
    answered(bench, 'where are you right now?', 'My position is unknown')
    answered(bench, '你在哪里', '位置未知')
    answered(bench, 'what are you doing?', 'Tasks: 1 running')
    assert (bench.tasks(), bench.session.stops, bench.runtime.failure) == (before, 0, '')


def test_a_question_is_answered_before_the_agent_is_ready(tmp_path: Path) -> None:
    with RuntimeBench(tmp_path, ready=False) as bench:
        answered(bench, 'どこにいますか', '位置は不明です')
        bench.console.handle_line(':forward 1')
        bench.console.handle_line('why did you stop?')  # it may ask about the line before
        assert '(queued until the other nodes are up; :stop drops it) why did you stop?' in (
            bench.said
        )
        bench.session.release.set()
        bench.begin()


def test_a_doubt_becomes_an_order_only_by_a_yes_at_the_same_door(bench: RuntimeBench) -> None:
    service = RobotBench(bench)

    async def conversation() -> list[Any]:
        return [await service.robot.say(each) for each in ('drive forward?', 'where are you?')]

    asked, unknown = run(conversation)
    assert [(each.task, each.ok) for each in (asked, unknown)] == [(None, True), (None, False)]
    assert 'Nothing was done' in asked.text
    assert bench.tasks() == {}
    bench.session.release.set()
    answered(bench, 'drive forward?', 'Nothing was done')
    bench.console.handle_line('yes')
    bench.becomes('drive forward', 'COMPLETED')
    assert bench.tasks() == {'drive forward': 'COMPLETED'}


TOPICS = load_config().topics
CAMERA, CAPTURE = TOPICS.images.input_compressed, TOPICS.images.output_capture_compressed
BEST, RELIABLE = Qos(False, False), Qos(True, False)
PICTURE = 'sensor_msgs/msg/CompressedImage'

# --- QoS: the rules of the installed middleware are the judge ---------------------------------

QOS = st.builds(
    Qos,
    st.booleans(),
    st.booleans(),
    st.sampled_from([None, 0.1, 2.0]),
    st.booleans(),
    st.sampled_from([None, 0.5, 3.0]),
)


def profile(qos: Qos) -> QoSProfile:
    """Infinite is the middleware's default, as zero."""
    by_topic = LivelinessPolicy.MANUAL_BY_TOPIC
    return QoSProfile(
        depth=1,
        reliability=[ReliabilityPolicy.BEST_EFFORT, ReliabilityPolicy.RELIABLE][qos.reliable],
        durability=[DurabilityPolicy.VOLATILE, DurabilityPolicy.TRANSIENT_LOCAL][
            qos.transient_local
        ],
        deadline=Duration(seconds=qos.deadline_s or 0.0),
        liveliness=by_topic if qos.manual_liveliness else LivelinessPolicy.AUTOMATIC,
        liveliness_lease_duration=Duration(seconds=qos.lease_s or 0.0),
    )


@given(QOS, QOS)
def test_two_qos_match_where_the_middleware_says_so(offered: Qos, requested: Qos) -> None:
    verdict, _ = qos_check_compatible(profile(offered), profile(requested))
    assert bool(incompatibilities(offered, requested)) == (verdict == QoSCompatibility.ERROR)


# --- answers ----------------------------------------------------------------------------------


class Graph:
    """A graph in memory, for its answers."""

    def __init__(self, *topics: TopicInfo, sample: Sample | None = None) -> None:
        self._topics = tuple(sorted(topics, key=lambda each: each.name))
        self._sample = sample or Sample(2.0, 20, 20_000, 0.1, ('data: 1',), 0.1)

    def snapshot(self) -> GraphSnapshot:
        run_task = ServiceInfo('/agent/run_task', 'x/action/RunTask', ('/agent',))
        return GraphSnapshot(('/agent', '/rover'), self._topics, (), (run_task,))

    def listen(
        self, topic: TopicInfo, seconds: float, cancellation: Cancellation, **_: Any
    ) -> Any:
        cancellation.check()
        return self._sample

    def parameters(self, node: str, cancellation: Cancellation) -> dict[str, str]:
        return {'use_sim_time': 'True'}

    def frames(self) -> list[FrameAge]:
        return [FrameAge('odom', 'base_footprint', 0.2, False)]


def topic(
    name: str, publishers: int, subscribers: int, *, kind: str = PICTURE, requested: Qos = BEST
) -> TopicInfo:
    publishing = tuple(Endpoint(f'/p{i}', kind, BEST) for i in range(publishers))
    listening = tuple(Endpoint(f'/s{i}', kind, requested) for i in range(subscribers))
    return TopicInfo(name, (kind,), publishing, listening)


def graph_answer(graph: Graph, kind: GraphKind, name: str = '', language: str = 'en') -> str:
    result = GraphAnswers(graph, TOPICS)(GraphQuery(kind, name), language, Cancellation())
    return str(result.data['answer']) if result.ok else result.error_reason


CHAINS = [
    (Graph(), f'No node publishes the camera topic {CAMERA}'),
    (Graph(topic(TOPICS.images.input_raw, 1, 0)), 'Set images.input to raw'),
    (Graph(topic(CAMERA, 1, 0, kind='x/msg/Y')), 'has the type x/msg/Y'),
    (Graph(topic(CAMERA, 1, 1, requested=RELIABLE)), 'reliability: best effort / reliable'),
    (Graph(topic(CAMERA, 1, 0), sample=Sample(2.0)), 'no frame came in 2.0 s'),
    (Graph(topic(CAMERA, 1, 0), sample=Sample(1.0, 1, stamp_age_s=9.0)), '9.0 s old'),
    (Graph(topic(CAMERA, 1, 0)), 'the simulator node is not running'),
    (Graph(topic(CAMERA, 1, 0), topic(CAPTURE, 1, 0)), f'nobody subscribes to {CAPTURE}'),
    (Graph(topic(CAMERA, 1, 0), topic(CAPTURE, 1, 1)), 'The whole chain works'),
    (Graph(topic(CAMERA, 1, 1), topic(CAPTURE, 1, 0)), 'The whole chain works'),
]


def test_no_picture_names_the_first_broken_link() -> None:
    for graph, broken in CHAINS:
        assert broken in graph_answer(graph, GraphKind.NO_PICTURE)


def test_everything_is_answered_within_bounds_and_on_printable_lines() -> None:
    """Names of the graph are data, however many there are and whatever they hold."""
    many = [topic(f'/t{i}\x1b[2J\n:stop', 1, 0) for i in range(3 * MAX_ROWS)]
    asked = product(('en', 'ja', 'zh'), GraphKind, ('', '/t1', '/nothing', 'agent'))
    for language, kind, name in asked:
        lines = graph_answer(Graph(*many), kind, name, language).split('\n')
        assert 1 <= len(lines) <= MAX_ROWS + 2
        assert all(line.isprintable() and len(line) <= 1300 for line in lines)
        assert not any(line.startswith(':stop') for line in lines)


def test_a_cancelled_question_ends() -> None:
    cancelled = Cancellation()
    cancelled.cancel('enough')
    with pytest.raises(TurnCancelled):
        GraphAnswers(Graph(), TOPICS)(GraphQuery(GraphKind.NODES), 'en', cancelled)


def test_nothing_that_reads_the_graph_can_write_to_it() -> None:
    """No publisher, no parameter of another node, and of all services only the two getters."""
    files = Path(graph_reader.__file__).parent.glob('graph_*.py')
    source = '\n'.join(file.read_text(encoding='utf-8') for file in files)
    services = re.findall(r'^from \S+\.srv import (.*)$', source, re.MULTILINE)
    assert services == ['GetParameters, ListParameters']
    writes = r'\.(?:create_publisher|publish|set_parameters|call_async|trigger)\b'
    assert re.findall(rf'{writes}|import subprocess|^import os', source, re.MULTILINE) == []


# --- the SROS2 policies: what runs is compared in integration/test_contracts_ros.py --------------

ADAPTER, AGENT = '/curiosity_rosa/adapter', '/curiosity_rosa/agent'
OF_ROS = {'/rosout', '/parameter_events', '/clock'}
PAGE = (ROOT / 'docs/howto/sros2.md').read_text(encoding='utf-8')
ARM = load_config(robot='curiosity')
MOVERS = {
    *(each['name'] for each in TOPICS.curiosity.model_dump().values()),
    *(command.service for _, command in ARM.robot.commands.values()),
}
OWN = {
    TOPICS.rover.cmd_vel,
    TOPICS.rover.wheel_commands,
    TOPICS.rover.adapter_presence,
}  # of the rover's, the adapter's to write
CAMERA = TOPICS.images.input_compressed
THEIRS = {
    *(MOVERS | set(TOPICS.rover.model_dump().values())),
    *(CAMERA, TOPICS.images.input_raw, TOPICS.tf.topic, TOPICS.tf.static_topic),
}
MONITORS_STOP = Grant(
    '/curiosity_rosa/monitor', '/monitor', 'request', TOPICS.adapter.move_stop.name
)
CALLED = {
    *(each['name'] for each in TOPICS.adapter.model_dump().values()),
    *map(ARM.appendage_service, ARM.robot.commands),
}


RIGHTS = [  # kinds, names; who has them and which
    ({'request', 'reply'}, MOVERS, MOVERS, {ADAPTER}),
    ({'publish'}, THEIRS, OWN, {ADAPTER}),
    ({'request'}, CALLED, CALLED, {AGENT}),
    ({'subscribe'}, {CAMERA}, {CAMERA}, {'/curiosity_rosa/simulator', AGENT}),
]


def test_only_who_must_may() -> None:
    allowed = [each for each in read(OVERLAY) if each != MONITORS_STOP]
    for kinds, names, granted, enclaves in RIGHTS:
        found = [each for each in allowed if each.kind in kinds and each.name in names]
        assert {each.name for each in found} == granted
        assert {(each.enclave, each.name) for each in found} == set(product(enclaves, granted))
        if ADAPTER in enclaves:
            assert {each.node for each in found} == {'/adapter'}
            assert {each.kind for each in found} <= {'request', 'publish'}


def is_getter(grant: Grant) -> bool:
    return grant.kind == 'request' and grant.name.endswith(('/list_parameters', '/get_parameters'))


def names_in(topics: Any) -> set[str]:
    entries = [each for section in topics.model_dump().values() for each in section.values()]
    return {each['name'] if isinstance(each, dict) else each for each in entries}


@pytest.mark.parametrize('path', [OVERLAY, ROVER], ids=lambda path: path.stem)
def test_a_policy_has_no_wildcard_and_nothing_twice(path: Path) -> None:
    allowed = read(path)
    assert len(allowed) == len(set(allowed))
    assert not [grant for grant in allowed if re.search(r'[^\w/]', grant.name)]
    assert all(f'`{grant.enclave}`' in PAGE for grant in allowed)
    # ``ros2 security generate_artifacts`` would take a comment in <enclaves> for an enclave.
    parser = ElementTree.XMLParser(target=ElementTree.TreeBuilder(insert_comments=True))
    enclaves = ElementTree.parse(path, parser).getroot().find('enclaves')
    assert enclaves is not None
    assert {child.tag for child in enclaves} == {'enclave'}


def test_the_agent_alone_reads_the_parameters_of_each_node() -> None:
    allowed = read(OVERLAY)
    asked = [each for each in allowed if each.kind == 'request' and 'parameter' in each.name]
    assert {each.enclave for each in asked} == {AGENT}
    assert all(map(is_getter, asked))
    nodes = {each.node for each in allowed} - {'/agent'}
    assert {each.name.rpartition('/')[0] for each in asked} == nodes


def test_in_a_namespace_the_names_move_as_those_of_the_nodes_do() -> None:
    """The edits of the sed command that the page shows, made to the text."""
    edits = re.findall(r"-e '(?:[^']*! )?s\|([^|]+)\|([^|]+)\|'", PAGE)
    lines = OVERLAY.read_text(encoding='utf-8').splitlines()
    for pattern, replacement in edits:
        lines = [
            line
            if any(f'>{name}<' in line for name in OF_ROS)
            else re.sub(pattern, replacement, line)
            for line in lines
        ]
    arm = load_config(robot='curiosity', namespace='r1', rover_namespace='r1')
    known = names_in(arm.topics) | OF_ROS
    known |= {command.service for _, command in arm.robot.commands.values()}
    known |= set(map(arm.appendage_service, arm.robot.commands))
    found = grants('\n'.join(lines))
    assert len(found) == len(read(OVERLAY))
    for grant in found:
        assert grant.enclave.startswith('/r1/curiosity_rosa/')
        assert grant.node.startswith('/r1/')
        ours = grant.name.startswith(f'{grant.node}/')
        assert ours or is_getter(grant) or grant.name in known, grant
