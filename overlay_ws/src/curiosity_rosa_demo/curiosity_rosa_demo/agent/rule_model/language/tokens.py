# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The tokens of a sentence. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from curiosity_rosa_demo.agent.rule_model.language.lexicon import Meaning

UNKNOWN: Meaning = ('UNKNOWN',)


@dataclass(frozen=True)
class Token:
    """``text`` as folded, ``meanings`` in the order of the lexicon, ``value`` of a quantity."""

    text: str
    meanings: tuple[Meaning, ...]
    value: float = 0.0
    y: float = 0.0  # of a place, whose ``value`` is its x

    def can_be(self, tag: str) -> bool:
        return any(tag in meaning for meaning in self.meanings)

    def tag_with(self, prefix: str) -> str:
        """The tag that begins with ``prefix``; '' for none."""
        for meaning in self.meanings:
            for tag in meaning:
                if tag.startswith(prefix):
                    return tag
        return ''


@dataclass(frozen=True)
class Words:
    """The tokens of a ``text``. ``sayings``: the words to speak, as given, by their index."""

    tokens: tuple[Token, ...]
    text: str = ''
    sayings: tuple[str, ...] = ()
