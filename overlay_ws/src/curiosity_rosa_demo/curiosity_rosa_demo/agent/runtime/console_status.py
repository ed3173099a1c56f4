# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the line below a console's prompt shows."""

from __future__ import annotations

import time

from curiosity_rosa_demo.agent.react.turn.texts import question_summary
from curiosity_rosa_demo.agent.runtime.console_port import ConsolePort
from curiosity_rosa_demo.agent.runtime.execution.session import AgentSession


def console_status(console: ConsolePort, session: AgentSession) -> str:
    """The question that a plain yes answers, or what runs and for how long; '': neither."""
    if (asked := console.pending_question) is not None:
        return question_summary(asked)
    activity = session.current_activity
    if activity is None:
        return ''
    return f'{activity.description}  {time.monotonic() - activity.since:.0f} s'
