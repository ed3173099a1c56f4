# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""scripts/replay.sh: publish a recording for RViz and the page, never for a rover.

The replay publishes only the topics of a recording: it sends no command and calls no service. It
does not play while the graph contains a node that can move a rover or publishes the same topics.
Whatever it publishes has current stamps, and says that it is replayed.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import suppress
import json
from pathlib import Path
import signal
import sys
import threading
import time
from typing import Any

from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.domain.serde import read_object
from curiosity_rosa_demo.domain.text import clip, count_text, one_line, valid_unicode
from curiosity_rosa_demo.infra.config_loader import ConfigError
from curiosity_rosa_demo.infra.process import node_config
from curiosity_rosa_demo.infra.ros_io import (
    GuardedPublisher,
    history_qos,
    LossCounter,
    publishers,
    read_message,
    UnreadableMessage,
)
from curiosity_rosa_demo.recording.channels import CDR, message_class, recorded_channels, STRING
from curiosity_rosa_demo.recording.file import Entry, NotARecording, RunReader
from curiosity_rosa_demo.trace.events import NodeStarted
from curiosity_rosa_demo.trace.trace_codec import bounded_event, decode, encode
from pydantic import BaseModel, ConfigDict, ValidationError
import rclpy
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.serialization import serialize_message
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import remove_ros_args
from std_msgs.msg import String

STATUS_PERIOD_S = 0.5  # while it plays; so often the graph is looked at for a conflict, too
MAX_FILE_CHARS = 100
MAX_STATUS_CHARS = 4096  # of the whole status; a longer one is not from our replay
DISCOVERY_S = 3.0  # discovery is complete when the graph has not changed for this long
LONGEST_DISCOVERY_S = 20.0  # limit of discovery
ACK_WAIT_S = 1.0
SHARED_ROLES = ('trace', 'markers')  # that other nodes may publish during a replay
REPLAY_PREFIX = '(replay) '
FINISHED, REFUSED, INTERRUPTED = 0, 1, 130  # exit statuses


class ReplayStatus(BaseModel):
    """What a replay says of itself, as JSON."""

    model_config = ConfigDict(allow_inf_nan=False)

    state: str
    file: str
    at_s: float
    length_s: float
    speed: float
    recorded: str = ''
    why: str = ''


def playing_text(text: str) -> str:
    """File, position and speed while a recording is played; empty when none is. Never raises."""
    try:
        status = ReplayStatus.model_validate_json(text[: MAX_STATUS_CHARS + 1])
    except ValidationError:
        return ''
    if status.state != 'playing' or len(text) > MAX_STATUS_CHARS:
        return ''
    file = clip(one_line(status.file), MAX_FILE_CHARS)
    position = f'{status.at_s:.0f} s of {status.length_s:.0f} s'
    return f'{file}, {position}, {status.speed:g} times as fast as recorded'


# --- The messages ------------------------------------------------------------------------------


def replay_message(role: str, type_name: str, data: bytes, now_ns: int) -> bytes | None:
    """The CDR data to publish, or None to skip the message. ``now_ns``: the new stamp, nanoseconds
    since the epoch, by which an event gets an ID of its own. Raises UnreadableMessage.
    """
    message = read_message(data, message_class(type_name))
    if type_name != STRING:
        _stamp(message, now_ns)
    elif role == 'trace':
        event = decode(message.data)
        if NodeStarted.of(event):
            return None
        message.data = _replayed_event(event, now_ns)
    else:  # a status; any other text becomes an object with that key only
        message.data = json.dumps({**read_object(message.data), 'replay': True})
    return bytes(serialize_message(message))


def _replayed_event(event: TraceEvent, now_ns: int) -> str:
    """With the current time; its data keep the recorded time and ID."""
    origin = {'replay': True, 'recorded_ts': event.ts, 'recorded_id': event.event_id}
    replayed = event.model_copy(
        update={
            'event_id': f'{event.event_id[:150]}-replay-{now_ns}',
            'ts': now_ns * 1e-9,
            'message': REPLAY_PREFIX + event.message,
            'data': {**(event.data or {}), **origin},
        }
    )
    return encode(bounded_event(replayed))


def _stamp(message: Any, now_ns: int) -> None:
    """Set all stamps to ``now_ns``, except zero stamps of markers ("the newest transform")."""
    if hasattr(message, 'markers'):
        stamps = [(each, each.header.stamp) for each in message.markers]
        stamped = [each for each, stamp in stamps if stamp.sec or stamp.nanosec]
    else:
        stamped = getattr(message, 'transforms', [message])
    for each in stamped:
        each.header.stamp.sec, each.header.stamp.nanosec = divmod(now_ns, 1_000_000_000)


# --- The replay --------------------------------------------------------------------------------


class ReplayConflict(Exception):
    """The graph contains a node that conflicts with a replay. The message names it."""


class ReplayInterrupted(Exception):
    """``stop_requested`` was set."""


class Replay:
    """Replays one file. Setting ``stop_requested`` ends it."""

    def __init__(self, file: Path, *, speed: float, stop_requested: threading.Event) -> None:
        """Raises NotARecording, ConfigError, OSError."""
        self._reader = RunReader(file)
        self._first_ns, last_ns = self._reader.span_ns() or (0, 0)
        self._length_s = (last_ns - self._first_ns) * 1e-9
        self._speed, self._stop_requested = speed, stop_requested
        self.node = Node('replay', parameter_overrides=[Parameter('use_sim_time', value=False)])
        config = node_config(self.node)
        self._topics, rates = config.topics, config.agent.recording.rates
        self._channels = {each.role: each for each in recorded_channels(self._topics, rates)}
        self._publishers: dict[str, GuardedPublisher[Any]] = {}
        self._status: GuardedPublisher[String] | None = None
        self._next_check_s = 0.0
        self._skipped: set[str] = set()  # topics
        self.played = 0
        self.losses = LossCounter()

    def run(self, *, loop: bool) -> None:
        """Play the file once, or with ``loop`` until it is interrupted. Raises ReplayConflict,
        ReplayInterrupted, OSError.
        """
        self._discover()
        self._check_conflicts()
        if not self._first_ns:
            _print_line(f'{self._reader.path} holds no messages')
            return
        self._create_publishers()
        self._publish_status('playing', 0.0)
        try:
            self._play()
            while loop:
                self._play()
        except (ReplayConflict, ReplayInterrupted) as end:
            self._publish_status('stopped', 0.0, why=str(end))
            raise
        self._publish_status('ended', self._length_s)

    def _discover(self) -> None:
        """Wait until discovery is complete. Raises ReplayInterrupted."""
        began_s = changed_s = time.monotonic()
        known: Any = None
        while time.monotonic() < min(changed_s + DISCOVERY_S, began_s + LONGEST_DISCOVERY_S):
            graph = (
                sorted(self.node.get_node_names_and_namespaces()),
                sorted(self.node.get_topic_names_and_types()),
            )
            if graph != known:
                known, changed_s = graph, time.monotonic()
            if self._stop_requested.wait(0.1):
                raise ReplayInterrupted

    def _create_publishers(self) -> None:
        """Create the publishers before the first message, so that RViz discovers them in time."""
        self._status = GuardedPublisher(
            self.node, String, self._topics.status.replay, history_qos(1), self.losses
        )
        for role, channel in self._channels.items():
            if role == 'markers' and self._other_publishers(channel.topic):
                _print_line(
                    'Markers are left to the visualizer, which draws the replay by itself.'
                )
                continue
            qos = history_qos(100) if channel.latched else 10
            self._publishers[role] = GuardedPublisher(
                self.node, message_class(channel.type), channel.topic, qos, self.losses
            )

    def _play(self) -> None:
        began_s = time.monotonic()
        for entry in self._reader:
            after_s = (entry.at_ns - self._first_ns) * 1e-9 / self._speed
            self._wait_until(began_s + after_s, began_s)
            self._publish(entry)
        if self._reader.end_problem:
            _print_line(
                f'The file is torn; that was all that is whole ({self._reader.end_problem}).'
            )

    def _wait_until(self, at_s: float, began_s: float) -> None:
        while True:
            now_s = time.monotonic()
            if now_s >= self._next_check_s:
                self._check_conflicts()
                self._publish_status('playing', (now_s - began_s) * self._speed)
            if self._stop_requested.wait(max(0.0, min(at_s, self._next_check_s) - now_s)):
                raise ReplayInterrupted
            if time.monotonic() >= at_s:
                return

    def _publish(self, entry: Entry) -> None:
        channel, publisher = self._channels.get(entry.role), self._publishers.get(entry.role)
        if channel is None or entry.type != channel.type or entry.encoding != CDR:
            self._skip(entry, 'is not played')
        elif publisher is not None:
            try:
                data = replay_message(entry.role, entry.type, entry.data, time.time_ns())
            except UnreadableMessage as error:
                self._skip(entry, f'cannot be read: {error}')
                return
            if data is not None and publisher.publish(data):
                self.played += 1

    def _skip(self, entry: Entry, why: str) -> None:
        if entry.topic not in self._skipped:
            self._skipped.add(entry.topic)
            _print_line(f'{entry.topic[:200]} {why}')

    def _publish_status(self, state: str, at_s: float, why: str = '') -> None:
        status = ReplayStatus(
            state=state,
            file=valid_unicode(self._reader.path.name),
            at_s=round(min(at_s, self._length_s), 3),
            length_s=round(self._length_s, 3),
            speed=self._speed,
            recorded=clip(self._reader.info.get('began', '')),
            why=why,
        )
        if self._status is not None:
            self._status.publish(String(data=status.model_dump_json()))

    # --- What conflicts with it ---

    def _check_conflicts(self) -> None:
        """Raises ReplayConflict: somebody serves a service of the rover or of the adapter, or
        publishes what is published here.
        """
        node, topics = self.node, self._topics
        self._next_check_s = time.monotonic() + STATUS_PERIOD_S
        servers: dict[str, str] = {}
        for name, namespace in node.get_node_names_and_namespaces():
            with suppress(RuntimeError):  # the node has just exited
                offered = node.get_service_names_and_types_by_node(name, namespace)
                server = f'{namespace.rstrip("/")}/{name}'
                servers.update({service: server for service, _ in offered})
        # The query by node sees only one of several nodes with the same name; the count sees all.
        # Humble has none.
        count_services = getattr(node, 'count_services', lambda _: 0)
        for _, endpoint in (*topics.adapter, *topics.curiosity):
            service = node.resolve_service_name(endpoint.name)
            if service in servers or count_services(service):
                server = servers.get(service, 'somebody')
                raise ReplayConflict(f'{server} serves {service}: a rover may be driving here')
        alone = [each.topic for each in self._channels.values() if each.role not in SHARED_ROLES]
        for topic in (*alone, topics.status.replay):
            if others := self._other_publishers(topic):
                raise ReplayConflict(f'{others[0]} publishes {node.resolve_topic_name(topic)}')

    def _other_publishers(self, topic: str) -> list[str]:
        """A second node with this node's name counts as another."""
        resolved, own = self.node.resolve_topic_name(topic), self.node.get_fully_qualified_name()
        found = publishers(self.node, topic)
        if own in found and any(each.topic_name == resolved for each in self.node.publishers):
            found.remove(own)
        return found

    def close(self) -> None:
        """Wait at most ACK_WAIT_S for acknowledgement of the last status; destroy the node."""
        if self._status is not None:
            self._status.wait_for_all_acked(Duration(seconds=ACK_WAIT_S))
        self.node.destroy_node()


# --- The command -------------------------------------------------------------------------------


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog='replay.sh', description='Play a recording back onto the topics.', allow_abbrev=False
    )
    parser.add_argument('file', type=Path, help='an MCAP file that :record made')
    parser.add_argument('--speed', type=float, default=1.0, help='0.1 to 100')
    parser.add_argument('--loop', action='store_true', help='begin again at the end')
    options = parser.parse_args(arguments)
    if not 0.1 <= options.speed <= 100.0:
        parser.error(f'--speed {options.speed:g}: must be from 0.1 to 100')
    return options


def run(argv: Sequence[str]) -> int:
    options = parse_arguments(remove_ros_args(list(argv))[1:])
    stop_requested = threading.Event()
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, lambda *_: stop_requested.set())
    rclpy.init(args=list(argv), signal_handler_options=SignalHandlerOptions.NO)
    replay: Replay | None = None
    try:
        replay = Replay(options.file, speed=options.speed, stop_requested=stop_requested)
        replay.run(loop=options.loop)
        _print_line(f'{count_text(replay.played, "message")} played.')
        for topic, lost in replay.losses.counts().items():
            _print_line(f'{topic}: {count_text(lost, "message")} could not be sent.')
        return FINISHED
    except ReplayInterrupted:
        return INTERRUPTED
    except ReplayConflict as error:
        _print_line(
            f'Nothing is played beside a live rover: {error}. End it, or set ROS_DOMAIN_ID.'
        )
        return REFUSED
    except (NotARecording, ConfigError, OSError) as error:
        _print_line(str(error))
        return 2
    finally:
        if replay is not None:
            replay.close()
        rclpy.try_shutdown()


def _print_line(text: str) -> None:
    print(f'replay: {text}', file=sys.stderr, flush=True)


def main() -> None:
    sys.exit(run(sys.argv))


if __name__ == '__main__':
    main()
