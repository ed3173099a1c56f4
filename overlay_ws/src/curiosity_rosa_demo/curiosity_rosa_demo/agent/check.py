# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Replay recordings into the rules: ``python -m curiosity_rosa_demo.agent.check FILE...``

The adapter's rules get the log of their inputs (recording/check.py). The gate's and the kernel's
rules decide again on the facts that each of their decisions was recorded with.

Exit status: 0 if no decision differs, 1 if one does or none could be compared, 2 if a file cannot
be read.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
import sys
from typing import Annotated

from curiosity_rosa_demo.agent.kernel.decide import KernelDecision
from curiosity_rosa_demo.agent.react.gate import GateDecision
from curiosity_rosa_demo.domain.text import count_text
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.config_loader import ConfigError, load_config
from curiosity_rosa_demo.recording.check import (
    Comparison,
    read_recording,
    Recording,
    replay_adapter,
    Report,
)
from curiosity_rosa_demo.recording.file import NotARecording
from pydantic import Field, TypeAdapter, ValidationError

DECISION: TypeAdapter[GateDecision | KernelDecision] = TypeAdapter(
    Annotated[GateDecision | KernelDecision, Field(discriminator='kind')]
)
NO_DECISIONS = (
    'there are no facts on which gate and kernel decided (/decisions): none of their decisions is '
    'decidable'
)


def decide_again(recording: Recording) -> Iterator[Comparison]:
    """The decisions of gate and kernel beside the recorded ones."""
    for at_s, data in recording.decisions:
        try:
            decision = DECISION.validate_json(data)
        except ValidationError as error:
            first = error.errors()[0]
            yield Comparison(at_s, 'gate and kernel', '', None, f'{first["loc"]}: {first["msg"]}')
            continue
        own = decision.again(recording.config)
        yield Comparison(at_s, decision.name, decision.verdict, own, decision.inputs)


def replay(recording: Recording) -> Report:
    """The decisions of all rules beside the recorded ones."""
    report = replay_adapter(recording)
    report.comparisons.extend(decide_again(recording))
    report.comparisons.sort(key=lambda each: each.at_s)
    if not recording.decisions:
        report.notes.append(NO_DECISIONS)
    return report


MAX_SHOWN = 20  # differences; the later ones may follow from the first


def show_report(file: Path, report: Report) -> None:
    print(f'{file}:')
    for note in report.notes:
        print(f'  note: {note}')
    for line in report.table():
        print(f'  {line}')
    for each in report.differences[:MAX_SHOWN]:
        print(f'  DIFFERENT {each.text().strip()}')
    more = len(report.differences) - MAX_SHOWN
    if more > 0:
        print(f'  and {count_text(more, "more difference")}; they may follow from the first')
    if not report.decided:
        print('  nothing could be compared')


def check(file: Path, config: Config, *, own_limits: bool) -> bool:
    """Whether all that could be compared is the same, and something could. Raises NotARecording,
    OSError.
    """
    report = replay(read_recording(file, config, own_limits=own_limits))
    show_report(file, report)
    return report.decided > 0 and not report.differences


def run(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog='replay.sh --check',
        description='Replay recordings into the rules, and compare their decisions.',
    )
    parser.add_argument('files', type=Path, nargs='+', help='MCAP files, such as :record makes')
    parser.add_argument(
        '--config-dir',
        default='',
        help='decide by the limits of these YAML files, not by those in the recording',
    )
    options = parser.parse_args(arguments)
    ok = True
    for file in options.files:
        try:
            config = load_config(options.config_dir)
            ok = check(file, config, own_limits=not options.config_dir) and ok
        except (NotARecording, ConfigError, OSError) as error:
            print(f'replay: {error}', file=sys.stderr)
            return 2
    return 0 if ok else 1


if __name__ == '__main__':
    sys.exit(run(sys.argv[1:]))
