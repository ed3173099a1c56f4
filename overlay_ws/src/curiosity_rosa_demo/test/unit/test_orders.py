# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Sentences in three languages are understood as labelled, and never drive but as ordered."""

from __future__ import annotations

from curiosity_rosa_demo.agent.rule_model.language.frames import MOTIONS
from curiosity_rosa_demo.agent.rule_model.language.lexicon import lexicon
from curiosity_rosa_demo.agent.rule_model.language.tokens import UNKNOWN
from curiosity_rosa_demo.agent.rule_model.language.words import split_words
from curiosity_rosa_demo.agent.rule_model.parser import detect_language, Intent, parse_intent
from examples import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
from orders_world import fields, label_of, motions_of, Row, rows
import pytest

LEAST_RIGHT, HELD_RIGHT = 0.97, 0.87  # on sentences that were tuned on, and on others
DEV = [*rows('orders_dev.tsv'), *rows('orders_dev2.tsv')]
HELD = rows('orders_held.tsv')
LANGUAGES = ('en', 'ja', 'zh')


def figures(corpus: list[Row], language: str) -> tuple[int, int, list[Row]]:
    """How many rows there are, how many are right, and which give a motion that was not meant."""
    chosen = [row for row in corpus if row.language == language]
    read = [(row, label_of(row.text)) for row in chosen]
    wrong = [
        row
        for row, got in read
        if got != row.label and motions_of(got) and motions_of(got) != motions_of(row.label)
    ]
    return len(chosen), sum(got == row.label for row, got in read), wrong


@pytest.mark.parametrize('language', LANGUAGES)
def test_sentences_are_understood(language: str) -> None:
    count, right, wrong = figures(DEV, language)
    assert right >= LEAST_RIGHT * count
    assert wrong == []


@pytest.mark.parametrize('language', LANGUAGES)
def test_sentences_that_nobody_has_seen_are_understood(language: str) -> None:
    count, right, wrong = figures(HELD, language)
    print(f'held {language}: {right} of {count} right, {len(wrong)} wrong motions')
    assert right >= HELD_RIGHT * count  # no sentences in the report: nobody tunes on them
    assert len(wrong) == 0


TOOLS = {
    'stop': 'move_stop',
    'open': 'mast_open',
    'close': 'mast_close',
    'rotate': 'mast_rotate',
    'capture': 'capture_and_score',
    'forward': 'move_forward',
    'left': 'turn_left',
    'right': 'turn_right',
    'status': 'get_status',
}


def test_the_routines_own_sentences_are_understood() -> None:
    wrong = []
    for wanted, text in fields('intents.tsv'):
        name, _, seconds = wanted.partition(' ')
        kind = 'status' if name == 'status' else 'command' if name in TOOLS else name
        intent = parse_intent(text)
        read = (intent.kind, intent.tool, intent.duration_s)
        if read != (kind, TOOLS.get(name), float(seconds) if seconds else None):
            wrong.append((text, wanted, read))
    assert wrong == []
    assert parse_intent(' 。') == Intent('help')


@given(st.floats(0.1, 999.0).map(lambda s: round(s, 1)))
def test_seconds_survive(seconds: float) -> None:
    for text in (f'forward {seconds} s', f'{seconds}秒前進して', f'前进{seconds}秒'):
        intent = parse_intent(text)
        assert (intent.tool, intent.duration_s) == ('move_forward', seconds)


SPOKEN = {
    **dict.fromkeys(['マスト', 'ﾏｽﾄ', '地面のテクスチャを調査して（Analyze the texture）'], 'ja'),
    **dict.fromkeys(['分析地面', '停止'], 'zh'),
    **dict.fromkeys(['Analyze', '', '・'], 'en'),
}


def test_the_language_is_that_of_the_letters() -> None:
    assert {text: detect_language(text) for text in SPOKEN} == SPOKEN


# --- what never drives -------------------------------------------------------------------------

ORDERED = [row for row in DEV if motions_of(row.label) and 'if ' not in row.label]
# A denial is that of its clause.
ONE_CLAUSE = [
    row for row in ORDERED if ' > ' not in row.label and not set(row.text) & set(',，、')
]


def drives(intent: Intent) -> bool:
    """Whether something may move without a condition."""
    return any(step.verb in MOTIONS and not step.condition for step in intent.steps)


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
    intent = parse_intent(text)
    language = detect_language(text)
    unknown = [
        all(token.meanings == (UNKNOWN,) for token in words.tokens if token.text == each.text)
        for reading in {language, 'ja' if language == 'zh' else language}
        for words in [split_words(text, lexicon(reading))]
        for each in words.tokens
        if each.meanings == (UNKNOWN,)
    ]
    if unknown and language != 'zh':
        assert not drives(intent)


@given(st.sampled_from(ORDERED), st.sampled_from(['ж', 'β', '猫', '\ue000', 'xq']), st.booleans())
def test_no_order_drives_with_a_foreign_word_beside_it(row: Row, word: str, first: bool) -> None:
    """In each language; a word that joins its neighbour is another word."""
    text = f'{word} {row.text}' if first else f'{row.text.rstrip(".!。！？?")} {word}'
    assert not drives(parse_intent(text)), text


DENIED = {
    'en': ('do not {}', "don't {}", 'never {}', '"{}"', 'if it rains {}', 'if it is dark {}',
           'when I say so, {}', 'he said: {}', 'why {}', 'unless it is dark {}'),
    'ja': ('「{}」', 'もし雨なら{}', '彼は{}と言った', '{}のは危険', '{}ことは禁止', '{} を禁止',
           '暗かったら{}', 'なぜ{}か'),
    'zh': ('不要{}', '别{}', '禁止{}', '“{}”', '如果下雨就{}', '他说{}', '如果太暗就{}',
           '为什么{}'),
}  # fmt: skip


@settings(max_examples=examples(300))
@given(st.sampled_from(ONE_CLAUSE), st.data())
def test_what_is_denied_quoted_or_conditional_never_drives_at_once(
    row: Row, data: st.DataObject
) -> None:
    frame = data.draw(st.sampled_from(DENIED[row.language]))
    text = frame.format(row.text.rstrip('.!。！？?'))
    assert not drives(parse_intent(text)), text


SAID = {
    'en': (
        'move drive go stop forward left explore ground mast open the if 5 s please',
        'do not|never',
    ),
    'ja': ('前進 左 調査 地面 マスト 開いて して ください か お願い します', 'しない|ないで'),
    'zh': ('前进 左 分析 地面 桅杆 吗 打开 请 5 秒', '不要|别'),
}


@given(st.sampled_from(LANGUAGES), st.data())
def test_a_negation_never_drives(language: str, data: st.DataObject) -> None:
    words, negations = SAID[language]
    said = st.lists(st.sampled_from(words.split()), max_size=4)
    negation = st.sampled_from(negations.split('|'))
    text = ' '.join([*data.draw(said), data.draw(negation), *data.draw(said)])
    assert not drives(parse_intent(text)), text


def test_a_long_text_is_read_to_its_end() -> None:
    for piece in ('お願いします', 'くれ', 'please ', '地面', '请', 'help me ', 'ok '):
        for end in ('', 'x', 'explore the ground', '調査'):
            assert not drives(parse_intent(piece * 500 + end)), (piece, end)
    assert parse_intent('x ' * 5000 + 'stop').tool == 'move_stop'
