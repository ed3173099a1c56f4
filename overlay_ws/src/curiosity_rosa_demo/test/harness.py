# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A ROS domain of its own for one test, or for a module whose tests share nodes: real processes
on one side, one client node on the other.

Every wait is bounded and says what it waited for; only what the test started is killed, and it
does not outlive a pytest that was killed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
import fcntl
import json
import os
from pathlib import Path
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from typing import Any

from ament_index_python.packages import get_packages_with_prefixes
from curiosity_rosa_demo.infra.process import SpinThread
from curiosity_rosa_demo.infra.ros_io import call
from rcl_interfaces.srv import SetParameters
import rclpy
from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.subscription import Subscription

ROOT = Path(__file__).resolve().parents[4]
PREFIXES = {name: Path(prefix) for name, prefix in get_packages_with_prefixes().items()}
# The kernel kills what is started with it when the thread that started it ends: for a node that of
# STARTER, which lives as long as pytest.
DIES_WITH_US = [str(shutil.which('setpriv')), '--pdeathsig', 'KILL', '--']
STARTER = ThreadPoolExecutor(max_workers=1, thread_name_prefix='process-starter')
PATIENT_LEASE_S = 2.0
PATIENT = {'motion': {'agent_lease_s': PATIENT_LEASE_S}, 'capture': {'wait_s': 10.0}}
PROFILES = {'FASTRTPS_DEFAULT_PROFILES_FILE', 'FASTDDS_DEFAULT_PROFILES_FILE'}  # Fast DDS 2, 3


def wait_until(condition: Callable[[], Any], what: str, timeout_s: float = 20.0) -> Any:
    """The first true value of ``condition``; after ``timeout_s`` an error that names ``what``."""
    deadline = time.monotonic() + timeout_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f'waited {timeout_s} s for {what}')
        threading.Event().wait(0.02)


class Process:
    """One node as a real process; what it prints goes to ``log``."""

    def __init__(self, command: list[str], env: dict[str, str], log: Path) -> None:
        self.log = log
        with log.open('ab') as out:
            self.popen = STARTER.submit(
                subprocess.Popen[bytes],
                [*DIES_WITH_US, *command],
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            ).result()

    @property
    def pid(self) -> int:
        return self.popen.pid

    @property
    def alive(self) -> bool:
        return self.popen.poll() is None

    def output(self) -> str:
        return self.log.read_text(errors='replace')

    def kill(self, signum: int = signal.SIGKILL) -> int:
        """Send the signal and wait for the end; the exit status."""
        if self.alive:
            self.popen.send_signal(signum)
        try:
            return self.popen.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            self.popen.wait(timeout=10)
            raise AssertionError(f'{self.log.stem} outlived signal {signum} by 10 s') from None

    def end(self) -> None:
        """Ask it to end, and see to it when it does not."""
        if self.alive:
            self.popen.terminate()
            try:
                self.popen.wait(timeout=5)
            except subprocess.TimeoutExpired:
                self.popen.kill()
                self.popen.wait(timeout=10)


class Sandbox:
    """A domain id nobody else has, processes in it, and a client node that spins in a thread.

    Use it as a context manager.
    """

    def __init__(self) -> None:
        self._processes: list[Process] = []
        self._folder = tempfile.TemporaryDirectory(prefix='curiosity-test-')
        self.folder = Path(self._folder.name)

    def __enter__(self) -> Sandbox:
        self.domain, self._lock = _own_domain()
        if not PROFILES.intersection(os.environ):  # scripts/env.sh has not set one
            os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
        self.env = {
            **os.environ,
            'ROS_DOMAIN_ID': str(self.domain),
            'ROS_LOG_DIR': str(self.folder / 'ros'),
            'PYTHONUNBUFFERED': '1',
        }
        # Without bytecode files each process compiles its modules anew.
        self.env.pop('PYTHONDONTWRITEBYTECODE', None)
        self._udp_before = _udp_sockets()
        rclpy.init(domain_id=self.domain)
        self.node: Node = rclpy.create_node('test_client', start_parameter_services=False)
        self.crashes: list[Exception] = []
        self._spin = SpinThread('test-client', self.node, on_crash=self.crashes.append)
        self._clients: dict[tuple[type, str], Any] = {}
        self._action_clients: list[ActionClient] = []
        self._subscriptions: list[Subscription] = []
        return self

    def __exit__(self, *_: object) -> None:
        # The rover, started first, goes last: the adapter stops it on its own way out.
        for process in reversed(self._processes):
            process.end()
        for client in self._action_clients:
            client.destroy()
        self._spin.close()
        self.node.destroy_node()
        rclpy.try_shutdown()
        self._folder.cleanup()
        self._lock.close()
        left = _udp_sockets() - self._udp_before
        assert not left, 'this process is still in the ROS domain of a test that has ended'

    def show_logs(self) -> None:
        """Print the end of what each process has written; pytest shows it of a failed test."""
        for process in self._processes:
            print(f'--- {process.log.name} (last lines)\n{process.output()[-3000:]}')

    def action_client(self, kind: type, name: str, **options: Any) -> ActionClient:
        """One that is destroyed at the end; else it would keep its node, and that its domain."""
        self._action_clients.append(ActionClient(self.node, kind, name, **options))
        return self._action_clients[-1]

    def introduce(self, client: ActionClient, empty: Any, timeout_s: float = 60.0) -> None:
        """Until a goal that asks for nothing was answered. Before the two processes know each
        other both ways an answer can be lost, and a goal that moves something is not sent twice.
        """
        assert client.wait_for_server(timeout_sec=timeout_s), 'the action did not appear'
        asked: list[Any] = []

        def ask() -> bool:
            asked.append(self.ask(lambda: client.send_goal_async(empty)))
            with suppress(AssertionError):
                wait_until(lambda: any(each.done() for each in asked), 'an answer', 5.0)
                return True
            return False

        wait_until(ask, 'the answer to an empty goal', timeout_s)

    def ask(self, ask: Callable[[], Any]) -> Any:
        """What it returns in the thread that spins. rclpy's action client loses an answer that
        comes before another thread has noted its question.
        """
        asked = self.node.executor.create_task(ask)
        wait_until(asked.done, 'the request to be sent')
        return asked.result()

    def start(self, package: str, executable: str, /, *args: str, **params: Any) -> Process:
        """Start a node with ROS parameters given as keywords."""
        command = [str(PREFIXES[package] / 'lib' / package / executable), '--ros-args', *args]
        for name, value in params.items():
            command += ['-p', f'{name}:={_yaml_scalar(value)}']
        return self.run(command, executable)

    def run(self, command: list[str], name: str) -> Process:
        """Start any command in this domain; ``name`` is that of its log."""
        log = self.folder / f'{len(self._processes):02d}-{name}.log'
        process = Process(command, self.env, log)
        self._processes.append(process)
        return process

    def stand_in(self, **params: Any) -> Process:
        return self.start('curiosity_stand_in', 'stand_in_node', **params)

    def overlay(self, executable: str, **params: Any) -> Process:
        return self.start('curiosity_rosa_demo', executable, **params)

    def client(self, srv_type: type, name: str) -> Any:
        """One for each service: what waits for the discovery of a new one comes out of order."""
        if (srv_type, name) not in self._clients:
            self._clients[srv_type, name] = self.node.create_client(srv_type, name)
        return self._clients[srv_type, name]

    def call(
        self,
        srv_type: type,
        name: str,
        request: Any = None,
        timeout_s: float = 20.0,
        again_s: float | None = None,
    ) -> Any:
        """Call a service, waiting for it to appear. ``again_s``: send again after each such time,
        as a request to a node that was just killed has no answer. Raises ros_io.ServiceFailed.
        """
        client = self.client(srv_type, name)
        return call(client, request or srv_type.Request(), timeout_s=timeout_s, again_s=again_s)

    def set_parameters(self, node: str, /, timeout_s: float = 20.0, **values: Any) -> list[str]:
        """Change parameters of a node; the reasons of those that it refused."""
        parameters = [
            Parameter(name, value=each).to_parameter_msg() for name, each in values.items()
        ]
        request = SetParameters.Request(parameters=parameters)
        answer = self.call(SetParameters, f'/{node}/set_parameters', request, timeout_s)
        return [result.reason for result in answer.results if not result.successful]

    def collect(self, msg_type: type, topic: str, qos: Any = 10) -> list[Any]:
        """A list that grows with each message on ``topic``."""
        received: list[Any] = []
        self._subscriptions.append(
            self.node.create_subscription(msg_type, topic, received.append, qos)
        )
        return received

    @contextmanager
    def lent(self) -> Iterator[Sandbox]:
        """For one of several tests of this domain: what it collects ends with it, and pytest shows
        the logs if it fails. The test's module resets the nodes.
        """
        kept = len(self._subscriptions)
        try:
            yield self
        finally:
            self.show_logs()
            for each in self._subscriptions[kept:]:
                # In the thread that spins: it may just be taking a message.
                what = f'the end of a subscription to {each.topic_name}'
                ended = self.node.executor.create_task(self.node.destroy_subscription, each)
                wait_until(ended.done, what)
            del self._subscriptions[kept:]

    def config_dir(self, **changes: dict[str, Any]) -> str:
        """A copy of the shipped YAML folder with ``changes`` ({file: nested keys}) merged in.

        The page's port is any that is free, and agent and camera may be late: other agents may run
        on this machine, and more processes than it has cores.
        """
        from curiosity_rosa_demo.infra.config_loader import CONFIG_FILES, shipped_config_dir
        import yaml

        agent, thresholds = changes.get('agent', {}), changes.get('thresholds', {})
        patient = {
            section: {**values, **thresholds.get(section, {})}
            for section, values in PATIENT.items()
        }
        changes = {
            **changes,
            'agent': {**agent, 'http': {'port': 0, **agent.get('http', {})}},
            'thresholds': {**thresholds, **patient},
        }
        folder = Path(tempfile.mkdtemp(prefix='config-', dir=self.folder))
        for name in CONFIG_FILES:
            text = (shipped_config_dir() / f'{name}.yaml').read_text(encoding='utf-8')
            if name in changes:
                text = yaml.safe_dump(changes[name])  # what is left out takes the shipped value
            (folder / f'{name}.yaml').write_text(text, encoding='utf-8')
        return str(folder)


def _yaml_scalar(value: Any) -> str:
    return value if isinstance(value, str) and value else json.dumps(value)


def _udp_sockets() -> set[str]:
    """Those of this process, by inode."""
    mine = set()
    for each in Path('/proc/self/fd').iterdir():
        with suppress(OSError):
            mine.add(os.readlink(each))
    lines = Path('/proc/self/net/udp').read_text().splitlines()[1:]
    return {inode for inode in (line.split()[9] for line in lines) if f'socket:[{inode}]' in mine}


def _own_domain() -> tuple[int, Any]:
    """A domain id and the lock that holds it; below 102, so that ports are not ephemeral ones."""
    for domain in range(20, 101):
        path = Path(tempfile.gettempdir(), f'curiosity-test-domain-{domain}.lock')
        lock = open(path, 'w')  # noqa: SIM115
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            continue
        return domain, lock
    raise AssertionError('no free ROS domain id between 20 and 100')
