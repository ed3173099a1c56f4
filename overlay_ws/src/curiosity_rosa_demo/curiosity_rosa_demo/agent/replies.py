"""What comes of a message to the mission; whoever asked hears of it exactly once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from curiosity_rosa_demo.agent.tasks import Task


@dataclass
class Reply:
    """What came of a message: a task that was made of it, or words."""

    words: list[str] = field(default_factory=list)
    ok: bool = True
    task: Task | None = None


Then = Callable[[Reply], None]


class Replies:
    """In one thread."""

    def __init__(self) -> None:
        self._open: set[Then] = set()
        self._lost = ''

    def expect(self, then: Then) -> Then:
        """What to call in place of ``then``. After ``lose`` the answer is there already."""

        def once(reply: Reply) -> None:
            if once in self._open:
                self._open.discard(once)
                then(reply)

        self._open.add(once)
        if self._lost:
            once(Reply([self._lost], ok=False))
        return once

    def lose(self, why: str) -> None:
        """Nobody will answer any more: whoever waits, or asks later, is told ``why``."""
        self._lost = why
        for once in list(self._open):
            once(Reply([why], ok=False))
