"""What arguments each tool takes, for whoever calls it."""

from __future__ import annotations

from typing import Annotated

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    create_model,
)
from pydantic_core import PydanticCustomError

from curiosity_rosa_demo.infra.config_models import Config
from curiosity_rosa_demo.tools.rover_tools import MOTIONS

MAX_SHOWN = 200  # characters of what a model can make as long as it likes


def _no_boolean(value: object) -> object:
    if isinstance(value, bool):
        raise PydanticCustomError('not_a_number', 'Input should be a valid number')
    return value


Duration = Annotated[float, BeforeValidator(_no_boolean)]


class NoArguments(BaseModel):
    model_config = ConfigDict(extra='forbid')


def arguments_of(name: str, config: Config) -> type[BaseModel]:
    """The schema of a tool's arguments, as the model sees it and as calls are checked."""
    if name not in MOTIONS:
        return NoArguments
    longest = config.agent.turn.max_motion_s
    duration = Field(gt=0.0, le=longest, description=f'seconds, at most {longest:g}')
    return create_model(
        f'{name}_arguments',
        __config__=ConfigDict(extra='forbid', allow_inf_nan=False),
        duration_s=(Duration, duration),
    )


def in_words(error: ValidationError, schema: type[BaseModel]) -> str:
    """What is wrong with the arguments, and which ones there are."""
    first = error.errors(include_url=False, include_input=False)[0]
    where = '.'.join(str(part) for part in first['loc']) or 'arguments'
    takes = ', '.join(schema.model_fields) or 'none'
    return f'{shown(where)}: {first["msg"]}; it takes: {takes}'


def shown(text: str) -> str:
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 3] + '...'
