# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Skills of other packages: the example that ships, and whatever is broken."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
import sys
from typing import Any

from coded_failures import OUTSIDE
from curiosity_rosa_demo.agent.skills.errors import BadArguments
from curiosity_rosa_demo.agent.skills.plugins import ENTRY_POINT_GROUP
from curiosity_rosa_demo.agent.skills.registry import (
    checked_arguments,
    make_registry,
    SkillRegistry,
)
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.domain.plan.plan import RiskLevel
from curiosity_rosa_demo.infra.config.contracts import Config
from curiosity_rosa_demo.infra.config_loader import ConfigError
import pytest
from skill_calls import call_of, settings_of, SHIPPED, StillWorld

ROOT = Path(__file__).resolve().parents[5]
EXAMPLE = ROOT / 'examples' / 'curiosity_rosa_skill_wiggle'
Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Makes entry points findable, as pip does: by a dist-info folder on the path."""

    def make(package: str, entries: dict[str, str], source: str | Path) -> None:
        info = tmp_path / f'{package}-0.1.dist-info'
        info.mkdir()
        (info / 'METADATA').write_text(f'Metadata-Version: 2.1\nName: {package}\nVersion: 0.1\n')
        lines = [f'{name} = {value}' for name, value in entries.items()]
        (info / 'entry_points.txt').write_text('\n'.join([f'[{ENTRY_POINT_GROUP}]', *lines]))
        if isinstance(source, Path):
            monkeypatch.syspath_prepend(source)
        else:
            (tmp_path / f'{package}.py').write_text(source)
        monkeypatch.delitem(sys.modules, package, raising=False)
        monkeypatch.syspath_prepend(tmp_path)

    return make


def names(registry: SkillRegistry) -> list[str]:
    return [skill.name for skill in registry]


BUILT_IN = names(make_registry(SHIPPED))


def with_skill(name: str, **settings: Any) -> Config:
    skills = {**SHIPPED.skills.skills, name: settings_of(**settings)}
    return SHIPPED.model_copy(
        update={'skills': SHIPPED.skills.model_copy(update={'skills': skills})}
    )


# --- the example -----------------------------------------------------------------------------


@pytest.fixture
def wiggle(install: Install) -> None:
    package = EXAMPLE.name
    project = (EXAMPLE / 'pyproject.toml').read_text()
    entry = f'{package}:wiggle_skill'
    assert f'[project.entry-points."{ENTRY_POINT_GROUP}"]\nwiggle = "{entry}"' in project
    install(package, {'wiggle': entry}, EXAMPLE)


@pytest.mark.usefixtures('wiggle')
def test_the_example_is_a_skill_like_any_other() -> None:
    registry = make_registry(SHIPPED)
    assert names(registry) == [*BUILT_IN, 'wiggle']
    assert registry.notes == []
    skill = registry.get('wiggle')
    assert skill in registry.for_model()
    assert skill.risk is RiskLevel.MEDIUM
    assert set(SHIPPED.skills.error_map) <= set(skill.definition.error_map)
    assert skill.description == (
        'Turn a little to the left and to the right, to draw attention. Needs a closed mast. '
        'Cost: 1.'
    )
    world, heard = StillWorld(), list[Any]()
    result = skill.run(
        call_of(world, heard=heard), **checked_arguments(skill, {'times': 2, 'turn_s': 0.5})
    )
    assert result == ToolResult.success(times=2)
    turn = {'duration_s': 0.5}
    assert world.tools == [('turn_left', turn), ('turn_right', turn)] * 2
    assert heard == [{'times': 1}, {'times': 2}]
    world.refuses = OUTSIDE
    assert skill.run(call_of(world)) == ToolResult.failure(OUTSIDE.reason, times=0)
    with pytest.raises(BadArguments, match='turn_s'):
        checked_arguments(skill, {'turn_s': SHIPPED.agent.turn.max_motion_s + 1})


@pytest.mark.usefixtures('wiggle')
def test_skills_yaml_goes_before_what_a_package_brings() -> None:
    config = with_skill('wiggle', timeout_s=7.0, risk='high', error_map={'Dizzy': 'RETRY'})
    skill = make_registry(config).get('wiggle')
    assert (skill.definition.timeout_s, skill.risk) == (7.0, RiskLevel.HIGH)
    assert skill.definition.error_map['Dizzy'] == 'RETRY'
    assert list(skill.arguments.model_fields) == ['times', 'turn_s']


# --- what is broken --------------------------------------------------------------------------

GOOD = """
from curiosity_rosa_demo.agent.skills.plugins import skill_of
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.infra.config.guardrails import SkillSettings
from curiosity_rosa_demo.agent.skills.skill import SkillCall

SETTINGS = SkillSettings.model_validate(dict(
    interface_type='internal', resources_required=[], preemptible=True, cancel_supported=True,
    timeout_s=5.0, risk='low', error_map={}))

def {name}(call: SkillCall) -> ToolResult:
    '''Wave.'''
    return ToolResult.success()

made = skill_of({name}, SETTINGS)
"""


def test_an_entry_may_be_the_skill_itself(install: Install) -> None:
    install('theirs', {'wave': 'theirs:made'}, GOOD.replace('{name}', 'wave'))
    assert names(make_registry(SHIPPED)) == [*BUILT_IN, 'wave']


@pytest.mark.parametrize(
    ('source', 'told'),
    [
        ('raise ImportError("no wheels")', 'ImportError: no wheels'),
        ('import sys; sys.exit(3)', 'SystemExit: 3'),
        ('made = (', 'SyntaxError'),
        ('', 'AttributeError'),
        ('made = 3', 'TypeError'),
        ('def made(config): return None', 'theirs:made made a NoneType; it must make a Skill'),
        ('def made(config): 1 / 0', 'ZeroDivisionError: division by zero'),
        (GOOD.replace('{name}', 'move_stop'), "'move_stop' is registered already"),
        (GOOD.replace('{name}', 'react'), "'react' is registered already"),
        (GOOD.replace('{name}', 'decide'), "'decide' has a name that the agent itself uses"),
        (
            GOOD.replace('{name}', 'wave').replace('resources_required=[]', 'x=1'),
            'ValidationError',
        ),
        (GOOD.replace('{name}', 'wave').replace("'''Wave.'''", ''), 'has no docstring'),
        (
            GOOD.replace('{name}', 'wave')
            + 'from dataclasses import replace\nmade = replace(made, definition=None)',
            'has no SkillDef',
        ),
        (
            GOOD.replace('{name}', 'wave')
            + 'from dataclasses import replace\nmade = replace(made, arguments=dict)',
            'has no model of its arguments',
        ),
        (
            GOOD.replace('{name}', 'wave')
            + 'from dataclasses import replace\nmade = replace(made, definition='
            'made.definition.model_copy(update={"args_schema": {"type": "object"}}))',
            'args_schema that is not that of its arguments',
        ),
    ],
)
def test_a_broken_package_is_left_out_with_a_note(
    install: Install, source: str, told: str
) -> None:
    install('theirs', {'wave': 'theirs:made'}, source)
    registry = make_registry(SHIPPED)
    assert names(registry) == BUILT_IN
    (note,) = registry.notes
    assert note.startswith(f'{ENTRY_POINT_GROUP}: wave is left out: ')
    assert told in note
    assert '\n' not in note
    assert registry.get('move_stop').run.__module__.endswith('skills.library.rover')


@pytest.mark.usefixtures('wiggle')
def test_one_broken_package_costs_no_other(install: Install) -> None:
    install('theirs', {'wave': 'theirs:made'}, '1 / 0')
    registry = make_registry(SHIPPED)
    assert names(registry) == [*BUILT_IN, 'wiggle']
    assert len(registry.notes) == 1


def test_settings_of_a_package_that_is_broken_tell_why(install: Install) -> None:
    install('theirs', {'wave': 'theirs:made'}, '1 / 0')
    with pytest.raises(ConfigError, match=r'skills\.wave: nobody implements it.*division by zero'):
        make_registry(with_skill('wave'))


# --- the page --------------------------------------------------------------------------------


def test_the_page_lists_every_skill_as_it_is() -> None:
    page = (
        (ROOT / 'docs' / 'reference' / 'skills.md').read_text(encoding='utf-8').split('*Holds*')[0]
    )
    registry = make_registry(SHIPPED)
    for definition in registry:
        skill = registry.get(definition.name)
        arguments = ', '.join(skill.arguments.model_fields) or '-'
        holds = ', '.join(definition.resources_required) or '-'
        cells = (f'`{definition.name}`', arguments, holds, f'{definition.timeout_s:g}')
        assert f'| {" | ".join(cells)} | {skill.risk.value} |' in page
    rows = [line for line in page.splitlines() if line.startswith('| `')]
    assert len(rows) == len(registry)


def test_the_page_shows_the_example_as_it_is() -> None:
    page = (ROOT / 'docs' / 'howto' / 'add_a_skill.md').read_text(encoding='utf-8')
    module = (EXAMPLE / EXAMPLE.name / '__init__.py').read_text(encoding='utf-8')
    shown = page.split('```python\n')[1].split('```')[0].strip()
    assert shown in module
