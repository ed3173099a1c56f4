# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Adapters and domains that several tests of a module share."""

from __future__ import annotations

from collections.abc import Iterator

from adapter_world import AdapterWorld, SharedAdapter
from harness import Sandbox
import pytest


@pytest.fixture(scope='module')
def shared_adapter() -> Iterator[SharedAdapter]:
    shared = SharedAdapter()
    yield shared
    shared.end()


@pytest.fixture
def world(shared_adapter: SharedAdapter) -> Iterator[AdapterWorld]:
    """The module's adapter in front of a rover that stands with its mast closed."""
    with shared_adapter.lend() as world:
        yield world


@pytest.fixture(scope='module')
def shared() -> Iterator[Sandbox]:
    """A domain for the tests of a module that leave it as it was."""
    with Sandbox() as box:
        yield box


@pytest.fixture
def box(shared: Sandbox) -> Iterator[Sandbox]:
    with shared.lent():
        yield shared


@pytest.fixture
def sandbox(shared_adapter: SharedAdapter) -> Iterator[Sandbox]:
    shared_adapter.end()
    with Sandbox() as box:
        yield box
        box.show_logs()
