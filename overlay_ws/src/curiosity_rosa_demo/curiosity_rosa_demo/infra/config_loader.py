"""YAML contracts to typed configuration, with errors a person can act on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from curiosity_rosa_demo.infra.config_models import (
    AgentConfig,
    Config,
    Nodes,
    Prompts,
    Thresholds,
    ToolCosts,
    Topics,
)

FILES: dict[str, type[BaseModel]] = {
    'topics': Topics,
    'thresholds': Thresholds,
    'tool_costs': ToolCosts,
    'prompts': Prompts,
    'agent': AgentConfig,
    'nodes': Nodes,
}


class ConfigError(Exception):
    """The message names the file, the key path, the value and what is allowed."""


def shipped_config_dir() -> Path:
    """Folder of the YAML files that came with this package, built or not."""
    beside_the_sources = Path(__file__).resolve().parents[2] / 'config'
    if beside_the_sources.is_dir():
        return beside_the_sources
    from ament_index_python.packages import get_package_share_directory

    return Path(get_package_share_directory('curiosity_rosa_demo'), 'config')


def load_config(config_dir: str | Path = '') -> Config:
    """The contracts in ``config_dir``; empty means the shipped ones.

    Every file must be there. A key that a file leaves out takes the shipped value. Raises ConfigError.
    """
    shipped = shipped_config_dir()
    folder = Path(config_dir) if str(config_dir) else shipped
    if not folder.is_dir():
        raise ConfigError(f'config_dir: {folder}: no such folder; the shipped one is {shipped}')
    parts = {name: _load_file(folder, shipped, name, model) for name, model in FILES.items()}
    try:
        return Config(**parts)
    except ValidationError as error:
        raise ConfigError(f'{folder}: {_plain(error.errors()[0]["msg"])}') from error


def _load_file(folder: Path, shipped: Path, name: str, model: type[BaseModel]) -> BaseModel:
    path = folder / f'{name}.yaml'
    values = _read_yaml(path)
    if folder != shipped:
        values = _merged(_read_yaml(shipped / f'{name}.yaml'), values)
    try:
        return model.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        key = '.'.join(str(part) for part in first['loc'])
        value = '' if first['type'] == 'missing' or not key else f' = {_short(first["input"])}'
        allowed = _allowed(first, model)
        raise ConfigError(f'{path}: {key}{value}: {allowed}'.replace(': : ', ': ')) from error


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        values = yaml.safe_load(path.read_text(encoding='utf-8'))
    except FileNotFoundError:
        raise ConfigError(f'{path}: no such file; copy it from {shipped_config_dir()}') from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f'{path}: cannot be read: {error}') from error
    except yaml.YAMLError as error:
        raise ConfigError(f'{path}: not YAML: {" ".join(str(error).split())}') from error
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ConfigError(f'{path}: = {_short(values)}: must be keys with values')
    return values


def _merged(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    result = dict(base)
    for key, value in over.items():
        below = result.get(key)
        both = isinstance(below, dict) and isinstance(value, dict)
        result[key] = _merged(below, value) if both else value
    return result


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + '...'


def _plain(message: str) -> str:
    return message.removeprefix('Value error, ')


def _allowed(error: Any, model: type[BaseModel]) -> str:
    """What may stand at the place of a validation error, in words."""
    if error['type'] != 'extra_forbidden':
        return _plain(error['msg'])
    section: Any = model
    for part in error['loc'][:-1]:
        field = getattr(section, 'model_fields', {}).get(part)
        section = field.annotation if field else None
    known = ', '.join(getattr(section, 'model_fields', {}))
    return f'unknown key; allowed here: {known}' if known else 'unknown key'
