# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Which time the rover has that already runs."""

from __future__ import annotations

from dataclasses import replace
import sys

from curiosity_rosa_demo.infra.clocks import clock_is_published, time_text

from runner.plan import Options


def with_time(options: Options) -> Options:
    """The options with the time of a rover that already runs, if no option says which it is: with
    simulated time if its clock has a publisher. Tells on standard error which it took.
    """
    if options.body or options.outside_sim_time is not None:
        return options
    published = clock_is_published(options.clock)
    text = time_text(options.clock, published, '--sim-time true')
    print(f'run_demo: {text}', file=sys.stderr)
    return replace(options, outside_sim_time=published)
