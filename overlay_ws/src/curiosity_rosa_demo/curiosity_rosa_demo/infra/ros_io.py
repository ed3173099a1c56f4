# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A thin layer over rclpy: QoS, publishers, subscriptions and service calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
import math
import threading
import time
from typing import Any, Generic, TypeVar

from curiosity_rosa_demo.domain.adapter_status import encode_heartbeat
from curiosity_rosa_demo.domain.models import Json, TraceEvent, TraceKind
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.infra.clocks import MIN_WAIT_S, SimulationClock
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.tf import FrameLink, TransformSource
from curiosity_rosa_demo.trace.events import NodeStarted
from curiosity_rosa_demo.trace.trace_codec import encode, new_event
from rclpy.client import Client
from rclpy.clock import Clock, ClockType
from rclpy.duration import Duration
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, LivelinessPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from std_msgs.msg import Bool, String
from tf2_msgs.msg import TFMessage

try:
    from rclpy.event_handler import SubscriptionEventCallbacks
except ImportError:  # Humble
    from rclpy.qos_event import SubscriptionEventCallbacks

# for deadlines: simulated time can jump
STEADY_CLOCK = Clock(clock_type=ClockType.STEADY_TIME)

# --- QoS; each profile keeps the last messages ---------------------------------------------------

NEWEST_ONLY = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
PRESSES = 10  # and releases of a button that wait for their reader


def heartbeat_qos(lease_s: float) -> QoSProfile:
    """Newest message, and liveliness. A thread of the middleware asserts the publisher: the
    subscriber notices within ``lease_s`` that its process died, froze or lost the network.
    """
    return QoSProfile(
        depth=1,
        reliability=ReliabilityPolicy.BEST_EFFORT,
        liveliness=LivelinessPolicy.AUTOMATIC,
        liveliness_lease_duration=Duration(seconds=lease_s),
    )


def history_qos(depth: int) -> QoSProfile:
    """Reliable and transient local: late subscribers receive the last ``depth`` messages."""
    return QoSProfile(
        depth=depth,
        reliability=ReliabilityPolicy.RELIABLE,
        durability=DurabilityPolicy.TRANSIENT_LOCAL,
    )


# --- Publishers that count a lost message instead of raising ------------------------------------
# ``rclpy`` raises RCLError ("cannot publish data") when the transport is saturated, InvalidHandle
# after the node is destroyed, and UnicodeEncodeError for a lone surrogate.

Message = TypeVar('Message')
TRANSPORT_ERRORS = (rclpy_implementation.RCLError, rclpy_implementation.InvalidHandle)


class LossCounter:
    """Counts losses by destination, such as a topic or a file. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()

    def count(self, destination: str, losses: int = 1) -> int:
        """Count ``losses`` for ``destination``; returns its total."""
        with self._lock:
            self._counts[destination] += losses
            return self._counts[destination]

    def counts(self) -> dict[str, int]:
        """Total losses by destination, in the order of each destination's first loss."""
        with self._lock:
            return dict(self._counts)


class GuardedPublisher(Generic[Message]):
    """Publishes from any thread and does not raise when a message cannot be sent."""

    def __init__(
        self,
        node: Node,
        message_type: type[Message],
        topic: str,
        qos: QoSProfile | int,
        losses: LossCounter,
    ) -> None:
        self._publisher = node.create_publisher(message_type, topic, qos)
        self._topic, self._losses = topic, losses
        self.last_error = ''  # error of the last publish(); '' on success

    def publish(self, message: Message | bytes) -> bool:
        """Publish a message, or its serialized form. Returns whether the transport accepted it."""
        try:
            self._publisher.publish(message)
        except (*TRANSPORT_ERRORS, UnicodeEncodeError) as error:
            self.last_error = str(error)
            self._losses.count(self._topic)
            return False
        self.last_error = ''
        return True

    def get_subscription_count(self) -> int:
        return int(self._publisher.get_subscription_count())

    def wait_for_all_acked(self, timeout: Duration) -> bool:
        return bool(self._publisher.wait_for_all_acked(timeout))


class TracePublisher:
    """Publishes trace events, with history for late subscribers. Thread-safe. An event that
    cannot be sent is counted in ``losses``.
    """

    def __init__(self, node: Node, config: Config, losses: LossCounter) -> None:
        qos = history_qos(config.thresholds.trace.buffer_size)
        self._publisher = GuardedPublisher(node, String, config.topics.trace.events, qos, losses)
        self._node_name = node.get_name()

    def announce(self, message: str) -> None:
        """Publish the node's start event. The agent detects a restart by a second one."""
        started = NodeStarted(self._node_name, started=True)
        self.publish(new_event(**started.trace_fields(message)))

    def alarm(self, message: str) -> None:
        """Publish an ERROR event for an error outside any service call."""
        data = {'node': self._node_name}
        self.publish(
            new_event(TraceKind.ERROR, message, ok=False, error_reason=message, data=data)
        )

    def publish(self, event: TraceEvent) -> None:
        self._publisher.publish(String(data=encode(event)))


HEARTBEAT_S = 0.08  # at every idle tick: each message renews the liveliness lease


class Heartbeat:
    """Publishes the kernel's heartbeat; the adapter stops the rover if it misses some.
    ``safe_reason`` returns the kernel's reason for SAFE, or '' in another mode; ``calls`` how many
    calls of each adapter service this agent has sent.
    """

    def __init__(
        self,
        node: Node,
        config: Config,
        losses: LossCounter,
        safe_reason: Callable[[], str],
        calls: Callable[[], Mapping[str, int]] = dict,
    ) -> None:
        qos = heartbeat_qos(config.thresholds.motion.agent_lease_s)
        self._publisher = GuardedPublisher(node, String, config.topics.status.kernel, qos, losses)
        self._safe_reason, self._published_reason, self._calls = safe_reason, '', calls
        self._tick, self._next = 0, 0.0

    def beat(self) -> None:
        """Publish if the last heartbeat is HEARTBEAT_S or older, or the reason has changed. Call
        it at every tick of the kernel.
        """
        now, reason = time.monotonic(), self._safe_reason()
        self._tick += 1
        if now >= self._next or reason != self._published_reason:
            self._next, self._published_reason = now + HEARTBEAT_S, reason
            text = encode_heartbeat(self._tick, reason, self._calls())
            self._publisher.publish(String(data=text))


# --- Subscriptions that need more than a profile ------------------------------------------------


def publishers(node: Node, topic: str) -> list[str]:
    """The full names of the nodes that publish ``topic``, one entry a publisher, sorted."""
    return sorted(
        f'{info.node_namespace.rstrip("/")}/{info.node_name}'
        for info in node.get_publishers_info_by_topic(topic)
    )


def subscribe_to_button(node: Node, topic: str, callback: Callable[[bool], None]) -> None:
    """Subscribe to a std_msgs/Bool, whatever the QoS of its publisher.

    A transient-local subscription matches only a transient-local publisher, a reliable one only a
    reliable publisher. So there are three subscriptions, and ``callback`` may receive a message
    more than once.
    """
    # Without the default callbacks, which log each incompatible QoS: here it is expected.
    quiet = SubscriptionEventCallbacks(use_default_callbacks=False)
    best_effort = QoSProfile(depth=PRESSES, reliability=ReliabilityPolicy.BEST_EFFORT)
    for qos in (history_qos(PRESSES), QoSProfile(depth=PRESSES), best_effort):
        node.create_subscription(
            Bool,
            topic,
            lambda message: callback(bool(message.data)),
            qos,
            event_callbacks=quiet,
        )


def subscribe_to_heartbeat(
    node: Node,
    topic: str,
    lease_s: float,
    on_message: Callable[[String], None],
    on_publishers: Callable[[int], None],
) -> None:
    """Subscribe to a std_msgs/String with ``heartbeat_qos``. ``on_publishers`` receives the number
    of living publishers whenever one comes to life, dies or leaves.
    """
    events = SubscriptionEventCallbacks(liveliness=lambda event: on_publishers(event.alive_count))
    node.create_subscription(
        String, topic, on_message, heartbeat_qos(lease_s), event_callbacks=events
    )


def make_transform_source(
    node: Node,
    config: Config,
    simulation: SimulationClock | None = None,
    *,
    on_link: Callable[[FrameLink], None] | None = None,
) -> TransformSource:
    """A source with subscriptions on ``node``, which the caller spins. ``simulation``: the clock
    of this process, if it has one. The profiles are those of tf2_ros: a publisher that matches
    its listeners also matches this one.
    """
    clock = simulation or SimulationClock(node.get_clock(), config.thresholds.motion)
    source = TransformSource(config.thresholds.tf.max_age_s, clock, on_link)
    topics = config.topics.tf
    moving, static = partial(source.receive, static=False), partial(source.receive, static=True)
    node.create_subscription(TFMessage, topics.topic, moving, QoSProfile(depth=100))
    node.create_subscription(TFMessage, topics.static_topic, static, history_qos(100))
    return source


# --- The serialized bytes of a message, from a raw subscription or a recording -------------------

# The representation of the data, before the data itself. Cyclone DDS reads it without looking at
# the length: with fewer bytes it ends the process by a segmentation fault.
HEADER_BYTES = 4


class UnreadableMessage(Exception):
    """The bytes are no message of the type."""


def read_message(data: bytes, message_type: Any) -> Any:
    """Raises UnreadableMessage."""
    if len(data) < HEADER_BYTES:
        raise UnreadableMessage(f'{len(data)} bytes, and the header alone has {HEADER_BYTES}')
    try:
        return deserialize_message(data, message_type)
    except Exception as error:  # the middleware's error type is not exported
        raise UnreadableMessage(str(error)) from error


# --- A blocking service call with a deadline and retries ----------------------------------------

SEND_AGAIN_S = 0.05  # delay after the transport refused a request


class ServiceFailed(Exception):
    """The service was unavailable, did not respond in time, or refused. The message is the reason
    for people; ``code`` is of domain/refusal.py, '' for none; ``facts`` are what the reason says.
    """

    def __init__(self, reason: str, code: str = '', facts: Json | None = None) -> None:
        super().__init__(reason)
        self.code, self.facts = code, facts or {}


def call(
    client: Client,
    request: Any,
    *,
    timeout_s: float,
    discovery_s: float | None = None,
    done: threading.Event | None = None,
    sending: Callable[[], AbstractContextManager[Any]] = nullcontext,
    again_s: float | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Any:
    """Send ``request`` and return the response. Call it from a thread other than the one that
    spins ``client``.

    ``timeout_s``: seconds of ``clock`` for the response; ``clock`` is never faster than the steady
    one. ``discovery_s``: steady seconds until the service must be found; None: ``timeout_s``.
    ``done``: setting it ends the wait for the response. ``sending``: returns the context manager
    that each send runs in. ``again_s``: an idempotent request is sent again at this period, since
    a killed server may have received the first one. A request that a saturated transport refused
    is always sent again. Raises ServiceFailed.
    """
    name = client.srv_name
    find_s = timeout_s if discovery_s is None else discovery_s
    if not client.service_is_ready() and not client.wait_for_service(timeout_sec=find_s):
        raise ServiceFailed(RefusalCode.NO_SERVICE.text(name=name), RefusalCode.NO_SERVICE.value)
    done = done or threading.Event()
    until_s = clock() + timeout_s
    send_at_s = -math.inf  # steady
    futures = []
    while not done.is_set() and (left_s := until_s - clock()) > 0.0:
        if (now_s := time.monotonic()) >= send_at_s:
            try:
                with sending():
                    futures.append(client.call_async(request))
            except TRANSPORT_ERRORS:
                send_at_s = now_s + SEND_AGAIN_S
            else:
                futures[-1].add_done_callback(lambda _: done.set())
                send_at_s = math.inf if again_s is None else now_s + again_s
        done.wait(max(MIN_WAIT_S, min(left_s, send_at_s - now_s)))
    for future in futures:
        if not future.done():
            client.remove_pending_request(future)
    for future in futures:
        if future.done() and not future.cancelled():
            return future.result()
    raise ServiceFailed(RefusalCode.NO_ANSWER.text(name=name), RefusalCode.NO_ANSWER.value)
