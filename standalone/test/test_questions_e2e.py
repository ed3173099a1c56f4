# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Questions typed at the console of the real product: while a task runs, and in SAFE."""

from __future__ import annotations

from demo_bench import Bench, Run
import pytest
from rover_parameters import turn

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]
ANSWER_S = 5.0
QUESTIONS = {
    'Where are you right now?': 'I am at x = ',
    'どこにいますか': '位置は x = ',
    '你现在在哪里？': '位置：x = ',
}


def acts(run: Run) -> int:
    return run.output().count('[ACT] ')


def all_answered(run: Run, times: int) -> None:
    for question, answer in QUESTIONS.items():
        run.send(question)
        run.expect(answer, ANSWER_S, times)


def test_questions_are_answered_while_the_demo_runs_and_in_safe(bench: Bench) -> None:
    run = bench.run('--speed', '2', '--stand-in', 'initial_x=-60.0')
    run.expect('Type :help')
    run.send(':demo')
    run.until(lambda: bench.moving, 'the rover to drive')
    stops = run.output().count('[RESULT] move_stop')
    all_answered(run, 1)
    run.send('what are you doing?')
    run.expect('Tasks: 1 running, 0 waiting, 0 held.', ANSWER_S)
    assert 'Stopped by' not in run.output()
    assert 'queued behind the active tasks' not in run.output()
    before = acts(run)
    run.until(lambda: acts(run) > before, 'the demo to go on')
    assert run.output().count('[RESULT] move_stop') == stops

    run.send('drive forward?')
    run.expect('Do you want me to do this', ANSWER_S)
    turn(bench, e_stop=True)
    run.expect('SAFE: e-stop pressed')
    run.until(lambda: not bench.moving, 'the rover to stand still')
    all_answered(run, 2)
    run.send('why did you stop?')
    run.expect('The rover stands still.\nMode SAFE: e-stop pressed.', ANSWER_S)
    run.send(':tasks')
    run.expect('PAUSED')  # the questions made no task of their own
    assert not bench.moving
    run.send(':stop')
    assert run.end() == 0
    assert 'Traceback' not in run.output()
    bench.nothing_left()
