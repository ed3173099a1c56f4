# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""The pages agree with the code and lead somewhere; scripts/docs.sh checks links within docs/."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
import re

from configuration_tables import tables
from contract_pages import CONTRACTS, interfaces, names_of, with_parts
from curiosity_rosa_demo.agent.react.loop import mermaid
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.config_loader import CONFIG_FILES, load_config, shipped_config_dir
from harness import ROOT
import report

DOCS = ROOT / 'docs'
PAGES = sorted(DOCS.rglob('*.md'))
OUTSIDE = [
    ROOT / 'README.md',
    ROOT / 'CONTRIBUTING.md',
    *sorted(ROOT.glob('examples/*/README.md')),
]
PACKAGE = ROOT / 'overlay_ws/src/curiosity_rosa_demo'
ROOTS = [
    ROOT,
    PACKAGE,
    PACKAGE / 'curiosity_rosa_demo',
    ROOT / 'standalone/src/curiosity_stand_in',
]
CODE = re.compile(r'^```.*?^```', re.DOTALL | re.MULTILINE)
LINK = re.compile(r'\]\(([^)\s]+)\)')
HEADING = re.compile(r'^#+ (.*)$', re.MULTILINE)
FILE = re.compile(r'`(\w[\w.-]*(?:/[\w.-]+)+\.(?:py|yaml|json|sh|xml|xacro|md|js|tsv|txt))`')
MADE = re.compile(
    r'^(?:my_config|scout_config|look_around|out|run|DIR|keystore)/'
)  # by the reader


def text_of(page: Path) -> str:
    """Without code."""
    return CODE.sub('', page.read_text(encoding='utf-8'))


def anchors(page: Path) -> set[str]:
    """As the site and the usual viewers of repositories make them."""
    plain = (
        re.sub(r'[^\w\s-]', '', heading).strip().lower()
        for heading in HEADING.findall(text_of(page))
    )
    return {re.sub(r'\s', '-', each) for each in plain}


def links(page: Path) -> Iterator[tuple[str, str]]:
    for target in LINK.findall(text_of(page)):
        if not re.match(r'\w+:', target):
            path, _, anchor = target.partition('#')
            yield path, anchor


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def test_a_link_of_a_page_outside_docs_leads_somewhere() -> None:
    wrong = []
    for page in OUTSIDE:
        for path, anchor in links(page):
            target = page.parent / path if path else page
            if not target.exists() or (anchor and anchor not in anchors(target)):
                wrong.append((name(page), path, anchor))
    assert wrong == []


def test_a_file_that_a_page_names_exists() -> None:
    found = [(page, file) for page in (*OUTSIDE, *PAGES) for file in FILE.findall(text_of(page))]
    assert [
        (name(page), file)
        for page, file in found
        if not any((root / file).exists() for root in ROOTS) and not MADE.match(file)
    ] == []


def test_readme_and_architecture_name_every_folder() -> None:
    package = PACKAGE / 'curiosity_rosa_demo'
    folders = [each.parent for each in package.rglob('__init__.py') if each.parent != package]
    assert len(folders) > 30
    for page in (ROOT / 'README.md', DOCS / 'explanation/architecture.md'):
        text = page.read_text(encoding='utf-8')
        names = [(f'`{each.relative_to(package)}/`', f'`{each.name}/`') for each in folders]
        assert [each for each, last in names if each not in text and last not in text] == []


def test_the_page_of_the_launch_file_lists_every_argument() -> None:
    launch = (PACKAGE / 'launch/demo.launch.py').read_text(encoding='utf-8')
    arguments = re.findall(r"^    '(\w+)': \('|^    '(\w+)': \(str\(", launch, re.MULTILINE)
    names = ['agent', *(one or other for one, other in arguments)]
    page = (DOCS / 'reference/launch.md').read_text(encoding='utf-8')
    assert sorted(re.findall(r'^\| `(\w+)` \|', page, re.MULTILINE)) == sorted(names)


def test_the_picture_of_the_graph_is_that_of_the_graph() -> None:
    page = (DOCS / 'explanation/react.md').read_text(encoding='utf-8')
    assert f'```mermaid\n{mermaid().strip()}\n```' in page


# --- what the product itself tells ---------------------------------------------------------------


CONFIGURATION = DOCS / 'reference/configuration.md'


def test_the_page_of_contracts_is_what_types_and_files_say() -> None:
    page = CONTRACTS.read_text(encoding='utf-8')
    assert page == with_parts(page, interfaces()), 'run scripts/contracts.sh'
    topics = load_config().topics
    names = [name for name in names_of(topics) if name.startswith('/')]
    # The one of two cameras that is not used as shipped is not there.
    assert [each for each in names if f'| `{each}` |' not in page] == [topics.images.input_raw]


def test_the_pages_have_each_table_of_the_product() -> None:
    files = {path.stem for path in shipped_config_dir().glob('*.yaml')}
    assert set(CONFIG_FILES) == files - {'world_view', 'companion', 'stationary', 'rviz'}
    page = CONFIGURATION.read_text(encoding='utf-8')
    assert all(f'{name}.yaml' in page for name in files)
    made, text = tables(), ''.join(map(text_of, PAGES))
    included = set(re.findall(r'^--8<-- "(\w+)\.md"$', text, re.MULTILINE))
    assert included - {'requirements'} == set(made)
    low = '| `battery.low` | `0.2` | number, from 0 to 1 | 0.0 to 1.0; at or below, the rover'
    assert low in made['thresholds']
    assert '| `:edit [ID] {json}` | answer yes, with these arguments |' in made['console']
    assert '| `speak` | text | - | 10 | low | Say something to the people' in made['skill']


# --- results of the benchmarks -------------------------------------------------------------------


BENCHES = sorted({file.stem for file in (ROOT / 'bench').glob('[a-z]*.py')} - {'report'})
RESULTS = report.read_results()


def test_the_pages_have_each_result_once_with_the_benchmark_that_makes_it_again() -> None:
    included = re.findall(r'"results/(\w+)\.md"', ''.join(map(text_of, PAGES)))
    assert sorted(included) == sorted(RESULTS)
    for name in BENCHES:
        assert f'Run: python bench/{name}.py' in str(import_module(name).__doc__)
    for name, saved in RESULTS.items():
        assert saved['command'].removeprefix('bench/').split('.py ')[0] in BENCHES, name
        assert saved['measured'].startswith('20')
        assert saved['machine']


TUTORIAL = ROOT / 'docs/tutorial'
SKILL = ROOT / 'examples/curiosity_rosa_skill_look_around'


def blocks(page: str, language: str) -> list[str]:
    text = (TUTORIAL / page).read_text(encoding='utf-8')
    return re.findall(rf'^```{language}\n(.*?)^```', text, re.DOTALL | re.MULTILINE)


def loaded(folder: Path, **files: str) -> Config:
    for name, text in files.items():
        (folder / f'{name}.yaml').write_text(text, encoding='utf-8')
    return load_config(folder)


def test_the_package_of_the_tutorial_is_the_example() -> None:
    assert blocks('own_skill.md', 'toml') == [(SKILL / 'pyproject.toml').read_text()]
    module = (SKILL / SKILL.name / '__init__.py').read_text()
    assert blocks('own_skill.md', 'python')[0] == module


def test_the_models_of_the_tutorial_are_read(tmp_path: Path) -> None:
    scripted, local, file, real, options, budget, approval = blocks('own_model.md', 'yaml')
    llm = loaded(tmp_path, agent=scripted).agent.llm
    assert (llm.provider, llm.model, llm.streaming) == ('openai', 'my-model', False)
    assert loaded(tmp_path, agent=local).agent.llm.provider == 'local'
    assert loaded(tmp_path, agent=file).agent.llm.context_tokens == 8192
    more = real + options.removeprefix('llm:\n')
    assert loaded(tmp_path, agent=more).agent.llm.extra_body['top_k'] == 20
    spending = real + budget.removeprefix('llm:\n')
    assert loaded(tmp_path, agent=spending).agent.llm.budget.day_money == 1.0
    config = loaded(tmp_path, agent=real, guardrails=approval)
    assert config.agent.llm.streaming
    assert 'move_forward' in config.guardrails.approval.skills
