# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""scripts/run_demo.sh for scripts: commands, pipes, bad input, kills."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
import os
from pathlib import Path
import signal
import subprocess
import time

from adapter_world import Witness
from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.domain.skills import MAST_SKILLS, MOTIONS
from curiosity_rosa_demo.infra.spans import read_spans, TASK_ID, TreeSpan
from curiosity_rosa_demo.trace.jsonl_log import read_newest
from demo_bench import Bench, READY_S, Run, SCRIPT, wait_until
from PIL import Image
import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]
# The calls that the gate checks once more at their dispatch.
MOVES = {f'call /adapter/{each}' for each in (*MOTIONS, *MAST_SKILLS)}
KEYS = {'ok', 'answer', 'score', 'image', 'trace'}


def test_the_demo_finds_the_light(bench: Bench, tmp_path: Path) -> None:
    """It starts behind the dark. The file exporter writes its spans."""
    file = tmp_path / 'spans.jsonl'
    config = bench.box.config_dir(agent={'tracing': {'exporter': 'file', 'file': str(file)}})
    start = ('--stand-in', 'initial_x=-3.0', '--stand-in', 'initial_mast=closed')
    options = ('--config-dir', config, '--speed', '10', '--artifacts', str(tmp_path / 'new'))
    witness = Witness(bench.box)
    orders = ('turn left 90 degrees, drive 2 m, take a picture and come back', ':demo')
    status, result, output = bench.commands(*orders, options=(*options, *start))
    there_and_back = output.split('\n> ')[-2]
    assert '[RESULT] capture_and_score' in there_and_back
    assert '! ' not in there_and_back
    assert 'The page' not in output  # that is for people
    assert set(result) == KEYS
    assert result['ok'], output
    assert status == 0
    assert result['score'] >= 0.8
    assert result['image'] == str(tmp_path / 'new/capture.jpg')
    assert result['trace'] == str(tmp_path / 'new/trace.jsonl')
    with Image.open(result['image']) as picture:
        picture.load()
        assert picture.format == 'JPEG'
        assert picture.size == (800, 800)
    assert witness.violations() == []
    events = read_newest(Path(result['trace']))
    demo = max(number for number, e in enumerate(events) if e.message.startswith('User: '))
    complete_tree(file, [e for e in events[demo:] if e.kind == 'ACT'])
    bench.nothing_left()


def complete_tree(file: Path, calls: list[TraceEvent]) -> None:
    """The spans of the demo, down to each call of a node."""
    with file.open() as lines:
        spans = list(read_spans(lines))
    root = [each for each in spans if not each.parent and each.name == 'task react'][-1]
    tree = [each for each in spans if each.trace == root.trace]
    by_id = {each.id: each for each in tree}

    def parent(span: TreeSpan) -> str:
        return by_id[span.parent].name.split()[0]  # a missing parent raises

    below = Counter((parent(each), each.name.split()[0]) for each in tree if each is not root)
    assert below['task', 'turn'] == 1
    assert below['turn', 'step'] == len(calls) + 1  # each thinks, and the last one ends the turn
    assert below['step', 'execute_tool'] == below['step', 'guard'] == len(calls)
    moves = Counter(each.parent for each in tree if each.name in MOVES)
    guards = Counter(each.parent for each in tree if each.name.startswith('guard '))
    tools = [each.id for each in tree if each.name.startswith('execute_tool ')]
    assert [guards[each] for each in tools] == [moves[each] for each in tools]
    assert len(moves) >= 2  # a drive and the mast
    assert below['execute_tool', 'call'] >= len(calls) - 1
    assert root.trace == str(root.attributes[TASK_ID]).replace('-', '')
    assert root.attributes['curiosity.task.state'] == 'completed'
    for each in tree:
        if each is not root:
            outer = by_id[each.parent]
            assert outer.start_ns <= each.start_ns <= each.end_ns <= outer.end_ns


def refused(bench: Bench, words: str, *arguments: str, **env: str) -> None:
    """In one clear line."""
    ended = subprocess.run(
        [SCRIPT, *arguments], env={**bench.env, **env}, capture_output=True, text=True, timeout=60
    )
    assert (ended.returncode, ended.stdout) == (2, '')
    assert ended.stderr.count('\n') == 1
    assert words in ended.stderr


def test_lines_from_a_pipe_beside_no_other_demo_and_all_gone_after_kill_9(bench: Bench) -> None:
    refused(bench, '--sped', '--sped', '2')
    refused(bench, '/nowhere: no such folder', '--config-dir', '/nowhere')
    refused(bench, '/proc/nothing', '--artifacts', '/proc/nothing', '-c', ':help')
    refused(bench, 'ROS_DOMAIN_ID=../5: must be a number from 0 to 232', ROS_DOMAIN_ID='../5')
    bench.nothing_left()
    run = bench.run('--speed', '2')
    run.send(':mast_close', ':foward')
    run.expect('! no command :foward; did you mean :forward')
    run.expect('[RESULT] mast_close: done')
    run.send('：ｆｏｒｗａｒｄ　２０', ':cap')
    wait_until(lambda: bench.moving, 'the rover to drive')
    run.send(':status', 'Where are you right now?')
    run.expect('; moving; mast closed')
    run.expect('I am at x = ')
    assert bench.moving  # a question stops nothing
    assert 'Stopped by' not in run.output()
    run.send(':stop')
    run.expect('! Stopped by the operator')
    run.expect('(1 queued dropped)')
    wait_until(lambda: not bench.moving, 'the rover to stand still')

    run.send(':forward 20')
    wait_until(lambda: bench.moving, 'the rover to drive')
    refused(bench, f'a demo runs in ROS domain {bench.box.domain} already')
    os.kill(run.popen.pid, signal.SIGKILL)
    bench.nothing_left()
    assert not bench.moving  # the adapter's last act; the rover was still there to hear it
    assert 'Traceback' not in run.output()


def test_when_nobody_reads_any_longer_the_rover_is_stopped(bench: Bench) -> None:
    demo = subprocess.Popen(
        [SCRIPT, '-c', ':mast_close', '-c', ':forward 20', '-c', ':status'],
        env=bench.env,
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
    )
    assert demo.stdout is not None
    wait_until(lambda: bench.moving, 'the rover to drive', 60.0)
    demo.stdout.close()
    bench.kill('visualizer_node')  # its restart is said, to nobody
    assert demo.wait(timeout=30) == 130
    assert not bench.moving
    bench.nothing_left()


LEASH_S = 30.0
STATUS = 'Status: the mast'
REFUSED = '! SAFE_MODE: refused, nothing may move.'
NO_PICTURE = ('The turn ended without a picture',)
NOT_YET = ('\n! ',)  # no joint states or odometry yet
CLEAR_ANSWERS = ('cleared: ', 'nothing to clear: ')
DROVE = '[RESULT] move_forward: duration 1.0 s'


def give(
    run: Run, *orders: str, done: Callable[[str], bool], excuses: tuple[str, ...] = ()
) -> None:
    """Give the orders until what is printed since then, or the rover, says that they are done.

    They are given again after what a kill explains: the ``excuses``, and SAFE, which is cleared.
    The kernel sees a rover whose last odometry says that it drives while nobody knows the mast,
    and it may do so at any moment after the restart.
    """
    deadline = time.monotonic() + READY_S
    while time.monotonic() < deadline:
        before = len(run.output())

        def new(before: int = before) -> str:
            return run.output()[before:]

        run.send(*orders)
        run.until(
            lambda new=new: done(new()) or any(each in new() for each in (REFUSED, *excuses)),
            f'{orders} to be done',
        )
        if done(new()):
            return
        if REFUSED in new():
            run.send(':clear')
            run.until(lambda new=new: any(each in new() for each in CLEAR_ANSWERS), 'the clear')
    raise AssertionError(f'{orders} were not done in {READY_S} s:\n{run.output()}')


def test_kill_9_of_each_node_during_the_demo(bench: Bench) -> None:
    run = bench.run('--speed', '3', '--stand-in', 'initial_x=-20.0')
    for number, name in enumerate(('visualizer', 'simulator', 'adapter', 'stand_in'), start=1):
        give(run, ':demo', done=lambda _: bench.moving, excuses=NO_PICTURE)
        pid = bench.kill(f'{name}_node')
        run.expect(f'The {name} process ended (terminated by SIGKILL) and is started again.')
        bench.back(f'{name}_node', pid)
        run.send(':stop', 'What is your status?')
        run.expect(STATUS, times=number)
        bench.stands(LEASH_S)
    run.expect('The adapter node was restarted: adapter started: rover stopped first')
    give(run, ':mast_close', ':forward 1', done=lambda new: DROVE in new, excuses=NOT_YET)
    assert run.end() == 0
    assert 'Traceback' not in run.output()
    bench.nothing_left()
