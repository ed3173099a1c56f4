"""supervisord over the background nodes: restart on crash, a log each, gone when we are gone.

Whoever dies takes its children along by the kernel's parent-death signal (setpriv --pdeathsig):
nodes end with supervisord, and supervisord with this process, also after kill -9. The signal is
TERM, so that the adapter can still stop the rover.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from runner.plan import PlannedProcess

STOP_WAIT_S = 5


def die_with_parent(command: list[str]) -> list[str]:
    """The command, started so that its parent's death ends it."""
    return [shutil.which('setpriv') or 'setpriv', '--pdeathsig', 'TERM', '--', *command]


class Supervisor:
    """Runs the processes until ``stop``. ``folder`` takes logs, pid file and configuration."""

    def __init__(self, processes: list[PlannedProcess], folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob('*.log'):
            old.unlink()
        config = folder / 'supervisord.conf'
        config.write_text(supervisord_config(processes, folder), encoding='utf-8')
        command = [sys.executable, '-m', 'supervisor.supervisord', '-n', '-c', str(config)]
        # A session of its own: Ctrl-C at the console is not meant for the nodes.
        self._process = subprocess.Popen(
            die_with_parent(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def stop(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(timeout=2 * STOP_WAIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def supervisord_config(processes: list[PlannedProcess], folder: Path) -> str:
    """The ini file. supervisord expands %, so each one is doubled."""
    sections = [
        _section(
            'supervisord',
            nodaemon='true',
            user=None,
            logfile=folder / 'supervisord.log',
            logfile_maxbytes='1MB',
            logfile_backups=0,
            pidfile=folder / 'supervisord.pid',
        )
    ]
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
    return '\n'.join([f'[{name}]', *lines, ''])
