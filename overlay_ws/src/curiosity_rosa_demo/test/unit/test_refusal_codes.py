# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Code decides by codes and not by words; the names of callers look like nothing else."""

from __future__ import annotations

from curiosity_rosa_demo.agent.rule_model.beliefs import Beliefs, RoverFigures
from curiosity_rosa_demo.domain.ground import GROUND_UNKNOWN
from curiosity_rosa_demo.domain.models import (
    AGENT_FELL_SILENT,
    AGENT_IS_GONE,
    AGENT_IS_SILENT,
    MOVE_IN_PROGRESS,
    NEED_TO_CLOSE_MAST,
    NEED_TO_OPEN_MAST,
    STOPPED_UNASKED,
    ToolResult,
)
from curiosity_rosa_demo.domain.operation import Exchange
from curiosity_rosa_demo.domain.origin import (
    caller_prefix,
    caller_text,
    MAX_OPERATOR_CHARS,
    operator_name,
)
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.domain.serde import from_json, to_json
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.tools.rover_client import answered_failure
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

ANSWERS = {
    NEED_TO_CLOSE_MAST: RefusalCode.MAST_NOT_CLOSED,
    NEED_TO_OPEN_MAST: RefusalCode.MAST_NOT_OPEN,
    RefusalCode.NOT_STOWED.text(part='arm', stow='arm_close'): RefusalCode.NOT_STOWED,
    MOVE_IN_PROGRESS: RefusalCode.MOVE_IN_PROGRESS,
    RefusalCode.OBSTACLE.text(
        obstacle_m=1.5, ways='turn_left leads past it'
    ): RefusalCode.OBSTACLE,
    AGENT_IS_SILENT: RefusalCode.AGENT_SILENT,
    AGENT_IS_GONE: RefusalCode.AGENT_GONE,
    f'{AGENT_FELL_SILENT} for 1 s': RefusalCode.AGENT_FELL_SILENT,
    RefusalCode.DRIVER_FELL_SILENT.text(topic='/t', seconds=1.0): RefusalCode.DRIVER_FELL_SILENT,
    f'{GROUND_UNKNOWN}: it is dark': RefusalCode.GROUND_UNKNOWN,
    RefusalCode.NO_SERVICE.text(name='/move_forward'): RefusalCode.NO_SERVICE,
    RefusalCode.NO_ANSWER.text(name='/move_forward'): RefusalCode.NO_ANSWER,
    RefusalCode.STOPPED.text(part='arm', state='moving'): RefusalCode.STOPPED,
    STOPPED_UNASKED: RefusalCode.STOPPED,
}
ENDS = ('', '; the rover was stopped', ': the rover was stopped')
FACTS = {
    RefusalCode.NOT_STOWED.text(part='arm', stow='arm_close'): {'stow': 'arm_close'},
    RefusalCode.OBSTACLE.text(obstacle_m=1.5, ways='turn_left leads past it'): {'obstacle_m': 1.5},
}


def test_what_a_service_answers_has_its_code_and_keeps_its_words() -> None:
    for answer, code in ANSWERS.items():
        for end in ENDS:
            failure = answered_failure(f'{answer}{end}', 'move_forward')
            assert (failure.code, str(failure)) == (code.value, f'{answer}{end}')
            assert failure.facts == (FACTS.get(answer, {}) if not end else failure.facts)
            told = ToolResult.failure(str(failure), failure.code)
            assert from_json(ToolResult, to_json(told)) == told


@settings(max_examples=examples(200))
@given(st.sampled_from(sorted(ANSWERS)), st.text('abc: ', min_size=1, max_size=8))
def test_an_answer_has_a_code_by_its_first_words_alone(answer: str, before: str) -> None:
    assert answered_failure(f'x{before}{answer}', 'move_forward').code == ''


WORDS = [
    *ANSWERS,
    'GEOFENCE: says the plugin',
    'BUDGET: says the plugin',
    'Mast is closed',
    'Interrupted: what this call did is not known',
]


def test_the_words_of_a_plugin_are_not_taken_for_a_refusal() -> None:
    for words in WORDS:
        step = Exchange(tool='survey', input='{}', result=ToolResult.failure(words))
        assert not step.refused
        assert step.code == ''
        beliefs = Beliefs(RoverFigures.of(load_config()))
        beliefs.add_step(step)
        assert (beliefs.must_stop, beliefs.stow_first) == (False, '')
        assert beliefs.in_doubt


TEXTS = st.text(max_size=600) | st.none() | st.integers()


@given(TEXTS)
def test_any_name_becomes_one_short_printable_line(name: object) -> None:
    shown = operator_name(name)
    assert len(shown) <= MAX_OPERATOR_CHARS
    assert shown.isprintable()
    assert shown == shown.strip()
    assert not set(shown) & set('()')
    assert operator_name(shown) == shown


@given(st.text(max_size=60), TEXTS)
def test_the_client_of_a_named_caller_is_always_shown(client: str, name: object) -> None:
    shown = caller_text(client, name)
    assert shown.isprintable()
    if operator_name(name):
        assert shown.endswith(')')
        assert shown.count('(') == 1
        assert caller_prefix(shown) == f'{shown}:'
    else:
        assert caller_prefix(shown) == f'({shown})'
