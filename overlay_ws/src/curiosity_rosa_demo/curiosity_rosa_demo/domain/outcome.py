# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Outcome of a request."""

from __future__ import annotations

from dataclasses import dataclass

from curiosity_rosa_demo.domain.brain_state import Json


@dataclass(frozen=True)
class Outcome:
    """The outcome of a command, for a person and for a script."""

    ok: bool
    answer: str
    score: float | None = None
    goal: str = ''  # the goal of the task that replaces this turn; empty: none
    refusal: Json | None = None  # the guardrail's refusal (domain/refusal.py) that ended it
