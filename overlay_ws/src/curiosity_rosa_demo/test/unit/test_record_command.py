# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""``:record`` at the console."""

from __future__ import annotations

from typing import Any, cast

from curiosity_rosa_demo.agent.interfaces.terminal.commands import (
    BadCommand,
    Command,
    parse,
)
from curiosity_rosa_demo.agent.interfaces.terminal.queries import answer_query, NO_RECORDING
from curiosity_rosa_demo.domain.outcome import Outcome
from curiosity_rosa_demo.recording.recorder import RecordingControl
import pytest


def parsed(line: str) -> Command:
    command = parse(line, longest_drive_s=1.0)
    assert command is not None
    return command


class Told:
    """A recording that says what it was told."""

    def run_command(self, what: str) -> Outcome:
        return Outcome(True, f'told {what!r}')


def carried_out(line: str, recording: Any) -> Outcome:
    nobody: Any = None
    return answer_query(
        parsed(line), nobody, nobody, nobody, nobody, cast(RecordingControl, recording)
    )


@pytest.mark.parametrize(
    ('line', 'what'),
    [
        (':record', ''),
        (':record on', 'on'),
        (':RECORD OFF', 'off'),
        ('：ｒｅｃｏｒｄ　ｓｔａｔｕｓ', 'status'),
    ],
)
def test_what_is_typed_reaches_the_recording(line: str, what: str) -> None:
    assert carried_out(line, Told()) == Outcome(True, f'told {what!r}')


@pytest.mark.parametrize(
    ('line', 'why'),
    [
        (':record yes', "'yes' is neither on, off nor status"),
        (':record yes', r':record \[on\|off\|status\]'),
        (':record on now', r':record \[on\|off\|status\]'),
        (':auto yes', "'yes' is neither on nor off"),
    ],
)
def test_anything_else_is_refused_with_what_there_is(line: str, why: str) -> None:
    with pytest.raises(BadCommand, match=why):
        parsed(line)


def test_without_a_recording_it_says_so() -> None:
    assert carried_out(':record on', None) == Outcome(False, NO_RECORDING)
