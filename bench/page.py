# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""What open pages cost: CPU and memory of the agent, latency of a stop.

The agents are real ones, with the stand-in rover. A page is a tab of a headless Chromium that
shows everything, the camera included. Tabs, rovers and the browser share this machine.

Must never happen: a stop that is not confirmed, an error in a page's console, a page that closes.

Run: python bench/page.py [load] [soak] [--size N] [--smoke]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import closing, contextmanager, ExitStack, suppress
import http.client
import os
from pathlib import Path
import socket
from statistics import median
import sys
import time
from urllib.parse import urlsplit

from _bench import cpu_percent, main, milliseconds, Part, quantile, Result
from demo_bench import Bench, read_pages, Run
from harness import Sandbox
from playwright.sync_api import Browser, Page, sync_playwright
import psutil

CHROMIUM = Path('/usr/bin/chromium')
CHROMIUM_OPTIONS = ['--no-sandbox', '--enable-precise-memory-info']
OPEN_MS = 60_000
FIRST_PORT = 18_765
ROVERS, PAGES = (1, 3), (0, 1, 5, 20)
STOPS, SETTLE_S = 40, 3.0
TABS, STOP_EVERY_S, DRIVE_S, AIM_PERCENT = 20, 15.0, 2.0, 2.0  # of the soak
MOST_REFUSALS, REFUSE_EVERY_S = 1500, 0.1  # that fill the lists of a page
FULL = """() => {
    const { lines, document: { time, tasks } } = window.curiosity.view;
    return lines.length >= 500 && time.marks.length >= 500 && Object.keys(tasks).length >= 30;
}"""


@contextmanager
def site(rovers: int, faults: list[str]) -> Iterator[tuple[Run, list[str], int, Browser]]:
    """A demo, the addresses of its pages, the process of the first agent, and a browser."""
    if not CHROMIUM.exists():
        raise SystemExit(f'{CHROMIUM} is missing: apt-get install chromium')
    with (
        Sandbox() as box,
        sync_playwright() as playwright,
        closing(Bench(box)) as bench,
        playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_OPTIONS) as browser,
    ):
        folder = box.config_dir(agent={'http': {'port': free_ports(rovers)}})
        run = bench.run('--rovers', str(rovers), '--config-dir', folder)
        urls = read_pages(run, rovers)
        agents = [p for p in bench.processes() if '__ns:=/r1' in p.cmdline()]
        pid = next(p.pid for p in agents if any('agent_node' in w for w in p.cmdline()[:3]))
        yield run, urls, pid, browser
        for context in browser.contexts:  # the end of the demo is no fault of a page
            context.close()
        if (status := run.end()) != 0:
            faults.append(f'run_demo.sh ended with status {status}')


def free_ports(count: int) -> int:
    """The first of ``count`` free ports in a row: the agents of a demo count theirs from one."""
    begin = FIRST_PORT + os.getpid() % 100 * 10
    for first in range(begin, begin + 1000, count):
        with ExitStack() as stack, suppress(OSError):
            for port in range(first, first + count):
                stack.enter_context(socket.create_server(('127.0.0.1', port)))
            return first
    raise AssertionError(f'no {count} free ports in a row from {begin}')


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
    values = session.send('Performance.getMetrics')['metrics']
    session.detach()
    return next(float(e['value']) for e in values if e['name'] == 'JSHeapUsedSize') / 1e6


def stop(url: str, path: str, faults: list[str]) -> float:
    """Seconds until a stop on a new connection is answered, after the rover has confirmed it."""
    began = time.perf_counter()
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=20)
    connection.request('POST', f'{path}?client=bench')
    answer = connection.getresponse()
    body = answer.read()
    took = time.perf_counter() - began
    connection.close()
    if answer.status != 200:
        faults.append(f'a stop was answered with {answer.status}: {body[:200]!r}')
    return took


def load(options: argparse.Namespace) -> Result:
    faults: list[str] = []
    rows = []
    for rovers in ROVERS[:1] if options.smoke else ROVERS:
        path, stop_path = ('/fleet', '/fleet/stop') if rovers > 1 else ('/', '/stop')
        with site(rovers, faults) as (_, urls, pid, browser):
            for pages in (1,) if options.smoke else PAGES:
                tabs = open_tabs(browser, f'{urls[0]}{path}', pages, faults)
                if tabs:
                    tabs[0].wait_for_timeout(1000 * SETTLE_S)
                cpu = cpu_percent({'agent': pid}, options.size)['agent']
                count = 2 if options.smoke else STOPS
                taken = [stop(urls[0], stop_path, faults) for _ in range(count)]
                rss = psutil.Process(pid).memory_info().rss / 1e6
                rows.append((rovers, pages, round(cpu, 1), round(rss),
                             *(round(each) for each in milliseconds(taken))))  # fmt: skip
                for context in browser.contexts:
                    context.close()
    return Result(
        'Open pages',
        'One robot: its own page. Three: /fleet, whose agent reads all three. A stop counts '
        'until it is answered, after the rover has confirmed that it stands.',
        ('robots', 'pages', 'agent, % of a core', 'agent RSS MB', 'stop, median ms',
         'stop, p99 ms'),
        rows,
        faults=faults,
    )  # fmt: skip


def soak(options: argparse.Namespace) -> Result:
    faults: list[str] = []
    samples: list[tuple[float, float, list[float]]] = []  # RSS, heap, stops of a sixth of the time
    with site(1, faults) as (run, [url], pid, browser):
        run.send(':mast_open')
        run.expect('[RESULT] mast_open: done')
        tabs = open_tabs(browser, url, 1 if options.smoke else TABS, faults)
        for _ in range(2 if options.smoke else MOST_REFUSALS):
            run.send(':left 5')
            tabs[0].wait_for_timeout(1000 * REFUSE_EVERY_S)
            if filled := tabs[0].evaluate(FULL):
                break
        if not filled and not options.smoke:
            faults.append('the lists of a page were not filled')
        run.send(':mast_close')
        run.expect('[RESULT] mast_close: done')
        for _ in range(6):
            until = time.monotonic() + (1.0 if options.smoke else 10.0 * options.size)
            taken: list[float] = []
            while time.monotonic() < until or not taken:
                run.send(':left 5')
                tabs[0].wait_for_timeout(1000 * DRIVE_S)
                taken.append(stop(url, '/stop', faults))
                left_s = min(STOP_EVERY_S - DRIVE_S, until - time.monotonic())
                tabs[0].wait_for_timeout(1000 * max(0.0, left_s))
            rss = psutil.Process(pid).memory_info().rss / 1e6
            samples.append((rss, median(map(heap_mb, tabs)), taken))
        if closed := sum(tab.is_closed() for tab in tabs):
            faults.append(f'{closed} pages closed')
    growth = [100 * (samples[-1][i] / samples[0][i] - 1) for i in (0, 1)]
    return Result(
        'Pages that stay open',
        f'{TABS} tabs before a rover that drives and is stopped every {STOP_EVERY_S:g} s. Drives '
        'that were refused have filled what a page keeps: lines, marks and tasks.',
        ('part of the time', 'agent RSS MB', 'heap of a page, MB', 'stop, median ms'),
        [
            (f'{number} of 6', round(rss, 1), round(heap, 2), round(1e3 * quantile(taken, 0.5)))
            for number, (rss, heap, taken) in enumerate(samples, 1)
        ],
        f'memory at the end within {AIM_PERCENT:g} % of that after the first sixth',
        all(abs(each) <= AIM_PERCENT for each in growth),
        faults,
    )


if __name__ == '__main__':
    sys.exit(main(Part('load', load, 'seconds', 15, 1), Part('soak', soak, 'minutes', 30, 1)))
