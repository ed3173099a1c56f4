# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The command ``:triggers``."""

from __future__ import annotations

from curiosity_rosa_demo.agent.interfaces.terminal.commands import Command
from curiosity_rosa_demo.domain.adapter_status import Triggers, TriggerStatus, UnknownTrigger
from curiosity_rosa_demo.domain.outcome import Outcome
from curiosity_rosa_demo.domain.plan.validation import short_repr
from curiosity_rosa_demo.domain.text import visible
from curiosity_rosa_demo.infra.config.triggers import ALL

NO_TRIGGERS = 'no triggers; triggers.yaml can have some (docs/howto/triggers.md)'


def triggers_outcome(command: Command, triggers: Triggers) -> Outcome:
    """Run ``:triggers``: the list, or a switch."""
    if command.text:
        on = bool(command.number)
        found = [each.name for each in triggers.statuses()] if command.text == ALL else []
        try:
            for name in found or [command.text]:
                triggers.switch(name, on)
        except UnknownTrigger as error:
            return Outcome(False, str(error))
        return Outcome(True, '\n'.join(trigger_text(each) for each in triggers.statuses()))
    rows = [trigger_text(each) for each in triggers.statuses()]
    return Outcome(True, '\n'.join(rows) or NO_TRIGGERS)


def trigger_text(status: TriggerStatus) -> str:
    """One line: name, state, condition, action, last value, last firing, why not."""
    fired = status.fired_s_ago
    parts = [
        f'when {status.condition}: {status.action}',
        f'last value {short_repr(status.value)}',
        'not fired' if fired is None else f'fired {status.fired_count}x, {fired:.0f} s ago',
        *([status.why_not] if status.why_not else []),
    ]
    return visible(f'{status.name}  {status.state.value}  {"; ".join(parts)}')
