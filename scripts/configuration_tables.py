# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The tables of docs/reference that the product itself has: of configuration.md each key of
``config/`` with its default, what it may be and what the comment beside it says; the commands of
console.md; the skills of skills.md; the parameters of stand_in.md and physics.md. scripts/docs.sh
runs this and includes the files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
import json
from pathlib import Path
import re
from typing import Any

from curiosity_rosa_demo.agent.interfaces.terminal.commands import COMMANDS
from curiosity_rosa_demo.agent.skills.registry import make_registry, TASK_ONLY_SKILLS
from curiosity_rosa_demo.domain import models
from curiosity_rosa_demo.infra.config import base, behaviour
from curiosity_rosa_demo.infra.config.agent import checked_language, checked_time_zone
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.config_loader import CONFIG_FILES, load_config, shipped_config_dir
from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema
import yaml

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / 'run/tables'
WORDS = {
    models.json_object: 'keys with JSON values',
    base.ros_name: 'ROS name',
    base.optional_ros_name: 'ROS name, or empty',
    base._frame_name: 'frame name',
    checked_time_zone: 'time zone',
    checked_language: 'code of a language, such as `en`',
    behaviour._key: 'name',
    behaviour._window: '`HH:MM-HH:MM`, or empty',
}
PLAIN = {'boolean': 'true or false', 'integer': 'whole number', 'string': 'text'}
BOUNDS = {
    'exclusiveMinimum': 'above {:.15g}',
    'minimum': 'from {:.15g}',
    'maximum': 'to {:.15g}',
    'maxLength': 'at most {} long',
    'maxItems': 'at most {} long',
    'minLength': 'not empty',
    'minItems': 'not empty',
    'pattern': 'matches `{}`',
}
DEFAULTS: dict[Any, Any] = {'array': [], 'object': {}}
REQUIRED, OPTIONAL = object(), object()
LONGEST = 60  # characters of a value that is shown


class Schema(GenerateJsonSchema):
    """With the words for what a function checks."""

    def function_after_schema(self, schema: Any) -> Any:
        words = WORDS.get(schema['function']['function'])
        return {'words': words} if words else super().function_after_schema(schema)


def tables() -> dict[str, str]:
    """By their names: of each file, of the ``world`` views, of what the other pages need."""
    made = {}
    for name in CONFIG_FILES:
        model = Config.model_fields[name].annotation
        text = (shipped_config_dir() / f'{name}.yaml').read_text(encoding='utf-8')
        made[name] = _keys(model, yaml.safe_load(text), comments(text))
    made['world'] = _keys(behaviour.WorldView, {}, {})
    commands = [(f'`{each.usage}`', each.help) for each in COMMANDS.values()]
    made |= {name: _parameters(name) for name in ('stand_in', 'physics')}
    return {**made, 'console': table(('command', 'effect'), commands), 'skill': _skills()}


def _parameters(name: str) -> str:
    """Of a node that stands for the rover. * may be changed at run time."""
    package = f'curiosity_{name}'
    file = ROOT / f'standalone/src/{package}/{package}/parameters.yaml'
    lines = []
    for key, each in yaml.safe_load(file.read_text(encoding='utf-8')).items():
        limits = ' or '.join(each.get('choices', ()))
        if 'least' in each:
            limits = f'{each["least"]:.15g} to {each["most"]:.15g}'
        star = '' if each.get('fixed') else ' *'
        lines.append((f'`{key}`{star}', _shown(each['default']), limits, each['text']))
    return table(('parameter', 'default', 'may be', 'meaning'), lines)


def _skills() -> str:
    registry, lines = make_registry(load_config()), []
    for each in (registry.get(definition.name) for definition in registry):
        told = each.description.partition(' Said as: ')[0]
        lines.append(
            (
                f'`{each.name}`',
                ', '.join(each.arguments.model_fields) or '-',
                ', '.join(each.definition.resources_required) or '-',
                f'{each.settings.timeout_s:g}',
                each.settings.risk.value,
                f'{told} As a task only.' if each.name in TASK_ONLY_SKILLS else told,
            )
        )
    return table(('skill', 'arguments', 'holds', 'timeout, s', 'risk', 'for the model'), lines)


def _keys(model: type[BaseModel], values: Any, said: Mapping[str, str]) -> str:
    schema = model.model_json_schema(schema_generator=Schema)
    lines = _section(schema, schema.get('$defs', {}), '', values, said)
    return table(('key', 'default', 'may be', ''), lines)


def comments(text: str) -> dict[str, str]:
    """What a YAML text says of each of its keys, behind it and in lines that go on below that."""
    found: dict[str, str] = {}
    path: list[str] = []
    key, column = '', -1
    for line in text.splitlines():
        at = re.search(r'(?<!\S)#', line)
        code, comment = (line[: at.start()], line[at.end() :].strip()) if at else (line, '')
        if named := re.match(r'( *)(\w+):', code):
            path[len(named[1]) // 2 :] = [named[2]]
            key, column = '.'.join(path), at.start() if at else -1
            found[key] = comment
        elif at and not code.strip() and at.start() == column:
            found[key] += f' {comment}'
    return found


def _section(
    schema: Any, types: Any, path: str, values: Any, said: Mapping[str, str]
) -> Iterator[tuple[str, ...]]:
    for name, field in schema['properties'].items():
        default = field.get('default', DEFAULTS.get(field.get('type')))
        default = OPTIONAL if default is None else default
        if name in schema.get('required', ()):
            default = REQUIRED
        value = values.get(name, default) if isinstance(values, dict) else default
        yield from _key(field, types, f'{path}{name}', value, said)
    if isinstance(others := schema.get('additionalProperties'), dict):
        yield from _key(others, types, f'{path}<any other>', OPTIONAL, said)


def _key(
    field: Any, types: Any, key: str, value: Any, said: Mapping[str, str]
) -> Iterator[tuple[str, ...]]:
    field = _resolved(field, types)
    comment = said.get(key, '')
    for below, what, inside in (
        ('', 'keys', field),
        ('.<name>', 'any names, each with keys', _values_of(field)),
        ('[]', 'list of keys', field.get('items')),
    ):
        section = _resolved(inside, types) if isinstance(inside, dict) else {}
        if 'properties' not in section:
            continue
        if section['properties'].get('kind', {}).get('const') == 'service':
            kind = kind_of(section['properties']['type'], types)
            yield (
                f'`{key}`',
                _shown(value['name']),
                f'service with its `name`, of type {kind}',
                comment,
            )
            return
        says = comment or ' '.join(section.get('description', '').split()).replace('``', '`')
        if says or below:
            yield f'`{key}`', '', what, says
        yield from _section(section, types, f'{key}{below}.', {} if below else value, said)
        return
    yield f'`{key}`', _shown(value), kind_of(field, types), comment


def _resolved(field: Any, types: Any) -> Any:
    """Without references, and without the null of a key that may be left out."""
    given = [each for each in field.get('anyOf', ()) if each.get('type') != 'null']
    field = given[0] if len(given) == 1 else field
    if '$ref' in field:
        return types[field['$ref'].rpartition('/')[2]]
    return field


def _values_of(field: Any) -> Any:
    """What a mapping has as its values."""
    return next(
        iter(field.get('patternProperties', {}).values()), field.get('additionalProperties')
    )


def kind_of(field: Any, types: Any) -> str:
    """What a value may be, in words."""
    field = _resolved(field, types)
    if 'words' in field:
        return str(field['words'])
    if 'anyOf' in field:
        given = [each for each in field['anyOf'] if each.get('type') != 'null']
        return ' or '.join(dict.fromkeys(kind_of(each, types) for each in given))
    values = field.get('enum', [field['const']] if 'const' in field else [])
    if values:
        return ' or '.join(_shown(each) for each in values)
    kind = field.get('format') or PLAIN.get(field['type'], field['type'])
    if kind == 'array':
        kind = f'list of {kind_of(field["items"], types)}'
    elif kind == 'object':
        kind = f'any names, each with: {kind_of(_values_of(field), types)}'
    limits = [words.format(field[key]) for key, words in BOUNDS.items() if key in field]
    return ', '.join([kind, *limits]).replace(', to ', ' to ')


def _shown(value: Any) -> str:
    if value in (REQUIRED, OPTIONAL):
        return 'required' if value is REQUIRED else ''
    text = json.dumps(value, ensure_ascii=False)
    text = text if text == '""' else text.replace('"', '')
    return f'`{text}`' if len(text) <= LONGEST else 'see the file'


def table(head: Iterable[str], lines: Iterable[Iterable[str]]) -> str:
    cells = [list(head), *([each.replace('|', '\\|') for each in line] for line in lines)]
    cells.insert(1, ['---'] * len(cells[0]))
    return '\n'.join(f'| {" | ".join(line)} |' for line in cells)


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in tables().items():
        (FOLDER / f'{name}.md').write_text(f'{text}\n', encoding='utf-8')


if __name__ == '__main__':
    main()
