# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The errors of skill definitions and of skill calls. Their messages are for people."""

from __future__ import annotations

from curiosity_rosa_demo.agent.tasks.task import BadTask


class BadSkill(ValueError):
    """An invalid skill definition. The message names the skill, the field and the rule."""


class UnknownSkill(BadTask):
    """No skill has this name. The message lists the registered skills."""


class BadArguments(BadTask):
    """Arguments that the skill does not accept. The message names the valid ones."""


class ResourceBusy(Exception):
    """A running skill holds a resource that this skill needs. The message names both skills."""
