# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The transcripts of the tutorial: a reader types the lines, and sees what the page shows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
import re
import shlex
import shutil
import subprocess
import sys

from demo_bench import Bench, Run
from harness import ROOT, Sandbox, wait_until
import httpx
from page_site import free_port
import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]
TUTORIAL = ROOT / 'docs/tutorial'
ANSWERS_S = 100.0  # the longest: a search for the light


def blocks(page: str, language: str = '') -> list[str]:
    text = (TUTORIAL / page).read_text(encoding='utf-8')
    return [
        block
        for kind, block in re.findall(r'^```(\w*)\n(.*?)^```', text, re.M | re.S)
        if kind == language
    ]


def transcript(page: str, prompt: str) -> Iterator[tuple[str, list[str]]]:
    """Each typed line of the page, and the lines that follow it."""
    for block in blocks(page):
        for part in re.split(rf'^{prompt}', block, flags=re.M)[1:]:
            typed, *seen = part.splitlines()
            yield typed, [line for line in seen if line.strip() != '...']


VARIES = {  # from run to run, in a text that is escaped
    r'(?<!\w)[0-9a-f]{8}(?!\w)': '[0-9a-f]{8}',
    r'(?<!\w)\d+\\ (?:s|min)(?!\w)': r'\d+\ (s|min)',
    r'(?<!\w)(?:\\-)?\d+(?:\\\.\d+)?': r'-?\d+(\.\d+)?',
}


def pattern(line: str) -> str:
    """The line with any IDs, ages and numbers in it, cut where the page cuts it."""
    told = re.escape(re.sub(r'\s+', ' ', line).strip().removesuffix('...'))
    kinds = re.compile('|'.join(f'({kind})' for kind in VARIES))
    return kinds.sub(lambda found: list(VARIES.values())[found.lastindex - 1], told)


def follows(run: Run, since: int, lines: list[str]) -> None:
    """Wait until the lines stand in the output, in this order."""
    wanted = re.compile('.*?'.join(map(pattern, lines)), re.S)
    run.until(
        lambda: wanted.search(re.sub(r'\s+', ' ', run.output()[since:])),
        f'{lines} in this order',
        ANSWERS_S,
    )


def test_the_first_run(bench: Bench) -> None:
    run = bench.run()
    run.expect('Type :help')
    typed = list(transcript('first_run.md', 'rover> '))
    assert len(typed) > 8
    for line, lines in typed:
        since = len(run.output())
        run.send(line)
        follows(run, since, lines)
    run.send(':quit')
    assert run.end() == 0
    assert 'Warning' not in run.output()


def commands(page: str, part: str) -> list[str]:
    """The options of the page's command that contains ``part``."""
    (block,) = [each for each in blocks(page, 'bash') if part in each]
    (line,) = [each for each in block.splitlines() if 'run_demo.sh' in each]
    words = shlex.split(line)
    return words[words.index('scripts/run_demo.sh') + 1 :]


def shows(bench: Bench, page: str, options: list[str]) -> None:
    """The page's transcripts of these commands."""
    run = bench.run(*options)
    run.end(ANSWERS_S)
    lines = [
        line
        for typed, seen in transcript(page, '> ')
        if typed in options
        for line in (f'> {typed}', *seen)
    ]
    assert len(lines) > 2, lines
    follows(run, 0, lines)


def test_a_model_of_ones_own(bench: Bench, sandbox: Sandbox) -> None:
    folder, port = sandbox.config_dir(), str(free_port())
    config = blocks('own_model.md', 'yaml')[0].replace('8000', port)
    Path(folder, 'agent.yaml').write_text(config, encoding='utf-8')
    sandbox.run([sys.executable, str(ROOT / 'examples/chat_server.py'), port], 'chat_server')
    wait_until(lambda: answers(port), 'the chat server', ANSWERS_S)
    options = commands('own_model.md', "my_config -c 'tell")
    options[options.index('my_config')] = folder
    bench.env['OPENAI_API_KEY'] = 'none'
    shows(bench, 'own_model.md', options)


def answers(port: str) -> bool:
    try:
        return bool(httpx.get(f'http://127.0.0.1:{port}/').status_code)
    except httpx.HTTPError:
        return False


SKILLS = [
    ('look_around', 'own_skill.md', '"turns": 1'),
    ('wiggle', '../howto/add_a_skill.md', '"times": 2'),
]


@pytest.mark.parametrize(('skill', 'page', 'part'), SKILLS)
def test_a_skill_of_ones_own(
    bench: Bench, tmp_path: Path, skill: str, page: str, part: str
) -> None:
    example = ROOT / f'examples/curiosity_rosa_skill_{skill}'
    source = shutil.copytree(example, tmp_path / 'source')
    pip = [sys.executable, '-m', 'pip', 'install', '--no-build-isolation', '--no-deps', '--target']
    subprocess.run([*pip, str(tmp_path / 'site'), str(source)], check=True, timeout=ANSWERS_S)
    bench.env['PYTHONPATH'] = f'{tmp_path / "site"}:{bench.env["PYTHONPATH"]}'
    shows(bench, page, commands(page, part))


def test_an_arm_that_must_be_stowed(bench: Bench) -> None:
    shows(bench, 'own_rover.md', commands('own_rover.md', '--robot curiosity'))
