"""Any skill but ``react`` and ``charge``, as a task.

metadata: ``arguments``; a skill that drives adds ``begun``, each adds ``outcome``.
"""

from __future__ import annotations

from curiosity_rosa_demo.agent.skills.base import SkillContext, conclude, look_again
from curiosity_rosa_demo.agent.tasks import SkillFailed, Task
from curiosity_rosa_demo.tools.rover_tools import MOTIONS

DRIVES = (*MOTIONS, 'navigate_to_pose')
NOT_REPEATED = 'It was interrupted after it had begun; a motion is not repeated by itself.'


async def run_skill(task: Task, context: SkillContext) -> None:
    """A motion that was interrupted fails: driving its whole time again would go too far."""
    await look_again(task, context)
    if task.name in DRIVES:
        if task.metadata.get('begun'):
            raise SkillFailed(NOT_REPEATED)
        task.metadata['begun'] = True
        await context.runner.checkpoint(task)
    arguments = task.metadata.get('arguments', {})
    conclude(
        task,
        await context.blocking.run(lambda c: context.session.skill(task.name, c, **arguments)),
    )
