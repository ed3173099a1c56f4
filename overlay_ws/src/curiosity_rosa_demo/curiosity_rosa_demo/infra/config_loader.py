# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Load the YAML contracts as typed configuration. Errors name the file, the key and the fix."""

from __future__ import annotations

from difflib import get_close_matches
import os
from pathlib import Path
from typing import Any, get_args, get_origin

from curiosity_rosa_demo.domain.text import clip
from curiosity_rosa_demo.infra.config.agent import AgentConfig, below_own_texts, Prompts, ToolCosts
from curiosity_rosa_demo.infra.config.base import read_yaml, RULE, with_our_names, YamlError
from curiosity_rosa_demo.infra.config.guardrails import Guardrails, Skills
from curiosity_rosa_demo.infra.config.robot import RobotProfile
from curiosity_rosa_demo.infra.config.thresholds import Thresholds
from curiosity_rosa_demo.infra.config.topics import Config, Nodes, Topics
from curiosity_rosa_demo.infra.config.triggers import TriggersConfig
from curiosity_rosa_demo.infra.config.world import WorldView
from pydantic import BaseModel, ValidationError

CONFIG_FILES: dict[str, type[BaseModel]] = {
    'topics': Topics,
    'thresholds': Thresholds,
    'tool_costs': ToolCosts,
    'prompts': Prompts,
    'agent': AgentConfig,
    'guardrails': Guardrails,
    'skills': Skills,
    'nodes': Nodes,
    'triggers': TriggersConfig,
}

ROBOTS = 'robots'  # folder of the profiles, in the shipped folder and in a config_dir
WORLD_FILES = (
    'world_view',
    'companion',
    'stationary',
)  # the shipped ones; a config_dir may add others


class ConfigError(Exception):
    """An invalid contract. The message names file, key path, value and allowed values."""


def shipped_config_dir() -> Path:
    """Folder of the YAML files of this package, in the source tree or in the install space."""
    source_dir = Path(__file__).resolve().parents[2] / 'config'
    if source_dir.is_dir():
        return source_dir
    from ament_index_python.packages import get_package_share_directory

    return Path(get_package_share_directory('curiosity_rosa_demo'), 'config')


def load_config(config_dir: str | Path = '', *, robot: str = '') -> Config:
    """Load the contracts in ``config_dir``; an empty string selects the shipped ones.

    ``robot`` names a profile instead of nodes.yaml. A missing file and a key that a file omits get
    the shipped values. Raises ConfigError.
    """
    shipped = shipped_config_dir()
    folder = Path(config_dir) if str(config_dir) else shipped
    if not folder.is_dir():
        raise ConfigError(f'config_dir: {folder}: no such folder; the shipped one is {shipped}')
    _refuse_misnamed_files(folder)
    nodes = _load_file(folder, 'nodes')
    assert isinstance(nodes, Nodes)
    if robot:
        nodes = nodes.model_copy(update={'robot': robot})
    profile = load_robot(nodes.robot, folder)
    parts: dict[str, Any] = {
        name: nodes if name == 'nodes' else _load_file(folder, name, profile, nodes.robot)
        for name in CONFIG_FILES
    }
    parts['robot'] = profile
    agent = parts['agent']
    assert isinstance(agent, AgentConfig)
    parts['world'] = load_world(profile.world_view or agent.policy.world_view, folder)
    try:
        return Config.model_validate(parts)
    except ValidationError as error:
        raise ConfigError(_error_text(folder, error, Config)) from error


def _refuse_misnamed_files(folder: Path) -> None:
    """A wrong folder or file name shall not select the shipped values."""
    files = [*sorted(folder.glob('*.y*ml')), *folder.glob(f'{ROBOTS}/*.yaml')]
    if not files:
        raise ConfigError(
            f'config_dir: {folder}: holds no YAML files; the shipped ones are in '
            f'{shipped_config_dir()}'
        )
    names = {file.name for file in files}
    missing = [name for name in CONFIG_FILES if f'{name}.yaml' not in names]
    for file in files:
        if file.parent == folder and (meant := get_close_matches(file.stem, missing, 1, 0.8)):
            raise ConfigError(f'{file}: nobody reads this file; rename it to {meant[0]}.yaml')


def load_robot(name: str, folder: Path) -> RobotProfile:
    """Load the profile robots/``name``.yaml of ``folder``, or the shipped one of that name. Raises
    ConfigError.
    """
    path = _robot_path(name, folder)
    if not path.is_file():
        known = ', '.join(sorted(shipped_profiles()))
        raise ConfigError(
            f'{folder / "nodes.yaml"}: robot = {name!r}: there is no '
            f'{folder / ROBOTS / path.name}; write it, or take one of {known}'
        )
    try:
        return RobotProfile.model_validate(_read_yaml(path))
    except ValidationError as error:
        raise ConfigError(_error_text(path, error, RobotProfile)) from error


def _robot_path(name: str, folder: Path) -> Path:
    own, shipped = (root / ROBOTS / f'{name}.yaml' for root in (folder, shipped_config_dir()))
    return own if own.is_file() else shipped


def shipped_robots() -> dict[str, RobotProfile]:
    """The shipped profiles, by name."""
    folder = shipped_config_dir()
    return {name: load_robot(name, folder) for name in shipped_profiles()}


def shipped_profiles() -> list[str]:
    """The names of the shipped profiles."""
    return sorted(file.stem for file in (shipped_config_dir() / ROBOTS).glob('*.yaml'))


def load_world(name: str, folder: Path) -> WorldView:
    """Load the world view ``name``.yaml from ``folder``, merged over the shipped file of that
    name, if one exists. Raises ConfigError.
    """
    shipped = shipped_config_dir()
    own, base = folder / f'{name}.yaml', shipped / f'{name}.yaml'
    if not own.is_file():
        own = base
    if not own.is_file():
        raise ConfigError(
            f'{folder / "agent.yaml"}: policy.world_view = {name!r}: there is no '
            f'{folder / f"{name}.yaml"}; write it, or take {" or ".join(WORLD_FILES)}'
        )
    values = _read_yaml(own)
    if own != base and base.is_file():
        values = _merged(_read_yaml(base), values)
    try:
        return WorldView.model_validate(values)
    except ValidationError as error:
        raise ConfigError(_error_text(own, error, WorldView)) from error


def _load_file(
    folder: Path, name: str, profile: RobotProfile | None = None, robot: str = ''
) -> BaseModel:
    """The file with the shipped values below its own, and those of the robot's profile above."""
    path, shipped, model = folder / f'{name}.yaml', shipped_config_dir(), CONFIG_FILES[name]
    values = {}
    if path.name in os.listdir(folder):  # a link to nothing is an error
        values = with_our_names(path, _read_yaml(path))
    if folder != shipped:
        below = _read_yaml(shipped / f'{name}.yaml')
        values = _merged(below_own_texts(below, values) if name == 'prompts' else below, values)
    over = {} if profile is None else getattr(profile, name)
    try:
        return model.model_validate(_merged(values, over))
    except ValidationError as error:
        if _is_at_fault(over, error):
            path = _robot_path(robot, folder)
            raise ConfigError(_error_text(path, error, model, section=name)) from error
        raise ConfigError(_error_text(path, error, model)) from error


def _is_at_fault(values: object, error: ValidationError) -> bool:
    """Whether the value of the first error stands in ``values``."""
    if not (keys := _keys(error)):
        return False
    for part in keys:
        if not isinstance(values, dict) or part not in values:
            return False
        values = values[part]
    return True


def _keys(error: ValidationError) -> list[str]:
    first = error.errors(include_url=False)[0]
    keys = [part for part in first['loc'] if isinstance(part, str) and part != '[key]']
    return [*keys, *first['ctx']['key'].split('.')] if first['type'] == RULE else keys


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        values = read_yaml(path)
    except FileNotFoundError:
        raise ConfigError(f'{path}: no such file') from None
    except YamlError as error:
        raise ConfigError(str(error)) from error
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ConfigError(f'{path}: = {_short_value(values)}: must be keys with values')
    return values


def _merged(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    result = dict(base)
    for key, value in over.items():
        base_value = result.get(key)
        if not isinstance(base_value, dict):
            result[key] = value
        elif isinstance(value, dict):
            result[key] = _merged(base_value, value)
        elif value is not None:  # None: a section whose keys are all commented out
            result[key] = value
    return result


def _short_value(value: object) -> str:
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # integer of thousands of digits, recursive value
        return f'a {type(value).__name__} too large to show'
    return clip(text, 80)


def _error_text(
    path: Path, error: ValidationError, model: type[BaseModel], *, section: str = ''
) -> str:
    """Describe the first error: file, key path, value and allowed values. ``section``: the key of
    ``path`` under which the ``model`` stands.
    """
    first = error.errors(include_url=False)[0]
    loc, value = first['loc'], first['input']
    if loc and loc[-1] == '[key]':  # the name of the section is invalid, not its value
        loc = loc[:-2]
    keys = [*filter(None, [section]), *(str(part) for part in loc)]
    if first['type'] == RULE:
        rule = first['ctx']
        path, value = path / rule['file'], rule['value']
        keys.append(rule['key'])
    shown_value = '' if first['type'] == 'missing' else f' = {_short_value(value)}'
    return f'{path}: {".".join(keys)}{shown_value}: {_allowed(first, model)}'


def _allowed(error: Any, model: type[BaseModel]) -> str:
    """Describe the values that are allowed at the location of a validation error."""
    kind, loc = error['type'], error['loc']
    if kind == 'string_type' and isinstance(error['input'], (bool, int, float)):
        return 'must be text: write it in quotes'  # YAML parses on, no and 22:00 as bool or int
    if kind not in ('extra_forbidden', 'model_type'):
        return str(error['msg']).removeprefix('Value error, ')
    known = _keys_at(model, loc[:-1] if kind == 'extra_forbidden' else loc)
    if kind == 'model_type':
        return f'must be keys with values: {known}'
    return f'unknown key; allowed here: {known}'


def _keys_at(model: type[BaseModel], loc: tuple[int | str, ...]) -> str:
    section: Any = model
    for part in loc:
        if isinstance(part, int):  # index of a list item
            (section,) = get_args(section)
        elif get_origin(section) is dict:
            section = get_args(section)[1]
        else:
            section = section.model_fields[part].annotation
    return ', '.join(section.model_fields)
