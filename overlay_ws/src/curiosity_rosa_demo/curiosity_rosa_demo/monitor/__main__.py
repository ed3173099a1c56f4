# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Check a recording against the requirements: ``python -m curiosity_rosa_demo.monitor FILE``

Exit status: 0 without a violation, 1 with one, 2 if the file cannot be read. A requirement whose
signals need a topic that the file does not have cannot be violated in it; the last line names the
topics that were missing.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
import sys

from curiosity_rosa_demo.domain.text import count_text
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.config_loader import ConfigError, load_config
from curiosity_rosa_demo.monitor.monitor import limits_of, load_requirements, Monitor, Verdict
from curiosity_rosa_demo.monitor.signals import SignalState
from curiosity_rosa_demo.recording.file import NotARecording, ROBOT, RunReader

STEP_S = 0.05


def verdicts(reader: RunReader, config: Config, missing: set[str]) -> Iterator[Verdict]:
    """Those of a file, with its times in seconds since its first message. ``missing`` becomes the
    topics that it does not have. Raises NotARecording, OSError.
    """
    state, stepped_s = SignalState(config), 0.0
    monitor = Monitor(load_requirements(), limits_of(config.thresholds))
    missing |= set(state.by_topic)
    for entry in reader:
        while stepped_s < entry.at_s:  # silence is seen although nothing arrives
            yield from monitor.step(stepped_s, state.at(stepped_s))
            stepped_s += STEP_S
        receive = state.by_topic.get(entry.topic)
        message = reader.decode(entry) if receive else None
        if receive and message is not None:
            missing.discard(entry.topic)
            receive(entry.at_s, message)
    yield from monitor.step(stepped_s, state.at(stepped_s))


def run(arguments: Sequence[str]) -> int:
    """Print each violation in a file; the exit status."""
    parser = argparse.ArgumentParser(
        prog='monitor', description='Check a recording against the requirements.'
    )
    parser.add_argument('file', type=Path, help='an MCAP file, such as :record makes')
    parser.add_argument('--config-dir', default='', help='folder of the YAML files of that run')
    parser.add_argument('--robot', default='', help='profile, where the file does not name it')
    options = parser.parse_args(arguments)
    missing, violations = set[str](), 0
    try:
        reader = RunReader(options.file)
        next(iter(reader), None)  # what the file says of itself
        robot = reader.info.get(ROBOT) or options.robot
        for verdict in verdicts(reader, load_config(options.config_dir, robot=robot), missing):
            violations += not verdict.ok
            state = 'holds again' if verdict.ok else f'VIOLATED ({verdict.severity})'
            print(f'{verdict.at_s:10.2f} s  {verdict.requirement:6} {state}: {verdict.title}')
    except (NotARecording, ConfigError, OSError) as error:
        print(f'monitor: {error}', file=sys.stderr)
        return 2
    print(count_text(violations, 'violation') if violations else 'no violation')
    if missing:
        print(f'not in the file: {", ".join(sorted(missing))}')
    return 1 if violations else 0


def main() -> None:
    sys.exit(run(sys.argv[1:]))


if __name__ == '__main__':
    main()
