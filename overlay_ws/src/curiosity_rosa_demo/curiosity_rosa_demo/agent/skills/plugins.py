# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""How a skill is made: of a Python function, and of other packages' entry points.

An entry point of the group ``curiosity_rosa.skills`` is a Skill, or a function that makes one from
the Config.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
import inspect
from typing import Annotated, Any, get_type_hints

from curiosity_rosa_demo.agent.skills.skill import BadSkill, Skill
from curiosity_rosa_demo.domain.models import json_object, ToolResult
from curiosity_rosa_demo.infra.config.behaviour import SkillSettings
from pydantic import (
    BaseModel,
    ConfigDict,
    create_model,
    Field,
    model_validator,
    ModelWrapValidatorHandler,
)
from pydantic.errors import PydanticUserError

ENTRY_POINT_GROUP = 'curiosity_rosa.skills'
CALL_NAME = 'call'  # the first parameter: a SkillCall, not an argument
# keywords of the functions that pass the arguments on
RESERVED_PARAMETERS = ('name', 'cancellation', 'arguments')


def skill_of(
    function: Callable[..., ToolResult],
    settings: SkillSettings,
    *,
    at_most: Mapping[str, float] | None = None,
) -> Skill:
    """Make a skill of ``function(call, ...)``. The skill has the name of the function.

    The signature gives the arguments, and the first paragraph of the docstring is the description
    for the model. ``Annotated[float, Field(gt=0.0, description='seconds')]`` gives an argument
    limits and a description; ``at_most`` gives upper limits from the configuration. A boolean is
    not a number. Raises BadSkill.
    """
    name, text = function.__name__, inspect.getdoc(function) or ''
    arguments = _arguments_model(function, dict(at_most or {}))
    description = ' '.join(text.split('\n\n')[0].split())
    if not description:
        raise BadSkill(f'Skill {name!r} has no docstring: it tells the model its use')
    return Skill(name, function, arguments, description, settings)


class Arguments(BaseModel):
    """Base of all argument models: JSON values only, no unknown keys, no boolean for a number."""

    model_config = ConfigDict(extra='forbid', allow_inf_nan=False)

    @model_validator(mode='wrap')
    @classmethod
    def _is_exact(cls, data: Any, handler: ModelWrapValidatorHandler[Arguments]) -> Arguments:
        if not isinstance(data, dict):
            return handler(data)
        try:
            json_object(data)
        except TypeError as error:  # such as a set, from a caller in Python
            raise ValueError(f'not JSON: {error}') from None
        checked = handler(data)
        for name, taken in checked:
            if _is_boolean_for_number(data.get(name), taken):
                raise ValueError(f'{name}: a boolean is no number')
        return checked


def _is_boolean_for_number(given: Any, taken: Any) -> bool:
    """Whether a number was ``taken`` for a boolean that was ``given``, at any depth."""
    if isinstance(given, dict) and isinstance(taken, dict):
        return any(_is_boolean_for_number(given.get(key), taken[key]) for key in taken)
    if isinstance(given, list) and isinstance(taken, (list, tuple)):
        return any(map(_is_boolean_for_number, given, taken))
    return isinstance(given, bool) and not isinstance(taken, bool)


def _arguments_model(function: Callable[..., Any], limits: dict[str, float]) -> type[BaseModel]:
    """The model that checks the arguments. The language model sees its JSON schema."""
    name = function.__name__
    parameters = list(inspect.signature(function).parameters.values())
    if not parameters or parameters[0].name != CALL_NAME:
        raise BadSkill(
            f'Skill {name!r} must take {CALL_NAME!r} first: def {name}({CALL_NAME}: SkillCall)'
        )
    try:
        hints = get_type_hints(function, include_extras=True)
    except Exception as error:  # evaluating a type annotation may raise anything
        raise BadSkill(
            f'Skill {name!r} has a type that cannot be found ({error}); '
            'types of arguments are names of its module'
        ) from None
    fields: dict[str, Any] = {}
    for parameter in parameters[1:]:
        if problem := _parameter_problem(parameter, hints):
            raise BadSkill(f'Skill {name!r}: its argument {parameter.name!r} {problem}')
        most, kind = limits.pop(parameter.name, None), hints[parameter.name]
        kind = kind if most is None else Annotated[kind, Field(le=most)]
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[parameter.name] = (kind, default)
    if limits:
        raise BadSkill(f'Skill {name!r} limits what it does not take: {", ".join(limits)}')
    try:
        model: type[BaseModel] = create_model(f'{name}_arguments', __base__=Arguments, **fields)
        model.model_json_schema()
    except (PydanticUserError, TypeError) as error:
        why = str(error).splitlines()[0]
        raise BadSkill(f'Skill {name!r} has an argument that JSON cannot carry: {why}') from None
    return model


def _parameter_problem(parameter: inspect.Parameter, hints: Mapping[str, Any]) -> str:
    name = parameter.name
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        return 'takes any number of values; a skill names each argument'
    if parameter.kind is parameter.POSITIONAL_ONLY:
        return 'can only be passed by position; arguments come by name'
    if name not in hints:
        return f'has no type; write {name}: float, or whatever it is'
    if name in RESERVED_PARAMETERS or name.startswith(('_', 'model_')) or hasattr(BaseModel, name):
        return 'has a name that is taken; give it another'
    return ''
