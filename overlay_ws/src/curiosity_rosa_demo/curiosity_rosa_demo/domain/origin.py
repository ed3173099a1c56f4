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
