# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The contenders of a benchmark: processes that run blocks of work on request over pipes.

The peers have a separate environment, .venv-peers, made at the first run: they cannot be installed
beside ROSA (see peers/requirements.txt).
"""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
import json
import os
from pathlib import Path
import selectors
import shutil
import subprocess
import sys
import tempfile
from typing import Any

from _bench import ROOT
import psutil

PEERS = ROOT / 'bench/peers'
ENVIRONMENT = ROOT / '.venv-peers'
MEMORY_FILE_SYSTEMS = {'tmpfs', 'ramfs'}


def peers_python() -> str:
    """The interpreter with the peers installed. Raises subprocess.CalledProcessError."""
    return environment_python(ENVIRONMENT, PEERS / 'requirements.txt')


def has_environment(environment: Path, requirements: Path) -> bool:
    """Whether the environment is complete and made for these requirements."""
    made_for = environment / 'requirements.txt'  # written last
    return made_for.is_file() and made_for.read_text() == requirements.read_text()


def environment_python(environment: Path, requirements: Path) -> str:
    """The interpreter of an environment with these packages, which is made at the first call.
    Raises subprocess.CalledProcessError.
    """
    python = environment / 'bin/python'
    if not has_environment(environment, requirements):
        print(f'installing the peers of this benchmark into {environment.name}, once', flush=True)
        subprocess.run([sys.executable, '-m', 'venv', '--clear', str(environment)], check=True)
        pip = [str(python), '-E', '-m', 'pip', 'install', '--quiet', '-r']
        subprocess.run([*pip, str(requirements)], check=True)
        (environment / 'requirements.txt').write_text(requirements.read_text())
    return str(python)


@contextlib.contextmanager
def disk_folder() -> Iterator[Path]:
    """A temporary folder on a disk: in the default place, or beside the repository."""
    usual = Path(tempfile.gettempdir()).resolve()
    mounts = {Path(part.mountpoint): part.fstype for part in psutil.disk_partitions(all=True)}
    mount = next(each for each in (usual, *usual.parents) if each in mounts)
    parent = ROOT.parent if mounts[mount] in MEMORY_FILE_SYSTEMS else usual
    folder = Path(tempfile.mkdtemp(prefix='curiosity-bench-', dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


class Contender:
    """A script of bench/peers; its databases are in ``folder``. A context manager."""

    def __init__(self, name: str, python: str, script: str, folder: Path, *arguments: str) -> None:
        self.name = name
        command = [python, str(PEERS / script), str(folder), *arguments]
        env = dict(os.environ)
        if python != sys.executable:  # a peer does not inherit this environment's variables
            command.insert(1, '-E')
            env = {key: env[key] for key in ('PATH', 'HOME', 'LANG', 'TMPDIR') if key in env}
        self._popen = subprocess.Popen(
            command, env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._answers = selectors.DefaultSelector()
        assert self._popen.stdout is not None
        self._answers.register(self._popen.stdout, selectors.EVENT_READ)

    def __enter__(self) -> Contender:
        try:
            self._answer()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        self._popen.stdin.close()
        try:
            self._popen.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            self._popen.wait(timeout=10)
        self._popen.stdout.close()

    @property
    def pid(self) -> int:
        return self._popen.pid

    def ask(self, way: str, count: int = 0) -> dict[str, Any]:
        """Send one request and return its answer. Raises RuntimeError after two minutes."""
        assert self._popen.stdin is not None
        self._popen.stdin.write(f'{way} {count}\n')
        self._popen.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._popen.stdout is not None
        line = self._popen.stdout.readline() if self._answers.select(120.0) else ''
        if not line.endswith('\n'):
            raise RuntimeError(f'{self.name} gave no answer; status {self._popen.poll()}')
        answer: dict[str, Any] = json.loads(line)
        return answer

    def ports(self) -> list[str]:
        """The internet sockets of the process."""
        found = psutil.Process(self.pid).net_connections(kind='inet')
        return [f'{each.status} {each.laddr}' for each in found]
