# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Runs the background nodes under supervisord, which restarts crashed nodes and logs their output.

The kernel's parent-death signal (setpriv --pdeathsig) ends the nodes with supervisord, and
supervisord with this process, also after kill -9. The signal is TERM, so that the adapter can
still stop the rover.
"""

from __future__ import annotations

from collections.abc import Callable
import os
from pathlib import Path
import re
import shlex
import shutil
import subprocess
import sys
import threading
from typing import IO

from curiosity_rosa_demo.infra.config_loader import ConfigError

from runner.plan import PlannedProcess

PID_VARIABLE = 'CURIOSITY_SUPERVISORD_PID'  # process_manager.py sets it for its children
PROCESS_MANAGER = Path(__file__).with_name('process_manager.py')
STOP_WAIT_S = 5
# A parent that ends before setpriv has asked for the signal would leave an orphan.
ONLY_WITH_PARENT = f'[ "$PPID" = "${{1:-${PID_VARIABLE}}}" ] || exit 143; shift; exec "$@"'
EXITED = re.compile(r'exited: (\S+) \(([^;)]*)')
COMMENT = re.compile(r'\s[;#]|[\r\n]')  # supervisord would not read these characters literally
GAVE_UP = re.compile(r'gave up: (\S+) ')


def die_with_parent(command: list[str], *, parent: int | None = None) -> list[str]:
    """Wrap the command so that the end of its parent ends it. Raises FileNotFoundError.

    ``parent`` is the process ID of the parent; None: of supervisord, which names its own.
    """
    setpriv = shutil.which('setpriv')
    if setpriv is None:
        raise FileNotFoundError('setpriv is missing: apt-get install util-linux')
    check = ['/bin/sh', '-c', ONLY_WITH_PARENT, 'sh', '' if parent is None else str(parent)]
    return [setpriv, '--pdeathsig', 'TERM', '--', *check, *command]


class Supervisor:
    """Runs the processes until ``stop``. ``folder`` takes the logs.

    ``notify`` is called in a thread with a text about each process that ended unexpectedly.
    supervisord keeps the descriptors ``keep_open`` open. Raises OSError.
    """

    def __init__(
        self,
        processes: list[PlannedProcess],
        folder: Path,
        *,
        notify: Callable[[str], None],
        keep_open: tuple[int, ...] = (),
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob('*.log*'):
            old.unlink()
        self._folder, self._notify = folder, notify
        self._process = _start(supervisord_config(processes, folder), keep_open)
        assert self._process.stdout is not None
        threading.Thread(
            target=self._forward_events, args=(self._process.stdout,), daemon=True
        ).start()

    def _forward_events(self, log: IO[str]) -> None:
        for line in log:
            text = process_event_text(line)
            if text:
                self._notify(text)

    def stop(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(timeout=3 * STOP_WAIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _start(config: str, keep_open: tuple[int, ...]) -> subprocess.Popen[str]:
    """Start supervisord. Its configuration is a file in memory: no kill leaves it on the disk."""
    with open(os.memfd_create('supervisord.conf'), 'w', encoding='utf-8') as file:
        file.write(config)
        file.flush()
        path = f'/proc/self/fd/{file.fileno()}'
        command = [sys.executable, str(PROCESS_MANAGER), '-n', '-c', path]
        # A new session: Ctrl-C at the console must not reach the nodes.
        return subprocess.Popen(
            die_with_parent(command, parent=os.getpid()),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=(*keep_open, file.fileno()),
            encoding='utf-8',
            errors='replace',
        )


def process_event_text(line: str) -> str:
    """What a line of supervisord's log says of a process that ended by itself, or nothing."""
    if exited := EXITED.search(line):
        return f'The {exited[1]} process ended ({exited[2]}) and is started again.'
    if gave_up := GAVE_UP.search(line):
        return f'The {gave_up[1]} process keeps ending and is no longer started; see its log.'
    return ''


def supervisord_config(processes: list[PlannedProcess], folder: Path) -> str:
    """The ini file. supervisord expands %, so each % is doubled. Raises ConfigError.

    supervisord stops the groups one after the other, the lowest ``priority`` last. The rover's own
    processes so outlive the nodes that stop it.
    """
    sections = [
        _section(
            'supervisord',
            nodaemon='true',
            user=None,
            logfile=folder / 'supervisord.log',
            logfile_maxbytes='1MB',
            logfile_backups=0,
        )
    ]
    for number, last in enumerate((True, False), start=1):
        members = [process.name for process in processes if process.stops_last is last]
        if members:
            group = 'rover' if last else 'nodes'
            programs = ','.join(members)
            sections.append(_section(f'group:{group}', programs=programs, priority=number))
    for process in processes:
        sections.append(
            _section(
                f'program:{process.name}',
                command=shlex.join(die_with_parent(list(process.command))),
                autorestart='true',
                startsecs=1,
                startretries=20,
                stopwaitsecs=STOP_WAIT_S,
                stdout_logfile=folder / f'{process.name}.log',
                stdout_logfile_maxbytes='5MB',
                stdout_logfile_backups=1,
                redirect_stderr='true',
            )
        )
    return '\n'.join(sections)


def _section(name: str, **values: object) -> str:
    lines = [
        f'{key}={str(value).replace("%", "%%")}'
        for key, value in values.items()
        if value is not None
    ]
    for line in lines:
        if COMMENT.search(line):
            raise ConfigError(f'{name}: {line!r}: no line break, " ;" or " #" can stand here')
    return '\n'.join([f'[{name}]', *lines, ''])
