"""Wrong arguments in words, for whoever calls a skill."""

from __future__ import annotations

from pydantic import BaseModel, ValidationError

MAX_SHOWN = 200  # characters of what a model can make as long as it likes


def in_words(error: ValidationError, schema: type[BaseModel]) -> str:
    """What is wrong with the arguments, and which ones there are."""
    first = error.errors(include_url=False, include_input=False)[0]
    where = '.'.join(str(part) for part in first['loc']) or 'arguments'
    takes = ', '.join(schema.model_fields) or 'none'
    return f'{shown(where)}: {shown(first["msg"])}; it takes: {takes}'


def shown(text: str) -> str:
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 3] + '...'
