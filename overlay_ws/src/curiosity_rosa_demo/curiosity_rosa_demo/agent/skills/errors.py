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
