# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Compose files as docker compose reads them, as far as ours need it: variables, and one file on
top of another (https://github.com/compose-spec/compose-spec/blob/main/13-merge.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
import re
from typing import Any

import yaml

# A default may itself hold one variable, as in ${A:-${B:?words}}.
VARIABLE = re.compile(r'\$(?:(\$)|\{(\w+)(?:(:[-?])((?:\$\{[^}]*\}|[^}])*))?\}|(\w+))')


def load(path: Path, variables: Mapping[str, str]) -> dict[str, Any]:
    """Raises KeyError, with the file's own words, for a variable that it needs."""

    def value(match: re.Match[str]) -> str:
        dollar, name, kind, words, bare = match.groups()
        found = variables.get(name or bare, '')
        if dollar:
            return '$'
        if kind == ':?' and not found:
            raise KeyError(words)
        return found or (VARIABLE.sub(value, words) if kind == ':-' else '')

    def filled(node: Any) -> Any:
        if isinstance(node, dict):
            return {key: filled(each) for key, each in node.items()}
        if isinstance(node, list):
            return [filled(each) for each in node]
        return VARIABLE.sub(value, node) if isinstance(node, str) else node

    whole: dict[str, Any] = filled(yaml.safe_load(path.read_text()))
    return whole


def merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    services = dict(base['services'])
    for name, service in over['services'].items():
        services[name] = _merged_service(services.get(name, {}), service)
    return {**base, **over, 'services': services}


def _merged_service(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    merged = {**base, **over}
    merged['environment'] = {**_mapping(base), **_mapping(over)}
    merged['build'] = {**base.get('build', {}), **over.get('build', {})}
    mounts = [*base.get('volumes', []), *over.get('volumes', [])]
    merged['volumes'] = {_mount(each)['target']: _mount(each) for each in mounts}
    return merged


def _mapping(service: dict[str, Any]) -> dict[str, str | None]:
    environment = service.get('environment', {})
    if isinstance(environment, dict):
        return dict(environment)
    pairs = (each.partition('=') for each in environment)
    return {name: text if sign else None for name, sign, text in pairs}


def _mount(mount: str | dict[str, Any]) -> dict[str, Any]:
    if isinstance(mount, dict):
        return mount
    source, target, *mode = mount.split(':')
    kind = 'bind' if source.startswith(('/', '.')) else 'volume'
    return {'type': kind, 'source': source, 'target': target, 'read_only': mode == ['ro']}
