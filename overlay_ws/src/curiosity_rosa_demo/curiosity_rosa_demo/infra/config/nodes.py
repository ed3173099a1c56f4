# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Schema of nodes.yaml. The file holds the values."""

from __future__ import annotations

from typing import Literal

from curiosity_rosa_demo.infra.config.base import (
    FileName,
    Name,
    Section,
)
from pydantic import Field


class NodeSpec(Section):
    name: Name
    package: str = Field(min_length=1)
    executable: str = Field(min_length=1)
    when: Literal['', 'agent', 'monitor']
    needs: Literal['', 'camera'] = ''

    def log_arguments(self, namespace: str, *, debug: bool) -> list[str]:
        """ROS arguments with the log levels. ``debug`` is for the node's own logger only: the
        default level also binds rcl and the middleware.
        """
        levels = ['--log-level', 'info']
        if debug:
            path = [part for part in namespace.split('/') if part]
            levels += ['--log-level', f'{".".join([*path, self.name])}:=debug']
        return levels


class Nodes(Section):
    robot: FileName
    nodes: list[NodeSpec] = Field(min_length=1)
