# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What can be wrong with a skill, or with a call of one. The messages are for people."""

from __future__ import annotations

from curiosity_rosa_demo.agent.tasks.errors import BadTask


class BadSkill(ValueError):
    """A definition that cannot be taken; the message names the skill, the field and the rule."""


class UnknownSkill(BadTask):
    """There is no skill of this name; the message names those that there are."""


class BadArguments(BadTask):
    """Arguments that the skill does not take; the message says what would be right."""


class ResourceBusy(Exception):
    """A running skill holds what this one needs; the message names both."""


class UnknownRun(LookupError):
    """There is no run of this ID, or it ended too long ago."""
