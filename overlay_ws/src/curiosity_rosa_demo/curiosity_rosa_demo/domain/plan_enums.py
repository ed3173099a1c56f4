"""The words of a plan."""

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
