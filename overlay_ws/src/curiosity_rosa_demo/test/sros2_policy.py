# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""An SROS2 policy file (version 0.2.0) as a set of what it allows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
import xml.etree.ElementTree as ElementTree

from harness import ROOT

FOLDER = ROOT / 'docker/sros2'
OVERLAY, ROVER = FOLDER / 'overlay.policy.xml', FOLDER / 'stand_in.policy.xml'
KINDS = {
    'topics': ('publish', 'subscribe'),
    'services': ('reply', 'request'),
    'actions': ('execute', 'call'),
}


@dataclass(frozen=True, order=True)
class Grant:
    enclave: str
    node: str  # its full name
    kind: str  # publish, subscribe, reply, request, execute, call
    name: str


def grants(text: str) -> list[Grant]:
    """Raises ValueError for what is no policy that only allows."""
    root = ElementTree.fromstring(text)
    if root.tag != 'policy' or root.get('version') != '0.2.0':
        raise ValueError('not a policy of version 0.2.0')
    return [
        grant
        for enclave in root.findall('enclaves/enclave')
        for profile in enclave.findall('profiles/profile')
        for grant in _of(profile, enclave.attrib['path'])
    ]


def read(path: Path) -> list[Grant]:
    return grants(path.read_text(encoding='utf-8'))


def _of(profile: ElementTree.Element, enclave: str) -> Iterator[Grant]:
    space = profile.attrib['ns'].rstrip('/')
    node = f'{space}/{profile.attrib["node"]}'
    for group in profile:
        for kind, rule in group.attrib.items():
            if kind not in KINDS[group.tag] or rule != 'ALLOW':
                raise ValueError(f'{enclave}, {node}: <{group.tag} {kind}="{rule}">')
            for each in group:
                if f'{each.tag}s' != group.tag:
                    raise ValueError(f'{enclave}, {node}: <{each.tag}> in <{group.tag}>')
                yield Grant(enclave, node, kind, _full(each.text or '', space, node))


def _full(name: str, space: str, node: str) -> str:
    if name.startswith('/'):
        return name
    return f'{node}{name[1:]}' if name.startswith('~') else f'{space}/{name}'
