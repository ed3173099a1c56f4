# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The small skills: rover tools, speak, wait_until, query_world, query_knowledge."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from curiosity_rosa_demo.agent.skills.errors import BadArguments
from curiosity_rosa_demo.agent.skills.library.knowledge import (
    KnowledgeIndex,
    make_search_knowledge,
    MAX_BYTES,
    MAX_EXCERPT_CHARS,
    passages,
    QUOTED_NOTE,
    search_terms,
)
from curiosity_rosa_demo.agent.skills.library.queries import matching_facts
from curiosity_rosa_demo.agent.skills.library.tasks import (
    MAX_TIMEOUT_S,
    POLL_PERIOD_S,
    wait_result,
)
from curiosity_rosa_demo.agent.skills.registry import checked_arguments, make_registry
from curiosity_rosa_demo.domain.brain_state import Json
from curiosity_rosa_demo.domain.cancellation import Cancellation, TurnCancelled
from curiosity_rosa_demo.domain.models import ToolResult
from examples import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
import pytest
from skill_world import call_of, SHIPPED, StillWorld
from strategies import json_values, text
from turn_world import NINE

REGISTRY = make_registry(SHIPPED)
FACTS: Json = {
    'x': 1.5,
    'y': -0.5,
    'yaw_rad': 0.1,
    'mast': 'closed',
    'moving': False,
    'battery_pct': 80.0,
    'battery_state': 'OK',
    'zones': ['bright'],
    'mode': 'EXEC',
    'score': None,
}


def ran(name: str, world: StillWorld | None = None, **arguments: Any) -> ToolResult:
    """One run of a skill of the agent, with checked arguments. Raises BadArguments."""
    skill = REGISTRY.get(name)
    return skill.run(call_of(world or StillWorld()), **checked_arguments(skill, arguments))


@pytest.mark.parametrize('name', [*NINE, 'stop_base'])
def test_a_rover_skill_is_one_call_of_its_tool(name: str) -> None:
    world = StillWorld()
    arguments = {'duration_s': 2.5} if name.startswith(('move_f', 'turn')) else {}
    tool = 'move_stop' if name == 'stop_base' else name
    assert ran(name, world, **arguments).data == {'tool': tool}
    assert world.tools == [(tool, arguments)]


class Waiting(Cancellation):
    """Waits take no time, but ``seconds`` pass. After ``stop_after_s`` somebody presses."""

    def __init__(self, stop_after_s: float = 1e9) -> None:
        super().__init__()
        self.seconds, self._stop_after_s = 0.0, stop_after_s

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds
        if self.seconds > self._stop_after_s:
            self.cancel('Stopped by a test')
        self.check()


class Charging(StillWorld):
    """A per cent each second."""

    def __init__(self, button: Waiting) -> None:
        super().__init__()
        self.button = button

    def facts(self) -> Json:
        return {'battery_pct': self.button.seconds}


@given(level=st.floats(0.0, 50.0), timeout_s=st.floats(0.1, 50.0))
def test_it_waits_until_the_condition_holds_or_the_time_is_over(
    level: float, timeout_s: float
) -> None:
    button = Waiting()
    call = call_of(Charging(button), button)
    condition: Json = {'battery_pct_at_least': level}
    result = wait_result(call, condition, timeout_s, now=lambda: button.seconds)
    assert button.seconds <= timeout_s + 1e-6
    if result.ok:
        assert level - 1e-6 <= button.seconds <= level + POLL_PERIOD_S + 1e-6
        return
    assert button.seconds == pytest.approx(timeout_s)
    assert level > timeout_s - POLL_PERIOD_S
    assert result.error_reason.startswith(f'Not within {timeout_s:g} s: ')
    assert 'battery_pct' in result.error_reason


WITHOUT_END: list[tuple[str, dict[str, Any]]] = [
    *(
        ('wait_until', {'condition': {}, 'timeout_s': seconds})
        for seconds in (0.0, MAX_TIMEOUT_S + 1, True, float('inf'))
    ),
    *(('speak', {'text': said}) for said in ('', 'x' * 501, 5, None)),
]


def test_what_has_no_end_is_refused_and_what_holds_is_not_waited_for() -> None:
    world, button = StillWorld(facts=FACTS), Waiting(stop_after_s=3.0)
    for name, arguments in WITHOUT_END:
        with pytest.raises(BadArguments, match=f'{name}: .*{[*arguments][-1]}'):
            ran(name, world, **arguments)
    assert world.said == []
    assert ran('speak', world, text='光を').ok
    assert world.said == ['光を']
    assert ran('wait_until', world, condition={'mast': 'closed'}).ok
    result = ran('wait_until', condition={'battery_pct_above': 'much'})
    assert result.error_reason.startswith('PARAM_INVALID: ')
    with pytest.raises(TurnCancelled):
        wait_result(call_of(Charging(button), button), {'battery_pct_above': 90}, 60.0)
    assert button.seconds <= 3.0 + POLL_PERIOD_S


def test_a_query_chooses_facts() -> None:
    for query, names in (
        ('', set(FACTS)),
        ('mast', {'mast'}),
        ('How full is the battery?', {'battery_pct', 'battery_state'}),
        ('battery_pct', {'battery_pct'}),
        ('Where are you', {'x', 'y', 'yaw_rad', 'zones'}),
        ('X and mode', {'x', 'mode'}),
        ('電池', set(FACTS)),
    ):
        result = ran('query_world', StillWorld(facts=FACTS), query=query)
        assert result.data == {name: FACTS[name] for name in names}


@given(facts=st.dictionaries(text, json_values, max_size=5), query=text)
def test_an_answer_is_part_of_the_facts_and_not_empty(facts: Json, query: str) -> None:
    answer = matching_facts(facts, query)
    assert bool(answer) is bool(facts)
    assert all(facts[name] == value for name, value in answer.items())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / 'docs'
    (folder / 'mast').mkdir(parents=True)
    (folder / 'battery.md').write_text(
        '# Battery\n\nThe battery is low at twenty per cent.\n\nIt charges in the sun.\n'
    )
    (folder / 'mast' / 'use.txt').write_text('Close the mast before you drive.\n')
    (folder / 'ja.md').write_text('電池が少ないときは充電してください。\n', encoding='utf-8')
    (folder / 'secret.yaml').write_text('battery: no document\n')
    return folder


def test_the_best_excerpt_comes_first(folder: Path) -> None:
    for query, file in (
        ('battery low', 'battery.md'),
        ('BATTERY', 'battery.md'),
        ('drive with the mast?', 'mast/use.txt'),
        ('電池が少ない', 'ja.md'),
        ('充電', 'ja.md'),
        ('いつ充電してくださいですか', 'ja.md'),
    ):
        result = make_search_knowledge(str(folder))(call_of(StillWorld()), query)
        assert result.data['note'] == QUOTED_NOTE
        excerpts: Any = result.data['excerpts']
        assert excerpts[0]['file'] == file


def test_what_changed_is_read_anew_and_what_is_too_large_or_elsewhere_is_no_document(
    folder: Path, tmp_path: Path
) -> None:
    (folder / 'huge.txt').write_text('wombat ' * (MAX_BYTES // 7 + 1))
    outside = tmp_path / 'outside.txt'
    outside.write_text('A wombat outside.')
    (folder / 'link.txt').symlink_to(outside)
    (folder / 'gone.txt').symlink_to(tmp_path / 'nothing')
    knowledge, new = KnowledgeIndex(folder), folder / 'new.txt'
    assert knowledge.search('wombat', 3) == []
    for time_ns, written, found in (
        (1, 'A wombat digs.', 'A wombat digs.'),
        (1, 'A wombat eats.', 'A wombat digs.'),  # as old and as long: not read
        (2, 'A wombat eats.', 'A wombat eats.'),
    ):
        new.write_text(written)
        os.utime(new, ns=(time_ns, time_ns))
        assert knowledge.search('wombat', 3) == [{'file': 'new.txt', 'excerpt': found}]
    new.unlink()
    assert knowledge.search('wombat', 3) == []
    for path, told in (('', 'knowledge.folder of agent.yaml is'), ('/no/such', 'no such folder')):
        assert told in make_search_knowledge(path)(call_of(StillWorld()), 'x').error_reason


@pytest.fixture(scope='module')
def utterances(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeIndex:
    """One document of many words."""
    folder = tmp_path_factory.mktemp('docs')
    corpus = Path(__file__).parent / 'corpus' / 'utterances.tsv'
    (folder / 'utterances.txt').write_text(corpus.read_text(encoding='utf-8'), encoding='utf-8')
    return KnowledgeIndex(folder)


@given(query=st.text(min_size=1, max_size=500), limit=st.integers(1, 10))
@example('"', 3)
@example("a' OR 1=1 --", 3)
@example('NEAR(battery low)', 3)
@example('-battery', 3)
@example('x*', 3)
@example('^', 3)
@settings(max_examples=examples(100), deadline=None)
def test_any_text_is_a_safe_query(utterances: KnowledgeIndex, query: str, limit: int) -> None:
    found = utterances.search(query, limit)
    assert len(found) <= limit
    for each in found:
        assert len(str(each['excerpt'])) <= MAX_EXCERPT_CHARS
    assert all(term.isalnum() or '_' in term for term in search_terms(query))


@given(st.text(max_size=3000))
def test_passages_are_short_lines_that_lose_no_word(document: str) -> None:
    found = list(passages(document))
    assert all(
        0 < len(passage) <= MAX_EXCERPT_CHARS and passage.isprintable() for passage in found
    )
    kept = ''.join(''.join(found).split())
    shown = ''.join(char for char in document if char.isprintable() and not char.isspace())
    assert kept == shown
