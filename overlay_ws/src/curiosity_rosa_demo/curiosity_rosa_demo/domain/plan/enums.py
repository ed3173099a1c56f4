# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The enums of a plan."""

from __future__ import annotations

from enum import Enum


class RiskLevel(str, Enum):
    LOW = 'low'
    MEDIUM = 'medium'
    HIGH = 'high'


class StepStatus(str, Enum):
    PENDING = 'pending'
    RUNNING = 'running'
    SUCCESS = 'success'
    FAILED = 'failed'
    SKIPPED = 'skipped'
    WAIT_CONFIRMATION = 'wait_confirmation'


class PlanStatus(str, Enum):
    CREATED = 'created'
    APPROVED = 'approved'
    EXECUTING = 'executing'
    COMPLETED = 'completed'
    FAILED = 'failed'
    CANCELLED = 'cancelled'
    WAIT_CONFIRMATION = 'wait_confirmation'


class ToolCallType(str, Enum):
    EXECUTE = 'execute'
    ASK_USER = 'ask_user'
    SPEAK = 'speak'
    QUERY_WORLD = 'query_world'
    QUERY_KNOWLEDGE = 'query_knowledge'
    NOOP = 'noop'
