# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""How thoroughly the tests look: HYPOTHESIS_PROFILE is ``quick``, ``default`` or ``thorough``.

A test that says nothing takes the profile's number of examples; one that says how many takes
``examples(count)``, so that the profile counts there, too. ``quick`` and ``default`` try the same
examples in every run, so that a test which fails in a checkout fails for that checkout's sake.
``thorough`` draws anew and keeps what failed in ``.hypothesis``; such an example belongs into the
test, by ``@example``.
"""

from __future__ import annotations

import os
from pathlib import Path
import re

from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

PROFILES = {'quick': 15, 'default': 30, 'thorough': 100}
MOST = 100  # of ``examples`` in the default profile


def load_profile() -> None:
    """Load the profile of the environment. Raises hypothesis.errors.InvalidArgument."""
    name = os.environ.get('HYPOTHESIS_PROFILE', 'default')
    shipped = settings.get_profile('default')  # with the database that derandomize puts out of use
    for each, count in PROFILES.items():
        settings.register_profile(
            each,
            shipped,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
            max_examples=count,
            derandomize=each != 'thorough',
            print_blob=True,
        )
    settings.load_profile(name)
    if name != 'thorough':
        # Hypothesis also tries the constants of the modules that are imported so far; these differ
        # from run to run.
        assert providers._get_local_constants
        providers._get_local_constants = lambda: providers._local_constants


def examples(count: int) -> int:
    """``count`` in the default profile, MOST at most; a fifth of that or three times the count."""
    most = min(count, MOST)
    by_profile = {PROFILES['quick']: max(1, most // 5), PROFILES['thorough']: 3 * count}
    return by_profile.get(settings().max_examples, most)


def fields(name: str) -> list[list[str]]:
    r"""The rows of a corpus; none if there is no such file. A ``\uXXXX`` is its character."""
    path = Path(__file__).parent / 'unit/corpus' / name
    lines = path.read_text(encoding='utf-8').splitlines() if path.exists() else []
    return [
        [re.sub(r'\\u([0-9a-f]{4})', lambda found: chr(int(found[1], 16)), each) for each in row]
        for row in (line.split('\t') for line in lines if line.strip() and line[0] != '#')
    ]
