"""Tasks with a life of their own: queued, paused, resumed, and still there after a crash."""

from curiosity_rosa_demo.agent.tasks.errors import SkillFailed
from curiosity_rosa_demo.agent.tasks.events import Event, EventType
from curiosity_rosa_demo.agent.tasks.runner import SkillRunner
from curiosity_rosa_demo.agent.tasks.task import Task
from curiosity_rosa_demo.agent.tasks.transitions import LifecycleState

__all__ = ['Event', 'EventType', 'LifecycleState', 'SkillFailed', 'SkillRunner', 'Task']
