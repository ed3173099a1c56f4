# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The one thin layer over rclpy: processes, spinning threads, service calls, trace publishing.

Threads: each SpinThread runs the callbacks of its nodes, one at a time. A callback must not wait
for another callback of the same thread; it may wait for a service whose client lives on another
one.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
import queue
import signal
import sys
import threading
import time
from typing import Any, Protocol, TypeVar

from curiosity_rosa_demo.domain.models import (
    service_timeout,
    service_unavailable,
    TraceEvent,
    TraceKind,
)
from curiosity_rosa_demo.infra.config.base import ros_name
from curiosity_rosa_demo.infra.config.contracts import Config
from curiosity_rosa_demo.infra.config_loader import ConfigError, load_config
from curiosity_rosa_demo.trace.trace_codec import encode, new_event, start_of
from pydantic import ValidationError
from rcl_interfaces.msg import ParameterDescriptor
import rclpy
from rclpy._rclpy_pybind11 import RCLError
from rclpy.client import Client
from rclpy.clock import Clock, ClockType
from rclpy.executors import Executor, ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import (
    DurabilityPolicy,
    HistoryPolicy,
    QoSProfile,
    ReliabilityPolicy,
)
from rclpy.signals import SignalHandlerOptions
from std_msgs.msg import Bool, Empty, String

try:
    from rclpy.event_handler import SubscriptionEventCallbacks
except ImportError:  # Humble
    from rclpy.qos_event import SubscriptionEventCallbacks

T = TypeVar('T', str, int)

NEWEST_ONLY = QoSProfile(
    history=HistoryPolicy.KEEP_LAST, depth=1, reliability=ReliabilityPolicy.BEST_EFFORT
)
HEARTBEAT_S = 0.2
STEADY = Clock(clock_type=ClockType.STEADY_TIME)  # for deadlines: sim time jumps, this does not


def history_qos(depth: int) -> QoSProfile:
    """Reliable, with the last ``depth`` messages for late subscribers."""
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=depth,
        reliability=ReliabilityPolicy.RELIABLE,
        durability=DurabilityPolicy.TRANSIENT_LOCAL,
    )


def listen_to_button(node: Node, topic: str, callback: Callable[[bool], None]) -> None:
    """Hear a std_msgs/Bool whatever the QoS of its publisher.

    A latched subscription matches only a latched publisher, a reliable one only a reliable one. A
    message may come more than once.
    """
    quiet = SubscriptionEventCallbacks(use_default_callbacks=False)  # the mismatch is meant
    for qos in (history_qos(1), QoSProfile(depth=1), NEWEST_ONLY):
        node.create_subscription(
            Bool,
            topic,
            lambda message: callback(bool(message.data)),
            qos,
            event_callbacks=quiet,
        )


class ServiceFailed(Exception):
    """A service was not there or did not answer in time; the message is the contract's reason."""


def make_executor() -> Executor:
    """EventsExecutor where rclpy has it (Jazzy on): a third of the latency, no CPU while idle."""
    try:
        from rclpy.experimental import EventsExecutor
    except ImportError:
        return SingleThreadedExecutor()
    return EventsExecutor()


def _nothing() -> None: ...


class SpinThread:
    """A thread that runs the callbacks of some nodes until it is closed.

    A callback that raises ends the thread and is reported to ``on_crash``: the process then ends
    and is started again from a known state.
    """

    def __init__(self, name: str, *nodes: Node, on_crash: Callable[[Exception], None]) -> None:
        self._executor = make_executor()
        self._closing = False
        self._on_crash = on_crash
        for node in nodes:
            self._executor.add_node(node)
        self._thread = threading.Thread(target=self._spin, name=name, daemon=True)
        self._thread.start()

    def _spin(self) -> None:
        try:
            while not self._closing and rclpy.ok():
                # EventsExecutor.spin() without a time-out was seen to hang at full CPU.
                self._executor.spin_once(timeout_sec=1.0)
        except ExternalShutdownException:
            pass
        except Exception as error:
            self._on_crash(error)

    def close(self) -> None:
        self._closing = True
        # EventsExecutor.wake() does not end a waiting spin_once; a task does, on every executor.
        self._executor.create_task(_nothing)
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout=3.0)
        if not self._thread.is_alive():
            self._executor.shutdown()


def call(
    client: Client,
    request: Any,
    *,
    timeout_s: float,
    done: threading.Event | None = None,
    sending: AbstractContextManager[Any] | None = None,
    again_s: float | None = None,
) -> Any:
    """The response to ``request``, from a thread other than the one that spins ``client``.

    ``timeout_s`` is seconds of the steady clock and covers discovery too. Whoever sets ``done``
    ends the wait for the response. The request is sent within ``sending``; one that does no harm
    twice may be sent again every ``again_s`` seconds: the first may have gone to a server that was
    killed. Raises ServiceFailed.
    """
    name = client.srv_name
    if not client.service_is_ready() and not client.wait_for_service(timeout_sec=timeout_s):
        raise ServiceFailed(service_unavailable(name))
    done = done or threading.Event()
    until_s = time.monotonic() + timeout_s
    futures = []
    while not done.is_set() and (left_s := until_s - time.monotonic()) > 0.0:
        with sending or nullcontext():
            futures.append(client.call_async(request))
        futures[-1].add_done_callback(lambda _: done.set())
        done.wait(left_s if again_s is None else min(again_s, left_s))
    for future in futures:
        if not future.done():
            client.remove_pending_request(future)
    for future in futures:
        if future.done() and not future.cancelled():
            return future.result()
    raise ServiceFailed(service_timeout(name))


class TracePublisher:
    """Publishes trace events with history for late subscribers; safe from any thread."""

    def __init__(self, node: Node, config: Config) -> None:
        qos = history_qos(config.thresholds.trace.buffer_size)
        self._publisher = node.create_publisher(String, config.topics.trace.events, qos)
        self._node_name = node.get_name()

    def announce(self, message: str) -> None:
        """Say that the node has started; the agent tells a restart by a second one."""
        self.publish(start_of(self._node_name, message))

    def alarm(self, message: str) -> None:
        """Say that the node met an error on its own, outside any call."""
        data = {'node': self._node_name}
        self.publish(
            new_event(TraceKind.ERROR, message, ok=False, error_reason=message, data=data)
        )

    def publish(self, event: TraceEvent) -> None:
        self._publisher.publish(String(data=encode(event)))


class Heartbeat:
    """Tells the adapter that the kernel is alive."""

    def __init__(self, node: Node, config: Config) -> None:
        self._publisher = node.create_publisher(Empty, config.topics.status.kernel, NEWEST_ONLY)
        self._next = 0.0

    def beat(self) -> None:
        """Call it as often as you like; a message goes out every HEARTBEAT_S."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + HEARTBEAT_S
            with suppress(RCLError):  # a saturated publisher; its silence is what it is for
                self._publisher.publish(Empty())


def start_parameter(node: Node, name: str, default: T, description: str) -> T:
    """A parameter that is read at the start and of the type of ``default``. Raises ConfigError."""
    descriptor = ParameterDescriptor(
        description=f'{description} Read at the start.',
        read_only=True,
        dynamic_typing=True,  # another type is refused here, in words
    )
    value = node.declare_parameter(name, default, descriptor).value
    if type(value) is not type(default):
        wanted = {str: 'text', int: 'a whole number'}[type(default)]
        raise ConfigError(f'parameter {name} = {value!r}: must be {wanted}')
    return value


def node_config(node: Node) -> Config:
    """The configuration that the node's ``config_dir`` parameter names, in the node's namespace
    and that of its rover. Raises ConfigError.
    """
    folder = start_parameter(
        node,
        'config_dir',
        '',
        'Folder of the YAML contracts; empty: the one that ships with the package.',
    )
    rover = start_parameter(
        node,
        'rover_namespace',
        '',
        "Namespace of the rover's own names, e.g. r1; empty: as they stand in topics.yaml.",
    )
    try:
        if rover.strip('/'):
            ros_name(rover.strip('/'))
        return load_config(folder).in_namespace(node.get_namespace(), rover=rover)
    except ValidationError as error:
        why = f'with it a name of topics.yaml has no place: {error.errors()[0]["msg"]}'
        raise ConfigError(f'namespace {node.get_namespace()!r}, {rover!r}: {why}') from error
    except ValueError as error:
        raise ConfigError(f'parameter rover_namespace = {rover!r}: {error}') from None


class App(Protocol):
    """What a node's process runs; made by a factory, closed once."""

    def close(self) -> None: ...


class Process:
    """Why the process ends: a signal, or a crash in one of its threads."""

    def __init__(self) -> None:
        # No Event: a signal may come while another is taken, and SimpleQueue.put can stand that.
        self._ended: queue.SimpleQueue[None] = queue.SimpleQueue()
        self.error: Exception | None = None

    def end(self, *_: object) -> None:
        self._ended.put(None)

    def crash(self, error: Exception) -> None:
        self.error = error
        self._ended.put(None)

    def wait(self) -> None:
        while True:  # bounded: a signal in the moment before the wait would not end it
            with suppress(queue.Empty):
                self._ended.get(timeout=1.0)
                return


def run_app(name: str, build: Callable[[Process], App]) -> int:
    """Run one node's process until SIGINT, SIGTERM, SIGHUP or a crash; its exit status.

    The signals do not shut rclpy down by themselves, so that ``close`` can still talk to the
    robot.
    """
    process = Process()
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, process.end)
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    try:
        try:
            app = build(process)
        except ConfigError as error:
            print(f'{name}: {error}', file=sys.stderr, flush=True)
            return 2
        except RCLError as error:  # such as SROS2 without a key
            print(f'{name}: cannot start: {error}', file=sys.stderr, flush=True)
            return 2
        try:
            process.wait()
        finally:
            app.close()
        if process.error is not None:
            print(f'{name}: crashed: {process.error!r}', file=sys.stderr, flush=True)
            return 1
        return 0
    finally:
        rclpy.try_shutdown()
