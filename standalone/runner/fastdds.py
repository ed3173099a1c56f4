# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Fast DDS around the processes of this run: a discovery server, and the shared memory that killed
processes left.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path
import re
import shutil
import socket
import subprocess

from runner.supervision import PlannedProcess

# --- The discovery server, on the loopback interface -------------------------------------------

PROFILE = Path(__file__).resolve().parents[1] / 'fastdds_server.xml'
VARIABLE = 'ROS_DISCOVERY_SERVER'
ADDRESS = '127.0.0.1'
FIRST_PORT = 11811  # of domain 0, Fast DDS's default


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
    _check_free(port)
    os.environ[VARIABLE] = f'{ADDRESS}:{port}'
    # Fast DDS 3 needs a command number. Fast DDS 2 has none: there, -h succeeds without it.
    asked = subprocess.run([binary, '-h'], capture_output=True, timeout=10.0)
    number = [] if asked.returncode == 0 else ['42']
    options = ['-i', '0', '-x', str(PROFILE), '-l', ADDRESS, '-p', str(port)]
    environment = ('/usr/bin/env', '-u', VARIABLE, 'FASTDDS_BUILTIN_TRANSPORTS=NONE')
    return PlannedProcess('discovery', (*environment, binary, *number, *options))


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


# --- Shared memory -----------------------------------------------------------------------------
# The standalone start uses UDP alone. With ROS's own transports, Fast DDS makes a segment for each
# process and a port for each reader. A killed process leaves its own, and the ports that it wrote
# to: their count of users never returns to zero.

SHARED_MEMORY = Path('/dev/shm')
# A segment or port, its semaphore, or the file that its living owner locks. Fast DDS 2 and 3.
NAME = re.compile(r'(?:sem\.)?(fast(?:rtps|dds)_(?:port\d+|[0-9a-f]{16}))(?:_el|_sl|_mutex)?')
LOCKS = ('_el', '_sl')


def remove_dead_segments(since_s: float, folder: Path = SHARED_MEMORY) -> list[str]:
    """Remove what was made since ``since_s``, in seconds of the epoch, by this user, and that no
    living process has. Returns the names of the removed files.
    """
    found: dict[str, list[Path]] = {}
    with contextlib.suppress(OSError):
        for each in sorted(folder.iterdir()):
            if match := NAME.fullmatch(each.name):
                found.setdefault(match[1], []).append(each)
    mapped = _mapped(folder) if found else set()
    removed = []
    for name, files in found.items():
        if name in mapped or any(map(_is_locked, files)):
            continue
        for each in files:
            with contextlib.suppress(OSError):  # its owner removed it, or it is another user's
                status = each.stat()
                if status.st_uid == os.geteuid() and status.st_ctime >= since_s:
                    each.unlink()
                    removed.append(each.name)
    return removed


def _is_locked(file: Path) -> bool:
    """Whether a living process has the lock, also one that /proc does not show (a container)."""
    if not file.name.endswith(LOCKS):
        return False
    try:
        with file.open('rb') as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def _mapped(folder: Path) -> set[str]:
    """The names that living processes have mapped."""
    names: set[str] = set()
    for maps in Path('/proc').glob('[0-9]*/maps'):
        with contextlib.suppress(OSError):  # it has ended, or it is another user's
            names.update(re.findall(rf' {re.escape(str(folder))}/(\S+)', maps.read_text()))
    return {found[1] for name in names if (found := NAME.fullmatch(name))}
