# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The printer, the log file, the places, the loop in a thread, and those who wait for a reply."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
import logging
import os
from pathlib import Path
import subprocess
import sys
import threading
from typing import Any

from curiosity_rosa_demo.agent.interfaces.terminal.writer import ConsoleWriter
from curiosity_rosa_demo.agent.runtime.threads.event_loop_thread import EventLoopThread
from curiosity_rosa_demo.agent.startup.logs import LogFile, LOGGER_NAME
from curiosity_rosa_demo.infra.config.topics import NodeSpec
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.infra.storage.paths import (
    agent_log_file,
    recordings_folder,
    state_folder,
    task_database_file,
    trace_file,
)
from harness import wait_until
import pytest

LONG_S = 20.0


def test_lines_are_printed_in_their_order_from_any_thread(
    capsys: pytest.CaptureFixture[str],
) -> None:
    printer = ConsoleWriter()
    printer.start()
    for number in range(100):
        printer.write(f'{number} 光')
    printer.close()
    assert capsys.readouterr().out.splitlines() == [f'{number} 光' for number in range(100)]


@pytest.mark.parametrize('before', ['', 'sys.stdout.close()', 'os.close(1)'])
def test_when_nobody_reads_any_more_the_process_is_told_to_end(before: str) -> None:
    program = '\n'.join(
        [
            'import os, signal, sys, time',
            'from curiosity_rosa_demo.agent.interfaces.terminal.writer import ConsoleWriter',
            'told = []',
            'signal.signal(signal.SIGTERM, lambda *_: told.append(True))',
            before,
            'writer = ConsoleWriter()',
            'writer.start()',
            'for _ in range(50): writer.write("x" * 5000)',
            'deadline = time.monotonic() + 20',
            'while not told and time.monotonic() < deadline: time.sleep(0.01)',
            'writer.write("more")',
            'writer.close()',
            'sys.stderr.write(f"ended {told}")',
        ]
    )
    reading, writing = os.pipe()
    with subprocess.Popen(
        [sys.executable, '-c', program], stdout=writing, stderr=subprocess.PIPE, text=True
    ) as process:
        os.close(writing)
        os.close(reading)
        assert process.stderr is not None
        assert process.stderr.read().strip() == 'ended [True]'
        assert process.wait(LONG_S) in (0, 120)  # 120: what Python had left to write is lost


def test_what_is_logged_is_in_the_file_in_its_order(tmp_path: Path) -> None:
    path = tmp_path / 'agent.log'
    log = LogFile(path)
    try:
        logger = logging.getLogger(f'{LOGGER_NAME}.tasks')
        for number in range(50):
            logger.info('event=x number=%d name=%r', number, '光')
        logger.debug('event=too_much')
    finally:
        log.close()
    lines = path.read_text(encoding='utf-8').splitlines()
    assert len(lines) == 50
    for number, line in enumerate(lines):
        assert line.endswith(f"INFO curiosity_rosa.tasks event=x number={number} name='光'")


def test_debug_is_for_the_loggers_of_the_overlay() -> None:
    node = NodeSpec(name='adapter', package='p', executable='e', when='')
    assert node.log_arguments('', debug=False)[1::2] == ['info']
    for namespace, logger in (('', 'adapter'), ('/r1', 'r1.adapter'), ('a/b', 'a.b.adapter')):
        assert node.log_arguments(namespace, debug=True)[1::2] == ['info', f'{logger}:=debug']


def test_a_log_is_refused_or_closed_whole(tmp_path: Path) -> None:
    with pytest.raises(OSError, match='nowhere'):
        LogFile(tmp_path / 'nowhere' / 'agent.log')
    path = tmp_path / 'agent.log'
    LogFile(path).close()
    logging.getLogger(LOGGER_NAME).error('event=late')
    assert path.read_text() == ''
    assert logging.getLogger(LOGGER_NAME).propagate
    assert not [each for each in os.listdir('/proc/self/fd') if _leads_to(each, path)]


def _leads_to(descriptor: str, path: Path) -> bool:
    try:
        return os.readlink(f'/proc/self/fd/{descriptor}') == str(path)
    except OSError:
        return False


def test_each_domain_and_namespace_has_its_tasks_in_the_state_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('HOME', str(tmp_path))
    for state, folder in ((f'{tmp_path}/state', 'state'), ('', '.local/state')):
        monkeypatch.setenv('XDG_STATE_HOME', state)
        assert state_folder() == tmp_path / folder / 'curiosity_rosa'
        assert state_folder().is_dir()
    for domain, namespace, name in (
        ('', '', 'tasks.db'),
        ('0', '/', 'tasks.db'),
        ('42', '', 'tasks_42.db'),
        ('', '/r1', 'tasks_0_r1.db'),
        ('42', '/mars/r1', 'tasks_42_mars_r1.db'),
    ):
        monkeypatch.setenv('ROS_DOMAIN_ID', domain)
        assert task_database_file('', namespace) == state_folder() / name
    monkeypatch.setenv('XDG_STATE_HOME', f'{tmp_path}/state/curiosity_rosa/file')
    (tmp_path / 'state/curiosity_rosa/file').touch()
    with pytest.raises(OSError, match='file'):
        state_folder()


def test_agents_of_two_namespaces_share_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('XDG_STATE_HOME', str(tmp_path))
    monkeypatch.setenv('HOME', str(tmp_path))
    shipped = load_config()
    paths: dict[str, Any] = {
        'recorder': shipped.agent.recorder.model_copy(update={'path': '~/trace.jsonl'}),
        'recording': shipped.agent.recording.model_copy(update={'folder': '~/runs'}),
    }
    config = shipped.model_copy(update={'agent': shipped.agent.model_copy(update=paths)})

    def files(namespace: str) -> list[Path | None]:
        return [
            task_database_file('~/my.db', namespace),
            agent_log_file(namespace),
            trace_file(config, namespace),
            recordings_folder(config, '', namespace),
        ]

    assert files('/r1') == [
        tmp_path / 'my_r1.db',
        tmp_path / 'curiosity_rosa/agent_r1.log',
        tmp_path / 'trace_r1.jsonl',
        tmp_path / 'runs_r1',
    ]
    assert files('') == [
        tmp_path / 'my.db',
        tmp_path / 'curiosity_rosa/agent.log',
        tmp_path / 'trace.jsonl',
        tmp_path / 'runs',
    ]
    assert trace_file(shipped, '/r1') is None
    assert recordings_folder(shipped, '', '/r1') == tmp_path / 'curiosity_rosa/recordings_r1'
    assert recordings_folder(config, '~/asked', '/r1') == tmp_path / 'asked'


class Loop:
    def __init__(self) -> None:
        self.errors: list[BaseException] = []
        self.loop = EventLoopThread('test-loop', self.errors.append)
        self.loop.start()


@pytest.fixture
def loop() -> Iterator[Loop]:
    made = Loop()
    yield made
    made.loop.close()


def test_a_job_that_fails_is_told_and_one_that_is_cancelled_is_not(loop: Loop) -> None:
    ended = threading.Event()

    async def fail() -> None:
        raise ZeroDivisionError('a bug')

    async def last() -> None:
        try:
            await asyncio.sleep(LONG_S)
        finally:
            ended.set()

    loop.loop.call_soon(loop.loop.start_job, fail())
    loop.loop.call_soon(loop.loop.start_job, last())
    wait_until(lambda: loop.errors, 'the error', LONG_S)
    loop.loop.call(loop.loop.cancel_jobs())
    assert ended.is_set()
    assert [str(error) for error in loop.errors] == ['a bug']


def test_what_is_not_answered_in_time_does_not_happen_later(loop: Loop) -> None:
    done: list[str] = []
    gate = asyncio.Event()

    async def late() -> None:
        await gate.wait()
        done.append('late')

    with pytest.raises(TimeoutError, match=r'within 0\.05 s'):
        loop.loop.call(late(), 0.05)

    async def opens() -> None:
        gate.set()
        await asyncio.sleep(0)

    loop.loop.call(opens())
    assert done == []


def test_calls_keep_their_order_and_after_close_nothing_happens_any_more(loop: Loop) -> None:
    done: list[int] = []
    for number in range(100):
        loop.loop.call_soon(done.append, number)
    loop.loop.close()  # joins the thread
    loop.loop.call_soon(done.append, 100)
    loop.loop.close()
    assert done == list(range(100))
