# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

from collections.abc import Iterator

from demo_bench import Bench
from harness import Sandbox
from page_world import browser, new_tab, port, profile, robot, site, tab
import pytest

__all__ = ['bench', 'browser', 'new_tab', 'port', 'profile', 'robot', 'site', 'tab']


@pytest.fixture
def bench(sandbox: Sandbox) -> Iterator[Bench]:
    bench = Bench(sandbox)
    try:
        yield bench
    finally:
        bench.close()
