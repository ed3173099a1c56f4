# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The cursor of a list of tasks: the ``seq`` of its last task, opaque to clients. Pure."""

from __future__ import annotations

import base64
import binascii
import re

MAX_CURSOR_CHARS = 40


def encode(seq: int) -> str:
    return base64.urlsafe_b64encode(f'after {seq}'.encode()).decode().rstrip('=')


def decode(cursor: str) -> int:
    """The ``seq`` in ``cursor``. Raises ValueError if encode() did not make it."""
    if cursor and len(cursor) <= MAX_CURSOR_CHARS:
        padding = '=' * (-len(cursor) % 4)
        try:
            text = base64.b64decode(cursor + padding, altchars=b'-_', validate=True).decode()
        except (binascii.Error, ValueError):
            text = ''
        if found := re.fullmatch(r'after (0|-?[1-9][0-9]{0,18})', text, re.ASCII):
            seq = int(found[1])
            if encode(seq) == cursor:
                return seq
    raise ValueError(
        f'{cursor[:MAX_CURSOR_CHARS]!r} is no cursor; take it from the Link header of a list'
    )
