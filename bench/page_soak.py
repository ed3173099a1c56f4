# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Twenty pages stay open for half an hour: does anything grow?

One real agent with the stand-in rover, which drives 2 s and is stopped, every 15 s. Some pages are
tabs of a headless Chromium of 1280 by 900 pixels; the others hold the socket of a page open, take
its messages and request its share of camera frames, without drawing them: twenty tabs need more
than two cores. Every minute: RSS of the agent, the heap of the scripts of each tab after a garbage
collection, RSS of all processes of the browser, the latency of the stops.

Aim: agent and pages end within 2 % of where they were after the warm-up, which is a third of the
time; the stop is as fast.

Must never happen: a stop that is not confirmed, an error in a page's console, a page that closes.

Run: python bench/page_soak.py [--minutes 30] [--pages 20] [--tabs 3]
"""

from __future__ import annotations

import argparse
from statistics import median
import time
from typing import Any

from _bench import Demo, report, Sandbox, table
from _held_pages import FRAMES_PER_S, held_pages
from _pages import (
    Agent,
    chromium,
    close_tabs,
    heap_mb,
    latencies,
    machine_load,
    open_tabs,
    PAGE_PATH,
    rss_mb,
    start_agents,
    start_demo,
    stop,
    wait,
)
from playwright.sync_api import Browser, Page
import psutil

AIM_PERCENT = 2.0
STOP_EVERY_S, DRIVE_S = 15.0, 2.0
SAMPLE_S = 60.0


def browser_mb() -> float:
    """RSS of all processes of the browser."""
    children = psutil.Process().children(recursive=True)
    return sum(each.memory_info().rss for each in children if 'chrom' in each.name()) / 1e6


def sample(tabs: list[Page], pid: int, began: float, taken: list[float]) -> dict[str, Any]:
    heaps = [heap_mb(tab) for tab in tabs]
    return machine_load(
        {
            'minute': round((time.monotonic() - began) / 60.0, 1),
            'agent_rss_mb': round(rss_mb(pid), 1),
            'heap_mb': round(sum(heaps) / len(heaps), 2),
            'largest_heap_mb': round(max(heaps), 2),
            'browser_rss_mb': round(browser_mb(), 0),
            'stop': latencies(taken),
            'stops_s': [round(each, 4) for each in taken],
        }
    )


def soak(
    browser: Browser,
    demo: Demo,
    agent: Agent,
    options: argparse.Namespace,
    faults: list[str],
) -> list[dict[str, Any]]:
    tabs = open_tabs(browser, f'{agent.url}{PAGE_PATH}', options.tabs, faults)
    began = time.monotonic()
    samples: list[dict[str, Any]] = []
    sample_s = min(SAMPLE_S, 60.0 * options.minutes / 6)
    while time.monotonic() - began < 60.0 * options.minutes:
        until, taken = time.monotonic() + sample_s, []
        while time.monotonic() < until or not taken:
            demo.enter(':forward 5')
            wait(tabs[0], DRIVE_S)
            taken.append(stop(agent.url, '/stop', faults))
            wait(tabs[0], max(0.0, min(STOP_EVERY_S - DRIVE_S, until - time.monotonic())))
        samples.append(sample(tabs, agent.pid, began, taken))
        print(samples[-1], flush=True)
    closed = sum(tab.is_closed() for tab in tabs)
    if closed:
        faults.append(f'{closed} pages closed')
    close_tabs(browser)
    return samples


def growth_percent(samples: list[dict[str, Any]], key: str) -> float:
    """The last sixth of the samples over the sixth after the warm-up, which is a third."""
    part = max(1, len(samples) // 6)
    start = len(samples) // 3
    first = median(each[key] for each in samples[start : start + part])
    last = median(each[key] for each in samples[-part:])
    return round(100.0 * (last / first - 1.0), 2)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument('--minutes', type=float, default=30.0)
    parser.add_argument('--pages', type=int, default=20)
    parser.add_argument('--tabs', type=int, default=3, help='of the pages: of a browser')
    options = parser.parse_args()
    faults: list[str] = []
    silences: list[str] = []  # a figure, since the machine may be busy
    with Sandbox() as box, chromium() as browser:
        demo = start_demo(box, 1)
        try:
            [agent] = start_agents(demo, ['r1'])
            demo.enter(':mast_close')
            demo.wait_for('[r1]   [RESULT] mast_close: done')
            others = options.pages - options.tabs
            frames_per_s = FRAMES_PER_S * others / options.pages
            with held_pages(agent.url + '/', others, silences, frames_per_s):
                samples = soak(browser, demo, agent, options, faults)
            faults += demo.leave()
        finally:
            demo.end()
    thirds = [samples[: len(samples) // 3 or 1], samples[-(len(samples) // 3 or 1) :]]
    stops = [latencies([each for row in rows for each in row['stops_s']]) for rows in thirds]
    growth = {key: growth_percent(samples, key) for key in ('agent_rss_mb', 'heap_mb')}
    met = all(abs(each) <= AIM_PERCENT for each in growth.values())
    table(
        ['minute', 'agent RSS MB', 'heap MB', 'largest', 'browser MB', 'stop', 'p99'],
        [
            [
                str(row['minute']),
                row['agent_rss_mb'],
                row['heap_mb'],
                row['largest_heap_mb'],
                row['browser_rss_mb'],
                *row['stop'].values(),
            ]
            for row in samples
        ],
    )
    print(f'aim {"met" if met else "missed"}: growth in percent {growth}')
    return report(
        'page_soak',
        faults,
        minutes=options.minutes,
        pages=options.pages,
        tabs=options.tabs,
        growth_percent=growth,
        first_third_stop=stops[0],
        last_third_stop=stops[1],
        silences=silences,
        samples=[{k: v for k, v in row.items() if k != 'stops_s'} for row in samples],
        aim_met=met,
    )


if __name__ == '__main__':
    raise SystemExit(main())
