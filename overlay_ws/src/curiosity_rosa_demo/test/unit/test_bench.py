# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""The benchmarks can be imported, and their results stand in the pages of docs/reference."""

from __future__ import annotations

from importlib import import_module

from our_sources import ROOT
import pytest
import report

BENCHES = sorted({file.stem for file in (ROOT / 'bench').glob('[a-z]*.py')} - {'report'})
RESULTS = report.read_results()
PAGES = {file: file.read_text(encoding='utf-8') for file in report.PAGES.glob('*.md')}


@pytest.mark.parametrize('name', BENCHES)
def test_a_benchmark_can_be_imported_and_says_how_to_run_it(name: str) -> None:
    assert f'Run: python bench/{name}.py' in str(import_module(name).__doc__)


def test_the_pages_have_each_result_once() -> None:
    for file, page in PAGES.items():
        assert report.filled(page, RESULTS) == page, f'{file.name}: scripts/bench.sh --report'
    places = [name for page in PAGES.values() for _, name, _ in report.PLACE.findall(page)]
    assert sorted(places) == sorted(RESULTS)


def test_a_result_has_a_date_a_machine_and_a_command_of_a_benchmark() -> None:
    for name, saved in RESULTS.items():
        bench = saved['command'].removeprefix('bench/').split('.py ')[0]
        assert bench in BENCHES, name
        assert saved['measured'].startswith('20')
        assert saved['machine']
        assert all(len(row) == len(saved['columns']) for row in saved['rows']), name
