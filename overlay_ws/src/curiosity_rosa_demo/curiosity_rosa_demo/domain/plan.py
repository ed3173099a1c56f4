"""Plans that a model can write: Plan, PlanStep, ExecutionResult. Pure."""

from __future__ import annotations

from enum import Enum


class RiskLevel(str, Enum):
    LOW = 'low'
    MEDIUM = 'medium'
    HIGH = 'high'
