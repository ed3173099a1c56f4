# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Fast DDS around the processes of this run: a discovery server on the loopback interface, and the
shared memory that killed processes left.
"""

from __future__ import annotations

import os
from pathlib import Path
import shutil
import socket
import subprocess

from runner.supervision import PlannedProcess

PROFILE = Path(__file__).resolve().parents[1] / 'fastdds_server.xml'
VARIABLE = 'ROS_DISCOVERY_SERVER'
ADDRESS = '127.0.0.1'
FIRST_PORT = 11811  # of domain 0, Fast DDS's default
SHARED_MEMORY = Path('/dev/shm')
TOOL_S = 10.0  # that one of its tools may take


def discovery_server(domain: int) -> PlannedProcess:
    """The server. Names it in the environment of the processes that start from now on.

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
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((ADDRESS, port))
        except OSError:
            raise OSError(
                f'UDP port {port}, for the discovery server, is taken; end who has it, or set '
                'ROS_DOMAIN_ID: the port is 11811 and the domain'
            ) from None
    os.environ[VARIABLE] = f'{ADDRESS}:{port}'
    # Fast DDS 3 needs a command number. Fast DDS 2 has none: there, -h succeeds without it.
    asked = subprocess.run([binary, '-h'], capture_output=True, timeout=TOOL_S)
    number = [] if asked.returncode == 0 else ['42']
    options = ['-i', '0', '-x', str(PROFILE), '-l', ADDRESS, '-p', str(port)]
    environment = ('/usr/bin/env', '-u', VARIABLE, 'FASTDDS_BUILTIN_TRANSPORTS=NONE')
    return PlannedProcess('discovery', (*environment, binary, *number, *options))


def clean_shared_memory() -> None:
    """Remove what no living process has locked, with the tool of Fast DDS.

    The standalone start uses UDP alone. With ROS's own transports, Fast DDS makes a segment for
    each process and a port for each reader. A killed process leaves its own, and the ports that it
    wrote to.
    """
    tool = shutil.which('fastdds')
    if tool is not None and any(SHARED_MEMORY.glob('fast*')):
        subprocess.run([tool, 'shm', 'clean'], capture_output=True, timeout=TOOL_S, check=False)
