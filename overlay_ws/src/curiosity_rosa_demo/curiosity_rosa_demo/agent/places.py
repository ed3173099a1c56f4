"""Where the agent keeps what outlives it."""

from __future__ import annotations

import os
from pathlib import Path

from curiosity_rosa_demo.infra.config_models import Config


def state_folder() -> Path:
    """$XDG_STATE_HOME/curiosity_rosa, made if need be. Raises OSError."""
    state = os.environ.get('XDG_STATE_HOME') or os.path.expanduser('~/.local/state')
    folder = Path(state, 'curiosity_rosa')
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def recordings(config: Config, asked: str) -> Path:
    """Where recordings go: ``asked``, or recording.folder, or below the state folder."""
    folder = asked or config.agent.recording.folder
    return Path(folder).expanduser() if folder else state_folder() / 'recordings'


def task_database(configured: str) -> Path:
    """The file of tasks.db_path, or one for each ROS domain in the state folder. Raises
    OSError."""
    if configured:
        return Path(configured).expanduser()
    domain = os.environ.get('ROS_DOMAIN_ID') or '0'
    name = 'tasks.db' if domain == '0' else f'tasks_{domain}.db'
    return state_folder() / name


def turn_checkpoints(database: Path) -> Path:
    """The file of the turns' checkpoints, beside that of the tasks."""
    return Path(f'{database}.react')


def policy_state(database: Path, world_view: str) -> Path:
    """The file of what the policy keeps of this world, beside that of the tasks."""
    return Path(f'{database}.{world_view}.policy')
