# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The kernel's nodes as IKernelNode objects, for graphs built outside this package."""

from __future__ import annotations

from dataclasses import dataclass

from curiosity_rosa_demo.agent.kernel.graph import Node, nodes
from curiosity_rosa_demo.agent.kernel.limits import KernelRules
from curiosity_rosa_demo.domain.brain_state import BrainState
from curiosity_rosa_demo.domain.interfaces import IKernelNode


@dataclass(frozen=True)
class KernelNode(IKernelNode):
    name: str
    function: Node

    def execute(self, state: BrainState) -> BrainState:
        return self.function(state)


def kernel_nodes(rules: KernelRules) -> list[KernelNode]:
    """The six nodes in execution order."""
    return [KernelNode(name, function) for name, function in nodes(rules).items()]
