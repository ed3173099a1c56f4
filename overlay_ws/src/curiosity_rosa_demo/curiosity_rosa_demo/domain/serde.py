# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Converts domain models to JSON text and back, exactly for every value that a model accepts; and
reads JSON of which no model is known.
"""

from __future__ import annotations

import json
from typing import Any, TypeVar

from curiosity_rosa_demo.domain.models import Model
from pydantic import ValidationError

M = TypeVar('M', bound=Model)


class SerdeError(ValueError):
    """The text is not JSON, or not JSON of this model. The message gives the place and reason."""


def to_json(model: Model) -> str:
    """One line of JSON."""
    return model.model_dump_json()


def from_json(cls: type[M], text: str | bytes) -> M:
    """The model in ``text``. Raises SerdeError."""
    try:
        return cls.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = '.'.join(str(part) for part in first['loc']) or 'text'
        raise SerdeError(f'{cls.__name__}: {where}: {first["msg"]}') from error


def read_object(text: str | bytes) -> dict[str, Any]:
    """The JSON object in ``text``, with None for NaN and infinity; empty if it is none."""
    try:
        value = json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError):  # RecursionError: nested too deeply
        return {}
    return value if isinstance(value, dict) else {}
