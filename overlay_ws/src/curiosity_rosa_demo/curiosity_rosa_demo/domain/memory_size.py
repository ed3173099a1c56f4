# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The memory that a value takes. Parsed JSON may take forty times the memory of its text."""

from __future__ import annotations

from dataclasses import is_dataclass
import sys


def memory_size(value: object) -> int:
    """Bytes of ``value`` and of all that its dictionaries, lists, tuples and dataclasses hold. A
    value that occurs twice counts twice, so the result is rather too large.
    """
    size = 0
    todo = [value]
    while todo:
        part = todo.pop()
        size += sys.getsizeof(part)
        if isinstance(part, dict):
            todo.extend(part)
            todo.extend(part.values())
        elif isinstance(part, list | tuple):
            todo.extend(part)
        elif is_dataclass(part) and not isinstance(part, type):
            todo.append(vars(part))
    return size
