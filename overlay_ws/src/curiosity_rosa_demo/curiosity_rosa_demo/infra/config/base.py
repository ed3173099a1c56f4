# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Base class, field types and errors of the YAML contracts."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

RULE = 'rule_between_keys'  # pydantic error type: two keys contradict each other


class Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra='forbid', allow_inf_nan=False, strict=True)


def rule_error(key: str, value: object, rule: str, *, file: str = '') -> PydanticCustomError:
    """Make the error for a ``key`` whose value contradicts another key. ``rule``: the way out."""
    return PydanticCustomError(
        RULE, '{rule}', {'key': key, 'value': value, 'rule': rule, 'file': file}
    )


def ros_name(value: str) -> str:
    """Return ``value`` if it is a valid ROS name. Raises ValueError."""
    if len(value) > 200 or not re.fullmatch(r'/?[A-Za-z_]\w*(/[A-Za-z_]\w*)*', value, re.ASCII):
        raise ValueError(
            'not a ROS name: letters, digits and _, not a digit first, parts joined by /, at most '
            '200 characters, e.g. /capture/image'
        )
    return value


def optional_ros_name(value: str) -> str:
    return ros_name(value) if value else value


def _frame_name(value: str) -> str:
    if not re.fullmatch(r'/?[^/\s]+(/[^/\s]+)*', value):
        raise ValueError('not a frame name: no spaces, not empty, e.g. base_footprint')
    return value


FileName = Annotated[str, Field(pattern=r'^[A-Za-z0-9_]{1,60}$')]
Name = Annotated[str, AfterValidator(ros_name)]
OptionalName = Annotated[str, AfterValidator(optional_ros_name)]
Frame = Annotated[str, AfterValidator(_frame_name)]
Seconds = Annotated[float, Field(gt=0.0, le=3600.0)]
Metres = Annotated[float, Field(ge=-1e6, le=1e6)]
Radians = Annotated[float, Field(ge=-100.0, le=100.0)]
Fraction = Annotated[float, Field(ge=0.0, le=1.0)]


def below(namespace: str, name: str) -> str:
    """Put ``name`` into ``namespace``; an empty namespace, or name, leaves it
    unchanged.
    """
    namespace = namespace.strip('/')
    return f'/{namespace}/{name.lstrip("/")}' if namespace and name else name
