# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The console client before a real server, runtime and console: what each console sees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
import json
from pathlib import Path
import signal
import subprocess
import sys
from typing import Any

from curiosity_rosa_demo.agent.interfaces.console_client import main as client_main
from curiosity_rosa_demo.agent.interfaces.console_client.agent_api import (
    AgentApi,
    AgentRefused,
    AgentUnavailable,
)
from curiosity_rosa_demo.agent.interfaces.console_client.remote_console import RemoteConsole
from curiosity_rosa_demo.agent.interfaces.console_client.transcript import (
    ATTACHED_TEXT,
    LOST_TEXT,
    read_events,
    ServerEvent,
    Transcript,
)
from curiosity_rosa_demo.agent.interfaces.http.console_stream import ConsoleHub
from curiosity_rosa_demo.agent.interfaces.http.server import create_app
from curiosity_rosa_demo.agent.interfaces.http.server_thread import HttpThread
from curiosity_rosa_demo.domain.skills import Outcome
from curiosity_rosa_demo.domain.text import ConsoleText
from curiosity_rosa_demo.infra.config.agent import HttpConfig
from curiosity_rosa_demo.trace.bus import EventBus
from harness import wait_until
from hypothesis import given
from hypothesis import strategies as st
import pytest
from runtime_world import CONFIG, RobotServiceBench, RuntimeBench

TEXTS = st.text(st.characters(exclude_categories=['Cs']), max_size=40)


class Served:
    """An agent's console behind a server of HTTP."""

    def __init__(self, bench: RuntimeBench, port: int = 0) -> None:
        self.bench, robot = bench, RobotServiceBench(bench).robot
        settings: HttpConfig = CONFIG.agent.http.model_copy(update={'port': port})
        app = partial(create_app, bench.runtime.runner, robot=robot, settings=settings)
        self.server = HttpThread(app, settings)
        self.url = self.server.start().rstrip('/')

    def drives(self, one: Attached) -> None:
        self.bench.session.started.clear()
        assert one.console.handle_line('go to the light')
        wait_until(self.bench.session.started.is_set, 'the turn')


class Attached:
    """A console client, and what its person sees."""

    def __init__(self, url: str, name: str, operator: str) -> None:
        self.seen: list[str] = []
        api = AgentApi(url, client=name, operator=operator)
        self.console = RemoteConsole(api, self.seen.append, lambda: self.transcript.is_attached)
        self.transcript = Transcript(AgentApi(url, client=name), self.console.show)
        self.transcript.start(0)

    def outcome(self) -> Outcome:
        """What came of its line, once."""
        assert self.console.wait_until_idle(10.0)
        outcome = self.console.take_outcome()
        assert outcome is not None
        return outcome

    def sees(self, part: str) -> None:
        wait_until(lambda: any(part in text for text in self.seen), f'{part!r} in {self.seen}')


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with RuntimeBench(tmp_path) as bench:
        served = Served(bench)
        yield served
        served.server.close()


Attach = Callable[..., Attached]


@pytest.fixture
def attach(served: Served) -> Iterator[Attach]:
    made: list[Attached] = []

    def attached(name: str, operator: str = '') -> Attached:
        made.append(Attached(served.url, name, operator))
        return made[-1]

    yield attached
    for each in made:
        each.transcript.close()


@given(st.lists(TEXTS, max_size=5), st.integers(1, 9))
def test_every_text_arrives_as_it_was_printed(texts: list[str], first: int) -> None:
    bus = EventBus()
    hub = ConsoleHub(bus, lambda: '')
    for text in texts:
        bus.publish(ConsoleText(text))
    stream = b': still here\n\n'.join(hub.messages(bus.events_after(0)))
    read = list(read_events(stream.splitlines(keepends=True)))
    assert [each.text for each in read] == texts
    assert [each.event_id for each in read] == [
        f'{hub.process}-{number}' for number in range(1, len(texts) + 1)
    ]


@given(st.binary(max_size=200))
def test_whatever_arrives_is_an_event_or_nothing(stream: bytes) -> None:
    assert all(isinstance(each, ServerEvent) for each in read_events(stream.splitlines(True)))


def test_two_operators_see_each_others_acts_by_name(served: Served, attach: Attach) -> None:
    anna, ben = attach('console-1', 'anna@lab'), attach('console-2', 'ben@lab')
    assert anna.console.handle_line(':mode')
    ben.sees('anna@lab (console-1): :mode')
    anna.sees('IDLE: nothing to do')
    assert not any(':mode' in text for text in anna.seen)
    served.drives(ben)
    assert served.bench.session.askers == ['ben@lab (console-2)']
    assert not ben.console.wait_until_idle(0.0)
    assert anna.console.handle_line(':stop')
    ben.sees('stop, by anna@lab (console-1)')
    assert ben.outcome() == Outcome(False, 'Stopped by anna@lab (console-1)')
    stopped = anna.outcome()
    assert stopped.ok
    assert stopped.answer in anna.seen


def test_quit_detaches_and_a_sentence_that_stops_is_sent_as_a_stop_first(
    served: Served, attach: Attach
) -> None:
    one = attach('console-1')
    assert not one.console.handle_line(':quit')
    assert served.bench.session.stops == 0
    assert one.console.handle_line('stop, then look around')
    assert one.outcome().ok
    assert served.bench.session.stops == 2  # by /stop, and by the sentence


def test_after_a_loss_it_attaches_to_the_next_agent(served: Served, attach: Attach) -> None:
    one = attach('console-1')
    served.server.close()
    one.sees(LOST_TEXT)
    assert one.console.handle_line(':mode')
    one.sees('! no agent answers at')
    again = Served(served.bench, int(served.url.rpartition(':')[2]))
    try:
        one.sees(ATTACHED_TEXT)
        assert one.console.handle_line(':mode')
        one.sees('IDLE: nothing to do')
    finally:
        again.server.close()


def test_commands_end_with_one_object_of_json(served: Served, capfd: Any) -> None:
    served.bench.session.release.set()
    before = signal.getsignal(signal.SIGINT)
    for commands, ok, part in (
        ((':mode',), True, 'IDLE'),
        ((':mode', ':nonsense'), False, 'no command :nonsense'),
        ((':mode', 'go to the light'), True, 'did '),  # it waits for the task
    ):
        flags = [word for command in commands for word in ('-c', command)]
        try:
            assert client_main.run(['--url', served.url, *flags]) == (0 if ok else 1)
        finally:
            signal.signal(signal.SIGINT, before)
        *lines, last = capfd.readouterr().out.splitlines()
        result = json.loads(last)
        assert (result['ok'], part in result['answer']) == (ok, True)
        assert '> :mode' in lines
        assert any('IDLE' in line for line in lines)


def test_no_agent_or_a_bad_address_is_an_error_with_a_way_out(capfd: Any) -> None:
    nobody = 'http://127.0.0.1:9'
    for url, said in (
        (nobody, f'console: no agent answers at {nobody} ('),
        *(
            (url, 'console: --url: ')
            for url in ('nonsense', 'ftp://x', 'http://', 'http://x:port')
        ),
    ):
        assert client_main.run(['--url', url, '-c', ':mode']) == 1
        error = capfd.readouterr().err
        assert error.startswith(said)
        assert '--url' in error
    api = AgentApi(nobody, client='console-1')
    outcome = RemoteConsole(api, print, lambda: False).stop('Ctrl-C')
    assert (outcome.ok, 'did not reach the agent' in outcome.answer) == (False, True)
    with pytest.raises(AgentUnavailable):
        api.stop()


def test_a_name_that_could_pass_for_another_door_is_refused(served: Served) -> None:
    with pytest.raises(AgentRefused) as caught:
        AgentApi(served.url, client=') the operator').say(':mode')
    assert caught.value.status == 422
    assert served.bench.said == []


def test_it_loads_neither_ros_nor_the_agent() -> None:
    code = (
        'import sys\n'
        'import curiosity_rosa_demo.agent.interfaces.console_client.main\n'
        'heavy = {"rclpy", "rosa", "langchain", "langgraph", "nicegui", "fastapi", "cv2"}\n'
        'print(sorted(heavy & set(sys.modules)))\n'
    )
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == '[]', done.stderr
