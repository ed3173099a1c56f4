# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""supervisord with shorter waits: programs start at once, and it handles signals and exits within
a tenth of a second instead of a second.
"""

from __future__ import annotations

import contextlib
import os
import sys

from supervisor.options import ServerOptions
from supervisor.supervisord import asyncore, Supervisor

POLL_S = 0.1


class Options(ServerOptions):  # type: ignore[misc]
    def write_pidfile(self) -> None:
        """Write none: after kill -9 it would stay, and nobody reads it."""


class EagerSupervisor(Supervisor):  # type: ignore[misc]
    def runforever(self) -> None:
        for group in sorted(self.process_groups.values()):
            group.transition()
        poll = self.options.poller.poll
        self.options.poller.poll = lambda _: poll(POLL_S)
        super().runforever()


def main() -> None:
    # See supervision.py: it cannot know the number when it writes the configuration.
    os.environ['CURIOSITY_SUPERVISORD_PID'] = str(os.getpid())
    options = Options()
    options.realize(sys.argv[1:], doc=__doc__)
    options.first, options.test = True, False
    with contextlib.suppress(asyncore.ExitNow):
        EagerSupervisor(options).main()


if __name__ == '__main__':
    main()
