# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What keeps a discovery server from being started, in words; that it works: test_rovers_e2e."""

from __future__ import annotations

import os
from pathlib import Path
import socket

import pytest
from runner.discovery import ADDRESS, discovery_server, FIRST_PORT, VARIABLE


def refusal(folder: Path, domain: int = 0) -> str:
    with (
        pytest.raises(OSError) as refused,
        discovery_server(domain, folder / 'logs', notify=print, keep_open=()),
    ):
        raise AssertionError('it was started')
    assert not (folder / 'logs').exists()
    return str(refused.value)


def test_one_that_is_named_already_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, '10.0.0.1:11811')
    line = refusal(tmp_path)
    assert line.startswith('ROS_DISCOVERY_SERVER=10.0.0.1:11811: ')
    assert '--discovery-server' in line
    assert os.environ[VARIABLE] == '10.0.0.1:11811'


def test_without_fast_dds_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv('PATH', str(tmp_path))
    assert 'rmw_fastrtps_cpp' in refusal(tmp_path)


def test_a_port_that_is_taken_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    domain = 232  # nobody's
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind((ADDRESS, FIRST_PORT + domain))
        assert f'UDP port {FIRST_PORT + domain}' in refusal(tmp_path, domain)
    assert VARIABLE not in os.environ
