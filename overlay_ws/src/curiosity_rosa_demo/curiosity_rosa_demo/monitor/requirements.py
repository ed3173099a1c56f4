# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Schema of requirements.yaml, the table of requirements, and its reader. Pure."""

from __future__ import annotations

from functools import cache
from pathlib import Path
import re
from typing import Literal

from curiosity_rosa_demo.infra.yaml_file import read_yaml, YamlError
from pydantic import BaseModel, ConfigDict, Field, model_validator, ValidationError

FILE = Path(__file__).with_name('requirements.yaml')
Severity = Literal['advisory', 'caution', 'warning', 'critical']
Response = Literal['warn', 'hold', 'stop', 'stow', 'safe']
SIGNAL, LIMIT = re.compile(r'\{(\w+)\}'), re.compile(r'<(\w+)>')


class RequirementsError(Exception):
    """The table is invalid. The message names the file, the entry and the rule."""


class Requirement(BaseModel):
    """One entry. ``rule``: ``module.path:Name`` below the package; the tests: ``file::function``.

    ``formula`` is true as long as the requirement holds. {name} is a signal (signals.py), <name> a
    number (limits.py). Exactly one of ``formula`` and ``no_monitor`` is given.
    """

    model_config = ConfigDict(frozen=True, extra='forbid', strict=True)

    id: str = Field(pattern=r'^(S[1-6]|FR-\d\d)$')
    title: str = Field(min_length=1)
    severity: Severity
    response: Response
    rationale: str = Field(min_length=1)
    source: str = Field(min_length=1)
    rule: str = Field(pattern=r'^[a-z_.]+:\w+(\.\w+)*$')
    property_test: str = Field(pattern=r'^[\w/]+\.py::\w+$')
    ros_test: str = Field(pattern=r'^[\w/]+\.py::\w+$')
    formula: str = ''
    no_monitor: str = ''

    @model_validator(mode='after')
    def _has_a_formula_or_a_reason(self) -> Requirement:
        if bool(self.formula) == bool(self.no_monitor):
            raise ValueError('give either formula or no_monitor, the reason why there is none')
        return self

    @property
    def signals(self) -> tuple[str, ...]:
        """The names of the signals in the formula, each once."""
        return tuple(dict.fromkeys(SIGNAL.findall(self.formula)))

    def formula_with(self, limits: dict[str, float]) -> str:
        """The formula with its limits as numbers. Raises RequirementsError for an unknown one."""
        unknown = set(LIMIT.findall(self.formula)) - limits.keys()
        if unknown:
            names = ', '.join(sorted(unknown))
            raise RequirementsError(f'{self.id}: {names}: no such limit; see monitor/limits.py')
        return LIMIT.sub(lambda name: f'{limits[name[1]]:g}', self.formula)


@cache
def load_requirements(path: Path = FILE) -> tuple[Requirement, ...]:
    """The entries in file order. Raises RequirementsError."""
    try:
        entries = read_yaml(path)
    except (OSError, YamlError) as error:
        raise RequirementsError(str(error)) from error
    if not isinstance(entries, list):
        raise RequirementsError(f'{path}: must be a list of requirements')
    found: dict[str, Requirement] = {}
    for number, entry in enumerate(entries, start=1):
        try:
            requirement = Requirement.model_validate(entry)
        except ValidationError as error:
            first = error.errors()[0]
            where = '.'.join(map(str, first['loc']))
            name = entry.get('id', number) if isinstance(entry, dict) else number
            raise RequirementsError(f'{path}: {name}: {where}: {first["msg"]}') from error
        if requirement.id in found:
            raise RequirementsError(f'{path}: {requirement.id}: is taken twice')
        found[requirement.id] = requirement
    return tuple(found.values())
