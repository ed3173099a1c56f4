# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Creates the policy's model, lazily: at the first call and in the thread of that call."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
import shutil
import subprocess
import threading
import time

from curiosity_rosa_demo.agent.llm.usage_ledger import UsageLedger
from curiosity_rosa_demo.agent.policy.action import PolicyAction
from curiosity_rosa_demo.agent.policy.suggestion import PromptSituation, SuggestionFailed
from curiosity_rosa_demo.agent.policy.suggestion_provider import Ask, LLMPolicyProvider
from curiosity_rosa_demo.agent.policy.tick_scheduler import PolicyClock
from curiosity_rosa_demo.domain.skills import Outcome
from curiosity_rosa_demo.domain.text import one_line
from curiosity_rosa_demo.infra.config.topics import Config
from rclpy.node import Node

ProviderFactory = Callable[[Callable[[], None]], LLMPolicyProvider | None]  # argument: on_answer


def make_provider(
    config: Config,
    imported: Callable[[], None],
    on_answer: Callable[[], None],
    usage: UsageLedger | None = None,
) -> LLMPolicyProvider | None:
    """None when the rules decide alone. ``imported`` blocks until the agent has imported its own
    model: two threads that import parts of LangChain can deadlock. ``usage`` counts the calls.
    """
    settings, llm = config.agent.policy, config.agent.llm
    if 'routine' in (settings.provider, llm.provider):
        return None
    return LLMPolicyProvider(_lazy_ask(config, imported, usage), settings, on_answer=on_answer)


def missing_model_note(config: Config) -> str:
    """A note for an operator whose policy.provider has no effect; '' otherwise."""
    if config.agent.policy.provider == 'routine' or config.agent.llm.provider != 'routine':
        return ''
    return (
        'policy.provider is llm, but llm.provider is routine: no model is asked. '
        'Set llm.provider and llm.model in agent.yaml.'
    )


def _lazy_ask(config: Config, imported: Callable[[], None], usage: UsageLedger | None) -> Ask:
    making = threading.Lock()
    made: list[Ask] = []

    def ask(situation: PromptSituation, refusals: str) -> PolicyAction:
        imported()
        with making:  # an abandoned call may still run in another thread
            if not made:
                made.append(_make_ask(config, usage))
        return made[0](situation, refusals)

    return ask


def _make_ask(config: Config, usage: UsageLedger | None) -> Ask:
    """Raises SuggestionFailed."""
    from curiosity_rosa_demo.agent.llm.chat_model import make_chat_model, ModelSetupError
    from curiosity_rosa_demo.agent.policy.chat_policy import ask_chat_model, for_policy

    llm = for_policy(config.agent.llm, config.agent.policy)
    try:
        model = make_chat_model(llm, config, usage)
    except ModelSetupError as error:
        raise SuggestionFailed(str(error)) from None
    return ask_chat_model(model, config.world, llm)


# -----------------------------------------------------------------------------------------------
# Writes the behaviour tree to a file: as DOT, and as an image where graphviz is installed.


IMAGE_SUFFIXES = ('.svg', '.png')
DRAW_TIMEOUT_S = 10.0


def write_tree(dot: str, name: str) -> Outcome:
    """``name``: of an image, with the .dot file written beside it, or of the .dot file alone."""
    picture = Path(name).expanduser()
    try:
        text = picture.with_suffix('.dot')
        if picture.suffix.lower() not in (*IMAGE_SUFFIXES, '.dot', ''):
            ways = ', '.join(IMAGE_SUFFIXES)
            return Outcome(False, f'{name}: must end in .dot or, for a picture, in {ways}')
        text.write_text(dot, encoding='utf-8')
    except (OSError, ValueError) as error:
        why = getattr(error, 'strerror', None) or error
        return Outcome(False, f'{name}: cannot be written: {why}; name another file')
    if picture.suffix.lower() not in IMAGE_SUFFIXES:
        return Outcome(True, f'wrote {text}')
    failed = _draw(dot, picture.absolute())
    if failed:
        return Outcome(False, f'wrote {text}, but not {picture.name}: {failed}')
    return Outcome(True, f'wrote {picture} and {text.name}')


def _draw(dot: str, picture: Path) -> str:
    """Why no image was written; '' on success."""
    program = shutil.which('dot')
    if program is None:
        return "graphviz's dot is not installed; apt install graphviz"
    arguments = [program, f'-T{picture.suffix[1:].lower()}', '-o', str(picture)]
    try:
        done = subprocess.run(
            arguments,
            input=dot,
            capture_output=True,
            text=True,
            timeout=DRAW_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f'dot did not end within {DRAW_TIMEOUT_S:g} s'
    except OSError as error:
        return f'{program}: {error.strerror}'
    return '' if done.returncode == 0 else one_line(done.stderr) or 'dot failed'


# --- The policy's clock with a lock, from wall time or the node's simulated time ---------------


class RosPolicyClock(PolicyClock):
    """A thread-safe PolicyClock. The skills of activities also read it, in their own loop."""

    def __init__(
        self, source: Callable[[], float] = time.time, epoch: Callable[[], float] = time.time
    ) -> None:
        super().__init__(source, epoch)
        self._lock = threading.Lock()

    def resume(self, at: float) -> None:
        with self._lock:
            super().resume(at)

    def now(self) -> float:
        with self._lock:
            return super().now()


def ros_clock_of(node: Node) -> RosPolicyClock:
    """A clock of wall time, or of simulated time when ``use_sim_time`` is set."""
    if not node.get_parameter('use_sim_time').get_parameter_value().bool_value:
        return RosPolicyClock()
    ros = node.get_clock()
    return RosPolicyClock(lambda: float(ros.now().nanoseconds) * 1e-9)
