# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""triggers.yaml: conditions on topics and facts that queue a task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from curiosity_rosa_demo.domain.brain_state import Json
from curiosity_rosa_demo.infra.config.base import Name, rule_error, Section
from curiosity_rosa_demo.infra.config.world import Key
from pydantic import Field, model_validator

ALL = 'all'  # :triggers on all
MAX_TRIGGERS = 50
FieldPath = Annotated[
    str, Field(max_length=200, pattern=r'^[a-z][a-zA-Z0-9_]*(\.[a-z][a-zA-Z0-9_]*)*$')
]
TypeName = Annotated[str, Field(pattern=r'^[a-z]\w*/msg/[A-Z][A-Za-z0-9]*$', max_length=200)]
COMPARISONS = ('above', 'below', 'equals', 'changes')


class TopicField(Section):
    """A field of a topic's messages, such as ``pose.pose.position.x``."""

    topic: Name
    type: TypeName
    field: FieldPath


class TriggerConfig(Section):
    """One source (``watch`` or ``fact``), one comparison, one action (``goal`` or ``skill``)."""

    name: Key
    enabled: bool = True
    watch: TopicField | None = None
    fact: Key | None = None
    above: float | None = None
    rearm_below: float | None = None
    below: float | None = None
    rearm_above: float | None = None
    equals: str | bool | int | float | None = None
    changes: bool = False
    for_s: float = Field(default=0.0, ge=0.0, le=86400.0)
    max_age_s: float = Field(default=5.0, gt=0.0, le=3600.0)
    min_interval_s: float = Field(default=60.0, ge=1.0, le=86400.0)
    max_per_hour: int = Field(default=6, ge=1, le=60)
    goal: str = Field(default='', max_length=2000)
    skill: str = ''
    arguments: Json = Field(default_factory=dict)
    priority: int = Field(default=3, ge=-1000, le=1000)

    @model_validator(mode='after')
    def _is_complete(self) -> TriggerConfig:
        if self.name == ALL:
            raise rule_error('name', self.name, 'this name stands for all triggers; take another')
        source = {'watch': self.watch, 'fact': self.fact}
        self._one_of('watch', source, 'a topic (watch) or a fact (fact)')
        which = {key: getattr(self, key) for key in COMPARISONS if key != 'changes'}
        which['changes'] = self.changes or None
        self._one_of('above', which, 'one of above, below, equals and changes')
        what = {'goal': self.goal.strip() or None, 'skill': self.skill or None}
        self._one_of('goal', what, 'a goal or a skill')
        if self.arguments and not self.skill:
            raise rule_error('arguments', self.arguments, f'{self._me} has no skill for them')
        self._rearm('rearm_below', 'above', 1.0)
        self._rearm('rearm_above', 'below', -1.0)
        return self

    @property
    def _me(self) -> str:
        return f'the trigger {self.name!r}'

    def _one_of(self, key: str, values: Mapping[str, object], rule: str) -> None:
        given = [each for each, value in values.items() if value is not None]
        if len(given) != 1:
            found = f'it has {" and ".join(given)}' if given else 'it has none'
            shown = getattr(self, given[-1] if given else key)
            raise rule_error(
                given[-1] if given else key, shown, f'{self._me} needs {rule}; {found}'
            )

    def _rearm(self, rearm: str, threshold: str, side: float) -> None:
        back, limit = getattr(self, rearm), getattr(self, threshold)
        if back is None:
            return
        if limit is None:
            raise rule_error(rearm, back, f'{self._me} has no {threshold}: leave it out')
        if side * (limit - back) < 0.0:
            order = 'below' if side > 0.0 else 'above'
            rule = f'of {self._me} must be {order} or equal to {threshold} ({limit:g})'
            raise rule_error(rearm, back, rule)


class TriggersConfig(Section):
    triggers: list[TriggerConfig] = Field(default_factory=list, max_length=MAX_TRIGGERS)

    @model_validator(mode='after')
    def _names_are_unique(self) -> TriggersConfig:
        names = [each.name for each in self.triggers]
        for number, name in enumerate(names):
            if name in names[:number]:
                rule = 'another trigger has this name; take another'
                raise rule_error(f'triggers.{number}.name', name, rule)
        return self
