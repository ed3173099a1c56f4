# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The process of a node: start parameters, signals and exit status."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
import faulthandler
import gc
import queue
import signal
import sys
import threading
from typing import Any, TextIO, TypeVar

from curiosity_rosa_demo.infra.config.base import ros_name
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.config_loader import ConfigError, load_config
from rcl_interfaces.msg import ParameterDescriptor
import rclpy
from rclpy._rclpy_pybind11 import RCLError
from rclpy.executors import Executor, ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

# --- Threads that spin nodes -------------------------------------------------------------------
# A SpinThread runs the callbacks of its nodes one at a time. A callback must not wait for another
# callback of the same thread. It may wait for a response if another thread spins the client.


QUEUED_CALLS = 10  # that a service keeps at most, in rclpy's QoS


def make_executor() -> Executor:
    """EventsExecutor if available (rclpy from Jazzy): a third of the latency, no idle CPU use."""
    try:
        from rclpy.experimental import EventsExecutor
    except ImportError:
        return SingleThreadedExecutor()
    return EventsExecutor()


class SpinThread:
    """A thread that spins some nodes until ``close``.

    After an exception in a callback the thread passes it to ``on_crash`` and ends. The process
    then exits and is restarted in a known state.
    """

    def __init__(
        self,
        name: str,
        *nodes: Node,
        on_crash: Callable[[Exception], None],
        ignored: tuple[type[Exception], ...] = (),
    ) -> None:
        """``ignored``: exceptions after which the thread goes on."""
        self._executor = make_executor()
        self._closing = False
        self._on_crash, self._ignored = on_crash, ignored
        for node in nodes:
            self._executor.add_node(node)
        self._thread = threading.Thread(target=self._spin, name=name, daemon=True)
        self._thread.start()

    def _spin(self) -> None:
        try:
            while not self._closing and rclpy.ok():
                with suppress(*self._ignored):
                    # EventsExecutor.spin() without a timeout can hang at full CPU load.
                    self._executor.spin_once(timeout_sec=1.0)
        except ExternalShutdownException:
            pass
        except Exception as error:
            self._on_crash(error)

    def post(self, work: Callable[[], object]) -> None:
        """Run ``work`` in the thread, between its callbacks. Thread-safe."""
        self._executor.create_task(work)

    def post_behind(self, work: Callable[[], object], rounds: int = QUEUED_CALLS) -> None:
        """Run ``work`` in the thread, after the callbacks that are due by now. Thread-safe."""
        # In a round a SingleThreadedExecutor runs the tasks, and then one call of each service.
        # The EventsExecutor has one queue of all.
        last = not rounds or not isinstance(self._executor, SingleThreadedExecutor)
        self.post(work if last else lambda: self.post_behind(work, rounds - 1))

    def await_queued(self, timeout_s: float) -> bool:
        """Wait until the callbacks that are due by now have run. Returns whether they did. Not
        for a callback of this thread.
        """
        reached = threading.Event()
        self.post_behind(reached.set)
        return reached.wait(timeout_s)

    def close(self) -> None:
        self._closing = True
        # EventsExecutor.wake() does not end a blocked spin_once(); a task does, in every executor.
        self.post(lambda: None)
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout=3.0)
        if not self._thread.is_alive():
            self._executor.shutdown()


END_LIMIT_S = 20.0  # of a process that closes; a close takes 6 s on a busy machine
T = TypeVar('T', str, int)


def start_parameter(node: Node, name: str, default: T, description: str) -> T:
    """Declare a read-only parameter and return its value, which must have the type of ``default``.
    Raises ConfigError.
    """
    descriptor = ParameterDescriptor(
        description=f'{description} Read at the start.',
        read_only=True,
        dynamic_typing=True,  # the check below has the better message
    )
    value = node.declare_parameter(name, default, descriptor).value
    if type(value) is not type(default):
        wanted = {str: 'text', int: 'a whole number'}[type(default)]
        raise ConfigError(f'parameter {name} = {value!r}: must be {wanted}')
    return value


PARAMETERS = {
    'config_dir': 'Folder of the YAML contracts; empty: the one that ships with the package.',
    'rover_namespace': "Namespace of the rover's own names, e.g. r1; empty: as they stand in "
    'topics.yaml.',
    'robot': "The robot's profile, robots/NAME.yaml; empty: that of nodes.yaml.",
}


def node_config(node: Node) -> Config:
    """Declare PARAMETERS and load the configuration, with its names in the node's and the rover's
    namespace. Raises ConfigError.
    """
    folder, rover, robot = (
        start_parameter(node, name, '', description) for name, description in PARAMETERS.items()
    )
    try:
        if rover.strip('/'):
            ros_name(rover.strip('/'))
    except ValueError as error:
        raise ConfigError(f'parameter rover_namespace = {rover!r}: {error}') from None
    own = node.get_namespace()
    return load_config(folder, robot=robot, namespace=own, rover_namespace=rover)


def end_within(limit_s: float, stacks: TextIO) -> None:
    """Have the process end within ``limit_s`` whatever its threads do: with status 1, after it has
    written their stacks to ``stacks``.

    It needs no thread of Python, so neither a lock nor the end of the interpreter can delay it.
    """
    faulthandler.dump_traceback_later(limit_s, exit=True, file=stacks)


class Process:
    """Waits for the end of the process: a signal, or a crash in one of its threads."""

    def __init__(self) -> None:
        # Not threading.Event: a signal may interrupt the handler of another; SimpleQueue.put is
        # reentrant.
        self._ended: queue.SimpleQueue[None] = queue.SimpleQueue()
        self.error: Exception | None = None

    def end(self, *_: object) -> None:
        self._ended.put(None)

    def crash(self, error: Exception) -> None:
        self.error = error
        self._ended.put(None)

    def wait(self) -> None:
        while True:  # with a timeout: a signal just before get() would not wake it
            with suppress(queue.Empty):
                self._ended.get(timeout=1.0)
                return


def run_app(name: str, build: Callable[[Process], Any]) -> int:
    """Run the process of one node until SIGINT, SIGTERM, SIGHUP or a crash; then ``close`` what
    ``build`` made.

    Returns the exit status: 0, 1 after a crash, 2 if the node cannot start. The signals do not
    shut rclpy down, so ``close`` can still call the robot's services.
    """
    process = Process()
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, process.end)
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    try:
        try:
            app = build(process)
        except (ConfigError, RCLError) as error:
            # of RCL: such as missing SROS2 keys
            why = error if isinstance(error, ConfigError) else f'cannot start: {error}'
            print(f'{name}: {why}', file=sys.stderr, flush=True)
            return 2
        gc.freeze()  # a full collection of all that was imported would hold up a stop
        try:
            process.wait()
        finally:
            end_within(END_LIMIT_S, sys.stderr)
            app.close()
        if process.error is not None:
            print(f'{name}: crashed: {process.error!r}', file=sys.stderr, flush=True)
            return 1
        return 0
    finally:
        rclpy.try_shutdown()
