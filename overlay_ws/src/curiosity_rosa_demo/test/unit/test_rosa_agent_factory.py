# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""ROSA confined to our tools and prompts, and the chat model that agent.yaml names."""

from __future__ import annotations

import ast
from pathlib import Path
import re
from typing import Any

from chat_server import Say
from curiosity_rosa_demo.agent.llm.chat_model import make_chat_model, ModelSetupError
from curiosity_rosa_demo.agent.llm.keys import KEY_NAMES
from curiosity_rosa_demo.agent.react.nodes.react_decide import OBSERVATION_HEADING
from curiosity_rosa_demo.agent.react.turn.approval_queue import ApprovalQueue
from curiosity_rosa_demo.agent.react.turn.request import TurnEnvironment, TurnRequest
from curiosity_rosa_demo.agent.rosa_agent_factory import robot_prompts
from curiosity_rosa_demo.agent.rule_model.model import RuleChatModel
from curiosity_rosa_demo.agent.runtime.execution.rosa_loader import ModelUnavailable, RosaLoader
from curiosity_rosa_demo.agent.skills.registry import make_registry
from curiosity_rosa_demo.domain.cancellation import Cancellation, TurnCancelled
from curiosity_rosa_demo.infra.config.agent import Prompts
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.config_loader import load_config, shipped_profiles
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.prompts import ChatPromptTemplate
from langchain_openai import ChatOpenAI
import pytest
import rosa.rosa
from tool_rover import SimulatedRover
from turn_world import (
    close_model,
    config_of,
    KEY,
    LLM,
    model_of,
    OFFERED,
    parts_of_the_key,
    SHIPPED,
    SimulatedRoverWorld,
    World,
)

FIELDS = {
    'embodiment_and_persona': 'Embodiment',
    'critical_instructions': 'Critical Instructions',
    'relevant_context': 'About Your Environment',
    'nuance_and_assumptions': 'Nuance And Assumptions',
}


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEY_NAMES.values():
        monkeypatch.delenv(name, raising=False)


def refused(**llm: Any) -> str:
    """Why the model cannot be made."""
    with pytest.raises(ModelSetupError) as caught:
        make_chat_model(config_of(llm={**LLM, **llm}).agent.llm, SHIPPED)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    assert not parts_of_the_key(str(caught.value))
    return str(caught.value)


def prompts_with(**changes: Any) -> Prompts:
    data = SHIPPED.prompts.model_dump()
    for name, value in changes.items():
        data[name] = {**data[name], **value}
    return Prompts.model_validate(data)


def with_context(text: str) -> Prompts:
    return prompts_with(robot_system_prompts={'relevant_context': text})


def system_prompt(world: World) -> str:
    """The one system message, but for what is measured."""
    world.turn()
    (told,) = world.requests[-1].texts('system')
    return str(told).partition(OBSERVATION_HEADING)[0]


def test_the_settings_reach_the_model() -> None:
    assert isinstance(make_chat_model(SHIPPED.agent.llm, SHIPPED), RuleChatModel)
    url = 'http://127.0.0.1:9/v1'
    model = model_of(config_of(llm={**LLM, 'base_url': url, 'streaming': False}))
    assert isinstance(model, ChatOpenAI)
    assert (model.model_name, model.openai_api_base) == ('scripted', url)
    assert (model.temperature, model.request_timeout, model.max_retries) == (0.25, 5.0, 0)
    assert model.streaming is False
    assert not parts_of_the_key(repr(model))
    close_model(model)


OPENAI = {'OPENAI_API_KEY': KEY}
UNKNOWN = (
    "llm.provider '{}' is unknown; use routine, openai or another provider of "
    "LangChain's init_chat_model"
)
NO_KEY_FOR_A_SERVER = (
    'No key for openai: set OPENAI_API_KEY in the environment '
    '(any text, if your server needs none).'
)
NEEDS = "llm.provider '{}' needs a package: pip install {} (a release for langchain 0.3)"
PACKAGES = {
    'mistralai': 'langchain-mistralai',
    'anthropic': 'langchain-anthropic',
    'google_genai': 'langchain-google-genai',
    'bedrock': 'langchain-aws',
}
SERVER = {'base_url': 'http://127.0.0.1:9/v1'}
NO_KEY = 'No key for {}: set {} in the environment.'
SPOILT_TEXT = 'OPENAI_API_KEY in the environment is no key: it holds ...'
SPOILT = [f'{KEY}\n', f' {KEY}', f'{KEY}\r', f'{KEY[:9]}\n{KEY}', 'ké']
REFUSED: list[tuple[dict[str, Any], dict[str, str], str]] = [
    *(({'provider': name}, {}, NO_KEY.format(name, key)) for name, key in KEY_NAMES.items()),
    *((SERVER, {'OPENAI_API_KEY': blank}, NO_KEY_FOR_A_SERVER) for blank in ('', ' ', '\n')),
    *(({}, {'OPENAI_API_KEY': key}, SPOILT_TEXT) for key in SPOILT),
    *(({'provider': name}, OPENAI, UNKNOWN.format(name)) for name in ('Open AI', 'openai ')),
    *(
        ({'provider': name}, {KEY_NAMES.get(name, 'UNUSED'): KEY}, NEEDS.format(name, package))
        for name, package in PACKAGES.items()
    ),
    ({'provider': 'azure_openai'}, {'AZURE_OPENAI_API_KEY': KEY}, "The model 'scripted' ..."),
]


def test_a_model_that_cannot_be_made_is_one_sentence_without_the_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for llm, environment, told in REFUSED:
        with monkeypatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            text = refused(**llm)
        assert '\n' not in text
        assert text.startswith(told[:-3]) if told.endswith('...') else text == told


def test_the_prompts_of_the_yaml_take_rosas_places_in_each_instance() -> None:
    before = list(rosa.rosa.system_prompts)
    with World(Say('One.')) as world, World(Say('Two.')) as second:
        prompt = system_prompt(world)
        assert prompt == system_prompt(second)
        assert 'functions' not in world.requests[0].body  # those are ROSA's
    assert rosa.rosa.system_prompts == before
    assert prompt.startswith('Your are ROSA (Robot Operating System Agent)')
    assert prompt.count('Begin Robot-specific System Prompts') == 1
    ours = prompt.partition('Begin Robot-specific System Prompts')[2]
    for field, title in FIELDS.items():
        assert f'{title}: {getattr(SHIPPED.prompts.robot_system_prompts, field)}' in ours
    assert f'About Your Capabilities: {SHIPPED.prompts.bootstrap.text}' in ours
    unbooted = robot_prompts(prompts_with(bootstrap={'enabled': False})).as_message()
    assert SHIPPED.prompts.bootstrap.text not in unbooted[1]
    words = set(re.findall(r'[a-z0-9]+(?:_[a-z0-9]+)+', prompt))
    assert 'rosnode_list' in tools_of_rosa()
    assert words - set(OFFERED) == set(), 'it names no tool that is not offered'
    assert not re.search('math tool|calculation tool|rosparam|rostopic', prompt)
    assert 'ONE AT A TIME' in prompt, "ROSA's other prompts stay"


def tools_of_rosa() -> set[str]:
    """The names of the functions in ROSA's own tool modules."""
    folder = Path(str(rosa.rosa.__file__)).parent / 'tools'
    trees = [ast.parse(file.read_text(encoding='utf-8')) for file in folder.glob('*.py')]
    functions = (node for tree in trees for node in ast.walk(tree))
    return {node.name for node in functions if isinstance(node, ast.FunctionDef)}


def test_the_prompt_urges_to_look_at_the_graph_before_an_assumption() -> None:
    for robot in shipped_profiles():
        _, told = robot_prompts(load_config(robot=robot).prompts).as_message()
        critical = told.partition('Critical Instructions: ')[2].partition('\n\n')[0]
        assert re.search(r'Before you assume .* ask the ROS graph: query_graph\.', critical)


def test_braces_stay_braces() -> None:
    text = 'Answer {"a": {x}} and {{twice}}, {input}, {chat_history}, { and }.'
    config = SHIPPED.model_copy(update={'prompts': with_context(text)})
    with World(Say('One.'), config=config) as world:
        assert text in system_prompt(world)
        world.turn('{no} template')
        assert world.requests[-1].texts('user')[-1] == '{no} template'


@given(text=st.text(st.characters(exclude_categories=['Cs'])) | st.text(st.sampled_from('{}a')))
def test_any_prompt_reaches_the_model_as_it_is_written(text: str) -> None:
    prompts = robot_prompts(with_context(text))
    shown = ChatPromptTemplate.from_messages([prompts.as_message()]).invoke({}).to_string()
    if text.strip():
        assert f'About Your Environment: {text}' in shown


def brain_of(config: Config, checkpoints: Any = ':memory:') -> RosaLoader:
    return RosaLoader(
        TurnEnvironment(
            registry=make_registry(config),
            world=SimulatedRoverWorld(SimulatedRover(), config),
            approval_queue=ApprovalQueue(timeout_s=1.0),
            checkpoints=checkpoints,
            trace=lambda *_, **__: None,
            recall=lambda: '',
            on_react_state=lambda react: None,
        )
    )


def test_a_brain_that_cannot_be_made_says_so_at_every_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_key, request = brain_of(config_of(llm=LLM)), TurnRequest('Hello', Cancellation())
    for _ in range(2):
        with pytest.raises(ModelUnavailable, match=r'^No key for openai: set OPENAI_API_KEY'):
            no_key.run_turn(request)
    file = tmp_path / 'turns.db'
    file.write_bytes(b'This is no database, ' * 100)
    with pytest.raises(ModelUnavailable, match=r'^Turns cannot be kept in .*turns.db: file is no'):
        brain_of(SHIPPED, file).run_turn(request)
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
    # Without its own package, ollama falls back on a class of langchain-community without tools.
    with pytest.raises(ModelUnavailable, match='ollama'):
        brain_of(config_of(llm={**LLM, 'provider': 'ollama', 'model': 'x'})).run_turn(request)
    button = Cancellation()
    button.cancel('Stopped by a test')
    with pytest.raises(TurnCancelled, match='Stopped by a test'):
        brain_of(SHIPPED).run_turn(TurnRequest('Hello', button))
