# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Load the YAML contracts as typed configuration. Errors name the file, the key and the fix."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from functools import reduce
from operator import getitem
import os
from pathlib import Path
from typing import Any

from curiosity_rosa_demo.domain.text import short_repr
from curiosity_rosa_demo.infra.config.agent import below_own_texts
from curiosity_rosa_demo.infra.config.base import ConfigError as ConfigError
from curiosity_rosa_demo.infra.config.base import read_yaml, RULE
from curiosity_rosa_demo.infra.config.robot import RobotProfile
from curiosity_rosa_demo.infra.config.topics import Config
from pydantic import ValidationError

# Each file is a section of Config; so are the robot's profile and the world view.
CONFIG_FILES = [name for name in Config.model_fields if name not in ('robot', 'world')]
ROBOTS = 'robots'  # folder of the profiles, in the shipped folder and in a config_dir
# The shipped ones; a config_dir may add others.
WORLD_FILES = ('world_view', 'companion', 'stationary')
WORLD_KEYS = ('agent', 'policy', 'world_view')
ABSENT = object()


def shipped_config_dir() -> Path:
    """Folder of the YAML files of this package, in the source tree or in the install space."""
    source_dir = Path(__file__).resolve().parents[2] / 'config'
    if source_dir.is_dir():
        return source_dir
    from ament_index_python.packages import get_package_share_directory

    return Path(get_package_share_directory('curiosity_rosa_demo'), 'config')


def load_config(
    config_dir: str | Path = '', *, robot: str = '', namespace: str = '', rover_namespace: str = ''
) -> Config:
    """Load the contracts in ``config_dir``; an empty string selects the shipped ones.

    ``robot`` names a profile instead of nodes.yaml. A missing file and a key that a file omits get
    the shipped values. The overlay's own names move into ``namespace``, the rover's into
    ``rover_namespace``; frames stay. Raises ConfigError.
    """
    shipped = shipped_config_dir()
    folder = Path(config_dir) if str(config_dir) else shipped
    if not folder.is_dir():
        raise ConfigError(f'config_dir: {folder}: no such folder; the shipped one is {shipped}')
    _refuse_misnamed_files(folder)
    files = {name: folder / f'{name}.yaml' for name in CONFIG_FILES}
    values = {name: _values(file) for name, file in files.items()}
    if robot:
        values['nodes']['robot'] = robot
    key, name = f'{files["nodes"]}: robot', values['nodes']['robot']
    folders = [folder / ROBOTS, shipped / ROBOTS]
    files['robot'] = _named_file(key, name, folders, shipped_profiles())
    profile = values['robot'] = _read_keys(files['robot'])
    values = _merged(values, {name: profile[name] for name in CONFIG_FILES if name in profile})
    key, name = f'{files["robot"]}: world_view', profile.get('world_view')
    if name is None:
        key, name = f'{files["agent"]}: policy.world_view', _at(values, WORLD_KEYS)
    if not isinstance(name, str):
        name = WORLD_FILES[0]  # the validation refuses the value
    files['world'] = _named_file(key, name, [folder, shipped], WORLD_FILES)
    values['world'] = _values(files['world'])
    try:
        return Config.model_validate(
            values, context={'namespace': namespace, 'rover_namespace': rover_namespace}
        )
    except ValidationError as error:
        keys, told = _first_error(error)
        if _at(profile, keys) is not ABSENT:
            file = files['robot']
        else:
            file, keys = files[str(keys[0])], keys[1:]
        raise ConfigError(f'{file}: {".".join(map(str, keys))}{told}') from error


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


def _named_file(key: str, name: object, folders: list[Path], known: Iterable[str]) -> Path:
    """The file that ``name``, the value of ``key``, selects in the first folder that has it."""
    for folder in folders:
        if (file := folder / f'{name}.yaml') in folder.glob('*.yaml'):
            return file
    raise ConfigError(
        f'{key} = {short_repr(name, 80)}: there is no {folders[0] / f"{name}.yaml"}; write it, or '
        f'take one of {", ".join(known)}'
    )


def shipped_profiles() -> list[str]:
    return sorted(file.stem for file in (shipped_config_dir() / ROBOTS).glob('*.yaml'))


def shipped_robots(rover_namespace: str = '') -> dict[str, RobotProfile]:
    """The shipped profiles by name, with the robots' names in ``rover_namespace``."""
    folder, context = shipped_config_dir() / ROBOTS, {'rover_namespace': rover_namespace}
    return {
        name: RobotProfile.model_validate(_read_keys(folder / f'{name}.yaml'), context=context)
        for name in shipped_profiles()
    }


def _values(file: Path) -> dict[str, Any]:
    """Those of ``file`` over those of the shipped file of its name."""
    shipped = shipped_config_dir() / file.name
    values = _read_keys(shipped) if shipped.is_file() else {}
    if file == shipped or not os.path.lexists(file):  # a link to nothing is an error
        return values
    own = _read_keys(file)
    return _merged(below_own_texts(values, own) if file.stem == 'prompts' else values, own)


def _read_keys(file: Path) -> dict[str, Any]:
    values = read_yaml(file)
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ConfigError(f'{file}: = {short_repr(values, 80)}: must be keys with values')
    return values


def _merged(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    result = dict(base)
    for key, value in over.items():
        below = result.get(key)
        if isinstance(below, dict) and isinstance(value, dict):
            result[key] = _merged(below, value)
        elif value is not None or not isinstance(below, dict):  # None: its keys are commented out
            result[key] = value
    return result


def _at(values: Any, keys: Iterable[Any]) -> Any:
    """The value under ``keys``, one below the other; ABSENT if there is none."""
    try:
        return reduce(getitem, keys, values)
    except (LookupError, TypeError):
        return ABSENT


def _first_error(error: ValidationError) -> tuple[list[str | int], str]:
    """Its key path, and its value with what is allowed there."""
    first = error.errors(include_url=False)[0]
    keys, value, allowed = [*first['loc']], first['input'], first['msg']
    if keys[-1:] == ['[key]']:  # the name of the section is invalid, not its value
        keys = keys[:-2]
    if first['type'] == RULE:
        keys, value = [*keys, *first['ctx']['keys']], first['ctx']['value']
    elif first['type'] == 'missing':
        return keys, f': {allowed}'
    elif first['type'] == 'string_type' and isinstance(value, (bool, int, float)):
        allowed = 'must be text: write it in quotes'  # YAML parses on, no and 22:00 as bool or int
    return keys, f' = {short_repr(value, 80)}: {allowed.removeprefix("Value error, ")}'
