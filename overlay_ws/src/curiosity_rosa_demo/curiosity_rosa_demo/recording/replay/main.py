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
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
import json
import math
from pathlib import Path
import signal
import sys
import threading
import time
from typing import Any

from curiosity_rosa_demo.domain.text import clip, count_text, one_line
from curiosity_rosa_demo.infra.config_loader import ConfigError
from curiosity_rosa_demo.infra.process import node_config
from curiosity_rosa_demo.infra.ros_io import (
    GuardedPublisher,
    history_qos,
    LossCounter,
    UnreadableMessage,
)
from curiosity_rosa_demo.recording.mcap.channels import (
    CDR,
    ChannelRates,
    message_class,
    recorded_source,
    sources,
)
from curiosity_rosa_demo.recording.mcap.file import NotARecording
from curiosity_rosa_demo.recording.mcap.reader import Entry, RunReader
from curiosity_rosa_demo.recording.replay.messages import conflict_text, publishers, replay_message
import rclpy
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import remove_ros_args
from std_msgs.msg import String

# --- The status that a replay publishes, as JSON. Pure -----------------------------------------


STATUS_PERIOD_S = 0.5  # while it plays
MAX_FILE_CHARS = 100
MAX_STATUS_CHARS = 4096  # of the whole status; a longer one is not from our replay


def playing_text(status: str) -> str:
    """File, position and speed while a recording is played; empty when none is. Never raises."""
    if len(status) > MAX_STATUS_CHARS:
        return ''
    try:
        found = json.loads(status)
        if found['state'] != 'playing':
            return ''
        file = clip(one_line(str(found['file'])), MAX_FILE_CHARS)
        at_s, length_s, speed = (float(found[name]) for name in ('at_s', 'length_s', 'speed'))
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError):
        return ''
    if not all(map(math.isfinite, (at_s, length_s, speed))):
        return ''
    return f'{file}, {at_s:.0f} s of {length_s:.0f} s, {speed:g} times as fast as recorded'


DISCOVERY_S = 3.0  # discovery is complete when the graph has not changed for this long
LONGEST_DISCOVERY_S = 20.0  # limit of discovery
ACK_WAIT_S = 1.0
CONFLICT_CHECK_S = STATUS_PERIOD_S  # period of the conflict check
SHARED_TOPICS = ('trace', 'markers')  # roles that other nodes may publish during a replay
FINISHED, REFUSED, INTERRUPTED = 0, 1, 130  # exit statuses


class ReplayConflict(Exception):
    """The graph contains a node that conflicts with a replay. The message names it."""


class ReplayInterrupted(Exception):
    """``stop_requested`` was set."""


class Replay:
    """Replays one file. Setting ``stop_requested`` ends it. ``notify`` prints a line."""

    def __init__(
        self,
        file: Path,
        *,
        speed: float,
        stop_requested: threading.Event,
        notify: Callable[[str], None],
    ) -> None:
        self._reader = RunReader(file)
        self._speed, self._stop_requested, self._notify = speed, stop_requested, notify
        self.node = Node('replay', parameter_overrides=[Parameter('use_sim_time', value=False)])
        self._topics = node_config(self.node).topics
        # The rates have no effect here.
        self._sources = {
            each.role: recorded_source(each) for each in sources(self._topics, ChannelRates())
        }
        self._publishers: dict[str, GuardedPublisher[Any]] = {}
        self._status: GuardedPublisher[String] | None = None
        self.losses = LossCounter()
        self._skipped: set[str] = set()
        self._next_check_s = 0.0
        self.played = 0

    def run(self, *, loop: bool) -> None:
        """Play the file once or, with ``loop``, until it is interrupted. Raises ReplayConflict,
        ReplayInterrupted, OSError.
        """
        self._discover()
        self._check_conflicts()
        span = self._reader.span_ns()
        if span is None:
            self._notify(f'{self._reader.path} holds no messages')
            return
        self._create_publishers()
        self._publish_status('playing', span, 0.0)
        try:
            turn = 1
            while True:
                self._play(span, turn)
                if not loop:
                    break
                turn += 1
        except (ReplayConflict, ReplayInterrupted) as end:
            self._publish_status('stopped', span, 0.0, why=str(end))
            raise
        self._publish_status('ended', span, (span[1] - span[0]) * 1e-9)

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
        self._status = GuardedPublisher.create(
            self.node, String, self._topics.status.replay, history_qos(1), self.losses
        )
        for role, source in self._sources.items():
            if role == 'markers' and publishers(self.node, source.topic):
                self._notify(
                    'Markers are left to the visualizer, which draws the replay by itself.'
                )
                continue
            qos = history_qos(100) if source.latched else 10
            self._publishers[role] = GuardedPublisher.create(
                self.node, message_class(source.type), source.topic, qos, self.losses
            )

    def _play(self, span: tuple[int, int], turn: int) -> None:
        began_s = time.monotonic()
        for entry in self._reader:
            recorded_s = (entry.at_ns - span[0]) * 1e-9
            self._wait_until(began_s + recorded_s / self._speed, span, began_s)
            self._publish(entry, turn)
        if self._reader.end_problem:
            self._notify(
                f'The file is torn; that was all that is whole ({self._reader.end_problem}).'
            )

    def _wait_until(self, at_s: float, span: tuple[int, int], began_s: float) -> None:
        while True:
            now_s = time.monotonic()
            if now_s >= self._next_check_s:
                self._check_conflicts()
                self._publish_status('playing', span, (now_s - began_s) * self._speed)
            if self._stop_requested.wait(max(0.0, min(at_s, self._next_check_s) - now_s)):
                raise ReplayInterrupted
            if time.monotonic() >= at_s:
                return

    def _publish(self, entry: Entry, turn: int) -> None:
        source, publisher = self._sources.get(entry.role), self._publishers.get(entry.role)
        if source is None or entry.type != source.type or entry.encoding != CDR:
            self._skip(entry, 'is not played')
            return
        if publisher is None:
            return
        try:
            data = replay_message(
                entry.role, entry.type, entry.data, now_ns=time.time_ns(), turn=turn
            )
        except UnreadableMessage as error:
            self._skip(entry, f'cannot be read: {error}')
            return
        if data is not None and publisher.publish(data):
            self.played += 1

    def _skip(self, entry: Entry, why: str) -> None:
        if entry.topic not in self._skipped:
            self._skipped.add(entry.topic)
            self._notify(f'{entry.topic[:200]} {why}')

    def _check_conflicts(self) -> None:
        """Raises ReplayConflict."""
        self._next_check_s = time.monotonic() + CONFLICT_CHECK_S
        alone = [s.topic for s in self._sources.values() if s.role not in SHARED_TOPICS]
        why = conflict_text(self.node, self._topics, [*alone, self._topics.status.replay])
        if why:
            raise ReplayConflict(why)

    def _publish_status(
        self, state: str, span: tuple[int, int], at_s: float, why: str = ''
    ) -> None:
        length_s = (span[1] - span[0]) * 1e-9
        status = {
            'state': state,
            'file': self._reader.path.name,
            'at_s': round(min(at_s, length_s), 3),
            'length_s': round(length_s, 3),
            'speed': self._speed,
            'recorded': clip(self._reader.info.get('began', '')),
            'why': why,
        }
        if self._status is not None:
            self._status.publish(String(data=json.dumps(status)))

    def close(self) -> None:
        """Wait at most ACK_WAIT_S for acknowledgement of the last status; destroy the node."""
        if self._status is not None:
            self._status.wait_for_all_acked(Duration(seconds=ACK_WAIT_S))
        self.node.destroy_node()


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
        replay = Replay(
            options.file, speed=options.speed, stop_requested=stop_requested, notify=_print_line
        )
        replay.run(loop=options.loop)
        _print_line(f'{count_text(replay.played, "message")} played.')
        for topic, count in replay.losses.counts().items():
            _print_line(f'{topic}: {count_text(count, "message")} could not be sent.')
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
