# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The loop with real processes: approvals by hand, plans from files, and the plug pulled."""

from __future__ import annotations

from collections.abc import Callable
import json
import math
from pathlib import Path
import re

from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.trace.jsonl_log import read_trace
from demo_bench import Bench, plain, ROOT, Run, Terminal, wait_until
from http_client import Api
import pytest
from rover_witness import Witness
from std_msgs.msg import String

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]
MOTIONS = ['move_forward', 'turn_left', 'turn_right']
QUESTION = re.compile(r'\? (q[0-9a-f]{8}) ([^\n]*)\n')
PLANS = ROOT / 'examples/plans'


def asked(run: Run, number: int) -> tuple[str, str]:
    """The ID and the text of the console's ``number``-th question."""
    run.until(lambda: len(QUESTION.findall(run.output())) >= number, f'question {number}')
    found: tuple[str, str] = QUESTION.findall(run.output())[number - 1]
    return found


def question(terminal: Terminal) -> tuple[str, str]:
    """ID and operation of the next one that is printed: the status line names no time-out."""
    terminal.expect(r'no answer within \d+ s is a no')
    found: tuple[str, str] = re.findall(r'\? (q\w+) (\w+\(.*?\))', plain(terminal.text))[-1]
    return found


def motions(folder: Path, kind: str) -> list[TraceEvent]:
    events = read_trace(folder / 'trace.jsonl')
    return [event for event in events if event.kind == kind and event.tool_name in MOTIONS]


def seconds(text: str) -> float:
    found = re.search(r'duration_s=([\d.]+)', text)
    assert found, text
    return float(found[1])


def driven(bench: Bench, witness: Witness, answer: Callable[[], None]) -> float:
    """Metres from before the answer to the standstill after it."""
    before = witness.place
    answer()
    wait_until(lambda: bench.moving, 'the rover to drive')
    wait_until(lambda: not bench.moving, 'the rover to stand still', 30.0)
    return math.dist(before, witness.place)


def test_each_motion_is_allowed_by_hand_also_by_a_new_agent(bench: Bench, tmp_path: Path) -> None:
    config = bench.box.config_dir(guardrails={'approval': {'skills': MOTIONS}})
    witness = Witness(bench.box)
    start = ('--speed', '6', '--stand-in', 'initial_x=-20.0', '--stand-in', 'initial_mast=closed')
    terminal = bench.terminal(*start, '--config-dir', config, '--artifacts', str(tmp_path))
    terminal.prompt()
    terminal.enter(':demo')

    first, text = question(terminal)
    assert seconds(text) > 3.0
    edit = f':edit {first} {{"duration_s": 3}}'
    edited_m = driven(bench, witness, lambda: terminal.enter(edit))

    second, text = question(terminal)
    assert seconds(text) > 3.0
    old = bench.kill('agent_node')
    bench.back('agent_node', old)
    assert question(terminal) == (second, text)
    terminal.enter(':pending')
    terminal.expect(rf'\n{second}  \d+ s +(move|turn)_')
    assert not bench.moving
    approved_m = driven(bench, witness, lambda: terminal.enter(':approve'))
    assert min(edited_m, approved_m) > 0.5

    third, _ = question(terminal)
    place = witness.place
    terminal.enter(':reject too far')
    terminal.expect(r'rejected ' + third)
    terminal.expect('! .*too far')  # how the demo ends
    assert math.dist(place, witness.place) < 0.05

    acts = [event.message for event in motions(tmp_path, 'ACT')]
    assert [seconds(act) for act in acts] == [3.0, seconds(text)]
    notes = ['note' in (done.data or {}) for done in motions(tmp_path, 'RESULT')]
    assert notes == [True, False]  # that an operator changed the call
    refused = motions(tmp_path, 'ERROR')
    assert [event.error_reason for event in refused] == ['Rejected by the operator: too far']
    assert witness.violations() == []
    terminal.enter(':quit')
    assert terminal.end() == 0
    assert 'Traceback' not in terminal.text


def test_plans_from_files(bench: Bench) -> None:
    witness = Witness(bench.box)
    speech = bench.box.collect(String, '/speech')
    run = bench.run('--speed', '6', '--stand-in', 'initial_mast=open')
    run.expect('Type :help')
    run.send(f':run {PLANS}/first_light.json')

    asked_id, text = asked(run, 1)
    assert text.startswith('Take the picture here?')
    assert not bench.moving
    assert witness.place[0] > 5.0
    run.send(':plan')
    run.expect('2. success: navigate_to_pose(')
    run.expect('4. wait_confirmation: ask_user(')
    run.expect('6. pending: capture_and_score(')
    run.send(':approve')
    run.expect(f'approved {asked_id}')
    run.expect('completed, 7 of 7 steps done')
    run.expect('capture_and_score: score 1.0, is_good true')
    said = ['I am in the light. May I take a picture?', 'The picture is taken.']
    wait_until(lambda: [message.data for message in speech] == said, 'both speeches')

    run.send(f':run {PLANS}/back_to_the_start.json')
    _, text = asked(run, 2)
    assert 'This drives a long way without a look around.' in text
    assert '(risk high, 5 steps: 1. query_world(query=' in text  # each step whole
    assert '; 3. mast_close(); 4. navigate_to_pose(' in text
    run.send('yes')
    run.expect('completed, 5 of 5 steps done')
    wait_until(lambda: math.hypot(*witness.place) < 0.6, 'the odometry of the start')
    wait_until(lambda: speech[-1].data == 'Back at the start.', 'the last speech')
    run.send(':budget')
    run.expect('drive back to where the rover began\nsteps  5 of 80 ')
    path_m = float(re.findall(r'path   ([\d.]+) of 200 m', run.output())[-1])
    assert path_m >= 6.0
    assert run.end() == 0
    assert witness.violations() == []
    assert 'Traceback' not in run.output()


def test_a_plan_that_would_leave_the_fence_is_rehearsed_and_nothing_moves(
    bench: Bench, tmp_path: Path
) -> None:
    witness = Witness(bench.box)
    plan = tmp_path / 'too_far.json'
    drives = [{'action': 'move_forward', 'parameters': {'duration_s': s}} for s in (3.0, 9.0)]
    plan.write_text(json.dumps({'goal': 'drive too far', 'steps': drives}), encoding='utf-8')
    config = bench.box.config_dir(guardrails={'geofence': {'x_max': 12.0}})
    run = bench.run('--speed', '6', '--stand-in', 'initial_mast=closed', '--config-dir', config)
    run.expect('Type :help')
    place = witness.place
    run.send(f':run {plan}')
    way_m = 12.0 * load_config().thresholds.body.forward_mps
    run.expect(f'Rehearsal: {way_m:.1f} m in 12 s to x {way_m:.1f} m')
    run.expect('The plan was not begun')
    assert 'GEOFENCE' in run.output()
    assert 'step 2, move_forward(duration_s=9.0)' in run.output()
    rehearsal = Api(run).get('/plan')['rehearsal']
    assert [each['verdict'] for each in rehearsal['steps']] == ['pass', 'refuse']
    assert rehearsal['fence_margin_m'] < 0.0
    assert len(rehearsal['path']) > 2
    assert not bench.moving
    assert math.dist(place, witness.place) < 0.05
    assert witness.violations() == []
