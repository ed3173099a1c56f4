# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Paths of the agent's persistent files."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
import os
from pathlib import Path
import threading

from curiosity_rosa_demo.infra.config.topics import Config

# --- The folder of the files that outlive a process --------------------------------------------


def state_folder() -> Path:
    """$XDG_STATE_HOME/curiosity_rosa; created if missing. Raises OSError."""
    state = os.environ.get('XDG_STATE_HOME') or os.path.expanduser('~/.local/state')
    folder = Path(state, 'curiosity_rosa')
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def namespaced_path(path: Path, namespace: str) -> Path:
    """``path`` with the namespace in its name: tasks.db becomes tasks_r1.db in /r1."""
    suffix = namespace.strip('/').replace('/', '_')
    return path.with_name(f'{path.stem}_{suffix}{path.suffix}') if suffix else path


def agent_log_file(namespace: str = '') -> Path:
    """The log file of the agent in ``namespace``. Raises OSError."""
    return namespaced_path(state_folder() / 'agent.log', namespace)


def trace_file(config: Config, namespace: str = '') -> Path | None:
    """The file of recorder.path, or None if that key is empty."""
    configured = config.agent.recorder.path
    return namespaced_path(Path(configured).expanduser(), namespace) if configured else None


def span_file(config: Config, namespace: str = '') -> Path:
    """The file of tracing.file, or by default one per ROS domain in the state folder. Raises
    OSError if that folder cannot be made.
    """
    domain = os.environ.get('ROS_DOMAIN_ID') or '0'
    configured, default = config.agent.tracing.file, f'spans_{domain}.jsonl'
    path = Path(configured).expanduser() if configured else state_folder() / default
    return namespaced_path(path, namespace)


def recordings_folder(config: Config, asked: str, namespace: str = '') -> Path:
    """The folder for recordings: ``asked``, else recording.folder, else one in the state folder.
    Raises OSError.
    """
    if asked:
        return Path(asked).expanduser()
    folder = config.agent.recording.folder
    path = Path(folder).expanduser() if folder else state_folder() / 'recordings'
    return namespaced_path(path, namespace)


def task_database_file(configured: str, namespace: str = '') -> Path:
    """The file of tasks.db_path, or by default one per ROS domain in the state folder. Each
    namespace has its own file. Raises OSError.
    """
    domain = os.environ.get('ROS_DOMAIN_ID') or '0'
    if configured:
        path = Path(configured).expanduser()
    elif domain == '0' and not namespace.strip('/'):
        path = state_folder() / 'tasks.db'
    else:
        path = state_folder() / f'tasks_{domain}.db'
    return namespaced_path(path, namespace)


def turn_checkpoint_file(database: Path) -> Path:
    """The file of the turn checkpoints, beside the task database."""
    return Path(f'{database}.react')


def model_usage_file(database: Path) -> Path:
    """The file of what the model's calls have used, beside the task database."""
    return Path(f'{database}.usage')


def policy_state_file(database: Path, world_view: str) -> Path:
    """The file of the policy state for ``world_view``, beside the task database."""
    return Path(f'{database}.{world_view}.policy')


def session_folder(database: Path, robot: str) -> Path:
    """The folder of what the page shows of earlier runs of this robot, beside the task database:
    the captures of another would lie on its map.
    """
    return Path(f'{database}.{robot}.session')


# -----------------------------------------------------------------------------------------------
# The safety latch: the reason for SAFE and its time, in a file so that both survive a restart.


UNREADABLE = 'the safety file cannot be read: {path}; look at the rover, then clear'
SINCE = '\nsince '  # between the reason and the time, as ISO 8601


class SafetyLatch:
    """Holds the reason for SAFE; ``reason`` is empty while unlatched. ``since``: when the latch
    was set; None: unlatched, or the file has no time. A file that is empty or unreadable also
    latches.
    """

    def __init__(
        self,
        path: Path,
        now: Callable[[], datetime] = lambda: datetime.now(timezone.utc),
    ) -> None:
        self._path, self._now = path, now
        self._writing = threading.Lock()
        self.since: datetime | None = None
        try:
            reason, self.since = _parsed(path.read_text(encoding='utf-8'))
            self.reason = reason or UNREADABLE.format(path=path)
        except FileNotFoundError:
            self.reason = ''
        except (OSError, UnicodeDecodeError):
            self.reason = UNREADABLE.format(path=path)

    def set(self, reason: str) -> None:
        """Change the reason in memory only; ``save`` writes it to the disk."""
        if not reason:
            self.since = None
        elif not self.reason:
            self.since = self._now()
        self.reason = reason

    def save(self) -> None:
        """Write the reason to the disk; it is durable on return. Concurrent calls run in turn, and
        each writes the newest reason. Raises OSError.
        """
        with self._writing:
            reason, since = self.reason, self.since
            if not reason:
                self._path.unlink(missing_ok=True)
            else:
                fresh = self._path.with_name(f'{self._path.name}.new')
                with fresh.open('w', encoding='utf-8') as file:
                    file.write(reason if since is None else f'{reason}{SINCE}{since.isoformat()}')
                    file.flush()
                    os.fsync(file.fileno())
                fresh.replace(self._path)
            folder = os.open(self._path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)


def _parsed(text: str) -> tuple[str, datetime | None]:
    """The reason and the time. Without a readable time, all of the text is the reason."""
    reason, _, stamp = text.rpartition(SINCE)
    try:
        since = datetime.fromisoformat(stamp.strip())
    except ValueError:
        return text.strip(), None
    return reason.strip(), since if since.tzinfo else None
