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
import threading

from curiosity_rosa_demo.agent.llm.usage_ledger import UsageLedger
from curiosity_rosa_demo.agent.policy.action import PolicyAction
from curiosity_rosa_demo.agent.policy.suggestion import PromptSituation, SuggestionFailed
from curiosity_rosa_demo.agent.policy.suggestion_provider import Ask, LLMPolicyProvider
from curiosity_rosa_demo.infra.config.contracts import Config

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
