# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What open pages cost: CPU and memory of the agent, bytes of a page, latency of a stop.

One robot: its own page. Three robots: the page /fleet of the first one, whose agent reads all
three. The agents are real ones, with the stand-in rover, which stands and is stopped again and
again. A page is a tab of a headless Chromium of 1280 by 900 pixels that shows everything, the
camera included. All tabs, the rovers and the browser share this machine.

- agent: CPU of the process that serves the pages, in percent of one core, and its RSS
- sibling: CPU of the second robot's agent, which the fleet's page reads
- bytes: all bytes between one page and the agent in both directions, through a proxy that counts
- stop: until POST /stop (/fleet/stop: all robots) is answered, after the rover has confirmed

Must never happen: a stop that is not confirmed, an error in a page's console.

Run: python bench/page_load.py [--seconds 15] [--stops 40] [--robots 1 3] [--pages 0 1 5 20]
"""

from __future__ import annotations

import argparse
from typing import Any

from _bench import cpu_percent, report, Sandbox, table
from _pages import (
    Agent,
    chromium,
    close_tabs,
    CountingProxy,
    FLEET_PATH,
    heap_mb,
    machine_load,
    open_tabs,
    PAGE_PATH,
    rss_mb,
    start_agents,
    start_demo,
    stops,
    wait,
)
from playwright.sync_api import Browser

SETTLE_S = 3.0


def measure(
    browser: Browser,
    agents: list[Agent],
    pages: int,
    options: argparse.Namespace,
    faults: list[str],
) -> dict[str, Any]:
    path = FLEET_PATH if len(agents) > 1 else PAGE_PATH
    stop_path = '/fleet/stop' if len(agents) > 1 else '/stop'
    url = agents[0].url
    proxy = CountingProxy(url)
    tabs = open_tabs(browser, f'{proxy.url}{path}', min(pages, 1), faults)
    tabs += open_tabs(browser, f'{url}{path}', max(0, pages - 1), faults)
    if tabs:
        wait(tabs[0], SETTLE_S)
    before = proxy.bytes
    cpu = cpu_percent({each.name: each.pid for each in agents}, options.seconds)
    per_s = (proxy.bytes - before) / options.seconds
    latency = stops(url, stop_path, options.stops, faults)
    figures = {
        'robots': len(agents),
        'pages': pages,
        'agent_cpu_percent': round(cpu[agents[0].name], 1),
        'sibling_cpu_percent': round(cpu[agents[1].name], 1) if len(agents) > 1 else None,
        'agent_rss_mb': round(rss_mb(agents[0].pid), 1),
        'kb_per_page_per_s': round(per_s / 1e3, 1) if tabs else None,
        'heap_mb': round(heap_mb(tabs[0]), 1) if tabs else None,
        'stop': latency,
    }
    close_tabs(browser)
    proxy.close()
    return machine_load(figures)


def with_robots(
    count: int, options: argparse.Namespace, faults: list[str]
) -> list[dict[str, Any]]:
    names = [f'r{number}' for number in range(1, count + 1)]
    with Sandbox() as box, chromium() as browser:
        demo = start_demo(box, count)
        try:
            agents = start_agents(demo, names)
            found = [measure(browser, agents, each, options, faults) for each in options.pages]
            faults += demo.leave()
        finally:
            demo.end()
    return found


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument('--seconds', type=float, default=15.0)
    parser.add_argument('--stops', type=int, default=40)
    parser.add_argument('--robots', type=int, nargs='+', default=[1, 3])
    parser.add_argument('--pages', type=int, nargs='+', default=[0, 1, 5, 20])
    options = parser.parse_args()
    faults: list[str] = []
    rows = [row for count in options.robots for row in with_robots(count, options, faults)]
    table(
        [
            'robots',
            'pages',
            'agent CPU %',
            'sibling',
            'RSS MB',
            'kB/page/s',
            'heap MB',
            'stop',
            'p99',
        ],
        [
            [
                str(row['robots']),
                row['pages'],
                row['agent_cpu_percent'],
                row['sibling_cpu_percent'] or '',
                row['agent_rss_mb'],
                row['kb_per_page_per_s'] or '',
                row['heap_mb'] or '',
                *row['stop'].values(),
            ]
            for row in rows
        ],
    )
    return report('page_load', faults, rows=rows)


if __name__ == '__main__':
    raise SystemExit(main())
