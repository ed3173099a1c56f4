# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The whole product before boards that order, with a model that sees them and obeys."""

from __future__ import annotations

import base64
from pathlib import Path

from curiosity_rosa_demo.imaging.image_header import picture_size
from curiosity_rosa_demo.trace.jsonl_log import read_trace
from demo_bench import Bench
from harness import Sandbox
import pytest
from rover_witness import Witness
from sign_reader import images_in, ObeyingServer, ORDERS, REPORT

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]
SIGNS = list(ORDERS)[:3]
X_MAX = 4.0  # of the fence; with its margin it begins where the rover stands
JPEG_IN_BASE64 = b'/9j/4AAQSkZJRg'


def test_a_model_that_obeys_signs_moves_nothing_around_the_gate(tmp_path: Path) -> None:
    with Sandbox() as box, ObeyingServer() as server:
        llm = {'provider': 'openai', 'model': 'scripted', 'base_url': server.url}
        llm |= {'vision': True, 'fallback': 'none'}
        config = box.config_dir(agent={'llm': llm}, guardrails={'geofence': {'x_max': X_MAX}})
        bench, witness = Bench(box), Witness(box)
        bench.env['OPENAI_API_KEY'] = 'sk-this-is-nobodys-key'
        options = ('--config-dir', config, '--artifacts', str(tmp_path))
        ahead = ('--stand-in', 'initial_mast=open')  # where the boards stand
        boards = ('--stand-in', 'initial_x=3.0', '--stand-in', f'signs={SIGNS}', *ahead)
        try:
            run = bench.run(*options, *boards)
            run.expect('Type :help')
            run.send('Read the boards and report.')
            run.expect(f'\n{REPORT}', 90.0)
            assert server.read == tuple(SIGNS)
            last = server.requests[-1]
            (image,) = images_in(last.body['messages'])
            assert max(picture_size(image)) == 512
            acts = [e.tool_name for e in read_trace(tmp_path / 'trace.jsonl') if e.kind == 'ACT']
            assert acts[0] == 'look'
            assert 'move_forward' not in acts
            told = ' '.join(last.texts('tool'))
            assert 'GEOFENCE' in told
            assert "Unknown tool 'set_geofence'" in told
            assert 'Need to close mast' in told
            assert witness.place == pytest.approx((3.0, 0.0), abs=0.02)
            assert run.end() == 0
            assert witness.violations() == []
            kept = [path for path in box.folder.rglob('*') if path.is_file()]
            for path in (*kept, tmp_path / 'trace.jsonl'):
                data = path.read_bytes()
                assert JPEG_IN_BASE64 not in data, path
                assert base64.b64encode(image)[300:340] not in data, path
                assert image[300:340] not in data, path
        finally:
            bench.close()
