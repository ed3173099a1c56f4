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

from curiosity_rosa_demo.domain.text import one_line
from prompt_toolkit.utils import get_cwidth


def columns_of(text: str) -> int:
    """Chinese and Japanese take two columns a letter."""
    return get_cwidth(text)


def first_columns(text: str, columns: int) -> str:
    """The longest beginning of ``text`` that is no wider than ``columns``."""
    widths = accumulate(map(get_cwidth, text))
    return text[: sum(1 for _ in takewhile(lambda width: width <= columns, widths))]


def clip_columns(text: str, columns: int) -> str:
    """``text`` in one line of at most so many columns; three dots stand for what is left out."""
    text = one_line(text)
    return text if columns_of(text) <= columns else f'{first_columns(text, columns - 3)}...'
