# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Whether another shipped profile fits the robot that runs here. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from curiosity_rosa_demo.infra.config.appendage import AppendageCommand
from curiosity_rosa_demo.infra.config.robot import RobotProfile


def mismatch(
    chosen: str,
    missing: Collection[str],
    profiles: Mapping[str, RobotProfile],
    is_offered: Callable[[AppendageCommand], bool],
) -> str:
    """The way out of a wrong choice; '' without one. ``missing``: names of the ``chosen`` profile
    behind which there is no robot. A profile fits if the robot offers each of its commands.
    """
    if not missing:
        return ''
    fitting = [
        name
        for name, profile in profiles.items()
        if name != chosen
        and profile.commands
        and all(is_offered(command) for _, command in profile.commands.values())
    ]
    if not fitting:
        return ''
    others = ' or '.join(sorted(fitting))
    way_out = 'choose with --robot, robot:= or nodes.yaml'
    return f'Robot profile {chosen} does not fit this robot, {others} does; {way_out}'
