# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The table of requirements has no gap: rule, two proofs and a monitor for each, and its page."""

from __future__ import annotations

import ast
from pathlib import Path

import curiosity_rosa_demo
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.monitor.monitor import (
    limits_of,
    load_requirements,
    RequirementsError,
)
from curiosity_rosa_demo.monitor.ogma import copilot, files
from curiosity_rosa_demo.monitor.page import page
from curiosity_rosa_demo.monitor.signals import SIGNALS
from harness import ROOT
import pytest

PACKAGE = Path(curiosity_rosa_demo.__file__).parent
TESTS = Path(__file__).parents[1]
TABLE = load_requirements()
CONFIG = load_config()
ALL = [*(f'S{n}' for n in range(1, 7)), *(f'FR-{n:02d}' for n in range(1, 22))]


def has(path: Path, dotted: str) -> bool:
    """Whether the file defines this function, class or constant, by its syntax tree."""
    body: list[ast.stmt] = ast.parse(path.read_text(encoding='utf-8')).body
    for name in dotted.split('.'):
        named = {getattr(each, 'name', ''): each for each in body}
        if name not in named:
            return False
        body = getattr(named[name], 'body', [])
    return True


def has_test(place: str) -> bool:
    file, name = place.split('::')
    tree = ast.parse((ROOT if file.startswith('standalone') else TESTS).joinpath(file).read_text())
    return any(isinstance(each, ast.FunctionDef) and each.name == name for each in ast.walk(tree))


def test_each_requirement_is_there_once_in_order_with_its_rule_and_both_proofs() -> None:
    assert [each.id for each in TABLE] == ALL
    wrong = []
    for each in TABLE:
        module, name = each.rule.split(':')
        if not has(PACKAGE / f'{module.replace(".", "/")}.py', name):
            wrong.append(each.rule)
        proofs = (each.property_test, each.ros_test)
        wrong += [place for place in proofs if not has_test(place)]
    assert wrong == []


def test_the_formulas_use_each_signal_and_no_other() -> None:
    used = {name for each in TABLE for name in each.signals}
    assert used == set(SIGNALS)
    limits = limits_of(CONFIG.thresholds)
    assert all(each.formula_with(limits) or each.no_monitor for each in TABLE)


def test_the_page_and_the_files_for_ogma_are_what_the_table_says() -> None:
    text = (ROOT / 'docs/reference/requirements.md').read_text(encoding='utf-8')
    again = 'run: python -m curiosity_rosa_demo.monitor.'
    assert text == page(TABLE, CONFIG.thresholds), f'{again}page docs/reference/requirements.md'
    folder = 'contrib/space-ros-demos/curiosity_rover_rosa/ogma'
    for name, text in files(CONFIG).items():
        assert (ROOT / folder / name).read_text(encoding='utf-8') == text, f'{again}ogma {folder}'


GAPS = [
    ({'rule': ''}, 'rule: String should match pattern'),
    ({'formula': ''}, 'give either formula or no_monitor'),
    ({'no_monitor': 'a reason'}, 'give either formula or no_monitor'),
    ({'severity': 'bad'}, "severity: Input should be 'advisory'"),
    ({'id': 'S2'}, 'S2: is taken twice'),
]


def test_a_gap_is_an_error_that_names_file_entry_and_rule(tmp_path: Path) -> None:
    file = tmp_path / 'requirements.yaml'
    first, second = (each.model_dump() for each in TABLE[:2])
    texts = [(f'- {second!r}\n- { ({**first, **gap})!r}\n', message) for gap, message in GAPS]
    twice = '- id: S1\n  severity: caution\n  id: S2\n'
    for text, message in (*texts, (twice, '0.id: this key stands twice, in lines 1 and 3')):
        file.write_text(text, encoding='utf-8')
        with pytest.raises(RequirementsError) as error:
            load_requirements(file)
        assert str(file) in str(error.value)
        assert message in str(error.value)


def test_a_formula_becomes_a_copilot_expression_and_nothing_else_does() -> None:
    expressions = {
        '!{moving}': '(not ((signals .&. 1) /= 0))',
        'historically[0:2.5]({moving} && !{straight})': '(MTL.alwaysBeen 0 25 clock 1 '
        '(((signals .&. 1) /= 0) && (not ((signals .&. 2) /= 0))))',
        'once[0:1]{moving} -> {moving} since {straight}': '((MTL.eventuallyPrev 0 10 clock 1 '
        '((signals .&. 1) /= 0)) ==> (((signals .&. 1) /= 0) `since` ((signals .&. 2) /= 0)))',
    }
    assert {formula: copilot(formula) for formula in expressions} == expressions
    for formula in ('', '(', '{moving', 'once{moving}', '{moving} {moving}'):
        with pytest.raises(ValueError):
            copilot(formula)
