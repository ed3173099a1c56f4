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
from curiosity_rosa_demo.agent.interfaces.console_client.event_reader import (
    read_events,
    ServerEvent,
)
from curiosity_rosa_demo.agent.interfaces.console_client.remote_console import RemoteConsole
from curiosity_rosa_demo.agent.interfaces.console_client.transcript import (
    ATTACHED_TEXT,
    LOST_TEXT,
    Transcript,
)
from curiosity_rosa_demo.agent.interfaces.http.console_stream import ConsoleHub
from curiosity_rosa_demo.agent.interfaces.http.server import create_app
from curiosity_rosa_demo.agent.interfaces.http.server_thread import HttpThread
from curiosity_rosa_demo.domain.text import ConsoleText
from curiosity_rosa_demo.infra.config.agent import HttpConfig
from curiosity_rosa_demo.trace.bus import EventBus
from harness import wait_until
from hypothesis import given
from hypothesis import strategies as st
import pytest
from robot_service_world import RobotServiceBench
from runtime_world import CONFIG, RuntimeBench

TEXTS = st.text(st.characters(exclude_categories=['Cs']), max_size=40)


class Served:
    """An agent's console behind a server of HTTP."""

    def __init__(self, bench: RuntimeBench, port: int = 0, token: str = '') -> None:
        self.bench, self.token = bench, token
        settings: HttpConfig = CONFIG.agent.http.model_copy(update={'port': port})
        service = RobotServiceBench(bench)
        self.server = HttpThread(
            lambda: create_app(
                bench.runtime.runner, robot=service.robot, settings=settings, token=token
            ),
            settings,
        )
        self.url = self.server.start().rstrip('/')


class Attached:
    """A console client, and what its person sees."""

    def __init__(self, url: str, name: str, last: int = 0, operator: str = '') -> None:
        self.seen: list[str] = []
        api = AgentApi(url, client=name, operator=operator)
        self.console = RemoteConsole(api, self.seen.append, lambda: self.transcript.is_attached)
        self.transcript = Transcript(AgentApi(url, client=name), self.console.show)
        self.transcript.start(last)

    def sees(self, part: str) -> None:
        wait_until(lambda: any(part in text for text in self.seen), f'{part!r} in {self.seen}')


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with RuntimeBench(tmp_path) as bench:
        served = Served(bench)
        yield served
        served.server.close()


@pytest.fixture
def attach(served: Served) -> Iterator[Callable[..., Attached]]:
    made: list[Attached] = []

    def attached(name: str, last: int = 0, operator: str = '') -> Attached:
        made.append(Attached(served.url, name, last, operator))
        return made[-1]

    yield attached
    for each in made:
        each.transcript.close()


@pytest.fixture
def old_interrupt() -> Iterator[None]:
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


# --- server-sent events -------------------------------------------------------------------------


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


# --- two consoles before one agent ---------------------------------------------------------------


def test_two_operators_see_each_others_acts_by_name(
    served: Served, attach: Callable[..., Attached]
) -> None:
    anna, ben = (
        attach('console-1', operator='anna@lab'),
        attach('console-2', operator='ben@lab'),
    )
    assert anna.console.handle_line(':mode')
    ben.sees('anna@lab (console-1): :mode')
    anna.sees('IDLE: nothing to do')
    assert not any(':mode' in text for text in anna.seen)
    served.bench.session.started.clear()
    assert ben.console.handle_line('go to the light')
    wait_until(served.bench.session.started.is_set, 'the turn')
    assert served.bench.session.askers == ['ben@lab (console-2)']
    assert anna.console.handle_line(':stop')
    ben.sees('stop, by anna@lab (console-1)')
    assert ben.console.wait_until_idle(10.0)
    outcome = ben.console.take_outcome()
    assert outcome is not None
    assert outcome.answer == 'Stopped by anna@lab (console-1)'


def test_a_stop_of_one_console_ends_the_task_of_the_other(
    served: Served, attach: Callable[..., Attached]
) -> None:
    one, two = attach('console-1'), attach('console-2')
    served.bench.session.started.clear()
    assert one.console.handle_line('go to the light')
    wait_until(served.bench.session.started.is_set, 'the turn')
    assert not one.console.wait_until_idle(0.0)
    assert two.console.handle_line(':stop')
    served.bench.stopped(1)
    assert one.console.wait_until_idle(10.0)
    outcome = one.console.take_outcome()
    assert outcome is not None
    assert not outcome.ok
    stopped = two.console.take_outcome()
    assert stopped is not None
    assert stopped.ok
    assert stopped.answer in two.seen


def test_a_sentence_that_stops_is_sent_as_a_stop_first(
    served: Served, attach: Callable[..., Attached]
) -> None:
    one = attach('console-1')
    assert one.console.handle_line('stop, then look around')
    outcome = one.console.take_outcome()
    assert outcome is not None
    assert outcome.ok
    assert served.bench.session.stops == 2  # by /stop, and by the sentence


def test_quit_detaches_and_leaves_the_agent_alone(
    served: Served, attach: Callable[..., Attached]
) -> None:
    assert not attach('console-1').console.handle_line(':quit')
    assert served.bench.session.stops == 0


def test_after_a_loss_it_attaches_to_the_next_agent(
    served: Served, attach: Callable[..., Attached], tmp_path: Path
) -> None:
    one = attach('console-1')
    port = int(served.url.rpartition(':')[2])
    served.server.close()
    one.sees(LOST_TEXT)
    assert one.console.handle_line(':mode')
    one.sees('! no agent answers at')
    again = Served(served.bench, port)
    try:
        one.sees(ATTACHED_TEXT)
        assert one.console.handle_line(':mode')
        one.sees('IDLE: nothing to do')
    finally:
        again.server.close()


# --- a script ------------------------------------------------------------------------------------


@pytest.mark.usefixtures('old_interrupt')
def test_commands_end_with_one_object_of_json(served: Served, capfd: Any) -> None:
    served.bench.session.release.set()
    for commands, ok, part in (
        ((':mode',), True, 'IDLE'),
        ((':mode', ':nonsense'), False, 'no command :nonsense'),
        ((':mode', 'go to the light'), True, 'did '),  # it waits for the task
    ):
        flags = [word for command in commands for word in ('-c', command)]
        assert client_main.run(['--url', served.url, *flags]) == (0 if ok else 1)
        *lines, last = capfd.readouterr().out.splitlines()
        result = json.loads(last)
        assert (result['ok'], part in result['answer']) == (ok, True)
        assert '> :mode' in lines
        assert any('IDLE' in line for line in lines)


def test_no_agent_is_an_error_with_a_way_out(capfd: Any) -> None:
    assert client_main.run(['--url', 'http://127.0.0.1:9', '-c', ':mode']) == 1
    error = capfd.readouterr().err
    assert error.startswith('console: no agent answers at http://127.0.0.1:9 (')
    assert '--url' in error


def test_a_bad_address_is_named(capfd: Any) -> None:
    for url in ('nonsense', 'ftp://x', 'http://', 'http://x:port'):
        assert client_main.run(['--url', url]) == 1
        assert capfd.readouterr().err.startswith('console: --url: ')


def test_a_name_that_could_pass_for_another_door_is_refused(served: Served) -> None:
    with pytest.raises(AgentRefused) as caught:
        AgentApi(served.url, client=') the operator').say(':mode')
    assert caught.value.status == 422
    assert served.bench.said == []


def test_a_stop_that_reaches_nobody_says_so(served: Served) -> None:
    console = RemoteConsole(
        AgentApi('http://127.0.0.1:9', client='console-1'), print, lambda: False
    )
    outcome = console.stop('Ctrl-C')
    assert not outcome.ok
    assert 'did not reach the agent' in outcome.answer
    with pytest.raises(AgentUnavailable):
        AgentApi('http://127.0.0.1:9', client='console-1').stop()


def test_it_loads_neither_ros_nor_the_agent() -> None:
    code = (
        'import sys\n'
        'import curiosity_rosa_demo.agent.interfaces.console_client.main\n'
        'heavy = {"rclpy", "rosa", "langchain", "langgraph", "nicegui", "fastapi", "cv2"}\n'
        'print(sorted(heavy & set(sys.modules)))\n'
    )
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == '[]', done.stderr
