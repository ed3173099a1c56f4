# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Concatenate ROS message definitions in the ros2msg format, which MCAP schemas use."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
import re

SEPARATOR_LINE = '=' * 80
PRIMITIVES = frozenset(
    {
        *('bool', 'byte', 'char', 'float32', 'float64', 'string', 'wstring'),
        *(f'{sign}int{bits}' for sign in ('', 'u') for bits in (8, 16, 32, 64)),
    }
)
_FIELD = re.compile(r'^\s*([A-Za-z][\w/]*)(?:<=\d+)?(?:\[[^\]]*\])?\s+[a-zA-Z]\w*')

ShareFolderOf = Callable[[str], str]  # package name to share folder; raises LookupError


class NoDefinition(Exception):
    """The definition of a message is not installed. The message names the type."""


def definition(type_name: str, share: ShareFolderOf | None = None) -> str:
    """The definition of ``type_name``, e.g. nav_msgs/msg/Odometry, followed by those of all types
    that it uses. Raises NoDefinition.
    """
    share = share or _installed
    package, _, name = type_name.partition('/msg/')
    parts = {f'{package}/{name}': _text(package, name, share)}
    todo = list(parts)
    while todo:
        part = todo.pop(0)
        for used in _used_types(part.partition('/')[0], parts[part]):
            if used not in parts:
                owner, _, name = used.partition('/')
                parts[used] = _text(owner, name, share)
                todo.append(used)
    first, *others = parts.items()
    return '\n'.join(
        [first[1], *(f'{SEPARATOR_LINE}\nMSG: {part}\n{text}' for part, text in others)]
    )


def _used_types(package: str, text: str) -> list[str]:
    """The message types of the fields, each as package/Name."""
    found = []
    for line in text.splitlines():
        field = _FIELD.match(line.partition('#')[0])
        if field is None or field[1] in PRIMITIVES:
            continue
        owner, _, name = field[1].replace('/msg/', '/').rpartition('/')
        found.append(f'{owner or package}/{name}')
    return found


def _text(package: str, name: str, share: ShareFolderOf) -> str:
    try:
        return Path(share(package), 'msg', f'{name}.msg').read_text(encoding='utf-8')
    except (LookupError, OSError, ValueError) as error:
        raise NoDefinition(f'{package}/msg/{name} cannot be described: {error}') from error


def _installed(package: str) -> str:
    from ament_index_python.packages import get_package_share_directory

    return get_package_share_directory(package)
