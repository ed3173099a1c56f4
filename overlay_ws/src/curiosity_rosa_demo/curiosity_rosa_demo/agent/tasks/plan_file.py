# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Create a task from a plan file."""

from __future__ import annotations

from pathlib import Path

from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.agent.tasks.task import BadTask
from curiosity_rosa_demo.domain.plan import PlanError
from curiosity_rosa_demo.domain.plan_reader import create_plan_from_llm_response

MAX_FILE_BYTES = 1_000_000  # bytes


def plan_task(name: str) -> Task:
    """Return a task that executes the plan in the file ``name``. Raises BadTask."""
    try:
        plan = create_plan_from_llm_response(_read(name))
    except PlanError as error:
        raise BadTask(f'{name}: {error}') from None
    return Task('react', metadata={'text': plan.goal, 'expects': 'answer', 'plan': plan.to_dict()})


def _read(name: str) -> str:
    try:
        path = Path(name).expanduser()
        is_other = path.exists() and not path.is_file()  # opening a pipe would block
        data = b'' if is_other else _read_limited(path)
    except OSError as error:
        raise BadTask(f'cannot read {name}: {error.strerror or error}') from None
    except (
        ValueError,
        RuntimeError,
    ) as error:  # for example a null character, or a ~user without a home
        raise BadTask(f'cannot read {name!r}: {error}') from None
    if is_other:
        raise BadTask(f'{name} is no file')
    if len(data) > MAX_FILE_BYTES:
        raise BadTask(f'{name} has more than {MAX_FILE_BYTES} bytes; a plan may have so many')
    try:
        return data.decode('utf-8')
    except UnicodeDecodeError as error:
        raise BadTask(
            f'{name} is not UTF-8: byte {error.start} is {data[error.start]:#04x}'
        ) from None


def _read_limited(path: Path) -> bytes:
    with path.open('rb') as file:
        return file.read(MAX_FILE_BYTES + 1)
