# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""compose.override.yaml on top of a file like the Curiosity demo's."""

from __future__ import annotations

import json
import os
from pathlib import Path
import re
import subprocess
from typing import Any

from compose_files import load, merge
import pytest

ROOT = Path(__file__).resolve().parents[2]
OVERRIDE = ROOT / 'compose.override.yaml'
# The demo's services in our words: two images that it builds, the host's network, one RMW, X11.
DEMO = """
services:
  curiosity_gui:
    image: osrf/space-ros:curiosity_gui
    build: { context: ./, dockerfile: ./Dockerfile.GUI }
    environment: [DISPLAY, XAUTHORITY=$XAUTHORITY, RMW_IMPLEMENTATION=rmw_cyclonedds_cpp]
    volumes: ["/tmp/.X11-unix:/tmp/.X11-unix:rw", "/run/user:/run/user:ro"]
    command: [bash, -c, ros2 launch curiosity_gazebo curiosity_gazebo.launch.py]
    network_mode: host
    privileged: true
  curiosity_demo:
    image: osrf/space-ros:curiosity_demo
    build: { context: ./, dockerfile: ./Dockerfile }
    environment: [PYTHONUNBUFFERED=1, RMW_IMPLEMENTATION=rmw_cyclonedds_cpp]
    command: [bash, -c, ros2 launch curiosity_rover_demo mars_rover.launch.py]
    network_mode: host
"""
VARIABLES = {'CURIOSITY_ROSA_DIR': str(ROOT), 'HOST_UID': '1234', 'HOST_GID': '2345'}
KEPT = ('PATH', 'HOME', 'PWD', 'DOCKER_CONFIG')  # of the environment; others may be ours


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    file = tmp_path / 'curiosity_rover/docker-compose.yml'
    file.parent.mkdir()
    file.write_text(DEMO)
    return file


def merged(demo: Path, **variables: str) -> dict[str, Any]:
    values = {**VARIABLES, **variables}
    whole: dict[str, Any] = merge(load(demo, values), load(OVERRIDE, values))
    return whole


@pytest.mark.parametrize(
    ('service', 'key', 'value'),
    [
        ('curiosity_demo', 'entrypoint', ['/curiosity_rosa/docker/with_overlay.sh']),
        ('curiosity_gui', 'entrypoint', ['/curiosity_rosa/docker/with_rviz.sh']),
        ('curiosity_gui', 'privileged', True),
        ('curiosity_demo', 'privileged', None),
        ('curiosity_demo', 'cap_drop', ['ALL']),
        ('curiosity_demo', 'security_opt', ['no-new-privileges:true']),
        ('curiosity_demo', 'restart', 'on-failure:5'),  # not for ever and not at boot
    ],
)
def test_a_service_runs_with(demo: Path, service: str, key: str, value: object) -> None:
    assert merged(demo)['services'][service].get(key) == value


def test_the_demo_runs_what_it_ran_with_the_overlay_beside_it(demo: Path) -> None:
    before, services = load(demo, VARIABLES)['services'], merged(demo)['services']
    for name in ('curiosity_gui', 'curiosity_demo'):
        assert services[name]['command'] == before[name]['command']
        mount = services[name]['volumes']['/curiosity_rosa']
        assert (mount['source'], mount['read_only']) == (str(ROOT), True)
        assert not mount['bind']['create_host_path']  # a wrong folder is an error, no empty one
    assert {'/tmp/.X11-unix', '/run/user'} < set(services['curiosity_gui']['volumes'])


def test_what_the_agent_keeps_outlives_the_container(demo: Path) -> None:
    whole = merged(demo)
    state = whole['services']['curiosity_demo']['volumes']['/state']
    assert state['type'] == 'volume'
    assert state['source'] in whole['volumes']
    dockerfile = (ROOT / 'docker/Dockerfile').read_text()
    assert re.search(r'install -d -o "\$HOST_UID" .*/state', dockerfile)
    assert 'XDG_STATE_HOME=/state' in dockerfile


def test_the_key_comes_from_a_file_that_need_not_be_there(demo: Path) -> None:
    service = merged(demo)['services']['curiosity_demo']
    assert service['env_file'] == [{'path': f'{ROOT}/.env', 'required': False}]
    assert not re.search(r'(?i)key|token|secret|password', json.dumps(service['environment']))
    assert not re.search(r'(?i)key|token|secret|password', json.dumps(service['build']))


@pytest.mark.parametrize(
    ('given', 'agent'), [({}, 'headless'), ({'CURIOSITY_AGENT': 'none'}, 'none')]
)
def test_the_agent_starts_with_the_container_unless_it_is_not_wanted(
    demo: Path, given: dict[str, str], agent: str
) -> None:
    environment = merged(demo, **given)['services']['curiosity_demo']['environment']
    assert environment['CURIOSITY_AGENT'] == agent


def test_without_any_folder_it_says_what_to_set(demo: Path) -> None:
    with pytest.raises(KeyError, match='folder of the curiosity-rosa repository'):
        merged(demo, CURIOSITY_ROSA_DIR='')


def compose() -> list[str]:
    """The Compose that is installed, if any."""
    for command in (['docker', 'compose'], ['docker-compose']):
        try:
            done = subprocess.run([*command, 'version'], capture_output=True, timeout=20)
        except FileNotFoundError:
            continue
        if done.returncode == 0:
            return command
    return []


@pytest.mark.skipif(not compose(), reason='the compose plugin of docker is not installed')
def test_docker_compose_reads_it_as_we_do(demo: Path, tmp_path: Path) -> None:
    """As in a checkout without .env, whose variables Compose would add."""
    variables = {**VARIABLES, 'CURIOSITY_ROSA_DIR': str(tmp_path / 'checkout')}
    files = ('-f', str(demo), '-f', str(OVERRIDE))
    done = subprocess.run(
        [*compose(), *files, '--profile', 'headless', 'config', '--format', 'json'],
        capture_output=True,
        text=True,
        timeout=60,
        env={
            **{name: value for name, value in os.environ.items() if name in KEPT},
            'XAUTHORITY': '',
            **variables,
        },
    )
    assert done.returncode == 0, done.stderr
    theirs, ours = json.loads(done.stdout)['services'], merged(demo, **variables)['services']
    assert set(theirs) == set(ours)
    for name, service in ours.items():
        for key in ('image', 'environment', 'entrypoint', 'network_mode', 'build'):
            assert theirs[name][key] == service[key], (name, key)
        assert [each.replace('$$', '$') for each in theirs[name]['command']] == service['command']
        assert {each['target'] for each in theirs[name].get('volumes', [])} == set(
            service['volumes']
        )
