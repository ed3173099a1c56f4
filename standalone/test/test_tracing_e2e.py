# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A run of the whole product with the file exporter."""

from collections import Counter
from pathlib import Path

from curiosity_rosa_demo.infra.tracing.span import TASK_ID
from curiosity_rosa_demo.infra.tracing.span_tree import read_spans, TreeSpan
from curiosity_rosa_demo.trace.jsonl_log import read_trace
from demo_bench import Bench
import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]


def test_the_spans_of_the_demo_are_a_complete_tree(bench: Bench, tmp_path: Path) -> None:
    file = tmp_path / 'spans.jsonl'
    config = bench.box.config_dir(agent={'tracing': {'exporter': 'file', 'file': str(file)}})
    options = ('--config-dir', config, '--speed', '10', '--artifacts', str(tmp_path / 'out'))
    status, result, output = bench.commands(':demo', options=options)
    assert (status, result['ok']) == (0, True), output
    with file.open() as lines:
        spans = list(read_spans(lines))
    roots = [each for each in spans if not each.parent]
    root = next(each for each in roots if each.name == 'task react')
    tree = [each for each in spans if each.trace == root.trace]
    by_id = {each.id: each for each in tree}

    def parent(span: TreeSpan) -> str:
        return by_id[span.parent].name.split()[0]  # a missing parent raises

    below = Counter((parent(each), each.name.split()[0]) for each in tree if each is not root)
    calls = [each for each in read_trace(result['trace']) if each.kind.value == 'ACT']
    assert below['task', 'turn'] == 1
    assert below['turn', 'step'] == below['step', 'chat'] == len(calls) + 1
    assert below['step', 'execute_tool'] == below['step', 'guard'] == len(calls)
    assert below['execute_tool', 'guard'] >= 3  # at the dispatch of each motion
    assert below['execute_tool', 'call'] >= len(calls) - 1
    assert root.trace == str(root.attributes[TASK_ID]).replace('-', '')
    assert root.attributes['curiosity.task.state'] == 'completed'
    for each in tree:
        if each is not root:
            outer = by_id[each.parent]
            assert outer.start_ns <= each.start_ns <= each.end_ns <= outer.end_ns
