"""supervisord, without its waits: programs start at once, and signals and exits are seen within a
tenth of a second instead of a second."""

from __future__ import annotations

import contextlib
import sys

from supervisor.options import ServerOptions
from supervisor.supervisord import Supervisor, asyncore

POLL_S = 0.1


class EagerSupervisor(Supervisor):  # type: ignore[misc]
    def runforever(self) -> None:
        for group in sorted(self.process_groups.values()):
            group.transition()
        poll = self.options.poller.poll
        self.options.poller.poll = lambda _: poll(POLL_S)
        super().runforever()


def main() -> None:
    options = ServerOptions()
    options.realize(sys.argv[1:], doc=__doc__)
    options.first, options.test = True, False
    with contextlib.suppress(asyncore.ExitNow):
        EagerSupervisor(options).main()


if __name__ == '__main__':
    main()
