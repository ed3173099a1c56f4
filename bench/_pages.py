# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Real pages of real agents: tabs of a headless Chromium at demos with the stand-in rover."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, ExitStack, suppress
from dataclasses import dataclass
import http.client
import os
from pathlib import Path
import socket
import threading
import time
from typing import Any
from urllib.parse import urlsplit
import urllib.request

from _bench import Demo, quantile, Sandbox
from playwright.sync_api import Browser, Page, sync_playwright
import psutil

CHROMIUM = Path('/usr/bin/chromium')
OPEN_MS = 60_000
FIRST_PORT = 18_765
FLEET_PATH, PAGE_PATH = '/fleet', '/'


@dataclass(frozen=True)
class Agent:
    name: str
    url: str  # without a slash at its end
    pid: int


def start_demo(box: Sandbox, rovers: int) -> Demo:
    """Its pages are at free ports that follow each other."""
    folder = box.config_dir(agent={'http': {'port': _free_ports(rovers)}})
    return Demo(box.env, '--rovers', str(rovers), '--config-dir', str(folder))


def _free_ports(count: int) -> int:
    """The first of ``count`` ports in a row. Two benchmarks that start together begin to look in
    different places: neither has its port yet when the other one looks.
    """
    begin = FIRST_PORT + os.getpid() % 100 * 10
    for first in range(begin, begin + 1000, count):
        with ExitStack() as stack, suppress(OSError):
            for port in range(first, first + count):
                stack.enter_context(socket.create_server(('127.0.0.1', port)))
            return first
    raise AssertionError(f'no {count} free ports in a row from {begin}')


def start_agents(demo: Demo, names: list[str]) -> list[Agent]:
    """Wait until all rovers of the demo are ready and their pages answer."""
    found = []
    for name in names:
        demo.wait_for(f'[{name}] The page: ', 150.0)
        url = demo.text.partition(f'[{name}] The page: ')[2].split()[0]
        with urllib.request.urlopen(url, timeout=90.0) as answer:
            answer.read()
        found.append(Agent(name, url.rstrip('/'), _agent_pid(demo, name)))
    return found


def _agent_pid(demo: Demo, name: str) -> int:
    for process in demo.processes():
        line = process.cmdline()
        if f'__ns:=/{name}' in line and any(part.endswith('/agent_node') for part in line[:3]):
            return process.pid
    raise AssertionError(f'no process of the agent of {name}')


@contextmanager
def chromium() -> Iterator[Browser]:
    if not CHROMIUM.exists():
        raise SystemExit(f'{CHROMIUM} is missing: apt-get install chromium')
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=['--no-sandbox', '--enable-precise-memory-info']
        )
        yield browser
        browser.close()


def open_tabs(browser: Browser, url: str, count: int, faults: list[str]) -> list[Page]:
    """Tabs that are live. What a tab writes to its console as an error is a fault."""
    context = browser.new_context(viewport={'width': 1280, 'height': 900})
    tabs = []
    for _ in range(count):
        tab = context.new_page()
        tab.on('pageerror', lambda error: faults.append(f'error of a page: {error}'))
        tab.on(
            'console',
            lambda said: faults.append(f'a page says: {said.text}') if said.type == 'error' else 0,
        )
        tab.goto(url, timeout=OPEN_MS)
        tab.wait_for_selector('html[data-link=live]', state='attached', timeout=OPEN_MS)
        tabs.append(tab)
    return tabs


def heap_mb(tab: Page) -> float:
    """What the scripts of the page hold, after a garbage collection."""
    session = tab.context.new_cdp_session(tab)
    session.send('HeapProfiler.collectGarbage')
    session.send('Performance.enable')
    values = {
        each['name']: each['value'] for each in session.send('Performance.getMetrics')['metrics']
    }
    session.detach()
    return float(values['JSHeapUsedSize']) / 1e6


def rss_mb(pid: int) -> float:
    return psutil.Process(pid).memory_info().rss / 1e6


def stop(url: str, path: str, faults: list[str]) -> float:
    """Seconds until a stop on a new connection is answered."""
    host = urlsplit(url).netloc
    began = time.perf_counter()
    connection = http.client.HTTPConnection(host, timeout=20)
    connection.request('POST', f'{path}?client=bench')
    answer = connection.getresponse()
    body = answer.read()
    took = time.perf_counter() - began
    connection.close()
    if answer.status != 200:
        faults.append(f'a stop was answered with {answer.status}: {body[:200]!r}')
    return took


def stops(url: str, path: str, count: int, faults: list[str]) -> dict[str, float]:
    taken = []
    for _ in range(count):
        taken.append(stop(url, path, faults))
        threading.Event().wait(0.1)
    return latencies(taken)


def latencies(taken: list[float]) -> dict[str, float]:
    return {
        'median_ms': round(1e3 * quantile(taken, 0.5), 1),
        'p99_ms': round(1e3 * quantile(taken, 0.99), 1),
    }


class CountingProxy:
    """A TCP proxy that counts all bytes between one tab and the agent, of all its connections."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._address = (str(parts.hostname), int(parts.port or 80))
        self._listener = socket.create_server(('127.0.0.1', 0))
        self.url = f'http://127.0.0.1:{self._listener.getsockname()[1]}'
        self.bytes = 0
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:  # closed
                return
            server = socket.create_connection(self._address)
            for pair in ((client, server), (server, client)):
                threading.Thread(target=self._pump, args=pair, daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                with self._lock:
                    self.bytes += len(data)
                sink.sendall(data)
        for each in (source, sink):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)


def close_tabs(browser: Browser) -> None:
    for context in browser.contexts:
        context.close()


def wait(tab: Page, for_s: float) -> None:
    """Wait while the messages of the browser are read."""
    tab.wait_for_timeout(1000 * for_s)


def machine_load(figures: dict[str, Any]) -> dict[str, Any]:
    return {**figures, 'load': round(psutil.getloadavg()[0], 1)}
