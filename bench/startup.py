# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Time from scripts/run_demo.sh to the prompt with all nodes, compared with ``import rosa``.

Interleaved runs, which include the check of the setup. The script runs in a pseudo-terminal; the
start ends when an operator can type at the prompt. Aim: within 1.5 of the import. The answer to an
immediate :status shows that the nodes work. ROSA is imported after the prompt, so the time to the
agent's first answer is measured as well; and the time from :quit to the end.

Must never happen: a start or an end that fails, a process left running, a prompt with a node
missing.

Run: python bench/startup.py [runs, default 5]
"""

from __future__ import annotations

from collections import defaultdict
from statistics import median
import subprocess
import sys
import time

from _bench import Demo, report, ROOT, Sandbox, table

AIM = 1.5
STATUS = '; mast '  # part of the status, which comes through the adapter
BANNER, PROMPT = 'Type :help', 'rover>'
REQUEST, ANSWER = '写真を撮って', '撮影しました'  # of a turn; questions need none
NODES = {'agent_node', 'adapter_node', 'simulator_node', 'visualizer_node', 'stand_in_node'}


def timed(command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - began


def started(faults: list[str]) -> dict[str, float]:
    """Seconds to each event of one start, and of its end."""
    with Sandbox() as box:
        demo = Demo(box.env)
        try:
            banner, prompt = demo.wait_for(BANNER), demo.wait_for(PROMPT)
            missing = NODES - set(demo.nodes())
            if missing:
                faults.append(f'the prompt came without {", ".join(sorted(missing))}')
            if 'did not appear' in demo.text:
                faults.append('the console gave up waiting for the other nodes')
            demo.enter(':status')
            status = demo.wait_for(STATUS)
            demo.enter(REQUEST)
            answer = demo.wait_for(ANSWER)
            began = time.perf_counter()
            faults += demo.leave()
            leaving = time.perf_counter() - began
        finally:
            demo.end()
    return {
        'prompt': prompt,
        'banner': banner,
        'first status': status,
        'first answer': answer,
        'leaving': leaving,
    }


def main() -> int:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    faults: list[str] = []
    times: defaultdict[str, list[float]] = defaultdict(list)
    timed([str(ROOT / 'scripts/setup.sh')])  # builds outdated parts before the first run
    for _ in range(runs):
        times['import rosa'].append(timed([sys.executable, '-c', 'import rosa']))
        for name, seconds in started(faults).items():
            times[name].append(seconds)
        times['setup check'].append(timed([str(ROOT / 'scripts/setup.sh')]))
    figures = {name: round(median(values), 3) for name, values in times.items()}
    table(
        ('seconds', 'median', 'best', 'worst'),
        [(name, median(each), min(each), max(each)) for name, each in times.items()],
    )
    ratio = figures['prompt'] / figures['import rosa']
    up = figures['first status'] / figures['import rosa']
    print(
        f'the prompt takes {ratio:.2f} of the import of rosa (aim {AIM}), '
        f'the answer to a :status typed at once {up:.2f}'
    )
    status: int = report(
        'startup',
        faults,
        seconds={name.replace(' ', '_'): value for name, value in figures.items()},
        of_import=round(ratio, 3),
        status_of_import=round(up, 3),
        aim_of_import=AIM,
    )
    return status


if __name__ == '__main__':
    sys.exit(main())
