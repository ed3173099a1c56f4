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
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

DEFAULT = 100
PROFILES = {'quick': DEFAULT // 5, 'default': DEFAULT, 'thorough': 10 * DEFAULT}


def load_profile() -> None:
    """Load the profile of the environment. Raises hypothesis.errors.InvalidArgument."""
    for name, count in PROFILES.items():
        settings.register_profile(
            name,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
            max_examples=count,
            derandomize=name != 'thorough',
        )
    settings.load_profile(os.environ.get('HYPOTHESIS_PROFILE', 'default'))


def examples(count: int) -> int:
    """``count`` in the default profile, in the others in proportion."""
    return max(1, count * settings().max_examples // DEFAULT)
