# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The program of scripts/run_demo.sh. It runs the demo in a child process, which outlives a kill
-9 of this one until it has ended all others in their order.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from runner.supervision import die_with_parent


def main() -> int:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the agent handles Ctrl-C
    _open_the_standard_streams()
    try:
        command = die_with_parent([sys.executable, '-m', 'runner.demo', *sys.argv[1:]])
    except FileNotFoundError as error:
        print(f'run_demo: {error}', file=sys.stderr)
        return 2
    demo = subprocess.Popen(command)
    for signum in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, lambda *_: demo.terminate())
    status = demo.wait()
    return status if status >= 0 else 128 - status


def _open_the_standard_streams() -> None:
    """Open closed standard streams on /dev/null, or a pipe or lock would get their descriptors."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number
            os.set_inheritable(descriptor, True)


if __name__ == '__main__':
    sys.exit(main())
