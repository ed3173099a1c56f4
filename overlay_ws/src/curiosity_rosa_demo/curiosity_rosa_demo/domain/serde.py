"""Domain models to JSON text and back. Exact for every value a model accepts."""

from __future__ import annotations

from typing import TypeVar

from pydantic import ValidationError

from curiosity_rosa_demo.domain.models import Model

M = TypeVar('M', bound=Model)


class SerdeError(ValueError):
    """The text is not JSON, or is JSON of something else; the message says where and why."""


def to_json(model: Model) -> str:
    """One line of JSON."""
    return model.model_dump_json()


def from_json(cls: type[M], text: str | bytes) -> M:
    """The model that ``text`` holds. Raises SerdeError."""
    try:
        return cls.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = '.'.join(str(part) for part in first['loc']) or 'text'
        raise SerdeError(f'{cls.__name__}: {where}: {first["msg"]}') from error
