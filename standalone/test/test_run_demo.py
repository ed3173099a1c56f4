# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""scripts/run_demo.sh for scripts: commands, pipes, bad input, kills."""

from __future__ import annotations

from collections.abc import Callable
import json
import math
import os
from pathlib import Path
import signal
import subprocess
import time

from curiosity_rosa_demo.trace.jsonl_log import read_trace
from demo_bench import Bench, READY_S, Run, SCRIPT, wait_until
from harness import Sandbox
from PIL import Image
import pytest
from rover_witness import Witness

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]
KEYS = {'ok', 'answer', 'score', 'image', 'trace'}


@pytest.mark.parametrize(
    'start',
    [
        ('initial_x=-3.0', 'initial_mast=closed'),  # behind the dark
        ('initial_yaw=3.0',),  # looking away from the light
    ],
    ids=['dark', 'turned'],
)
def test_the_demo_finds_the_light(bench: Bench, tmp_path: Path, start: tuple[str, ...]) -> None:
    parameters = [part for each in start for part in ('--stand-in', each)]
    options = ('--speed', '10', '--artifacts', str(tmp_path / 'new'), *parameters)
    status, result, output = bench.commands(':demo', options=options)
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
    kinds_in_order(Path(result['trace']))
    bench.nothing_left()


def test_at_the_highest_speed_a_ride_ends_where_it_should(bench: Bench, sandbox: Sandbox) -> None:
    witness = Witness(sandbox)
    # Far enough for the bound of the detour: a leg of this clock is off by half a metre.
    goal = ':submit navigate_to_pose {"x": 9.0, "y": 3.0}'
    status, result, output = bench.commands('close the mast', goal, options=('--speed', '60'))
    assert (status, result['ok']) == (0, True), output
    x, y = witness.place
    assert math.hypot(x - 9.0, y - 3.0) <= 1.0
    assert witness.violations() == []


def test_an_order_of_several_steps_is_carried_out_and_ends_where_it_began(
    bench: Bench, sandbox: Sandbox
) -> None:
    witness = Witness(sandbox)
    order = 'turn left 90 degrees, drive 2 m, take a picture and come back'
    status, result, output = bench.commands(order, options=('--speed', '10'))
    assert (status, result['ok']) == (0, True), output
    assert math.hypot(*witness.place) <= 1.0
    assert witness.violations() == []


def test_what_it_cannot_do_fails_and_says_what_it_can(bench: Bench) -> None:
    status, result, output = bench.commands('make me a coffee', options=('--speed', '10'))
    assert (status, result['ok']) == (1, False), output
    assert 'coffee' in str(result['answer'])
    assert 'drive 2 m' in str(result['answer'])


def test_the_light_is_found_in_another_language(bench: Bench) -> None:
    status, result, output = bench.commands('去有光的地方', options=('--speed', '10'))
    assert (status, result['ok']) == (0, True), output


def test_a_point_beside_the_rover_is_refused_before_it_drives(
    bench: Bench, sandbox: Sandbox
) -> None:
    witness = Witness(sandbox)
    beside = ':submit navigate_to_pose {"x": 0.45, "y": 2.56}'  # 2.6 m away, almost abreast
    ahead = ':submit navigate_to_pose {"x": 6.0, "y": 2.0}'
    run = bench.run('--speed', '5')
    run.send(':mast_close', beside)
    run.expect('! NAV_TOO_LONG: the way there takes 45.')
    assert math.hypot(*witness.place) < 0.1
    run.send(ahead)
    run.expect('[RESULT] navigate_to_pose')
    assert run.end() == 0
    assert 'driven, ' in run.output()  # progress: legs driven, metres left
    x, y = witness.place
    assert math.hypot(x - 6.0, y - 2.0) <= 1.0
    assert witness.violations() == []


def kinds_in_order(path: Path) -> None:
    """Each ACT follows its DECIDE and is followed by the RESULT or ERROR of the same tool."""
    events = [event for event in read_trace(path) if event.tool_name]
    acts = [number for number, event in enumerate(events) if event.kind == 'ACT']
    assert acts
    for number in acts:
        before, act, after = events[number - 1 : number + 2]
        assert (before.kind, before.tool_name) == ('DECIDE', act.tool_name)
        assert after.kind in ('RESULT', 'ERROR')
        assert after.tool_name == act.tool_name


def test_one_failed_command_decides_and_the_last_one_answers(bench: Bench) -> None:
    status, result, output = bench.commands(
        ':forward', ':mast_close', ':forward 1', options=('--speed', '2')
    )
    assert '! Need to close mast' in output
    assert (status, result['ok']) == (1, False)
    assert 'distance 0.' in result['answer']
    assert result['image'] is None
    assert result['trace'] is None
    assert 'The page' not in output  # that is for people


def test_lines_from_a_pipe(bench: Bench) -> None:
    run = bench.run('--speed', '2')
    run.send(':mast_close', ':foward')
    run.expect('! no command :foward; did you mean :forward')
    run.expect('[RESULT] mast_close: done')
    run.send('：ｆｏｒｗａｒｄ　２０', ':cap')
    wait_until(lambda: bench.moving, 'the rover to drive')
    run.send(':status')
    run.expect('; moving; mast closed')
    run.send(':stop')
    run.expect('! Stopped by the operator')
    run.expect('(1 queued dropped)')
    wait_until(lambda: not bench.moving, 'the rover to stand still')
    run.send('マストを上げて')
    run.expect('[ACT] mast_open')
    assert run.end() == 0  # what runs is finished, then it leaves
    output = run.output()
    assert '[RESULT] mast_open' in output
    assert 'Traceback' not in output
    bench.nothing_left()


@pytest.mark.parametrize(
    ('arguments', 'env', 'words'),
    [
        (('--sped', '2'), {}, '--sped'),
        (('--config-dir', '/nowhere'), {}, '/nowhere: no such folder'),
        (('--artifacts', '/proc/nothing', '-c', ':help'), {}, '/proc/nothing'),
        ((), {'ROS_DOMAIN_ID': '../5'}, 'ROS_DOMAIN_ID=../5: must be a number from 0 to 232'),
    ],
)
def test_bad_input_is_one_clear_line(
    bench: Bench, arguments: tuple[str, ...], env: dict[str, str], words: str
) -> None:
    ended = subprocess.run(
        [SCRIPT, *arguments],
        env={**bench.env, **env},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.returncode == 2
    assert ended.stdout == ''
    assert ended.stderr.count('\n') == 1
    assert words in ended.stderr
    bench.nothing_left()


def test_a_bad_key_in_your_own_contracts_is_named(bench: Bench) -> None:
    folder = bench.box.config_dir(thresholds={'motion': {'max_duration': 3}})
    ended = subprocess.run(
        [SCRIPT, '--config-dir', folder], env=bench.env, capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 2
    assert 'thresholds.yaml: motion.max_duration' in ended.stderr
    assert 'Traceback' not in ended.stderr


def test_without_input_and_output_it_just_ends(bench: Bench) -> None:
    closed = subprocess.run(
        ['bash', '-c', f'{SCRIPT} <&- >&-'], env=bench.env, stderr=subprocess.PIPE, timeout=60
    )
    assert closed.returncode == 0
    assert closed.stderr == b''
    bench.nothing_left()


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


def test_one_demo_in_a_domain_and_all_gone_after_kill_9_of_the_console(bench: Bench) -> None:
    run = bench.run()
    run.send(':mast_close', ':forward 20')
    wait_until(lambda: bench.moving, 'the rover to drive', 60.0)
    second = subprocess.run([SCRIPT], env=bench.env, capture_output=True, text=True, timeout=60)
    assert second.returncode == 2
    assert second.stdout == ''
    assert f'a demo runs in ROS domain {bench.box.domain} already' in second.stderr

    os.kill(run.popen.pid, signal.SIGKILL)
    bench.nothing_left()
    assert not bench.moving  # the adapter's last act; the rover was still there to hear it


def test_kill_9_of_the_agent_ends_commands_with_a_clear_answer(bench: Bench) -> None:
    run = bench.run('-c', ':mast_close', '-c', ':forward 20')
    wait_until(lambda: bench.moving, 'the rover to drive', 60.0)
    bench.kill('agent_node')
    assert run.end() == 1
    result = json.loads(run.output().splitlines()[-1])
    assert set(result) == KEYS
    assert (result['ok'], result['answer']) == (False, 'The agent ended by signal 9.')


LEASH_S = 30.0
STATUS = 'Status: the mast'
REFUSED = '! SAFE_MODE: refused, nothing may move.'
NO_PICTURE = ('The turn ended without a picture',)
NOT_YET = ('[ERROR] mast_close', '[ERROR] move_forward')  # no joint states or odometry yet
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
