# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Runs each piece of work in a fork of one prepared process.

A forked child inherits the addresses of its parent, and the order of a set of objects depends on
them. So the process that forks does nothing else: whatever ran before, each child begins alike.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
import os
from pathlib import Path
import pickle
import signal
import socket
from typing import Any

GO, DONE, DIED = b'g', b'd', b'x'
REQUEST, ANSWER = 'request', 'answer'


class Forks:
    """``folder``: for the files between the processes. ``work`` gets what ``ask`` was given.
    ``cpu_s``: the CPU seconds of all work so far.
    """

    def __init__(self, folder: Path, work: Callable[[Any], Any]) -> None:
        self._folder, self.cpu_s = folder, 0.0
        self._ours, theirs = socket.socketpair()
        self._keeper = os.fork()
        if self._keeper == 0:
            self._ours.close()
            _keep(theirs, str(folder / REQUEST), str(folder / ANSWER), work)
        theirs.close()

    def ask(self, request: Any) -> Any:
        """What ``work`` answered in a new child. Raises RuntimeError if the child died."""
        (self._folder / REQUEST).write_bytes(pickle.dumps(request))
        self._ours.sendall(GO)
        if self._ours.recv(1) != DONE:
            raise RuntimeError('a mission ended without a result')
        answer, cpu_s = pickle.loads((self._folder / ANSWER).read_bytes())
        self.cpu_s += cpu_s
        return answer

    def close(self) -> None:
        self._ours.close()
        os.waitpid(self._keeper, 0)


def _keep(told: socket.socket, request: str, answer: str, work: Callable[[Any], Any]) -> None:
    """Fork at each order until the other side closes. Does not return."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is for the process that asks
    while told.recv(1):
        child = os.fork()
        if child == 0:
            _answer(request, answer, work)
        _, status = os.waitpid(child, 0)
        with suppress(OSError):  # nobody asks any more
            told.sendall(DIED if status else DONE)
    os._exit(0)


def _answer(request: str, answer: str, work: Callable[[Any], Any]) -> None:
    """Does not return."""
    status = 1
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        with open(request, 'rb') as file:
            asked = pickle.load(file)
        answered = work(asked)
        used = os.times()
        content = pickle.dumps((answered, used.user + used.system))
        with open(answer, 'wb') as file:
            file.write(content)
        status = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(status)
