# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""docs/tutorial, as a reader does it: another rover by topics.yaml alone, and a chat server."""

from __future__ import annotations

from pathlib import Path
import re
import sys

from demo_bench import Bench
from harness import ROOT, Sandbox, wait_until
import pytest
import yaml

TUTORIAL = ROOT / 'docs/tutorial'
pytestmark = pytest.mark.e2e


def yaml_of(page: str) -> dict[str, dict[str, str]]:
    text = (TUTORIAL / page).read_text(encoding='utf-8')
    first = re.findall(r'^```yaml\n(.*?)^```', text, re.DOTALL | re.MULTILINE)[0]
    return dict(yaml.safe_load(first))


def url_of(log: Path) -> str:
    found = re.search(r'^http\S+/v1$', log.read_text(encoding='utf-8'), re.MULTILINE)
    return found[0] if found else ''


@pytest.mark.timeout(240)
def test_a_rover_of_other_names_is_driven_and_a_chat_server_is_asked() -> None:
    with Sandbox() as box:
        box.run([sys.executable, str(ROOT / 'examples/scout_rover.py')], 'scout')
        chat = box.run([sys.executable, str(ROOT / 'examples/chat_server.py'), '0'], 'chat')
        url = wait_until(lambda: url_of(chat.log), 'the chat server')
        llm = {**yaml_of('own_model.md')['llm'], 'base_url': url}
        config = box.config_dir(topics=yaml_of('own_rover.md'), agent={'llm': llm})
        bench = Bench(box)
        bench.env['OPENAI_API_KEY'] = 'none'
        try:
            commands = (':forward 1', ':mast_close', ':forward 2', ':cap', 'how are you?')
            options = ('--no-stand-in', '--config-dir', config)
            status, result, output = bench.commands(*commands, options=options)
        finally:
            bench.close()
        assert status == 0, output
        refused, _, rest = output.partition('> :mast_close')
        assert '[ERROR] move_forward: Need to close mast' in refused
        assert '[RESULT] mast_close: done' in rest
        assert re.search(r'\[RESULT\] move_forward: duration_s 2.0, distance_m [01]\.', rest)
        assert result['answer'].startswith('The rover says: ')
