# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""The benchmarks start, and their results stand in the pages of docs/reference."""

from __future__ import annotations

import argparse
from importlib import import_module
import json
from pathlib import Path
import sys
from types import ModuleType

import _bench
from _bench import Part, Result
from our_sources import ROOT
import pytest
import report

BENCHES = sorted({file.stem for file in (ROOT / 'bench').glob('[a-z]*.py')} - {'report'})
RESULTS = report.read_results()
PAGES = {file: file.read_text(encoding='utf-8') for file in report.PAGES.glob('*.md')}


@pytest.fixture(scope='module', params=BENCHES)
def bench(request: pytest.FixtureRequest) -> ModuleType:
    return import_module(request.param)


def test_a_benchmark_says_how_to_run_it_and_names_its_peer_or_what_must_never_happen(
    bench: ModuleType,
) -> None:
    assert bench.__doc__ is not None
    assert f'Run: python bench/{bench.__name__}.py' in bench.__doc__
    assert 'peer' in bench.__doc__ or 'compared with' in bench.__doc__ or 'never' in bench.__doc__


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


def small(options: argparse.Namespace) -> Result:
    faults = ['it fell'] if options.seed == 13 else []
    rows = [('first | way', 1234, 0.5), ('second', options.size, None)]
    return Result('A title', 'What it is.', ('way', 'n', 'ms'), rows, 'under 1 ms', True, faults)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(_bench, 'RESULTS', tmp_path)
    monkeypatch.setenv('ROS_DISTRO', 'jazzy')
    return tmp_path


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, 'argv', ['bench/toy.py', *arguments])
    return _bench.main(Part('one', small, 'rounds', 50, 2), Part('two', small, 'rounds', 70, 3))


def test_a_small_result_is_printed_saved_and_reported(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, 'two', '--save') == 0
    said = capsys.readouterr().out.splitlines()
    assert said[:5] == [
        'A title. What it is.',
        'way          n      ms',
        'first | way  1,234  0.5',
        'second       70     -',
        'aim met: under 1 ms',
    ]
    (name,) = (file.stem for file in folder.iterdir())
    assert name == 'toy_two'
    page = f'# Toys\n\n<!-- result: {name} -->\nold\n<!-- end -->\n'
    day = json.loads((folder / 'toy_two.json').read_text())['measured']
    assert report.filled(page, report.read_results(folder)).splitlines()[3:] == [
        '',
        '**A title.** What it is.',
        '',
        '| way | n | ms |',
        '| --- | --- | --- |',
        '| first / way | 1,234 | 0.5 |',
        '| second | 70 | - |',
        '',
        'Aim: under 1 ms: met.',
        f'Measured {day} by `bench/toy.py two --size 70 --seed 1`.',
        '',
        '<!-- end -->',
    ]


@pytest.mark.parametrize(
    ('arguments', 'sizes', 'status'),
    [
        (('--smoke',), ['2', '3'], 0),
        ((), ['50', '70'], 0),
        (('one', '--size', '9'), ['9'], 0),
        (('--smoke', '--seed', '13', '--save'), ['2', '3'], 1),
    ],
)
def test_the_parts_their_sizes_and_the_status(
    arguments: tuple[str, ...],
    sizes: list[str],
    status: int,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(monkeypatch, *arguments) == status
    said = capsys.readouterr().out
    assert [line.split()[1] for line in said.splitlines() if line.startswith('second')] == sizes
    assert ('! it fell' in said) == bool(status)
    assert not list(folder.iterdir())


def test_an_unknown_part_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit):
        run(monkeypatch, 'three')
