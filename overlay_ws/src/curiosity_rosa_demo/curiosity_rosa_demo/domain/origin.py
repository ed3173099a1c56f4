# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Who gives an order: the key of the table ``origins`` of guardrails.yaml."""

from __future__ import annotations

from enum import Enum
import re

from curiosity_rosa_demo.domain.text import clip, printable


class Origin(str, Enum):
    MODEL = 'model'  # a call of the language model or of the rule model in a turn
    PLAN = 'plan'  # a step of a plan that a file or a client gave
    AUTONOMY = 'autonomy'  # an activity of the agent's own
    TRIGGER = 'trigger'  # a goal or skill of triggers.yaml, whose condition was met
    RECOVERY = 'recovery'  # a stored order that runs again after a crash
    CHARGE = 'charge'  # the charging task, which only stops and stows
    CONSOLE = 'console'  # a command typed at the console
    PAGE = 'page'
    HTTP = 'http'
    ACTION = 'action'  # /agent/run_task
    MCP = 'mcp'  # a tool call of a foreign model


# -----------------------------------------------------------------------------------------------
# Who acts, for people to read: a name that a person chose, and the client that he uses
#
# Anyone may claim any name: no rule and no permission depends on it.


MAX_OPERATOR_CHARS = 40
CLIENT_PATTERN = r'^[a-z0-9-]{0,20}$'
PAGE_CLIENT, UNNAMED_CLIENT = 'page', 'HTTP'
_PARENTHESES = dict.fromkeys(map(ord, '()（）'), ' ')
_READ_CHARS = 400  # of a name: more is not even looked at


def operator_name(name: object) -> str:
    """A name as it is shown: one line of printable characters without parentheses, which stand
    around the client, at most MAX_OPERATOR_CHARS; '' for what is no text. Refuses nothing, since
    it must not block a stop.
    """
    if not isinstance(name, str):
        return ''
    plain = printable(name[:_READ_CHARS].translate(_PARENTHESES))
    return clip(plain, MAX_OPERATOR_CHARS).rstrip()


def caller_text(client: str, operator: object = '') -> str:
    """Such as ``anna (page)``; without a name, the client. A ``client`` of another form than
    CLIENT_PATTERN is not shown.
    """
    client = client if re.fullmatch(CLIENT_PATTERN, client) and client else UNNAMED_CLIENT
    if name := operator_name(operator):
        return f'{name} ({client})'
    return 'the page' if client == PAGE_CLIENT else client


def named_caller(caller: str) -> str:
    """``caller``, as ``caller_text`` made it, if it names a person; else ''."""
    return caller if caller.endswith(')') else ''


def caller_prefix(caller: str) -> str:
    """What stands before a line of this caller: in parentheses, unless it has some."""
    return f'{caller}:' if named_caller(caller) else f'({caller})'
