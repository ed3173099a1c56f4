"""The nine tools as LangChain knows them: names, descriptions with costs, checked arguments."""

from __future__ import annotations

from collections.abc import Callable

from langchain_core.tools import BaseTool, StructuredTool

from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.infra.config_models import Config
from curiosity_rosa_demo.tools.arguments import arguments_of
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
