# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""The folder of a clone of space-ros/demos that has the rover, and its nodes."""

from __future__ import annotations

from pathlib import Path

NODES = ('run_demo', 'move_mast', 'move_arm', 'move_wheel')
DESCRIPTION = Path('curiosity_description/models/urdf/curiosity_mars_rover.xacro')


def find(path: str) -> Path:
    """The folder curiosity_rover of the clone ``path``, or ``path`` if it is that folder.

    Raises ValueError, which names what is missing.
    """
    for folder in (Path(path), Path(path, 'curiosity_rover')):
        wanted = [folder / DESCRIPTION, *node_files(folder)]
        missing = [file for file in wanted if not file.is_file()]
        if len(missing) < len(wanted):  # it is meant to be this folder
            if missing:
                raise ValueError(f'{path}: {missing[0]} is missing')
            return folder.resolve()
    raise ValueError(
        f'{path}: no clone of space-ros/demos: there is no curiosity_rover/{DESCRIPTION}'
    )


def node_files(folder: Path) -> list[Path]:
    return [folder / 'curiosity_rover_demo' / 'nodes' / name for name in NODES]
