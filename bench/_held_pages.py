# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Pages without a browser: each holds the socket of a page open and takes its messages, and they
request camera frames as often as the pages' scripts do. In a process of their own.

Run: python bench/_held_pages.py URL PAGES FRAMES_PER_S; they close when standard input ends
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
import http.client
import re
import subprocess
import sys
import time
from typing import Any
from urllib.parse import urlencode
import uuid

import socketio

FRAMES_PER_S = 25.0  # of all open pages together, as components/camera.js asks
SILENT_S = 2.0


def get(url: str, path: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection(url.removeprefix('http://').rstrip('/'), timeout=10)
    connection.request('GET', path, headers={'Accept': 'text/html'})
    return connection.getresponse()


class OpenPage:
    def __init__(self, url: str) -> None:
        answer = get(url, '/')
        cookie = (answer.getheader('Set-Cookie') or '').partition(';')[0]
        found = re.search(r"'client_id': '([0-9a-f-]+)'", answer.read().decode())
        assert found is not None
        query = urlencode(
            {
                'client_id': found[1],
                'tab_id': uuid.uuid4(),
                'document_id': uuid.uuid4(),
                'next_message_id': 0,
                'implicit_handshake': 'true',
            }
        )
        self._address = f'{url}?{query}'
        self._headers = {'Cookie': cookie, 'Origin': url.rstrip('/')}
        self._socket = socketio.AsyncClient(reconnection=False)
        self._socket.on('run_javascript', self._on_message)
        self._socket.on('update', self._on_message)
        self._last = time.monotonic()
        self.longest_s, self.messages = 0.0, 0

    def _on_message(self, message: Any) -> None:
        now = time.monotonic()
        self.longest_s, self._last = max(self.longest_s, now - self._last), now
        self.messages += 1

    async def connect(self) -> None:
        await self._socket.connect(
            self._address,
            headers=self._headers,
            transports=['websocket'],
            socketio_path='/_nicegui_ws/socket.io',
        )
        self._last = time.monotonic()

    async def close(self) -> None:
        self._on_message(None)
        await self._socket.disconnect()


async def hold_open(url: str, count: int, frames_per_s: float) -> None:
    """Hold the pages open until standard input ends. Prints the longest silence in seconds and the
    least number of messages.
    """
    pages = [OpenPage(url) for _ in range(count)]
    await asyncio.gather(*(page.connect() for page in pages))
    loop = asyncio.get_running_loop()
    end = loop.run_in_executor(None, sys.stdin.read)
    print('open', flush=True)
    while not end.done():
        began = time.monotonic()
        await asyncio.to_thread(lambda: get(url, '/page/frame.jpg').read())
        await asyncio.sleep(max(0.0, 1 / frames_per_s - (time.monotonic() - began)))
    await asyncio.gather(*(page.close() for page in pages))
    print(max(page.longest_s for page in pages), min(page.messages for page in pages))


@contextmanager
def held_pages(
    url: str, count: int, faults: list[str], frames_per_s: float = FRAMES_PER_S
) -> Iterator[None]:
    child = subprocess.Popen(
        [sys.executable, __file__, url, str(count), str(frames_per_s)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    if child.stdout.readline() != 'open\n':
        raise SystemExit('the pages did not open')
    yield
    output, _ = child.communicate('', timeout=30)
    silent_s, messages = output.split()
    print(f'each page: {messages} messages or more, silent for at most {float(silent_s):.2f} s')
    if float(silent_s) > SILENT_S:
        faults.append(f'a page was silent for {float(silent_s):.1f} s')


if __name__ == '__main__':
    asyncio.run(hold_open(sys.argv[1], int(sys.argv[2]), float(sys.argv[3])))
