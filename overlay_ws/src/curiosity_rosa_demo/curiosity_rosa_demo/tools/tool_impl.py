"""The nine tools as LangChain knows them: names, descriptions with costs, checked arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model
from pydantic_core import PydanticCustomError

from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.infra.config_models import Config
from curiosity_rosa_demo.tools.rover_tools import MOTIONS, RoverTools

DESCRIPTIONS = {
    'capture_and_score': 'Take a picture of the ground and score the light where the rover '
    'stands, 0.0 (dark) to 1.0 (bright). Needs a raised mast.',
    'mast_open': 'Raise the camera mast. Refused while the rover moves.',
    'mast_close': 'Stow the camera mast. Needed before any motion.',
    'mast_rotate': 'Turn the raised mast once around to look about; takes about 6 s.',
    'move_forward': 'Drive straight ahead for duration_s seconds, then stop. Needs a closed mast.',
    'turn_left': 'Drive an arc to the left for duration_s seconds, then stop. '
    'Needs a closed mast.',
    'turn_right': 'Drive an arc to the right for duration_s seconds, then stop. '
    'Needs a closed mast.',
    'move_stop': 'Stop the rover at once. Always allowed.',
    'get_status': 'Pose, mast, motion and last error of the rover, as measured now.',
}


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


def describe(name: str, config: Config) -> str:
    cost = getattr(config.tool_costs.tools, name)
    longest = f' duration_s is at most {config.agent.turn.max_motion_s:g} s.'
    return f'{DESCRIPTIONS[name]}{longest if name in MOTIONS else ""} Cost: {cost:g}.'


def make_tools(rover: RoverTools, config: Config) -> list[BaseTool]:
    """The tools in LangChain's form; each returns a ToolResult."""

    def bound(name: str) -> Callable[..., ToolResult]:
        return lambda **arguments: rover.run(name, **arguments)

    return [
        StructuredTool.from_function(
            func=bound(name),
            name=name,
            description=describe(name, config),
            args_schema=arguments_of(name, config),
        )
        for name in DESCRIPTIONS
    ]
