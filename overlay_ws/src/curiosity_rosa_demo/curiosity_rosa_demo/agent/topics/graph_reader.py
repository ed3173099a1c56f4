# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Reads the ROS graph by rclpy. It never writes: no publisher, and no service call but
``list_parameters`` and ``get_parameters``.

All methods block; call them from a thread other than the one that spins the node. Temporary
subscriptions and clients are destroyed in the spin thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
import itertools
from numbers import Integral, Real
import re
import threading
import time
from typing import Any

from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.graph import (
    Endpoint,
    FrameAge,
    GraphSnapshot,
    Qos,
    Sample,
    ServiceInfo,
    TopicInfo,
)
from curiosity_rosa_demo.domain.text import clip, printable
from curiosity_rosa_demo.infra.ros_io import (
    call,
    publishers,
    read_message,
    ServiceFailed,
    UnreadableMessage,
)
from curiosity_rosa_demo.infra.tf import TransformSource
from curiosity_rosa_demo.recording.channels import message_class
from rcl_interfaces.srv import GetParameters, ListParameters
from rclpy.node import Node
from rclpy.parameter import parameter_value_to_python
from rclpy.qos import (
    DurabilityPolicy,
    HistoryPolicy,
    LivelinessPolicy,
    QoSProfile,
    ReliabilityPolicy,
)

MAX_NODES = 200
MAX_TOPICS = 1000
MAX_MESSAGE_BYTES = 8_000_000  # a larger message is counted, not read
MAX_MESSAGES = 100  # after which listening ends
MAX_PARAMETERS = 60
MAX_TEXT_CHARS = 200  # of a value
PARAMETER_TIMEOUT_S = 2.0
INFINITE_NS = 2**62  # DDS implementations report infinite durations as one of several large ones
_ACTION = '/_action/'
_MESSAGE_TYPE = re.compile('[a-z][a-z0-9_]*/msg/[A-Z][A-Za-z0-9]*')


class RclpyGraph:
    """The graph as ``node`` sees it. ``transforms``: the frames that the node hears. Thread-safe;
    the calls block for a bounded time.
    """

    def __init__(self, node: Node, transforms: TransformSource) -> None:
        self._node, self._transforms = node, transforms

    def snapshot(self) -> GraphSnapshot:
        """What the middleware has discovered."""
        node = self._node
        named = sorted(set(node.get_node_names_and_namespaces()))[:MAX_NODES]
        nodes = tuple(sorted({_full_name(space, name) for name, space in named}))
        topics = sorted(node.get_topic_names_and_types())[:MAX_TOPICS]
        servers: dict[str, set[str]] = {}
        for name, space in named:
            for service in _services_of(node, name, space):
                servers.setdefault(service, set()).add(_full_name(space, name))
        return GraphSnapshot(
            nodes,
            tuple(self._topic(name, types) for name, types in topics if '/_' not in name),
            tuple(
                ServiceInfo(name, ', '.join(types), tuple(sorted(servers.get(name, ()))))
                for name, types in sorted(node.get_service_names_and_types())[:MAX_TOPICS]
                if '/_' not in name
            ),
            tuple(
                ServiceInfo(
                    name.rpartition(_ACTION)[0],
                    types[0].removesuffix('_FeedbackMessage'),
                    tuple(sorted(set(publishers(node, name)))),
                )
                for name, types in topics
                if name.endswith(f'{_ACTION}feedback')
            ),
        )

    def listen(
        self,
        topic: TopicInfo,
        seconds: float,
        cancellation: Cancellation,
        *,
        first_only: bool = False,
    ) -> Sample:
        """Subscribe for ``seconds`` at most, or until the first message. Raises TurnCancelled."""
        message_type = _message_class(topic.types[0] if topic.types else '')
        if message_type is None:
            return Sample(problem=f'the type {topic.types[0] if topic.types else "?"} is unknown')
        ear = _Ear(1 if first_only else MAX_MESSAGES)
        try:
            subscription = self._node.create_subscription(
                message_type, topic.name, ear.receive, _listening_qos(topic.publishers), raw=True
            )
        except Exception as error:  # rclpy raises one of several; SROS2 may forbid to listen
            return Sample(problem=clip(printable(str(error)), MAX_TEXT_CHARS))
        started_s = time.monotonic()
        try:
            with cancellation.call_when_pressed(ear.done.set):
                ear.done.wait(seconds)
            cancellation.check()
        finally:
            self._destroy(self._node.destroy_subscription, subscription)
        return self._sample(ear, message_type, time.monotonic() - started_s)

    def parameters(self, node: str, cancellation: Cancellation) -> dict[str, str]:
        """The parameters of ``node`` and their values as text. Raises ServiceFailed and
        TurnCancelled.
        """
        listed = self._get(node, ListParameters, 'list_parameters', None, cancellation)
        names = sorted(listed.result.names)[:MAX_PARAMETERS]
        request = GetParameters.Request(names=names)
        got = self._get(node, GetParameters, 'get_parameters', request, cancellation)
        values = (parameter_value_to_python(each) for each in got.values)
        return {
            name: clip(printable(str(value)[: 2 * MAX_TEXT_CHARS]), MAX_TEXT_CHARS)
            for name, value in zip(names, values, strict=False)
        }

    def frames(self) -> Sequence[FrameAge]:
        return self._transforms.frames()

    def _get(
        self, node: str, service_type: Any, name: str, request: Any, cancellation: Cancellation
    ) -> Any:
        cancellation.check()
        done = threading.Event()
        client = self._node.create_client(service_type, f'{node}/{name}')
        try:
            with cancellation.call_when_pressed(done.set):
                return call(
                    client,
                    request or service_type.Request(),
                    timeout_s=PARAMETER_TIMEOUT_S,
                    done=done,
                )
        except ServiceFailed:
            cancellation.check()
            raise
        finally:
            self._destroy(self._node.destroy_client, client)

    def _destroy(self, destroy: Callable[[Any], Any], what: Any) -> None:
        """In the spin thread: another thread may pull a handle from under its wait."""
        executor = self._node.executor
        if executor is None:  # the node does not spin
            destroy(what)
        else:
            executor.create_task(destroy, what)

    def _topic(self, name: str, types: Sequence[str]) -> TopicInfo:
        return TopicInfo(
            name,
            tuple(types),
            tuple(map(_endpoint, self._node.get_publishers_info_by_topic(name))),
            tuple(map(_endpoint, self._node.get_subscriptions_info_by_topic(name))),
        )

    def _sample(self, ear: _Ear, message_type: Any, seconds: float) -> Sample:
        count, size, newest, first_s, last_s = ear.heard()
        interval = (last_s - first_s) / (count - 1) if count > 1 else None
        if newest is None:
            return Sample(seconds, count, size, interval)
        try:
            message = read_message(newest, message_type)
        except UnreadableMessage as error:
            return Sample(seconds, count, size, interval, problem=printable(str(error))[:200])
        header = getattr(message, 'header', None)
        age = None
        if header is not None:
            stamp = header.stamp.sec + header.stamp.nanosec / 1e9
            now_s = self._node.get_clock().now().nanoseconds / 1e9
            age = max(0.0, now_s - stamp) if stamp else None
        return Sample(seconds, count, size, interval, message_lines(message), age)


class _Ear:
    """Counts messages in the spin thread and keeps the newest."""

    def __init__(self, enough: int) -> None:
        self._enough, self._lock = enough, threading.Lock()
        self._count = self._bytes = 0
        self._newest: bytes | None = None
        self._first_s = self._last_s = 0.0
        self.done = threading.Event()

    def receive(self, data: bytes) -> None:
        with self._lock:
            if self.done.is_set():
                return
            self._last_s = time.monotonic()
            self._first_s = self._first_s or self._last_s
            self._count += 1
            self._bytes += len(data)
            if len(data) <= MAX_MESSAGE_BYTES:
                self._newest = data
            if self._count >= self._enough:
                self.done.set()

    def heard(self) -> tuple[int, int, bytes | None, float, float]:
        with self._lock:
            return self._count, self._bytes, self._newest, self._first_s, self._last_s


def _full_name(space: str, name: str) -> str:
    return f'{space.rstrip("/")}/{name}'


def _node_of(endpoint: Any) -> str:
    return _full_name(endpoint.node_namespace, endpoint.node_name)


def _services_of(node: Node, name: str, space: str) -> list[str]:
    try:
        return [each for each, _ in node.get_service_names_and_types_by_node(name, space)]
    except Exception:  # the node has just left; rclpy raises one of several
        return []


def _endpoint(info: Any) -> Endpoint:
    qos = info.qos_profile
    return Endpoint(
        _node_of(info),
        info.topic_type,
        Qos(
            qos.reliability == ReliabilityPolicy.RELIABLE,
            qos.durability == DurabilityPolicy.TRANSIENT_LOCAL,
            _seconds(qos.deadline),
            qos.liveliness == LivelinessPolicy.MANUAL_BY_TOPIC,
            _seconds(qos.liveliness_lease_duration),
        ),
    )


def _seconds(duration: Any) -> float | None:
    nanoseconds = int(duration.nanoseconds)
    return None if not 0 < nanoseconds < INFINITE_NS else nanoseconds / 1e9


def _listening_qos(publishers: Sequence[Endpoint]) -> QoSProfile:
    """The most that every publisher offers: it matches all, and gets latched messages."""
    reliable = all(each.qos.reliable for each in publishers)
    latched = all(each.qos.transient_local for each in publishers)
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=5,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
    )


def _message_class(name: str) -> Any:
    """The class of a type such as ``std_msgs/msg/String``; None if it is not installed."""
    try:
        return message_class(name) if _MESSAGE_TYPE.fullmatch(name) else None
    except (ImportError, AttributeError):
        return None


# --- A message as a few lines: field names and values, clipped; no bytes of pictures. Pure -------

MAX_FIELDS = 24
MAX_DEPTH = 4
MAX_ITEMS = 6
MAX_VALUE_CHARS = 80


def message_lines(message: Any) -> tuple[str, ...]:
    """``field.subfield: value`` of a ROS message, at most MAX_FIELDS of them."""
    lines = list(itertools.islice(_fields(message, '', 0), MAX_FIELDS + 1))
    return (*lines[:MAX_FIELDS], '...') if len(lines) > MAX_FIELDS else tuple(lines)


def _fields(message: Any, prefix: str, depth: int) -> Iterator[str]:
    for name in message.get_fields_and_field_types():
        value, path = getattr(message, name), f'{prefix}{name}'
        if hasattr(value, 'get_fields_and_field_types') and depth < MAX_DEPTH:
            yield from _fields(value, f'{path}.', depth + 1)
        else:
            yield f'{path}: {_value_text(value)}'


def _value_text(value: Any) -> str:
    if isinstance(value, bytes | bytearray | memoryview):
        return f'[{len(value)} bytes]'
    if isinstance(value, str):
        return clip(printable(value[: 4 * MAX_VALUE_CHARS]), MAX_VALUE_CHARS)
    if isinstance(value, Integral):
        return str(value)
    if isinstance(value, Real):
        return f'{float(value):.4g}'
    try:
        count = len(value)
    except TypeError:  # a message in a list, or below MAX_DEPTH
        return type(value).__name__
    if count > MAX_ITEMS:
        return f'[{count} values]'
    return '[' + ', '.join(map(_value_text, value)) + ']'
