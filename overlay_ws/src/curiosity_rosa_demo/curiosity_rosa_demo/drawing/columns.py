# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""How wide text is where every letter takes one column or two, and text cut to a width. Pure."""

from __future__ import annotations

from itertools import accumulate, takewhile

from curiosity_rosa_demo.domain.text import printable
from wcwidth import wcwidth


def columns_of(text: str) -> int:
    """Chinese and Japanese take two columns a letter."""
    return sum(map(_columns, text))


def clip_columns(text: str, columns: int) -> str:
    """``text`` printable, in one line of at most so many columns, 3 or more; three dots stand for
    what is left out.
    """
    text = printable(text[: 10 * columns + 100])
    if columns_of(text) <= columns:
        return text
    ends = takewhile(lambda width: width <= columns - 3, accumulate(map(_columns, text)))
    return f'{text[: sum(1 for _ in ends)].rstrip()}...'


def _columns(letter: str) -> int:
    return max(0, wcwidth(letter))  # -1: of a control character
