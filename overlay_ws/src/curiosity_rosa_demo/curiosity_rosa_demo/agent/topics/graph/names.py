# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Which name of the graph a question means. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

MAX_CANDIDATES = 5


class NotFound(Exception):
    """No name fits, or several do: ``candidates``, which may be empty."""

    def __init__(self, asked: str, candidates: Sequence[str]) -> None:
        super().__init__(asked)
        self.asked, self.candidates = asked, tuple(candidates[:MAX_CANDIDATES])


def resolve(asked: str, names: Iterable[str], aliases: Mapping[str, str] | None = None) -> str:
    """The name of ``names`` that ``asked`` means: the same, the same but for the first slash, the
    only one that ends in it, or the only one that contains it. Case does not count. Raises
    NotFound.
    """
    known = list(dict.fromkeys(names))
    asked = (aliases or {}).get(asked.lower(), asked)
    folded = asked.lower().strip('/')
    for fits in (
        lambda name: name == asked,
        lambda name: name.lower().strip('/') == folded,
        lambda name: name.lower().endswith(f'/{folded}'),
        lambda name: folded in name.lower(),
    ):
        found = [name for name in known if fits(name)]
        if len(found) == 1:
            return found[0]
        if found:
            raise NotFound(asked, found)
    raise NotFound(asked, [])
