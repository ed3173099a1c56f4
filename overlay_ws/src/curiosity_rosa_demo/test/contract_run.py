# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""One run of the whole product in which everything that it ever offers or uses shows up: each
process in the enclave of the SROS2 policies, with simulated time, a recording, captures and
somebody who looks through the camera.
"""

from __future__ import annotations

from contextlib import suppress
import json
import socket
from typing import Any
import urllib.request

from curiosity_rosa_demo.infra.config.topics import Topics
from diagnostic_msgs.msg import DiagnosticArray
from harness import PREFIXES, Sandbox, wait_until
from ros_graph import Graph, Parameter, parameters, Use
from std_srvs.srv import Trigger

ENCLAVES = '/curiosity_rosa'
ROVER = f'{ENCLAVES}/rover'
NODES = ('simulator', 'adapter', 'visualizer', 'monitor')
WITH_PARAMETERS = (*NODES, 'agent')
PATIENCE_S, TURNS = 100.0, 40


class ContractRun:
    """``box``: an entered sandbox. ``topics``: the names as they ship."""

    def __init__(self, box: Sandbox, topics: Topics) -> None:
        self.graph = Graph()
        self._box, self._topics = box, topics
        self._diagnostics = box.collect(DiagnosticArray, topics.status.diagnostics)
        box.env['XDG_STATE_HOME'] = str(box.folder / 'state')
        with socket.socket() as probe:
            probe.bind(('127.0.0.1', 0))
            self.url = f'http://127.0.0.1:{probe.getsockname()[1]}'
            config = box.config_dir(agent={'http': {'port': probe.getsockname()[1]}})
        box.start('curiosity_stand_in', 'stand_in_node', '--enclave', ROVER, publish_clock=True)
        for name in NODES:  # without config_dir: its default is seen
            enclave = f'{ENCLAVES}/{name}'
            box.start(
                'curiosity_rosa_demo', f'{name}_node', '--enclave', enclave, use_sim_time=True
            )
        command = [str(PREFIXES['curiosity_rosa_demo'] / 'lib/curiosity_rosa_demo/agent_node')]
        command += ['--headless', '--record', str(box.folder / 'record')]
        command += ['--artifacts', str(box.folder / 'artifacts')]
        command += ['--ros-args', '--enclave', f'{ENCLAVES}/agent']
        command += ['-p', 'use_sim_time:=true', '-p', f'config_dir:={config}']
        box.run(command, 'agent')

    def look(self) -> Graph:
        self.graph.look(self._box.node, lambda enclave: enclave.startswith(f'{ENCLAVES}/'))
        return self.graph

    def show_all(self) -> None:
        """Have captures made and the camera looked through, until all who listen for a while
        were seen to do so.
        """
        images = self._topics.images
        camera, picture = images.input_compressed, images.output_capture_compressed
        passing = {
            ('/simulator', camera, 'best effort'),
            ('/agent', camera, 'best effort'),
            ('/agent', picture, 'reliable, latched'),
            ('/recorder', picture, 'reliable, latched'),
        }

        def missing() -> set[tuple[str, str, str]]:
            self.look()
            return passing - {(use.node, use.name, use.qos) for use in self.graph.uses}

        for turn in range(TURNS):
            # One of them listens for a quarter of a second only: nothing else is waited for then.
            if turn % 2:
                self._ask('/say', {'text': ':cap'})
            else:
                self._ask('/camera.jpg')
            with suppress(AssertionError):
                wait_until(lambda: not missing(), '', PATIENCE_S / TURNS)
                return
        raise AssertionError(f'waited {PATIENCE_S} s for these to be heard: {missing()}')

    def parameters(self) -> dict[str, list[Parameter]]:
        return {node: parameters(self._box, f'/{node}') for node in WITH_PARAMETERS}

    def figures(self) -> dict[str, set[str]]:
        """The keys of what each node has told of itself, by its name there."""
        return {
            status.name: {each.key for each in status.values}
            for array in list(self._diagnostics)
            for status in array.status
        }

    def status(self) -> dict[str, Any]:
        """What get_status answers."""
        answer = self._box.call(Trigger, self._topics.adapter.get_status.name)
        return dict(json.loads(answer.message))

    def overlay(self) -> set[Use]:
        """What the five processes offer and use."""
        return self.graph.of(
            node for node, enclave in self.graph.enclaves.items() if enclave != ROVER
        )

    def _ask(self, route: str, body: Any = None) -> None:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.url + route, data, {'Content-Type': 'application/json'}
        )
        with suppress(OSError), urllib.request.urlopen(request, timeout=5.0) as answer:
            answer.read()  # while it starts there is nobody, and no picture yet
