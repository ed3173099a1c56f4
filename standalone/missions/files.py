# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""File locks of simulated processes: the end of a process releases them, as an operating system
does.
"""

from __future__ import annotations

import fcntl
from typing import Any

from missions.scheduler import SimulatedProcess
from missions.threads import current_process

_locks: list[tuple[SimulatedProcess, int]] = []
_flock = fcntl.flock


def _recording_flock(file: Any, operation: int) -> None:
    _flock(file, operation)
    process = current_process()
    if process is not None and operation & (fcntl.LOCK_EX | fcntl.LOCK_SH):
        descriptor = file if isinstance(file, int) else file.fileno()
        _locks.append((process, descriptor))


def release(process: SimulatedProcess) -> None:
    """Release the file locks of ``process``, which was killed."""
    for owner, descriptor in list(_locks):
        if owner is process:
            _locks.remove((owner, descriptor))
            try:
                _flock(descriptor, fcntl.LOCK_UN)
            except OSError:  # it had closed the file
                continue


def install() -> None:
    any_fcntl: Any = fcntl
    any_fcntl.flock = _recording_flock
