# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Which processes the demo consists of, and the options that shape them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from curiosity_physics import demos
from curiosity_rosa_demo.infra.config.topics import NodeSpec
from curiosity_rosa_demo.infra.config_loader import ConfigError, load_config
from hypothesis import given
from hypothesis import strategies as st
import pytest
from runner.options import parse
from runner.plan import agent, background, of_each, Options

ROOT = Path(__file__).resolve().parents[2]
NODES = load_config().nodes.nodes


def test_the_nodes_of_nodes_yaml_run_behind_the_rover() -> None:
    planned = background(Options(), NODES, ROOT)
    assert [process.name for process in planned] == [
        'stand_in', 'adapter', 'simulator', 'visualizer',
    ]  # fmt: skip
    assert [process.name for process in planned if process.stops_last] == ['stand_in']
    assert all(Path(process.command[0]).exists() for process in planned)


def test_each_speed_and_body_has_its_time_everywhere_and_its_name_on_the_page() -> None:
    for arguments, sim, body in (
        ('', 'false', ['http_body:=stand-in']),
        ('--speed 10', 'true', ['http_body:=stand-in']),
        ('--speed 0.5', 'true', ['http_body:=stand-in']),
        ('--body mujoco', 'true', ['http_body:=mujoco']),
        ('--no-stand-in --sim-time true', 'true', []),
        ('--no-stand-in --sim-time false', 'false', []),
    ):
        options = parse(arguments.split())
        front = agent(options, NODES, ROOT, process_events_fd=9)
        assert [word for word in front if word.startswith('http_body:=')] == body
        processes = background(options, NODES, ROOT) if 'stand-in' in str(body) else []
        for command in (front, *(node.command for node in processes[1:])):
            assert f'use_sim_time:={sim}' in command
        for rover in processes[:1]:
            told = {f'time_scale:={options.speed}', f'publish_clock:={sim}'}
            assert told <= set(rover.command)


def test_the_nodes_of_the_demo_run_as_they_are_beside_its_rover(tmp_path: Path) -> None:
    clone = tmp_path / 'curiosity_rover'
    files = [*demos.node_files(clone), clone / demos.DESCRIPTION]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    options = parse(['--body', 'mujoco', '--demos', str(tmp_path), '--physics', 'seed=7'])
    body, *nodes = [each for each in background(options, NODES, ROOT) if each.stops_last]
    assert {f'demos:={clone}', 'seed:=7', 'time_scale:=1.0'} <= set(body.command)
    assert [Path(each.command[1]) for each in nodes] == files[:-1]
    assert all('use_sim_time:=true' in each.command for each in nodes)
    with pytest.raises(ConfigError, match='--demos /nowhere: no clone'):
        background(replace(options, demos='/nowhere'), NODES, ROOT)


def test_the_agent_gets_its_commands_as_they_are() -> None:
    options = Options(commands=(':forward 2', '地面を "調査" して'), artifacts='/a b')
    command = agent(options, NODES, ROOT, crash='signal 9', process_events_fd=7)
    assert command[0].endswith('agent_node')
    assert [b for a, b in pairwise(command) if a == '-c'] == [
        ':forward 2', '地面を "調査" して',
    ]  # fmt: skip
    told = {'--artifacts': '/a b', '--after-crash': 'signal 9', '--process-events-fd': '7'}
    assert {flag: command[command.index(flag) + 1] for flag in told} == told
    assert command.index('--ros-args') > command.index('--process-events-fd')


def test_each_of_several_rovers_has_its_names_its_clock_its_page_and_its_folders() -> None:
    options = parse(['--rovers', '2', '--speed', '3', '--artifacts', '/out', '--record', '/rec'])
    assert options.rovers == ('r1', 'r2')
    for number, each in enumerate(of_each(options, 8765), start=1):
        name = f'r{number}'
        rover, *nodes = background(each, NODES, ROOT)
        front = agent(each, NODES, ROOT, process_events_fd=9)
        assert f'__ns:=/{name}' in rover.command
        for command in (*(node.command for node in nodes), front):
            assert {f'__ns:=/{name}', f'rover_namespace:=/{name}'} <= set(command)
            assert f'/clock:=/{name}/clock' in command
        assert f'http_port:={8764 + number}' in front
        assert 'http_fleet:=r1=http://127.0.0.1:8765,r2=http://127.0.0.1:8766' in front
        assert '--together' not in front
        assert front[front.index('--artifacts') + 1] == f'/out/{name}'
        assert front[front.index('--record') + 1] == f'/rec/{name}'


BAD: dict[str, list[str]] = {
    '--rovers 0': ['--rovers', '1 to 6'],
    '--rovers 7': ['1 to 6'],
    '--rovers -1': ['--rovers'],
    '--rovers r1,,r2': ["''", 'letters'],
    '--rovers a/b': ["'a/b'", 'letters'],
    '--rovers r1,r1': ['a name of its own'],
    '--speed 0': ['--speed 0', '0.1 to 60'],
    '--speed nan': ['--speed nan'],
    '--speed fast': ["'fast'"],
    '--stand-in initial_x': ['initial_x', 'NAME=VALUE'],
    '--stand-in initial_z=1': ['initial_z', 'initial_yaw'],
    '--stand-in initial_mast=up': ["'up'", 'closed'],
    '--stand-in initial_x={': ['not YAML'],
    '--no-stand-in --speed 2': ['stand-in rover'],
    '--sped 2': ['--sped'],
    '--body moon': ["'moon'", 'mujoco'],
    '--body mujoco --speed 30': ['--speed 30', '0.1 to 20'],
    '--body mujoco --stand-in initial_x=1': ['--stand-in', '--body stand-in'],
    '--body mujoco --physics world=moon': ["'moon'", 'relief'],
    '--body mujoco --physics initial_mast=zero': ['initial_mast', 'friction'],
    '--body mujoco --physics demos=/': ['no demos'],
    '--body mujoco --rovers 2': ['--rovers', 'one rover'],
    '--body mujoco --no-stand-in': ['--no-stand-in', 'mujoco'],
    '--physics world=rocks': ['--physics', '--body mujoco'],
    '--demos /': ['--demos', '--body mujoco'],
    '--sim-time true': ['--sim-time', '--no-stand-in'],
    '-c': ['-c'],
    'stray': ['stray'],
}


def test_bad_options_are_answered_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, words in BAD.items():
        with pytest.raises(SystemExit) as ended:
            parse(arguments.split())
        output = capsys.readouterr()
        assert (ended.value.code, output.out, output.err.count('\n')) == (2, '', 1)
        assert output.err.startswith('run_demo.sh: ')
        assert all(word in output.err for word in words)


def test_nodes_that_cannot_be_run_are_named() -> None:
    stranger = NodeSpec(name='stranger', package='nowhere', executable='nothing', when='')
    with pytest.raises(FileNotFoundError, match='nowhere/nothing is not built'):
        background(Options(), [stranger], ROOT)
    with pytest.raises(ConfigError, match="'adapter' is taken twice"):
        background(Options(), [*NODES, *NODES], ROOT)
    with pytest.raises(ConfigError, match='0 nodes have when: agent'):
        agent(
            Options(), [node for node in NODES if node.when != 'agent'], ROOT, process_events_fd=9
        )


WORDS = st.text(st.characters(exclude_categories=['Cs'], exclude_characters='\0'))


@given(st.lists(WORDS.filter(lambda text: not text.startswith('-'))), st.floats(0.1, 20.0))
def test_any_command_survives_the_command_line(commands: list[str], speed: float) -> None:
    arguments = [part for text in commands for part in ('-c', text)]
    options = parse([*arguments, '--speed', repr(speed)])
    assert list(options.commands) == commands
    assert options.speed == speed
    words = agent(options, NODES, ROOT, process_events_fd=9)
    assert words[3 : 3 + len(arguments)] == arguments
