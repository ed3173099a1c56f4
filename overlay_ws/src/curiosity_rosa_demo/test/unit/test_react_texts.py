# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Questions and budgets as a person reads them."""

from __future__ import annotations

from curiosity_rosa_demo.agent.react.turn.approval_queue import QuestionNotFound
from curiosity_rosa_demo.agent.react.turn.texts import (
    pending_table,
    question_summary,
    question_text,
)
from curiosity_rosa_demo.agent.runtime.approvals import find_question, split_id_and_reason
from curiosity_rosa_demo.domain.brain_state import Question
from curiosity_rosa_demo.domain.text import visible
from hypothesis import given
from hypothesis import strategies as st
import pytest

OP = {'skill': 'move_forward', 'arguments': {'duration_s': 6.0}}
questions = st.builds(
    Question,
    id=st.text('q0123456789abcdef-', min_size=1, max_size=36),
    text=st.text(st.characters(exclude_categories=['Cs']), max_size=900),
    op=st.sampled_from([None, OP]),
    reasons=st.lists(st.text(st.characters(exclude_categories=['Cs'])), max_size=3),
    asked_at=st.floats(0.0, 4e9),
)


@given(questions)
def test_whatever_a_model_asks_stays_in_its_line(question: Question) -> None:
    """It cannot print another question, nor move the cursor."""
    for text in (question_text(question, 12.3), question_summary(question)):
        assert text.isprintable()
        assert text.startswith(f'? {question.id[:8]}')
        assert (':edit' in text) is (question.op is not None) or ':edit' in question.text
    assert all(line.isprintable() for line in pending_table([question], 5e9).splitlines())
    assert len(pending_table([question], 5e9).splitlines()) == 2
    for text in (question_text(question, 12.3), pending_table([question], 5e9)):
        assert all(visible(each) in text for each in (question.text, *question.reasons))


asked = st.lists(questions, max_size=4, unique_by=lambda each: each.id)


@given(asked, st.text('q0123456789abcdef-', max_size=3))
def test_a_question_is_found_by_the_beginning_of_its_id(open_: list[Question], start: str) -> None:
    exact = [each for each in open_ if each.id == start]
    fitting = exact or [each for each in open_ if each.id.startswith(start)]
    if fitting and (start == '' or len(fitting) == 1):
        assert find_question(open_, start) == fitting[0]
        return
    with pytest.raises(QuestionNotFound) as refused:
        find_question(open_, start)
    if not open_:
        assert str(refused.value) == 'No question is open.'
    assert all(each.id[:8] in str(refused.value) for each in open_)


MEANT = {
    '': ('', ''),
    'q1': ('q1', ''),
    'q7 too  Far': ('q7', 'too  Far'),
    'Ｑ１ too far': ('q1', 'too far'),
    '3F2 wet': ('3f2', 'wet'),
    **{words: ('', words) for words in ('too far', '300 s is far', 'bad', 'quite far')},
    'fe it is mine': ('fe', 'it is mine'),  # it begins one that is open
}


def test_a_first_word_that_is_an_id_is_no_reason() -> None:
    open_ = [Question(id='q1a2b3c4', text=''), Question(id='fee1dead', text='')]
    assert {words: split_id_and_reason(words, open_) for words in MEANT} == MEANT
