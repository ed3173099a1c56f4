# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
import subprocess

from demo_bench import Bench
from harness import Sandbox
import pytest

CONTAINERS_MISSING = pytest.StashKey[str]()


IMAGES = ('osrf/space-ros:curiosity_demo', 'osrf/space-ros:curiosity_gui')


def missing_images() -> str:
    """What docker says if an image of the demo, or docker itself, is missing; '' if none is."""
    try:
        done = subprocess.run(
            ['docker', 'image', 'inspect', *IMAGES], capture_output=True, text=True, timeout=30
        )
    except (FileNotFoundError, subprocess.TimeoutExpired) as error:
        return str(error)
    return done.stderr.strip() if done.returncode else ''


@pytest.hookimpl(trylast=True)  # after -m
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The tests of the containers run only by "-m container", and only with the demo's images. A
    run without any test fails.
    """
    containers = [item for item in items if item.get_closest_marker('container')]
    if not containers:
        return
    if config.getoption('markexpr') == 'container':
        missing = missing_images()
        if not missing:
            return
        config.stash[CONTAINERS_MISSING] = missing
    items[:] = [item for item in items if item not in containers]
    config.hook.pytest_deselected(items=containers)


def pytest_report_collectionfinish(config: pytest.Config) -> list[str]:
    missing = config.stash.get(CONTAINERS_MISSING, '')
    return [f'No test of the containers runs: {missing}'] if missing else []


@pytest.fixture
def bench(sandbox: Sandbox) -> Iterator[Bench]:
    with closing(Bench(sandbox)) as bench:
        yield bench
