# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Fast DDS's discovery server for the nodes of this run, on the loopback interface."""

from __future__ import annotations

from collections.abc import Callable, Iterator
import contextlib
import os
from pathlib import Path
import shutil
import socket
import subprocess

from runner.plan import PlannedProcess
from runner.supervision import Supervisor

PROFILE = Path(__file__).resolve().parents[1] / 'fastdds_server.xml'
VARIABLE = 'ROS_DISCOVERY_SERVER'
ADDRESS = '127.0.0.1'
FIRST_PORT = 11811  # of domain 0, Fast DDS's default


@contextlib.contextmanager
def discovery_server(
    domain: int, folder: Path, *, notify: Callable[[str], None], keep_open: tuple[int, ...]
) -> Iterator[None]:
    """Run a server, and name it in the environment of the processes started within.

    Raises OSError.
    """
    if os.environ.get(VARIABLE):
        raise OSError(
            f'{VARIABLE}={os.environ[VARIABLE]}: a discovery server is named already; '
            'unset it, or leave out --discovery-server'
        )
    binary = shutil.which('fast-discovery-server')
    if binary is None:
        raise FileNotFoundError(
            'fast-discovery-server is missing: it comes with Fast DDS (rmw_fastrtps_cpp)'
        )
    port = FIRST_PORT + domain
    _check_free(port)
    arguments = [
        *_plain_server(binary),
        '-i',
        '0',
        '-x',
        str(PROFILE),
        '-l',
        ADDRESS,
        '-p',
        str(port),
    ]
    command = ('/usr/bin/env', 'FASTDDS_BUILTIN_TRANSPORTS=NONE', binary, *arguments)
    supervisor = Supervisor(
        [PlannedProcess('discovery', command)], folder, notify=notify, keep_open=keep_open
    )
    os.environ[VARIABLE] = f'{ADDRESS}:{port}'
    try:
        yield
    finally:
        del os.environ[VARIABLE]
        supervisor.stop()


def _plain_server(binary: str) -> list[str]:
    """The first argument: Fast DDS 3 needs a command number, Fast DDS 2 has none.

    With Fast DDS 2, ``-h`` succeeds without a number.
    """
    help_run = subprocess.run([binary, '-h'], capture_output=True, timeout=10.0)
    return [] if help_run.returncode == 0 else ['42']


def _check_free(port: int) -> None:
    """Raises OSError."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((ADDRESS, port))
        except OSError:
            raise OSError(
                f'UDP port {port}, for the discovery server, is taken; end who has it, or set '
                'ROS_DOMAIN_ID: the port is 11811 and the domain'
            ) from None
