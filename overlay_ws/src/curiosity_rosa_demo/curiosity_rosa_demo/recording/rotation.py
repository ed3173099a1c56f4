# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Which recordings of a folder are ours, and which of them are too many. Pure but for deletion.

The name of a recording is ``run_<UTC time>_<ROS domain>.mcap``, with ``_2`` and so on before the
ending for further files of the same second.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
import re

_NAME = re.compile(r'run_(\d{8}T\d{6}Z)_(\d+)(?:_(\d+))?\.mcap')


def recording_name(began: datetime, domain: str, number: int) -> str:
    """``began``: in UTC. ``number``: 1 for the first file of this second."""
    suffix = f'_{number}' if number > 1 else ''
    return f'run_{began:%Y%m%dT%H%M%SZ}_{domain}{suffix}.mcap'


def surplus(names: Iterable[str], domain: str, max_files: int) -> list[str]:
    """The names of our recordings of this ROS domain beyond the newest ``max_files``, oldest
    first. Every other file is someone else's and never among them.
    """
    ours = []
    for name in names:
        match = _NAME.fullmatch(name)
        if match is not None and match[2] == domain:
            ours.append((match[1], int(match[3] or 1), name))
    ours.sort()
    return [name for _, _, name in ours[: max(0, len(ours) - max_files)]]


def delete_surplus(folder: Path, domain: str, max_files: int, *, spare: Path) -> list[Path]:
    """Delete the oldest recordings until ``max_files`` remain; never ``spare``, whatever the
    clock said when it got its name. Returns the deleted files. Raises OSError.
    """
    files = {each.name: each for each in folder.iterdir() if each.is_file() and each != spare}
    deleted = []
    for name in surplus(files, domain, max_files - 1):
        files[name].unlink(missing_ok=True)
        deleted.append(files[name])
    return deleted
