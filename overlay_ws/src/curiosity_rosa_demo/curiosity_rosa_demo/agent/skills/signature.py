# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The argument model of a skill, from the signature of its Python function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
import inspect
from types import UnionType
from typing import Annotated, Any, get_args, get_origin, get_type_hints, Union

from curiosity_rosa_demo.agent.skills.errors import BadSkill
from curiosity_rosa_demo.domain.models import json_object
from pydantic import BaseModel, BeforeValidator, ConfigDict, create_model, Field, model_validator
from pydantic.errors import PydanticUserError
from pydantic_core import PydanticCustomError

CALL_NAME = 'call'  # the first parameter: a SkillCall, not an argument
# keywords of the functions that pass the arguments on
RESERVED_PARAMETERS = ('name', 'cancellation', 'arguments')


class Arguments(BaseModel):
    """Base of all argument models: JSON values only, no unknown keys."""

    model_config = ConfigDict(extra='forbid', allow_inf_nan=False)

    @model_validator(mode='before')
    @classmethod
    def _is_json(cls, data: Any) -> Any:
        if isinstance(data, dict):
            try:
                json_object(data)
            except TypeError as error:  # such as a set, from a caller in Python
                raise ValueError(f'not JSON: {error}') from None
        return data


def arguments_model(
    function: Callable[..., Any], *, at_most: Mapping[str, float] | None = None
) -> type[BaseModel]:
    """Make the model that checks the arguments of ``function(call, ...)``. The language model
    sees its JSON schema.

    ``Annotated[float, Field(gt=0.0, description='seconds')]`` gives limits and a description;
    ``at_most`` gives upper limits from the configuration. A boolean is not a number. Raises
    BadSkill.
    """
    name = function.__name__
    parameters = list(inspect.signature(function).parameters.values())
    if not parameters or parameters[0].name != CALL_NAME:
        raise BadSkill(
            f'Skill {name!r} must take {CALL_NAME!r} first: def {name}({CALL_NAME}: SkillCall)'
        )
    hints = _type_hints(function)
    limits = dict(at_most or {})
    fields = {
        parameter.name: _field(name, parameter, hints, limits.pop(parameter.name, None))
        for parameter in parameters[1:]
    }
    if limits:
        raise BadSkill(f'Skill {name!r} limits what it does not take: {", ".join(limits)}')
    try:
        model: type[BaseModel] = create_model(f'{name}_arguments', __base__=Arguments, **fields)
        model.model_json_schema()
    except (PydanticUserError, TypeError) as error:
        why = str(error).splitlines()[0]
        raise BadSkill(f'Skill {name!r} has an argument that JSON cannot carry: {why}') from None
    return model


def description_of(function: Callable[..., Any]) -> str:
    """The first paragraph of the docstring, as one line. The model sees it. Raises BadSkill."""
    text = inspect.getdoc(function) or ''
    first = ' '.join(text.split('\n\n')[0].split())
    if not first:
        raise BadSkill(f'Skill {function.__name__!r} has no docstring: it tells the model its use')
    return first


def _type_hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except Exception as error:  # evaluating a type annotation may raise anything
        raise BadSkill(
            f'Skill {function.__name__!r} has a type that cannot be found ({error}); '
            'types of arguments are names of its module'
        ) from None


def _field(
    skill: str, parameter: inspect.Parameter, hints: Mapping[str, Any], most: float | None
) -> Any:
    name = parameter.name
    problem = ''
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        problem = 'takes any number of values; a skill names each argument'
    elif parameter.kind is parameter.POSITIONAL_ONLY:
        problem = 'can only be passed by position; arguments come by name'
    elif name not in hints:
        problem = f'has no type; write {name}: float, or whatever it is'
    elif (
        name in RESERVED_PARAMETERS or name.startswith(('_', 'model_')) or hasattr(BaseModel, name)
    ):
        problem = 'has a name that is taken; give it another'
    if problem:
        raise BadSkill(f'Skill {skill!r}: its argument {name!r} {problem}')
    kind = hints[name] if most is None else Annotated[hints[name], Field(le=most)]
    return (_numbers(kind), ... if parameter.default is parameter.empty else parameter.default)


def _no_boolean(value: object) -> object:
    if isinstance(value, bool):
        raise PydanticCustomError('not_a_number', 'Input should be a valid number')
    return value


def _numbers(kind: Any) -> Any:
    """``kind`` with a check that rejects booleans in place of numbers, at every depth."""
    origin, args = get_origin(kind), get_args(kind)
    if kind in (int, float) or (origin is Annotated and args[0] in (int, float)):
        return Annotated[kind, BeforeValidator(_no_boolean)]  # outermost: the limits go inside
    if origin is Annotated:
        parts = (_numbers(args[0]), *kind.__metadata__)
        return Annotated[parts]
    if origin in (Union, UnionType) and bool not in args:
        return Union[tuple(_numbers(each) for each in args)]  # noqa: UP007
    if origin in (list, dict, tuple):
        return origin[tuple(each if each is Ellipsis else _numbers(each) for each in args)]
    return kind
