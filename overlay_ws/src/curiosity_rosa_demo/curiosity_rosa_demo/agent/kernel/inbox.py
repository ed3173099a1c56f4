# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The messages of the kernel's inbox."""

from __future__ import annotations

from dataclasses import dataclass

from curiosity_rosa_demo.domain.brain_state import Json


@dataclass(frozen=True, eq=False)
class InboxMessage:
    """A message of a user or a program, in the format that ``hci_ingress`` reads. Messages compare
    by identity, not by body. A subclass may add fields that the loop's ``act`` callback reads.

    ``body`` None: the kernel has nothing to decide; in its turn the message goes to ``act``.
    """

    body: Json | None
