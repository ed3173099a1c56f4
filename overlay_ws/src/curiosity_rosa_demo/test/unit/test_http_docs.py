# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""docs/reference/http.md: its examples run by curl against a real server, runtime and console; and
it leaves no route out.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
import re
import time

from curiosity_rosa_demo.agent.interfaces.http.server import create_app
from curiosity_rosa_demo.agent.interfaces.http.server_thread import HttpThread
from curiosity_rosa_demo.agent.interfaces.triggers.board import TriggerBoard
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.domain.brain_state import Question
from curiosity_rosa_demo.domain.pictures import Picture
from curiosity_rosa_demo.infra.config.triggers import TriggerConfig
from fake_robot import jpeg
from ground_world import analyzed
from http_examples import Example, examples, PAGE
import pytest
from robot_service_world import RobotServiceBench
from runtime_world import CONFIG, RuntimeBench

SETTINGS = CONFIG.agent.http.model_copy(update={'port': 0})
EXAMPLES = examples()
TRIGGER = TriggerConfig(name='x', fact='mast', equals='open', goal='where are you?')
DRIVE = Question(
    id='q3f9a1',
    text='Drive?',
    op={'skill': 'move_forward', 'arguments': {'duration_s': 4.0}},
    asked_at=4e9,
)


class Served:
    """A robot behind a server: something runs, something waits, and somebody is asked."""

    def __init__(self, bench: RuntimeBench) -> None:
        self.bench, service_bench = bench, RobotServiceBench(bench, TriggerBoard([TRIGGER]))
        picture = Picture(jpeg(1.0), time.time(), time.monotonic() + 3600.0)
        service_bench.eyes.shown, service_bench.eyes.ground = picture, analyzed()
        runner = bench.runtime.runner
        self.server = HttpThread(
            lambda: create_app(runner, robot=service_bench.robot, settings=SETTINGS), SETTINGS
        )
        bench.session.asks = [DRIVE]
        bench.console.handle_line('go')
        bench.asked(DRIVE)
        waiting = Task('mast_open', metadata={'arguments': {}})
        self.task = bench.runtime.call(runner.submit(waiting)).id
        self.url = self.server.start().rstrip('/')

    def run(self, example: Example, folder: Path) -> str:
        return example.run(folder, URL=self.url, TASK=self.task, QUESTION=DRIVE.id, TRIGGER='x')


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with RuntimeBench(tmp_path) as bench:
        served = Served(bench)
        yield served
        served.server.close()


@pytest.mark.parametrize('example', EXAMPLES, ids=[each.command[:60] for each in EXAMPLES])
def test_an_example_of_the_page_works(served: Served, example: Example, tmp_path: Path) -> None:
    said = served.run(example, tmp_path)
    assert said or example.streams or ' -o ' in example.command


def test_every_route_has_an_example(tmp_path: Path) -> None:
    with RuntimeBench(tmp_path) as bench:
        app = create_app(
            bench.runtime.runner, robot=RobotServiceBench(bench).robot, settings=SETTINGS
        )
        routes = {
            (method.upper(), re.sub(r'\{[a-z_]+\}', '*', path))
            for path, methods in app.openapi()['paths'].items()
            for method in methods
        }
    shown = set()
    for each in EXAMPLES:
        method = re.findall(r'-X ([A-Z]+)', each.command) or ['GET']
        path = re.findall(r'"\$URL(/[^"?]*)', each.command)[0]
        shown.add((method[0], re.sub(r'\$[A-Z]+', '*', path)))
    assert shown == routes
    assert all(f'`{path}`' in PAGE or path in PAGE for _, path in routes if '*' not in path)
