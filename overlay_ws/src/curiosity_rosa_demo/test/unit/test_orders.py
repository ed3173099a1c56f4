# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Sentences, typed lines and goals are read as labelled; a stop stays one; nothing else drives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
import json
import re
from threading import Barrier
from typing import Any, NamedTuple

from curiosity_rosa_demo.agent.interfaces.action_server.server import (
    GoalArguments,
    MAX_TEXT_CHARS,
    parse_goal,
)
from curiosity_rosa_demo.agent.interfaces.terminal.commands import COMMANDS, help_text, parse
from curiosity_rosa_demo.agent.interfaces.terminal.syntax import (
    BadCommand,
    Command,
    DEFAULT_DRIVE_S,
)
from curiosity_rosa_demo.agent.kernel.hear import hci_ingress, Said
from curiosity_rosa_demo.agent.language.fold import heard as folded
from curiosity_rosa_demo.agent.language.grammar import MOTIONS, TOOLS
from curiosity_rosa_demo.agent.language.lexicon import lexicon, split_words
from curiosity_rosa_demo.agent.language.quantities import UNKNOWN
from curiosity_rosa_demo.agent.language.questions import (
    graph_query,
    Kind,
    order_in,
    read_text,
    Topic,
)
from curiosity_rosa_demo.agent.language.sentence import Intent
from curiosity_rosa_demo.agent.language.tables import DEFAULT, table
from curiosity_rosa_demo.agent.language.understand import is_stop, understand
from curiosity_rosa_demo.agent.tasks import LifecycleState
from curiosity_rosa_demo.agent.tasks.task import BadTask
from curiosity_rosa_demo.domain.brain_state import (
    ApprovalAction,
    BrainState,
    TasksState,
    UserInterruptType,
)
from curiosity_rosa_demo.domain.graph import GraphKind, GraphQuery
from curiosity_rosa_demo.domain.skills import CANCELLED, Outcome, outcome_of
from curiosity_rosa_demo.domain.text import clip, one_line, printable, valid_unicode, visible
from curiosity_rosa_demo.infra.config.agent import LANGUAGES
from examples import examples, fields
from hypothesis import example, given, settings
from hypothesis import strategies as st
import pytest
from strategies import json_objects, RULES


class Row(NamedTuple):
    language: str
    label: str
    text: str


def rows(name: str) -> list[Row]:
    """The rows of a corpus of orders."""
    return [Row(*row) for row in fields(name)]


def label_of(text: str) -> str:
    """The label of the reading of ``text`` by an agent that has asked nothing."""
    said = understand(text)
    if said.topics:
        return 'doubt' if said.topics == (Topic.DOUBT,) else f'question {said.topics[0].value}'
    if said.answer is ApprovalAction.REJECT:  # without a question a no is a stop
        return 'stop'
    if said.answer is None and said.act is not NEW_GOAL:
        return said.act.value.lower()
    return order_label(said.intent)


def order_label(intent: Intent) -> str:
    if intent.tool == 'move_stop':
        return 'stop'
    if intent.kind == 'status':
        return 'question status'
    if intent.kind == 'help':
        return 'question help'
    return ' > '.join(step.label for step in intent.steps) or 'refuse'


def motions_of(label: str) -> list[str]:
    """The steps of a label that may drive the rover, with their conditions."""
    steps = label.split(' > ')
    return [step for step in steps if step.split(': ')[-1].split(' ')[0] in MOTIONS]


STOP, NEW_GOAL = UserInterruptType.STOP, UserInterruptType.NEW_GOAL
DEV = [*rows('orders_dev.tsv'), *rows('orders_dev2.tsv')]
HELD = rows('orders_held.tsv')
UTTERANCES, QUESTIONS, GRAPH = map(
    fields, ('utterances.tsv', 'questions.tsv', 'graph_questions.tsv')
)

SAYINGS = fields('sayings.tsv')


def sayings(what: str, *values: str) -> list[str]:
    """The texts of the corpus of sayings, of one language or value or of all."""
    chosen = [row for row in SAYINGS if row[0] == what and (not values or row[1] in values)]
    return [text for row in chosen for text in row[2].split('|')]


# --- the corpora -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('corpus', 'least', 'language'),
    [
        pytest.param(corpus, least, language, id=f'{name}-{language}')
        for name, corpus, least in (('dev', DEV, 0.97), ('held', HELD, 0.9))
        for language in sorted({row.language for row in corpus})
    ],
)
def test_orders_are_understood_and_no_other_motion_is_read(
    corpus: list[Row], least: float, language: str
) -> None:
    read = [(row, label_of(row.text)) for row in corpus if row.language == language]
    right = sum(got == row.label for row, got in read)
    assert right >= least * len(read) > 0  # no sentences in the report: nobody tunes on them
    motions = [(motions_of(got), motions_of(row.label)) for row, got in read if got != row.label]
    assert [got for got, wanted in motions if got and got != wanted] == []


def label(text: str) -> str:
    said = understand(text)
    return (said.answer or said.act).value


def heard(text: str) -> list[str]:
    """Label and topics of ``text``, as the corpus of questions has them."""
    said = understand(text)
    if not said.topics:
        return ['ORDER' if said.act is NEW_GOAL else said.act.value, '-']
    topics = ','.join(topic.value for topic in said.topics)
    return ['DOUBT', '-'] if topics == 'doubt' else ['QUESTION', topics]


def about_the_graph(text: str) -> object:
    return graph_query(text) if understand(text).topics == (Topic.GRAPH,) else None


def graph_wanted(kind: str, *names: str) -> GraphQuery:
    return GraphQuery(GraphKind(kind), *('' if each == '-' else each for each in names))


LABELLED: list[tuple[str, str, object, Callable[[str], object]]] = [
    *((language, text, wanted, label) for wanted, language, text in UTTERANCES),
    *((language, text, wanted, heard) for _, *wanted, language, text in QUESTIONS),
    *((row[0], row[4], graph_wanted(*row[1:4]), about_the_graph) for row in GRAPH),
]


@pytest.mark.parametrize('language', sorted({row[0] for row in LABELLED}))
def test_every_sentence_is_heard_as_it_was_labelled(language: str) -> None:
    chosen = [row for row in LABELLED if row[0] == language]
    assert chosen
    wrong = [(text, read(text)) for _, text, wanted, read in chosen if read(text) != wanted]
    assert wrong == []


NAMES = {**TOOLS, 'stop': 'move_stop', 'capture': 'capture_and_score'}


def test_the_routines_own_sentences_are_understood() -> None:
    wrong = []
    for wanted, text in fields('intents.tsv'):
        name, _, seconds = wanted.partition(' ')
        kind = 'status' if name == 'status' else 'command' if name in NAMES else name
        intent = understand(text).intent
        read = (intent.kind, intent.tool, intent.duration_s)
        if read != (kind, NAMES.get(name), float(seconds) if seconds else None):
            wrong.append((text, wanted, read))
    assert wrong == []
    assert understand(' 。').intent == Intent('help')


@given(st.floats(0.1, 999.0).map(lambda s: round(s, 1)))
def test_seconds_survive(seconds: float) -> None:
    for text in (f'forward {seconds} s', f'{seconds}秒前進して', f'前进{seconds}秒'):
        intent = understand(text).intent
        assert (intent.tool, intent.duration_s) == ('move_forward', seconds)


def test_language_doubt_urgency_and_open_questions_are_read() -> None:
    read: dict[str, Callable[[str], str]] = {
        'language': lambda text: understand(text).language,
        'priority': lambda text: '5' if understand(f' {text} ').urgent else '3',
    }
    rows = [(row[0], row[1], text) for row in SAYINGS for text in row[2].split('|')]
    wrong = [row for row in rows if row[0] in read and read[row[0]](row[2]) != row[1]]
    assert wrong == []
    assert [row for row in rows if row[0] == 'doubt' and order_in(row[1]) != row[2]] == []
    for text in sayings('open'):  # a goal that interrupts nothing
        assert read_text(folded(text), understand(text).language).kind is Kind.OPEN_QUESTION
        assert (understand(text).act, understand(text).urgent) == (NEW_GOAL, False)


def test_a_text_of_a_language_asks_for_no_value_that_no_other_has() -> None:
    for section, texts in table(DEFAULT, 'texts').items():
        for key in texts:
            said = (table(each, 'texts').get(section, {}).get(key, '') for each in LANGUAGES)
            names = Counter(name for text in said for name in set(re.findall(r'\{\w+', text)))
            assert 1 not in names.values(), key


def test_no_order_is_a_question_about_the_graph_and_no_doubt_about_clear_a_clear() -> None:
    assert [row.text for row in (*DEV, *HELD) if graph_query(row.text) is not None] == []
    for text in ('clear', 'all clear?', 'is it safe now?', 'it is not safe now'):
        assert understand(text).act is not UserInterruptType.CLEAR


ASKED = [row[-1] for row in QUESTIONS if row[1] in ('QUESTION', 'DOUBT')]
ORDERS = [row[-1] for row in QUESTIONS if row[1] == 'ORDER']


@settings(max_examples=examples(200))
@given(st.sampled_from(ASKED), st.sampled_from([row[4] for row in GRAPH]), st.sampled_from(ORDERS))
@example('どこにいますか', 'list all topics', 'would you mind opening the mast?')
def test_an_order_beside_a_question_is_not_lost(question: str, graph: str, order: str) -> None:
    """Nor is it carried out unseen: the whole text is a goal, or the agent asks back."""
    text = f'{question}{"" if question.endswith(("?", "？")) else "."} {order}.'
    assert heard(text)[0] in ('ORDER', 'DOUBT')
    assert understand(f'{graph} drive forward.').topics != (Topic.GRAPH,)


# --- what never drives -------------------------------------------------------------------------

ORDERED = [row for row in DEV if motions_of(row.label) and 'if ' not in row.label]
# A denial is that of its clause.
ONE_CLAUSE = [
    row for row in ORDERED if ' > ' not in row.label and not set(row.text) & set(',，、')
]


def drives(text: str) -> bool:
    """Whether something may move without a condition."""
    return any(
        step.verb in MOTIONS and not step.condition for step in understand(text).intent.steps
    )


PIECES = sorted(
    {word for row in DEV for word in row.text.split()} | set('左右前进後退不別了吗か?「」"')
)


@settings(max_examples=examples(300))
@given(st.lists(st.sampled_from(PIECES), max_size=8), st.text(max_size=6), st.integers(0, 8))
@example(['hello'], '\ue000', 1)  # a private character is an unknown word, not one to speak
@example(['say', '"x"'], '\ue001', 2)
def test_no_text_drives_with_a_word_that_is_not_understood(
    pieces: list[str], noise: str, at: int
) -> None:
    text = ' '.join([*pieces[:at], noise, *pieces[at:]])
    drove = drives(text)
    language = understand(text).language
    unknown = [
        all(token.meanings == (UNKNOWN,) for token in tokens if token.text == each.text)
        for reading in {language, 'ja' if language == 'zh' else language}
        for tokens in [split_words(text, lexicon(reading))]
        for each in tokens
        if each.meanings == (UNKNOWN,)
    ]
    assert not (drove and unknown and language != 'zh')


@settings(max_examples=examples(300))
@given(st.sampled_from(ONE_CLAUSE), st.data())
def test_what_is_denied_quoted_conditional_or_beside_a_foreign_word_never_drives_at_once(
    row: Row, data: st.DataObject
) -> None:
    """In each language; a word that joins its neighbour is another word."""
    frame = data.draw(st.sampled_from(sayings('denied', row.language)))
    order, word = row.text.rstrip('.!。！？?'), data.draw(st.sampled_from(['ж', 'β', '猫', 'xq']))
    for text in (frame.format(order), f'{word} {order}', f'{order} {word}', f'{order} \ue000'):
        assert not drives(text), text


def test_a_long_text_is_read_to_its_end() -> None:
    for piece in ('お願いします', 'くれ', 'please ', '地面', '请', 'help me ', 'ok '):
        for end in ('', 'x', 'explore the ground', '調査'):
            assert not drives(piece * 500 + end), (piece, end)
    assert understand('x ' * 5000 + 'stop').intent.tool == 'move_stop'


# --- a stop stays a stop -----------------------------------------------------------------------

STOPS = [text for wanted, _, text in UTTERANCES if wanted == 'STOP']
SPACE = st.sampled_from(['', ' ', '   ', '\t', '\u3000', '\u200b', '\n', '\u00a0', '\ufeff'])
EMOJI = st.sampled_from(['', ' 🛑', '🙏', ' 😡😡', '❗', ' 🤖'])
# A question mark can make a question of it.
MARKS = st.text(st.sampled_from('.!。！…,、~'), max_size=4)
PUNCTUATION = st.text(st.sampled_from('.!?。！？…,、~'), max_size=4)


def full_width(text: str) -> str:
    return ''.join(chr(ord(c) + 0xFEE0) if '!' <= c <= '~' else c for c in text)


@st.composite
def dressed_stops(draw: st.DrawFn) -> str:
    language = draw(st.sampled_from(LANGUAGES))
    text = draw(st.sampled_from(sayings('word', language)))
    if language == 'en':
        text += text[-1] * draw(st.integers(0, 6))
    prefix = draw(st.sampled_from(sayings('prefix', language)))
    suffix = draw(st.sampled_from(sayings('suffix', language)))
    text = draw(EMOJI) + prefix + text + suffix + draw(PUNCTUATION) + draw(EMOJI)
    upper = draw(st.lists(st.booleans(), min_size=len(text), max_size=len(text)))
    text = ''.join(c.upper() if up else c for c, up in zip(text, upper, strict=True))
    return draw(SPACE) + (full_width(text) if draw(st.booleans()) else text) + draw(SPACE)


@settings(max_examples=examples(500))
@given(dressed_stops(), st.sampled_from(STOPS), SPACE, SPACE, MARKS)
def test_a_stop_stays_a_stop_however_it_is_dressed(
    dressed: str, text: str, before: str, after: str, marks: str
) -> None:
    for each in (dressed, before + text + marks + after, text.upper(), full_width(text)):
        assert understand(each).act is STOP, each


@pytest.mark.parametrize('dressed', ['{} 🙏', '🙏 {}', '{}🙏', '🙏{}', '😡 {} 🤖'])
def test_a_pictograph_without_a_meaning_changes_nothing(dressed: str) -> None:
    changed = [text for _, _, text in UTTERANCES if label(dressed.format(text)) != label(text)]
    assert changed == []


def test_the_words_for_stop_of_the_languages_without_a_folder_stop() -> None:
    words = [pair for named in table('', 'stops').values() for pair in named.items()]
    said = [(name, each) for name, row in words for each in row.split(' | ')]
    assert [pair for pair in said if label_of(pair[1]) != 'stop'] == []


@st.composite
def misspelt(draw: st.DrawFn, word: str) -> str:
    """``word`` with two letters swapped, one doubled or one dropped."""
    at = draw(st.integers(0, len(word) - 1))
    kind = draw(st.sampled_from(['swapped', 'doubled', 'dropped']))
    if kind != 'swapped':
        return word[:at] + word[at] * 2 * (kind == 'doubled') + word[at + 1 :]
    at = min(at, len(word) - 2)
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


COMMON_WORDS = {'top', 'sop', 'hat', 'alt', 'who'}
SLIPS = st.sampled_from(['stop', 'halt', 'freeze', 'abort', 'cancel', 'emergency', 'whoa'])


@settings(max_examples=examples(1000))
@given(SLIPS.flatmap(misspelt), st.sampled_from(sayings('frame')))
def test_one_slip_of_the_finger_leaves_a_stop(word: str, frame: str) -> None:
    if word not in COMMON_WORDS:
        assert understand(frame.format(word)).act is STOP


def test_a_word_that_is_only_nearly_a_stop_is_one_when_nothing_else_is_said() -> None:
    for word in COMMON_WORDS - {'who'}:
        assert understand(f'{word}!').act is STOP
        assert understand(f'please {word} now').act is STOP
        assert understand(f'take a picture of the {word} of the hill').act is NEW_GOAL


SAID = [row[-1] for row in (*UTTERANCES, *QUESTIONS)]


@settings(max_examples=examples(500))
@given(st.sampled_from(SAID), st.sampled_from(['stop!', '止まれ！', '停！', '停下！', 'STOP now']))
def test_a_stop_beside_anything_else_is_a_stop(said: str, stop: str) -> None:
    """The end of what is said counts, whatever was asked, negated or answered before it."""
    for text in (f'{said}. {stop}', f'{said} {stop}', f'{stop} {said}'):
        assert understand(text).act is STOP, text


# --- any text at all ---------------------------------------------------------------------------

ANY_TEXT = st.text(max_size=60) | st.text(
    st.characters(categories=['Cs', 'Cc', 'Cf', 'Mn', 'Lo', 'So']), max_size=60
)


@settings(max_examples=examples(1000))
@given(ANY_TEXT | st.lists(st.sampled_from([*sayings('fragment'), *ASKED])).map(' '.join))
@example('\ud800')
@example('\x00')
@example('')
def test_any_text_means_something(text: str) -> None:
    said = understand(text)
    assert (said.act is UserInterruptType.NONE) == (not folded(text))
    assert (said.act is UserInterruptType.STOP) == is_stop(text)
    reading = read_text(folded(text), understand(text).language)
    assert bool(reading.topics) == (reading.kind is Kind.QUESTION)
    hci_ingress(BrainState(tasks=TasksState(inbox=[Said(text)])), RULES)


def test_a_text_of_any_length_is_read_and_a_stop_heard_anywhere_in_it() -> None:
    """Work that grew with the square of the text, or faster, would pass pytest's time limit."""
    for piece in sayings('long'):
        understand(piece * (40_000 // len(piece)))
    for piece in sayings('answer'):  # as long as an answer may be
        understand(piece * (190 // len(piece)) + 'x')
    for stop in ('stop', '止まれ', '停下'):
        for before, after in ((0, 9000), (4500, 4500), (9000, 0)):
            assert understand('rock, ' * before + f'{stop}, ' + 'sand, ' * after).act is STOP


LONGEST_S = 20.0

# --- typed lines --------------------------------------------------------------------------------


def read(line: str) -> Command | str | None:
    """The command, or why there is none."""
    try:
        return parse(line, longest_drive_s=LONGEST_S)
    except BadCommand as refused:
        return str(refused)


def wanted(name: str, text: str = '', number: str = '', data: str = '') -> Command:
    values = {'text': text, 'number': float(number or 0), 'data': json.loads(data or 'null')}
    return Command(name, **{key: value for key, value in values.items() if value})


def test_of_many_that_need_a_lexicon_first_one_makes_it() -> None:
    skills = (('a phrase of this test', 'a_skill'),)
    together = Barrier(8)

    def ask(_: int) -> int:
        together.wait(10.0)
        return id(lexicon('ja', skills))

    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(ask, range(8)))) == 1


def test_a_line_means_a_command_or_a_text_or_is_refused_with_what_is_right() -> None:
    wrong = []
    for line, name, *rest in fields('commands.tsv'):
        got = read(line)
        if name == '!' and (not isinstance(got, str) or rest[0] not in got):
            wrong.append((line, rest[0], got))
        if name != '!' and got != wanted(name, *rest):
            wrong.append((line, wanted(name, *rest), got))
    assert wrong == []
    assert [read(nothing) for nothing in ('', '   ', '\t\n', '　')] == [None] * 4


ARGUMENTS = {
    **{'task': 'ab', 'history': 'ab', 'cancel': 'ab', 'priority': 'ab 3', 'submit': 'x'},
    **{'run': 'a', 'edit': '{}', 'message': 'hi', 'graph': 'which nodes?', 'device': 'camera off'},
}


def test_every_command_is_understood_and_helped_and_an_unknown_one_gets_a_line() -> None:
    for name in COMMANDS:
        command = read(f':{name} {ARGUMENTS.get(name, "")}')
        assert isinstance(command, Command)
        assert command.name == name
        assert f':{name}' in help_text()
    assert read(':hlep') == 'no command :hlep; did you mean :help? :help lists all'
    assert read(':調査') == 'no command :調査; :help lists all'
    assert read(':left') == Command('left', number=DEFAULT_DRIVE_S)
    assert parse(':left', longest_drive_s=1.5) == Command('left', number=1.5)


LINES = st.one_of(
    st.text(),
    st.text().map(':{}'.format),
    st.builds(':{} {}'.format, st.sampled_from(sorted(COMMANDS)), st.text()),
    st.builds('：{} {}'.format, st.sampled_from(sorted(COMMANDS)), st.floats().map(repr)),
)


@given(LINES)
def test_any_line_is_a_command_a_text_or_a_refusal(line: str) -> None:
    command = read(line)
    if isinstance(command, str):
        assert len(command) < 800  # however long the line
    elif command is None:
        assert not line.strip()
    elif line.strip().startswith((':', '：')):
        assert command.name in COMMANDS
        if command.name in ('forward', 'left', 'right'):
            assert 0.0 < command.number <= LONGEST_S
    else:  # reaches the model unchanged
        assert command == Command('text', text=line.strip())


# --- goals of run_task --------------------------------------------------------------------------


@dataclass
class Request:
    text: str = ''
    skill: str = ''
    arguments_json: str = ''


@given(json_objects, st.sampled_from(['', ' ', '\n']))
def test_a_skill_gets_its_arguments_as_they_are(arguments: dict[str, Any], nothing: str) -> None:
    request = Request(skill=' speak ', arguments_json=json.dumps(arguments))
    assert parse_goal(request) == GoalArguments(skill='speak', arguments=arguments)
    assert parse_goal(Request('', 'speak', nothing)) == GoalArguments(skill='speak', arguments={})
    assert parse_goal(Request(text=' :demo\n')) == GoalArguments(text=':demo')


NO_TASKS = [
    *((Request(*goal), words) for *goal, words in fields('no_tasks.tsv')),
    (Request('', 'speak', '[' * 20_000), 'cannot be read'),
    (Request('', 'speak', '{"a":' * 150 + '1' + '}' * 150), 'nested'),
    (Request('', 'speak', '{"a": "\\ud800"}'), 'cannot be read'),
    (Request('x' * (MAX_TEXT_CHARS + 1)), f'{MAX_TEXT_CHARS} are allowed'),
    (Request('', 'x' * (MAX_TEXT_CHARS + 1)), 'skill has'),
]


def test_what_is_no_task_is_refused_with_what_would_be_right() -> None:
    for request, words in NO_TASKS:
        with pytest.raises(BadTask) as refused:
            parse_goal(request)
        assert words in str(refused.value)
        assert len(str(refused.value)) < 500


def test_an_outcome_has_the_answer_the_score_and_why_it_failed() -> None:
    stored = {'ok': True, 'answer': 'Here it is bright.', 'score': 0.9}
    failed = {'ok': False, 'answer': 'Need to close mast', 'code': 'X', 'score': 0.2}
    for state, outcome, reason, expected in (
        (LifecycleState.COMPLETED, stored, '', Outcome(**stored)),
        (LifecycleState.COMPLETED, {}, '', Outcome(True, 'done')),
        (LifecycleState.FAILED, failed, 'Need to close mast', Outcome(**failed)),
        (LifecycleState.FAILED, {}, '', Outcome(False, 'failed')),
        (LifecycleState.CANCELLED, {}, 'By HTTP', Outcome(False, 'By HTTP', code=CANCELLED)),
    ):
        assert outcome_of(state, {'outcome': outcome}, reason) == expected
    assert outcome_of(LifecycleState.COMPLETED, {}, '') == Outcome(True, 'done')


# --- what others wrote is clipped, put into one line and repaired in one place ------------------

texts = st.text(st.characters()) | st.text(st.sampled_from('\ud83d\ude80a🚀 \n\x1b\u2028\u202e'))


@given(texts, st.integers(3, 30), st.sampled_from(['...', '…']))
def test_a_clipped_text_is_no_longer_than_asked_and_says_that_it_was_clipped(
    text: str, longest: int, ending: str
) -> None:
    clipped = clip(text, longest, ending=ending)
    assert len(clipped) <= longest
    assert clipped == text or (clipped.endswith(ending) and len(clipped) == longest)


@given(texts)
def test_shown_text_moves_no_cursor_and_visible_text_hides_and_loses_nothing(text: str) -> None:
    shown = printable(text)
    assert shown.isprintable()
    assert shown == one_line(shown) == printable(shown)
    seen = visible(text)
    assert seen.isprintable()
    assert visible(seen) == seen
    as_json = json.dumps(text, ensure_ascii=False)
    assert json.loads(visible(as_json)) == json.loads(json.dumps(text))
    if text.isascii() and text.isprintable():
        assert seen == text


VISIBLE = {
    'stop\u202eevird': 'stop\\u202eevird',  # would be read from right to left
    'no\u200b\u3164\ufe0f': 'no\\u200b\\u3164\\ufe0f',  # nothing would be seen
    'a\n\x1b[2J\x9b': 'a\\n\\u001b[2J\\u009b',
    '進め é 🚀': '進め é 🚀',
}
REPAIRED = {'Up \ud83d': 'Up \ufffd', 'Up \ud83d\ude80': 'Up \U0001f680', '\ufeffa': '\ufeffa'}


@given(texts)
def test_repaired_text_can_be_encoded_and_is_repaired_once(text: str) -> None:
    repaired = valid_unicode({text: [text]})
    ((key, (value,)),) = repaired.items()
    value.encode()
    assert key == value == valid_unicode(value)
    if not any(0xD800 <= ord(char) < 0xE000 for char in text):
        assert value == text


def test_what_would_not_be_seen_is_escaped_and_halves_of_a_pair_are_joined_or_replaced() -> None:
    assert {text: visible(text) for text in VISIBLE} == VISIBLE
    assert {text: valid_unicode(text) for text in REPAIRED} == REPAIRED
