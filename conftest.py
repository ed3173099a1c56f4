# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

from collections.abc import Iterator
import gc
import logging

from examples import load_profile
from harness import Sandbox
import pytest

load_profile()


def pytest_collection_finish() -> None:
    """What was imported stays, so the collector need not walk it again and again. launch's plugin,
    in a ROS installation, makes loggers whose records no caplog sees.
    """
    gc.collect()
    gc.freeze()
    logging.setLoggerClass(logging.Logger)
    for logger in logging.root.manager.loggerDict.values():
        if isinstance(logger, logging.Logger) and logger.name.startswith('curiosity_rosa'):
            logger.propagate = True


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse what scripts/test.sh would not run: it looks for these marks in other folders."""
    for item in items:
        marks = {mark.name for mark in item.iter_markers()} & {'ros', 'e2e', 'browser'}
        if marks and '/test/unit/' in item.nodeid:
            raise pytest.UsageError(f'{item.nodeid} is marked {marks} and lies in test/unit')


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as box:
        yield box
        box.show_logs()
