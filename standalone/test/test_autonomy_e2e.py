# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A rover that lives a shortened day by itself, and a companion whose model suggests."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
import re
from typing import Any

from chat_server import Call, ChatServer, Reply, Say
from demo_bench import Bench, plain
import pytest
from rover_parameters import turn
from rover_witness import Witness
import yaml

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]
DAY_MIN, DAY_S = 1440, 200.0
# A day of two hours: what is not named here is as in the shipped world.
SHORT_DAY = {
    'activities': {
        'survey': {'minutes': 6.0, 'again_after_h': 0.4},
        'sleep': {'window': '08:00-10:00', 'minutes': 60.0},
        'wake': {'window': '08:00-12:00'},
    },
    'routine': [
        {'activity': 'wake', 'window': '08:40-12:00'},
        {'activity': 'go_home', 'window': '08:00-09:30'},
        {'activity': 'sleep', 'window': '08:00-09:00'},
        {'activity': 'go_to_work', 'window': '07:00-07:50', 'preemptive': False},
        {'activity': 'survey', 'window': '07:00-07:50', 'preemptive': False},
    ],
}


def zone_in_which_it_is(wanted: str) -> str:
    """An offset by which the wall clock says ``wanted`` now."""
    now = datetime.now(timezone.utc)
    minutes = int(wanted[:2]) * 60 + int(wanted[3:]) - now.hour * 60 - now.minute
    minutes = (minutes + DAY_MIN // 2) % DAY_MIN - DAY_MIN // 2
    return f'UTC{"-" if minutes < 0 else "+"}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}'


def config_of(bench: Bench, *, agent: dict[str, Any], world: dict[str, Any] | None = None) -> str:
    folder = bench.box.config_dir(agent=agent)
    if world is not None:
        Path(folder, 'world_view.yaml').write_text(yaml.safe_dump(world), encoding='utf-8')
    return folder


def in_this_order(text: str, *parts: str) -> None:
    place = 0
    for part in parts:
        found = text.find(part, place)
        assert found >= 0, f'{part!r} does not follow in:\n{text[place:]}'
        place = found + len(part)


def test_a_day_with_an_e_stop_an_empty_battery_and_a_crash(bench: Bench) -> None:
    agent = {'policy': {'timezone': zone_in_which_it_is('06:50')}}
    config = config_of(bench, agent=agent, world=SHORT_DAY)
    witness = Witness(bench.box)
    run = bench.run('--speed', '60', '--config-dir', config)
    run.expect('Type :help')
    run.send(':auto')
    run.expect('auto is off; :auto on switches it on')
    run.send(':auto on')
    run.expect('auto is on: the rules of world_view.yaml decide')

    run.expect('action.ended: go_to_work: done')
    run.expect('action.started: survey, by routine')
    turn(bench, e_stop=True)
    run.expect('SAFE: e-stop pressed')
    turn(bench, e_stop=False)
    run.expect('e-stop released')
    run.send(':clear')
    run.expect('SAFE is over')

    def charge_is_low() -> bool:
        turn(bench, battery=0.1)  # at this speed it is charged before a busy agent has seen it
        return 'CHARGE: battery is low' in run.output()

    run.until(charge_is_low, "'CHARGE: battery is low'")
    run.expect('CHARGE is over')

    # At this speed a busy machine steers late, and a drive may end as too long within the base.
    run.expect('-> base', DAY_S)
    run.expect('action.started: sleep, by routine')
    stowed, begun = 'plan step 1: done', 'action.started: sleep'
    run.until(lambda: stowed in run.output().partition(begun)[2], 'the mast to be stowed')
    old = bench.kill('agent_node')
    bench.back('agent_node', old)
    run.expect('The agent was restarted after signal 9')
    run.expect('auto is on', times=2)
    run.expect('action.ended: sleep: done', DAY_S)
    assert run.output().partition('action.ended: sleep: done')[0].count(begun) == 1
    run.expect('action.started: wake, by routine')

    run.send(':stop')
    run.expect('auto is off: stopped by')
    run.send(':why 100')
    run.expect('began wake, by the routine')
    run.expect('off: stopped by')
    run.send(':tree')
    run.expect('RoutineFallback')
    assert run.end() == 0
    diary = run.output()
    in_this_order(
        diary[diary.index('nothing to do') :],
        'began go_to_work, by the routine',
        'go_to_work: done',
        'began survey, by the routine',
        'SAFE: e-stop pressed',
        'CHARGE: battery is low',
        'began go_home, by the routine',
        'began sleep, by the routine',
        'sleep goes on',
        'sleep: done',
        'began wake, by the routine',
        'off: stopped by',
    )
    assert 'Traceback' not in diary
    assert witness.violations() == []


def test_a_person_always_goes_first_and_a_stop_ends_it(bench: Bench) -> None:
    agent = {'policy': {'timezone': zone_in_which_it_is('07:00')}}
    terminal = bench.terminal('--speed', '10', '--config-dir', config_of(bench, agent=agent))
    terminal.prompt()
    terminal.enter(':auto on')
    terminal.expect(r'action\.started: go_to_work, by routine')
    terminal.until(lambda: bench.moving, 'the rover to drive')
    terminal.enter(':cap')
    terminal.expect(r'\[ACT\] capture_and_score')
    terminal.expect(r'\[ERROR\] capture_and_score: Mast is closed')
    terminal.expect(r'navigate_to_pose')  # it goes on
    terminal.until(lambda: bench.moving, 'the rover to drive on')
    terminal.enter('止まれ')
    terminal.expect('auto is off: stopped by')
    terminal.until(lambda: not bench.moving, 'the rover to stand still')
    terminal.enter(':auto')
    terminal.expect('auto is off; :auto on switches it on')
    terminal.enter(':why 3')
    terminal.expect('off: stopped by')
    terminal.enter(':tree')
    terminal.expect('LLMDrivenBranch')
    terminal.enter(':tasks')
    terminal.expect('CANCELLED')
    terminal.enter(':quit')
    assert terminal.end() == 0
    assert 'Traceback' not in terminal.text
    assert not bench.moving


def suggests(activity: str, why: str) -> Say:
    action = {'type': activity, 'preemptive': False, 'rationale': why}
    return Say(calls=(Call('PolicyAction', action),))


def test_a_model_suggests_what_the_companion_does(bench: Bench) -> None:
    script: tuple[Reply, ...] = (
        suggests('fly_to_the_moon', 'it is full tonight'),
        suggests('read', 'a new book has come'),
    )
    with ChatServer(*script) as server:
        llm = {'provider': 'openai', 'model': 'scripted', 'base_url': server.url}
        policy = {
            'world_view': 'companion',
            'provider': 'llm',
            'timezone': zone_in_which_it_is('09:00'),
            'window_s': 60.0,
            'rejected_s': 60.0,
        }
        bench.env['OPENAI_API_KEY'] = 'sk-nobodys'
        config = config_of(bench, agent={'llm': llm, 'policy': policy})
        run = bench.run('--speed', '20', '--config-dir', config)
        run.expect('Type :help')
        run.send(':message too early')
        run.expect('The message was ignored: auto is off')
        run.send(':auto on')
        run.expect('auto is on: the model, within the rules of companion.yaml decide')
        run.expect('action.started: read, by model (a new book has come)')
        run.send(':message are you there?')
        run.expect('action.started: read_message, by emergency (are you there?)')
        run.expect('action.ended: read_message: done')
        run.send(':auto')
        run.expect('read')
        run.send(':auto off')
        run.expect('auto is off')
        run.send(':why 50')
        run.expect('began read_message, by the emergency')
        assert run.end() == 0
        output = plain(run.output())
        assert not bench.moving
    in_this_order(
        output[output.index('action.ended: read_message') :],
        'fly_to_the_moon',
        'refused',
        'began read, by the model',
        'began read_message, by the emergency',
        'read_message: done',
    )
    assert re.search(r'\d\d:\d\d  at home, energy \d+ %', output)
    assert len(server.requests) >= 2
    assert 'Traceback' not in output
