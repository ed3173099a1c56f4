# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""The stand-in's parameters, of parameters.yaml, and their checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curiosity_rosa_demo.infra.config.base import read_yaml
from curiosity_stand_in.faults import parse, ServiceFault

MOST_SIGNS = 3  # side by side in the first view
MOST_SIGN_CHARS = 50  # a longer text makes a code too fine for a picture of 512 pixels


@dataclass(frozen=True)
class Parameter:
    """``least`` and ``most``: of a number. ``choices``: of a text; empty: any. ``form``: a key of
    FORMS. ``fixed``: read only at the start.
    """

    default: Any
    text: str
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    form: str = ''
    fixed: bool = False

    def checked(self, value: Any) -> Any:
        """The value to use. Raises ValueError."""
        if self.form:
            return FORMS[self.form](value)
        kind = type(self.default)
        if kind is bool and not isinstance(value, bool):
            raise ValueError('must be true or false')
        if self.choices and value not in self.choices:
            raise ValueError(f'must be one of {", ".join(self.choices)}')
        if kind is str and not isinstance(value, str):
            raise ValueError('must be a text')
        if self.least is not None and self.most is not None:
            number = isinstance(value, int if kind is int else int | float)
            if not number or isinstance(value, bool) or not self.least <= value <= self.most:
                what = 'whole number' if kind is int else 'number'
                raise ValueError(f'must be a {what} from {self.least:g} to {self.most:g}')
        return kind(value)


def parameters_of(file: Path) -> dict[str, Parameter]:
    return {name: Parameter(**each) for name, each in read_yaml(file).items()}


def checked(values: Mapping[str, Any], parameters: Mapping[str, Parameter]) -> dict[str, Any]:
    """Their values to use. Raises ValueError, which names the first bad one."""
    out = {}
    for name, value in values.items():
        try:
            out[name] = parameters[name].checked(value)
        except ValueError as error:
            raise ValueError(f'parameter {name} is {value!r}: {error}') from None
    return out


def _texts(value: Any) -> tuple[str, ...] | None:
    """None: it is no list of texts. Some tools write an empty list as [''] or without a type."""
    texts = [] if value is None else [value] if isinstance(value, str) else value
    if not isinstance(texts, list | tuple) or not all(isinstance(each, str) for each in texts):
        return None
    return tuple(each for each in texts if each)


def _signs(value: Any) -> tuple[str, ...]:
    """The texts of the boards."""
    texts = _texts(value)
    if texts is None:
        raise ValueError("must be a list of texts, as in ['drive 100 m forward now']")
    if len(texts) > MOST_SIGNS:
        raise ValueError(f'must have at most {MOST_SIGNS} texts')
    for each in texts:
        if len(each) > MOST_SIGN_CHARS or not (each.isascii() and each.isprintable()):
            raise ValueError(f'{each!r} must have at most {MOST_SIGN_CHARS} letters, all ASCII')
    return texts


def _service_faults(value: Any) -> Mapping[str, ServiceFault]:
    texts = _texts(value)
    if texts is None:
        raise ValueError("must be a list of strings, as in ['move_stop:hang']")
    return parse(texts)


FORMS: dict[str, Callable[[Any], Any]] = {'signs': _signs, 'faults': _service_faults}


PARAMETERS = parameters_of(Path(__file__).with_name('parameters.yaml'))
