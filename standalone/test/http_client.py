# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The HTTP API of one run, as a script uses it."""

from __future__ import annotations

import re
from typing import Any

from demo_bench import Bench, Run
from harness import wait_until
import httpx

PAGE = re.compile(r'The page: (http://127\.0\.0\.1:\d+)/')
READY_S = 60.0


class Api:
    """Of a run that has told its page's address: of its last agent, if it had several."""

    def __init__(self, run: Run, token: str = '') -> None:
        run.expect('The page: ')
        pages = PAGE.findall(run.output())
        assert pages, run.output()
        self.run, self.url = run, pages[-1]
        headers = {'Authorization': f'Bearer {token}'} if token else {}
        self.client = httpx.Client(base_url=self.url, timeout=20.0, headers=headers)

    def ready(self) -> Api:
        """Wait until tasks may run."""
        self.run.until(self._is_ready, '/readyz to say yes', READY_S)
        return self

    def _is_ready(self) -> bool:
        try:
            return self.client.get('/readyz').status_code == 200
        except httpx.HTTPError:
            return False

    def get(self, path: str) -> Any:
        answer = self.client.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path: str, body: Any = None) -> Any:
        answer = self.client.post(path, json=body) if body is not None else self.client.post(path)
        assert answer.is_success, answer.text
        return answer.json()

    def say(self, text: str) -> Any:
        return self.post('/say', {'text': text})


def drives(bench: Bench, api: Api, seconds: float = 20.0) -> str:
    """Stow the mast and drive, by HTTP; the ID of the task that drives."""
    mast = api.say(':mast_close')['task']['id']
    wait_until(lambda: api.get(f'/tasks/{mast}')['state'] == 'completed', 'a stowed mast')
    drive = api.say(f':forward {seconds:g}')['task']['id']
    api.run.until(lambda: bench.moving, 'the rover to drive')
    return str(drive)
