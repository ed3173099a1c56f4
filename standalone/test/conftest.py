# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
import subprocess
from typing import Any, TYPE_CHECKING

from demo_bench import Bench
from harness import Sandbox
import pytest

CONTAINERS_MISSING = pytest.StashKey[str]()

if TYPE_CHECKING:  # only the tests of the page need a browser
    from fake_robot import FakeRobot
    from page_site import Site, Tab
    from playwright.sync_api import Browser, BrowserContext


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
    bench = Bench(sandbox)
    try:
        yield bench
    finally:
        bench.close()


# --- the page in a browser --------------------------------------------------------------------


@pytest.fixture(scope='module')
def browser() -> Iterator[Browser]:
    from page_site import chromium

    with chromium() as browser:
        yield browser


@pytest.fixture
def robot() -> Iterator[FakeRobot]:
    from fake_robot import FakeRobot

    with FakeRobot(step_s=0.1) as robot:
        yield robot


@pytest.fixture(scope='module')
def port() -> int:
    """The same for all, so that the browser loads the library once."""
    from page_site import free_port

    return free_port()


@pytest.fixture
def site(robot: FakeRobot, port: int, tmp_path: Path) -> Iterator[Site]:
    """A robot that keeps what its page shows."""
    from page_site import Site

    site = Site(robot, port, tmp_path)
    yield site
    site.end()


@pytest.fixture
def new_tab(browser: Browser, site: Site) -> Iterator[Callable[..., Tab]]:
    from page_site import Tab

    contexts = []

    def make(width: int = 1280, height: int = 900, **options: Any) -> Tab:
        viewport: Any = {'width': width, 'height': height}
        contexts.append(browser.new_context(viewport=viewport, **options))
        return Tab(contexts[-1].new_page(), site)

    yield make
    for context in contexts:
        context.close()


@pytest.fixture(scope='module')
def profile(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={'width': 1280, 'height': 900})
    yield context
    context.close()


@pytest.fixture
def tab(profile: BrowserContext, site: Site) -> Iterator[Tab]:
    """Open, and without a fault at the end."""
    from page_site import Tab

    tab = Tab(profile.new_page(), site).open()
    yield tab
    tab.page.close()
    assert tab.faults == []
    assert tab.foreign == []
