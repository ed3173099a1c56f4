# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Check a recording against the requirements: ``ros2 run curiosity_rosa_demo monitor FILE``.

Exit status: 0 without a violation, 1 with one, 2 if the file cannot be read. A requirement whose
signals need a topic that the file does not have cannot be violated in it; the last line names the
topics that were missing.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
import sys

from curiosity_rosa_demo.domain.text import count_text
from curiosity_rosa_demo.infra.config.contracts import Config
from curiosity_rosa_demo.infra.config_loader import ConfigError, load_config
from curiosity_rosa_demo.monitor.inputs import MessageInputs
from curiosity_rosa_demo.monitor.limits import limits_of
from curiosity_rosa_demo.monitor.monitor import Monitor, Verdict
from curiosity_rosa_demo.monitor.requirements import load_requirements
from curiosity_rosa_demo.monitor.signals import SignalState
from curiosity_rosa_demo.recording.mcap.limits import NotARecording
from curiosity_rosa_demo.recording.mcap.reader import Decoder, RunReader

STEP_S = 0.05


class RecordingCheck:
    """The verdicts of one file, with its times in seconds since its first message."""

    def __init__(self, file: Path, config: Config) -> None:
        """Raises NotARecording, OSError."""
        self._reader, self._decoder = RunReader(file), Decoder()
        self._state = SignalState(config.thresholds, config.guardrails.geofence, config.robot)
        self._receive = MessageInputs(self._state, config.topics).by_topic
        self._monitor = Monitor(load_requirements(), limits_of(config.thresholds))
        self.missing = set(self._receive)  # topics

    def verdicts(self) -> Iterator[Verdict]:
        first_ns: int | None = None
        stepped_s = 0.0
        for entry in self._reader:
            first_ns = entry.at_ns if first_ns is None else first_ns
            now_s = (entry.at_ns - first_ns) * 1e-9
            while stepped_s < now_s:  # silence is seen although nothing arrives
                yield from self._monitor.step(stepped_s, self._state.at(stepped_s))
                stepped_s += STEP_S
            receive = self._receive.get(entry.topic)
            message = self._decoder.decode(entry) if receive else None
            if receive and message is not None:
                self.missing.discard(entry.topic)
                receive(now_s, message)
        yield from self._monitor.step(stepped_s, self._state.at(stepped_s))


def check(file: Path, config: Config, show: Callable[[str], None]) -> int:
    """Show each violation; the exit status. Raises NotARecording, OSError."""
    recording = RecordingCheck(file, config)
    violations = 0
    for verdict in recording.verdicts():
        violations += not verdict.ok
        state = 'holds again' if verdict.ok else f'VIOLATED ({verdict.severity})'
        show(f'{verdict.at_s:10.2f} s  {verdict.requirement:6} {state}: {verdict.title}')
    show(count_text(violations, 'violation') if violations else 'no violation')
    if recording.missing:
        show(f'not in the file: {", ".join(sorted(recording.missing))}')
    return 1 if violations else 0


def run(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog='monitor', description='Check a recording against the requirements.'
    )
    parser.add_argument('file', type=Path, help='an MCAP file, such as :record makes')
    parser.add_argument('--config-dir', default='', help='folder of the YAML files of that run')
    options = parser.parse_args(arguments)
    try:
        return check(options.file, load_config(options.config_dir), print)
    except (NotARecording, ConfigError, OSError) as error:
        print(f'monitor: {error}', file=sys.stderr)
        return 2


def main() -> None:
    sys.exit(run(sys.argv[1:]))


if __name__ == '__main__':
    main()
