# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The parameters of the stand-in rover, set while it runs."""

from __future__ import annotations

import contextlib
from typing import Any

from curiosity_rosa_demo.infra.ros_io import ServiceFailed
from demo_bench import Bench, wait_until


def turn(bench: Bench, **values: Any) -> None:
    """Set parameters of the stand-in rover."""

    def taken() -> bool:
        # The answer to a client that the rover has not discovered yet is lost.
        with contextlib.suppress(ServiceFailed):
            return bench.box.set_parameters('curiosity_stand_in', timeout_s=3.0, **values) == []
        return False

    wait_until(taken, 'the stand-in to take its parameters')
