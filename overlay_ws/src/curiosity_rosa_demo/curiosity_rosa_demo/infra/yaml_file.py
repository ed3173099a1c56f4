# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The one reader of YAML. It refuses a key that stands twice, of which YAML libraries silently
take the last.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from curiosity_rosa_demo.domain.text import clip, one_line
import yaml

LOADER: Any = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)  # libyaml is much faster


class YamlError(Exception):
    """Text that is not YAML, or a file that cannot be read."""


def read_yaml(path: Path) -> Any:
    """The value in the file. Raises YamlError, which names the file, and FileNotFoundError."""
    try:
        return parse_yaml(path.read_text(encoding='utf-8'))
    except FileNotFoundError:
        raise
    except (OSError, UnicodeDecodeError) as error:
        raise YamlError(f'{path}: cannot be read: {error}') from error
    except YamlError as error:
        raise YamlError(f'{path}: {error}') from error.__cause__


def parse_yaml(text: str) -> Any:
    """The value that ``text`` describes; None if it describes none. Raises YamlError."""
    try:
        loader = LOADER(text)
        try:
            root = loader.get_single_node()
            if root is None:
                return None
            _refuse_repeated_keys(root)
            return loader.construct_document(root)
        finally:
            loader.dispose()
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: date 2026-13-01
        raise YamlError(f'not YAML: {one_line(str(error))}') from error


def _refuse_repeated_keys(root: yaml.Node) -> None:
    waiting: list[tuple[list[str], yaml.Node]] = [([], root)]
    seen: set[int] = set()  # an alias may lead back
    while waiting:
        path, node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            waiting += [([*path, str(index)], each) for index, each in enumerate(node.value)]
        elif isinstance(node, yaml.MappingNode):
            lines: dict[tuple[str, str], int] = {}
            for key, value in node.value:
                if not isinstance(key, yaml.ScalarNode):
                    continue  # refused later: a mapping or a list is no key
                keys, line = [*path, key.value], key.start_mark.line + 1
                if (first := lines.get((key.tag, key.value))) is not None:
                    name = clip(one_line('.'.join(keys)), 80)
                    raise YamlError(f'{name}: this key stands twice, in lines {first} and {line}')
                lines[key.tag, key.value] = line
                waiting.append((keys, value))
