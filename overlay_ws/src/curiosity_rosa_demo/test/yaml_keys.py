# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Every key of the YAML contracts, with what it may be, as rows of a table. Read off the models
that load the files, the files that ship, and their comments; nothing is written here a second
time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
import enum
import json
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, get_args, get_origin, get_type_hints, Literal, Union

import annotated_types
from curiosity_rosa_demo.domain import models
from curiosity_rosa_demo.infra.config import base, world
from curiosity_rosa_demo.infra.config.agent import checked_time_zone
from curiosity_rosa_demo.infra.config.topics import Service
from pydantic import AfterValidator, BaseModel, BeforeValidator, Strict
import yaml

WORDS: dict[Callable[..., Any], str] = {
    models.json_object: 'keys with JSON values',
    base.ros_name: 'ROS name',
    base.optional_ros_name: 'ROS name, or empty',
    base._frame_name: 'frame name',
    checked_time_zone: 'time zone',
    world._key: 'name',
    world._window: '`HH:MM-HH:MM`, or empty',
}
PLAIN = {bool: 'true or false', int: 'whole number', float: 'number', str: 'text', date: 'date'}
LONGEST = 60  # characters of a value that is shown
NULL = object()  # the value of a key that is null in the file
OPTIONAL = object()  # the default of a key that may be left out and has no value then


@dataclass(frozen=True)
class Row:
    key: str
    default: str
    kind: str
    says: str


def rows(model: type[BaseModel], shipped: Path | None) -> Iterator[Row]:
    """The keys of a file. ``shipped``: the file whose values are the defaults; None: what the
    model itself takes for a key that is left out.
    """
    text = shipped.read_text(encoding='utf-8') if shipped else ''
    yield from _section(model, (), yaml.safe_load(text), comments(text))


def comments(text: str) -> dict[tuple[str, ...], str]:
    """What a YAML text says of each of its keys, behind it and in lines that go on below that."""
    found: dict[tuple[str, ...], str] = {}
    lines = text.splitlines()

    def visit(node: yaml.Node | None, path: tuple[str, ...]) -> None:
        if not isinstance(node, yaml.MappingNode):
            return
        for key, value in node.value:
            own = (*path, key.value)
            inside = isinstance(value, yaml.CollectionNode) and not value.flow_style
            at = key.end_mark if inside or _is_block(value) else value.end_mark
            found[own] = _comment(lines, at.line, at.column)
            visit(value, own)

    visit(yaml.compose(text), ())
    return found


def _is_block(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.style in ('|', '>')


def _comment(lines: list[str], line: int, column: int) -> str:
    if line >= len(lines):
        return ''
    start = lines[line].find('#', column)
    if start < 0 or lines[line][column:start].strip(' :}],|>') != '':
        return ''
    parts = [lines[line][start:]]
    for below in lines[line + 1 :]:
        if below[:start].strip() or not below[start:].startswith('#'):
            break
        parts.append(below[start:])
    return ' '.join(part.lstrip('# ').rstrip() for part in parts)


def _section(
    model: type[BaseModel], path: tuple[str, ...], values: Any, said: Mapping[tuple[str, ...], str]
) -> Iterator[Row]:
    fields = {
        name: (field.annotation, tuple(field.metadata), None if field.is_required() else field)
        for name, field in model.model_fields.items()
    }
    for name, (annotation, metadata, field) in fields.items():
        value = values.get(name) if isinstance(values, dict) else None
        if value is None and field is not None:
            default = field.get_default(call_default_factory=True)
            value = OPTIONAL if default is None and _given(annotation) else default
        if isinstance(values, dict) and name in values and values[name] is None:
            value = NULL
        yield from _key((*path, name), annotation, metadata, value, said)
    extra = get_type_hints(model, include_extras=True).get('__pydantic_extra__')
    if get_origin(extra) is dict:
        yield from _key((*path, '<any other>'), get_args(extra)[1], (), OPTIONAL, said)


def _key(
    path: tuple[str, ...], annotation: Any, metadata: tuple[Any, ...], value: Any, said: Any
) -> Iterator[Row]:
    key, comment = '.'.join(path).replace('.[]', '[]'), said.get(path, '')
    entry, step = _entries(annotation)
    inner = entry if _is_section(entry) else annotation
    if not _is_section(inner):
        yield Row(key, _shown(value), kind(annotation, metadata), comment)
    elif issubclass(inner, Service):
        ros_type = get_args(inner.model_fields['type'].annotation)[0]
        yield Row(key, _shown(value), f'service with its `name`, of type `{ros_type}`', comment)
    else:
        says = comment or _docstring(inner)
        what = {'': 'keys', '<name>': 'any names, each with keys', '[]': 'list of keys'}[step]
        if says or step:
            yield Row(key, '', what, says)
        below = path if not step else (*path, step)
        yield from _section(inner, below, None if step else value, said)


def _entries(annotation: Any) -> tuple[Any, str]:
    """What a mapping or a list has as its values, and how that is written in a key's path."""
    if get_origin(annotation) is dict:
        return _bare(get_args(annotation)[1]), '<name>'
    if get_origin(annotation) is list:
        return _bare(get_args(annotation)[0]), '[]'
    return _bare(annotation), ''


def _bare(annotation: Any) -> Any:
    if get_origin(annotation) is Annotated:
        return get_args(annotation)[0]
    given = _given(annotation)
    return given[0] if len(given) == 1 else annotation


def _given(annotation: Any) -> list[Any]:
    """The types of a union without None; none for another type."""
    is_union = get_origin(annotation) in (Union, UnionType)
    return [each for each in get_args(annotation) if is_union and each is not NoneType]


def _is_section(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _docstring(model: type[BaseModel]) -> str:
    text = ' '.join((model.__dict__.get('__doc__') or '').split())
    return text.replace('``', '`')


def kind(annotation: Any, metadata: tuple[Any, ...] = ()) -> str:
    """What a value may be, in words. Raises LookupError for a type or a rule that has none."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return kind(arguments[0], (*arguments[1:], *metadata))
    for each in metadata:
        if isinstance(each, AfterValidator):
            return WORDS[each.func]
    if given := _given(annotation):
        return ' or '.join(dict.fromkeys(kind(each, metadata) for each in given))
    if origin is Literal:
        return _one_of(arguments)
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return _one_of([each.value for each in annotation])
    if origin is list:
        return f'list of {kind(arguments[0])}{_limits(metadata)}'
    if origin is dict:
        return f'any names, each with: {kind(arguments[1])}{_limits(metadata)}'
    return PLAIN[annotation] + _limits(metadata)


def _one_of(values: Sequence[Any]) -> str:
    shown = [json.dumps(each) if isinstance(each, bool) else each for each in values]
    *first, last = [f'`{each}`' if each != '' else '`""`' for each in shown]
    return f'{", ".join(first)} or {last}' if first else last


def _limits(metadata: tuple[Any, ...]) -> str:
    """The bounds, as in ``, from 0 to 1``."""
    parts = []
    for each in _flat(metadata):
        if isinstance(each, annotated_types.Gt):
            parts.append(f'above {_number(each.gt)}')
        elif isinstance(each, annotated_types.Ge):
            parts.append(f'from {_number(each.ge)}')
        elif isinstance(each, annotated_types.Le):
            parts.append(f'to {_number(each.le)}')
        elif isinstance(each, annotated_types.MaxLen):
            parts.append(f'at most {each.max_length} long')
        elif isinstance(each, annotated_types.MinLen):
            parts.append('not empty')
        elif getattr(each, 'pattern', None):
            parts.append(f'matches `{each.pattern}`')
        elif not isinstance(each, (BeforeValidator, Strict)):  # an enum's; how YAML writes it
            raise LookupError(f'no words for {each!r}')
    return ''.join(f', {part}' for part in parts).replace(', to ', ' to ')


def _number(value: Any) -> str:
    return str(int(value)) if float(value).is_integer() else f'{value:g}'


def _flat(metadata: tuple[Any, ...]) -> Iterator[Any]:
    for each in metadata:
        # Field(...) inside Annotated keeps its own metadata in one piece.
        yield from each.metadata if hasattr(each, 'metadata') else (each,)


def _shown(value: Any) -> str:
    if isinstance(value, Mapping) and 'kind' in value:
        value = value['name']
    if value is OPTIONAL:
        return ''
    if value is NULL:
        return '`null`'
    if value is None:
        return 'required'
    if isinstance(value, enum.Enum):
        value = value.value
    text = json.dumps(value, ensure_ascii=False)
    text = text if text == '""' else text.replace('"', '')
    return f'`{text}`' if len(text) <= LONGEST else 'see the file'
