# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Removes the shared memory of Fast DDS that killed processes of this run left.

The standalone start uses UDP alone. With ROS's own transports, Fast DDS makes a segment for each
process and a port for each reader. A killed process leaves its own, and the ports that it wrote
to: their count of users never returns to zero.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path
import re

FOLDER = Path('/dev/shm')
# A segment or port, its semaphore, or the file that its living owner locks. Fast DDS 2 and 3.
NAME = re.compile(r'(?:sem\.)?(fast(?:rtps|dds)_(?:port\d+|[0-9a-f]{16}))(?:_el|_sl|_mutex)?')
LOCKS = ('_el', '_sl')


def remove_dead_segments(since_s: float, folder: Path = FOLDER) -> list[str]:
    """Remove what was made since ``since_s``, in seconds of the epoch, by this user, and that no
    living process has. Returns the names of the removed files.
    """
    found: dict[str, list[Path]] = {}
    with contextlib.suppress(OSError):
        for each in sorted(folder.iterdir()):
            if match := NAME.fullmatch(each.name):
                found.setdefault(match[1], []).append(each)
    mapped = _mapped(folder) if found else set()
    removed = []
    for name, files in found.items():
        if name in mapped or any(map(_is_locked, files)):
            continue
        for each in files:
            with contextlib.suppress(OSError):  # its owner removed it, or it is another user's
                status = each.stat()
                if status.st_uid == os.geteuid() and status.st_ctime >= since_s:
                    each.unlink()
                    removed.append(each.name)
    return removed


def _is_locked(file: Path) -> bool:
    """Whether a living process has the lock, also one that /proc does not show (a container)."""
    if not file.name.endswith(LOCKS):
        return False
    try:
        with file.open('rb') as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def _mapped(folder: Path) -> set[str]:
    """The names that living processes have mapped."""
    names: set[str] = set()
    for maps in Path('/proc').glob('[0-9]*/maps'):
        with contextlib.suppress(OSError):  # it has ended, or it is another user's
            names.update(re.findall(rf' {re.escape(str(folder))}/(\S+)', maps.read_text()))
    return {found[1] for name in names if (found := NAME.fullmatch(name))}
