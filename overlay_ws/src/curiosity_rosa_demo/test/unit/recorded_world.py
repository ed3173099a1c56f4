# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The kept recordings, their copies with changes, and their replay into the rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from curiosity_rosa_demo.agent.check import replay
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.recording.check import Report, Verdict
from curiosity_rosa_demo.recording.mcap.channels import Channel
from curiosity_rosa_demo.recording.mcap.file import RunFile
from curiosity_rosa_demo.recording.mcap.reader import Entry, RunReader
from curiosity_rosa_demo.recording.recorded_inputs import read_recording, Recording
from harness import ROOT

FOLDER = ROOT / 'overlay_ws/src/curiosity_rosa_demo/test/recordings'
FILES = {f'{each.parent.name}/{each.stem}': each for each in sorted(FOLDER.glob('*/*.mcap'))}
CONFIG = load_config()


def recording(name: str) -> Recording:
    return read_recording(FILES[name], CONFIG)


@cache
def entries(name: str) -> tuple[list[Entry], dict[str, str], dict[str, str] | None]:
    reader = RunReader(FILES[name])
    return list(reader), reader.info, reader.end


def rewritten(name: str, target: Path, change: Callable[[list[Entry]], Iterable[Entry]]) -> Path:
    """A copy with the entries that ``change`` makes of them."""
    every, info, end = entries(name)
    target.unlink(missing_ok=True)
    copy = RunFile(target, info)
    for each in change(every):
        schema = each.schema.data.decode() if each.schema is not None else ''
        channel = Channel(each.role, each.topic, each.type, each.encoding, schema)
        copy.write(channel, each.data, each.at_ns)
    copy.finish(end or {})
    return target


def with_thresholds(kept: Recording, section: str, **values: Any) -> Recording:
    """The recording as if its limits had been these."""
    thresholds = kept.config.thresholds
    changed = getattr(thresholds, section).model_copy(update=values)
    config = kept.config.model_copy(
        update={'thresholds': thresholds.model_copy(update={section: changed})}
    )
    kept.config = config
    return kept


def checked(file: Path) -> Report:
    return replay(read_recording(file, CONFIG))


def different_rules(report: Report) -> set[str]:
    return {each.rule for each in report.differences}


def undecided(report: Report) -> int:
    return report.count(Verdict.UNDECIDABLE)
