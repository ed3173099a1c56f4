# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Whatever ends an import or the start, nobody waits for it for ever."""

from __future__ import annotations

from pathlib import Path
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

from curiosity_rosa_demo.agent.react.turn.request import TurnRequest
from curiosity_rosa_demo.agent.runtime.execution.rosa_loader import ModelUnavailable, RosaLoader
from curiosity_rosa_demo.agent.startup.startup import Startup
from curiosity_rosa_demo.domain.cancellation import Cancellation
from harness import wait_until
import pytest
from runtime_world import CONFIG

FACTORY = 'curiosity_rosa_demo.agent.rosa_agent_factory'
ENDS = [SystemExit(3), KeyboardInterrupt(), ImportError('half a package')]


class Broken(ModuleType):
    """A module that ends the process while it is imported."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(FACTORY)
        self.error = error

    def __getattr__(self, name: str) -> Any:
        raise self.error


@pytest.mark.parametrize('error', ENDS, ids=repr)
def test_an_import_that_ends_the_process_makes_a_model_that_cannot_be_had(
    error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, FACTORY, Broken(error))
    around: Any = SimpleNamespace(world=SimpleNamespace(config=CONFIG), checkpoints=Path('x'))
    loader = RosaLoader(around)
    loader.start()
    loader.wait_until_loaded()
    with pytest.raises(ModelUnavailable, match='ROSA cannot be imported: '):
        loader.run_turn(TurnRequest('look around', Cancellation()))


@pytest.mark.parametrize('error', ENDS, ids=repr)
def test_a_start_that_is_ended_says_so_and_is_not_waited_for(error: BaseException) -> None:
    said: list[str] = []
    started: list[str] = []

    def fail() -> bool:
        raise error

    robot_service = SimpleNamespace(startup_failure='')
    parts: list[Any] = [
        SimpleNamespace(ready=fail, missing=fail),
        SimpleNamespace(rover_status=fail),
        None,
        None,
        SimpleNamespace(print_notice=said.append),
        robot_service,
        SimpleNamespace(start=lambda: started.append('page')),
    ]
    startup = Startup(*parts, crash='')
    startup.start()
    assert startup.complete.wait(20.0), 'somebody would wait for ever'
    assert robot_service.startup_failure.startswith(f'The agent cannot begin: {error!r}')
    assert said == [f'! {robot_service.startup_failure}']
    wait_until(lambda: started, 'the page, which tells it')
