# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The pages of figures (report.PAGES) agree with bench/results."""

from __future__ import annotations

import json
from pathlib import Path

from our_sources import ROOT
import report

PAGE = report.PAGE.read_text(encoding='utf-8')


def test_the_pages_have_the_figures_of_the_results() -> None:
    for file, make in report.PAGES:
        page = file.read_text(encoding='utf-8')
        made = report.with_tables(page, make(report.read_results()))
        assert made == page, f'make the tables of {file.name} anew: scripts/bench.sh --report'


def test_another_figure_is_another_page(tmp_path: Path) -> None:
    for file in report.RESULTS.glob('*.json'):
        saved = json.loads(file.read_text())
        if saved['bench'] == 'react_overhead':
            saved['runs'] = [{'ratio': 1.4}]
        (tmp_path / file.name).write_text(json.dumps(saved))
    made = report.with_tables(PAGE, report.tables(report.read_results(tmp_path)))
    assert made != PAGE
    assert "1.40 times ROSA's own executor (one run)" in made


def test_every_benchmark_has_a_row_a_smallest_size_and_a_result_with_date_and_machine() -> None:
    benches = {file.stem for file in (ROOT / 'bench').glob('[a-z]*.py')} - {'report'}
    assert set(report.SUMMARIES) == benches
    command = (ROOT / 'scripts/bench.sh').read_text()
    assert [name for name in benches if f'[{name}]=' not in command] == []
    results = {file.stem: json.loads(file.read_text()) for file in report.RESULTS.glob('*.json')}
    assert set(results) == benches
    for name, saved in results.items():
        assert (saved['bench'], saved['measured'][:2]) == (name, '20')
        assert saved['machine']
        assert saved['runs']


def test_several_runs_are_shown_as_their_median_and_spread() -> None:
    runs = [{'ratio': value} for value in (1.5, 1.1, 1.2, 1.9, 1.3)]
    result = report.Result({'bench': 'x', 'measured': '2026-11-22', 'runs': runs})
    assert result.shown('ratio') == '1.30 (1.10 to 1.90)'
    assert result.middle('ratio') == 1.3
    one = report.Result({'bench': 'x', 'measured': '2026-11-22', 'runs': [{'ms': [7, 9]}]})
    assert one.shown('ms', digits=0) == '7 to 9'
    assert one.shown('none') == '-'
