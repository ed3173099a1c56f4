# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A thread that spins one node, and the life of the process around the nodes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
import signal
import sys
import threading
from typing import Protocol

import rclpy
from rclpy.clock import Clock, ClockType
from rclpy.executors import Executor, ExternalShutdownException, SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

# For timers: the stand-in itself may publish the simulated time.
STEADY = Clock(clock_type=ClockType.STEADY_TIME)


def _make_executor() -> Executor:
    try:
        from rclpy.experimental import EventsExecutor  # Jazzy on; far cheaper
    except ImportError:
        return SingleThreadedExecutor()
    return EventsExecutor()


def _nothing() -> None: ...


class NodeThread:
    """Runs the callbacks of one node, one at a time, until it is closed."""

    def __init__(self, node: Node, *, on_crash: Callable[[Exception], None]) -> None:
        self._executor = _make_executor()
        self._executor.add_node(node)
        self._closing = False
        self._on_crash = on_crash
        self._thread = threading.Thread(target=self._spin, name=node.get_name(), daemon=True)
        self._thread.start()

    def _spin(self) -> None:
        try:
            while not self._closing and rclpy.ok():
                # EventsExecutor raises when a request waits for a service that was destroyed.
                with suppress(rclpy_implementation.InvalidHandle):
                    # EventsExecutor.spin() without a time-out has hung at full CPU load.
                    self._executor.spin_once(timeout_sec=1.0)
        except ExternalShutdownException:
            pass
        except Exception as error:
            self._on_crash(error)

    def post(self, work: Callable[[], None]) -> None:
        """Run ``work`` in the thread, between its callbacks. Thread-safe."""
        self._executor.create_task(work)

    def close(self) -> None:
        """Request the end of the thread; ``join`` waits for it."""
        self._closing = True
        self.post(_nothing)  # EventsExecutor.wake() does not end a waiting spin_once

    def join(self) -> None:
        self._thread.join(timeout=3.0)


class Ending:
    """Waits for SIGINT, SIGTERM or a crash."""

    def __init__(self) -> None:
        self._ended = threading.Event()
        self.error: Exception | None = None
        for signum in (signal.SIGINT, signal.SIGTERM):
            signal.signal(signum, lambda *_: self._ended.set())

    def crash(self, error: Exception) -> None:
        self.error = error
        self._ended.set()

    def wait(self) -> None:
        self._ended.wait()


class App(Protocol):
    """Nodes with their threads."""

    def close(self) -> None: ...


def run_app(name: str, start: Callable[[Ending], App], *invalid: type[Exception]) -> int:
    """Run until a signal or a crash; the exit status. ``start`` raises one of ``invalid`` where
    a parameter is: then it is 2, with the error in one line.
    """

    def failed(text: str, status: int) -> int:
        print(f'{name}: {text}', file=sys.stderr, flush=True)
        return status

    ending = Ending()
    try:
        # The signals only end the wait below: rclpy must not shut down during a callback.
        rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    except RuntimeError as error:
        return failed(str(error).splitlines()[0], 2)
    try:
        try:
            app = start(ending)
        except invalid as error:
            return failed(str(error), 2)
        try:
            ending.wait()
        finally:
            app.close()
        return 0 if ending.error is None else failed(f'crashed: {ending.error!r}', 1)
    finally:
        rclpy.try_shutdown()
