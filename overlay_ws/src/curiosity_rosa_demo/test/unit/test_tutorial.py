# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""docs/tutorial: the files that a reader writes are those of examples/, and they load."""

from __future__ import annotations

from pathlib import Path
import re
import shutil

from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.config_loader import load_config, shipped_config_dir
from harness import ROOT

TUTORIAL = ROOT / 'docs/tutorial'
SKILL = ROOT / 'examples/curiosity_rosa_skill_look_around'


def blocks(page: str, language: str) -> list[str]:
    text = (TUTORIAL / page).read_text(encoding='utf-8')
    return re.findall(rf'^```{language}\n(.*?)^```', text, re.DOTALL | re.MULTILINE)


def loaded(folder: Path, **files: str) -> Config:
    shutil.copytree(shipped_config_dir(), folder, dirs_exist_ok=True)
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
