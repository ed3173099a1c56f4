# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Replay one recording into all rules."""

from __future__ import annotations

from curiosity_rosa_demo.adapter.adapter_rules import AdapterRules
from curiosity_rosa_demo.simulation.recorded.decisions import Report
from curiosity_rosa_demo.simulation.recorded.gate_replay import GateReplay
from curiosity_rosa_demo.simulation.recorded.kernel_replay import KernelReplay
from curiosity_rosa_demo.simulation.recorded.log_replay import LogReplay, NOT_SEEN, segments
from curiosity_rosa_demo.simulation.recorded.recording import Recording
from curiosity_rosa_demo.simulation.recorded.records_compare import (
    compare_alarms,
    compare_statuses,
)
from curiosity_rosa_demo.simulation.recorded.rule_run import MakeRules
from curiosity_rosa_demo.simulation.recorded.topic_replay import (
    NO_LOG,
    TopicReplay,
)


def replay(recording: Recording, make_rules: MakeRules = AdapterRules) -> Report:
    """The decisions of the rules beside the recorded ones. ``make_rules``: the adapter's rules."""
    report = Report(notes=list(recording.notes))
    if recording.batches:
        _replay_log(recording, report, make_rules)
    else:
        _replay_topics(recording, report, make_rules)
    kernel = KernelReplay(recording)
    report.add(kernel.comparisons())
    report.add(GateReplay(recording, kernel).comparisons())
    report.comparisons.sort(key=lambda each: each.at_s)
    return report


def _replay_log(recording: Recording, report: Report, make_rules: MakeRules) -> None:
    log = LogReplay(recording, make_rules)
    report.add(log.comparisons())
    report.add(compare_statuses(recording, log.moments, log.covered, NOT_SEEN))
    report.add(compare_alarms(recording, log.alarms, log.covered, NOT_SEEN))
    late = [each for each in segments(recording) if not each.from_start]
    if late:
        report.notes.append(
            f'{len(late)} part(s) of the log begin after the adapter, or after a gap: the rules '
            'begin there with the first status of a rover at rest, without the speeds learned '
            'before'
        )


def _replay_topics(recording: Recording, report: Report, make_rules: MakeRules) -> None:
    report.notes.append(NO_LOG)
    report.add(TopicReplay(recording, make_rules).comparisons())
