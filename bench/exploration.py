# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Exhaustive exploration of the rules: every reachable state, every input in it, every invariant.

The real MotionGuard, the kernel's nodes and the task engine, each before a small world
(test/explored_*.py), by breadth-first search (test/state_search.py). Each scope is a set of
inputs. A search ends when no input leads to a new state; those with every input at once end after
a number of states.
- states, transitions: of the abstraction, and how many were executed
- depth: the most inputs on a shortest way to a state

Must never happen: a broken rule. It is printed with the shortest way to it.

Run: python bench/exploration.py [states at most, default none] | --pictures

--pictures makes docs/images/explored_*.svg; it needs Graphviz (apt install graphviz).
"""

from __future__ import annotations

import logging
import re
import shutil
import subprocess
import sys
import time
from typing import Any

from _bench import report, ROOT, table
from explorations import BOUNDED, dot, PICTURES, SYSTEMS
from state_search import explore, Violation


def make_pictures() -> int:
    program = shutil.which('dot')
    if program is None:
        print('dot is not installed; apt install graphviz', file=sys.stderr)
        return 1
    for name, (system, view) in PICTURES.items():
        graph = dot(explore(SYSTEMS[system](), view=view).views)
        done = subprocess.run(
            [program, '-Tsvg'], input=graph, capture_output=True, text=True, check=True
        )
        svg = re.sub(r'<!-- (Generated|Title).*?-->\n?', '', done.stdout, flags=re.DOTALL)
        (ROOT / f'docs/images/{name}.svg').write_text(svg, encoding='utf-8')
    return 0


def main() -> int:
    if sys.argv[1:] == ['--pictures']:
        return make_pictures()
    limit = int(sys.argv[1]) if len(sys.argv) > 1 else None
    logging.disable(logging.CRITICAL)  # the engine logs each abandoned skill
    scopes: dict[str, dict[str, Any]] = {}
    faults = []
    for name, (most, make) in {
        **{name: (limit, make) for name, make in SYSTEMS.items()},
        **{name: (min(limit or most, most), make) for name, (most, make) in BOUNDED.items()},
    }.items():
        began = time.process_time()
        try:
            found = explore(make(), max_states=most)
        except Violation as violation:
            faults.append(f'{name}: {violation}')
            continue
        scopes[name] = {
            'states': found.states,
            'transitions': found.transitions,
            'depth': found.depth,
            'complete': found.complete,
            'cpu_s': round(time.process_time() - began, 1),
        }
    table(
        ['exploration', 'states', 'transitions', 'depth', 'complete', 'CPU s'],
        [[name, *figures.values()] for name, figures in scopes.items()],
    )
    return report(
        'exploration',
        faults,
        scopes=scopes,
        states=sum(each['states'] for each in scopes.values()),
        transitions=sum(each['transitions'] for each in scopes.values()),
        complete=sum(each['complete'] for each in scopes.values()),
        violations=len(faults),
    )


if __name__ == '__main__':
    sys.exit(main())
