"""Stopping a turn: a request that anybody may make and that a broad except cannot swallow."""

from __future__ import annotations

import threading


class TurnCancelled(BaseException):
    """The turn was stopped; the message says by whom."""


class Cancellation:
    """The stop button of one turn."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self.reason = ''

    def cancel(self, reason: str) -> None:
        if not self._event.is_set():
            self.reason = reason
            self._event.set()

    @property
    def requested(self) -> bool:
        return self._event.is_set()

    def check(self) -> None:
        """Raises TurnCancelled when the button was pressed."""
        if self._event.is_set():
            raise TurnCancelled(self.reason)

    def sleep(self, seconds: float) -> None:
        """Wait, in steady seconds. Raises TurnCancelled at once when the button is pressed."""
        if self._event.wait(seconds):
            raise TurnCancelled(self.reason)
