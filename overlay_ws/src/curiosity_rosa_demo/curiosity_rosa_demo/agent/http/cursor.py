"""Where a list of tasks goes on: opaque to clients, the ``seq`` of the last task shown. Pure."""

from __future__ import annotations

import base64
import binascii
import re

LONGEST = 40


def encode(seq: int) -> str:
    return base64.urlsafe_b64encode(f'after {seq}'.encode()).decode().rstrip('=')


def decode(cursor: str) -> int:
    """Raises ValueError for what encode() never made."""
    if cursor and len(cursor) <= LONGEST:
        padding = '=' * (-len(cursor) % 4)
        try:
            text = base64.b64decode(cursor + padding, altchars=b'-_', validate=True).decode()
        except (binascii.Error, ValueError):
            text = ''
        if found := re.fullmatch(r'after (0|-?[1-9][0-9]{0,18})', text, re.ASCII):
            seq = int(found[1])
            if encode(seq) == cursor:
                return seq
    raise ValueError(f'{cursor[:LONGEST]!r} is no cursor; take it from the Link header of a list')
