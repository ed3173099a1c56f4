# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Schemas of agent.yaml, prompts.yaml and tool_costs.yaml. The files hold the values."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
import re
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from curiosity_rosa_demo.domain.models import Json
from curiosity_rosa_demo.infra.config.base import (
    RoverName,
    Rule,
    Seconds,
    Section,
    time_zone,
    unique_names,
)
from pydantic import AfterValidator, BeforeValidator, Field, field_validator

Rate = Annotated[float, Field(ge=0.0, le=100.0)]
FileSize = Annotated[int, Field(ge=1, le=100_000)]  # MB
FileCount = Annotated[int, Field(ge=1, le=10_000)]
Limit = Annotated[int, Field(ge=0, le=1_000_000_000_000)]  # tokens
Money = Annotated[float, Field(ge=0.0, le=1_000_000.0)]

# Their LangChain classes send OpenAI's protocol and know extra_body.
EXTRA_BODY_PROVIDERS = ('openai', 'azure_openai', 'deepseek', 'xai', 'local')

LEAST_CONTEXT_TOKENS = 4096
MAX_ROBOTS = 50  # of a fleet
TOKEN_VARIABLE = 'CURIOSITY_HTTP_TOKEN'
LOCAL = 'local'  # the provider that runs a model in a process of the agent's own
PROVIDERS_WITHOUT_VISION = ('routine', LOCAL)


class BudgetConfig(Section):
    """Limits of the model's calls; 0: none. Money in ``prices.currency``."""

    turn_tokens: Limit
    task_tokens: Limit
    day_tokens: Limit
    turn_money: Money
    task_money: Money
    day_money: Money


class PricesConfig(Section):
    """Prices of a million tokens; None: those that genai-prices knows, in USD."""

    input: Money | None
    output: Money | None
    cached: Money | None
    currency: str = Field(pattern='^[A-Z]{3}$')

    def rules(self) -> Iterator[Rule]:
        is_known = self.input is None
        has_half = is_known != (self.output is None)
        yield has_half, 'output', 'must be set if and only if input is set'
        yield is_known and self.cached is not None, 'cached', 'needs input and output'
        rule = 'must be USD unless input and output are set: known prices are in USD'
        yield is_known and self.currency != 'USD', 'currency', rule


class LlmConfig(Section):
    provider: str = Field(min_length=1)
    model: str
    base_url: str
    temperature: float = Field(ge=0.0, le=2.0)
    max_tokens: int = Field(ge=0, le=10_000_000)  # 0: no limit of ours
    context_tokens: int = Field(ge=0, le=10_000_000)  # 0: no limit of ours
    tool_choice: Literal['auto', 'required']
    extra_body: Json
    vision: Literal['auto', True, False]
    image_px: int = Field(ge=64, le=4096)  # of the longer side
    images_per_turn: int = Field(ge=1, le=20)  # in one request
    timeout_s: Seconds
    max_retries: int = Field(ge=0, le=10)
    streaming: bool
    fallback: Literal['routine', 'none']
    budget: BudgetConfig
    prices: PricesConfig

    @property
    def window_tokens(self) -> int:
        """Of prompt and answer; 0: no limit of ours."""
        return self.context_tokens or (LEAST_CONTEXT_TOKENS if self.provider == LOCAL else 0)

    def rules(self) -> Iterator[Rule]:
        chosen = self.provider
        is_ours = chosen in PROVIDERS_WITHOUT_VISION
        has_no_model = not is_ours and not self.model
        yield has_no_model, 'model', f'must be set when provider is {chosen!r}'
        has_address = chosen == LOCAL and self.base_url
        yield has_address, 'base_url', "must be empty when provider is 'local'"
        rule = f'must be auto or false when provider is {chosen!r}, which cannot see'
        yield self.vision is True and is_ours, 'vision', rule
        rule = f'must be 0, or at least {LEAST_CONTEXT_TOKENS}: prompt and tools need that'
        yield 0 < self.context_tokens < LEAST_CONTEXT_TOKENS, 'context_tokens', rule
        rule = f'needs provider {", ".join(EXTRA_BODY_PROVIDERS)}'
        yield self.extra_body and chosen not in EXTRA_BODY_PROVIDERS, 'extra_body', rule


class TurnConfig(Section):
    max_steps: int = Field(ge=1, le=1000)
    max_motion_s: Seconds


class KnowledgeConfig(Section):
    folder: str


class NavigationConfig(Section):
    provider: Literal['motions', 'nav2']
    action: RoverName
    max_detour: float = Field(ge=1.5, le=100.0)


class RecorderConfig(Section):
    path: str
    max_file_mb: FileSize
    max_files: FileCount


class RecordingRates(Section):
    """Maximum rate of each channel in Hz; 0 disables it."""

    camera: Rate
    scan: Rate
    joint_states: Rate
    markers: Rate
    odometry: Rate
    battery: Rate


class RecordingConfig(Section):
    folder: str
    max_file_mb: FileSize
    max_files: FileCount
    rates: RecordingRates


def off_if_false(value: object) -> object:
    """``off`` without quotes is false in YAML."""
    return 'off' if value is False else value


class TracingConfig(Section):
    """``endpoint``: of an OTLP collector; empty: OTEL_EXPORTER_OTLP_ENDPOINT decides."""

    exporter: Annotated[Literal['off', 'console', 'file', 'otlp'], BeforeValidator(off_if_false)]
    file: str
    max_file_mb: FileSize
    max_files: FileCount
    endpoint: str = Field(pattern=r'^(https?://\S+)?$')


# --- The robots of the page /fleet, each with the address of its agent's server ---------------


class FleetRobot(Section):
    """``token_variable``: the environment variable with its server's token."""

    name: str = Field(pattern=r'^[A-Za-z0-9_-]{1,40}$')
    url: str
    token_variable: str = Field(default=TOKEN_VARIABLE, pattern=r'^[A-Za-z_][A-Za-z0-9_]*$')

    @field_validator('url')
    @classmethod
    def _is_address(cls, value: str) -> str:
        parts = urlsplit(value)
        _ = parts.port  # raises ValueError if it is no port
        has_only_host = parts.path in ('', '/') and not (parts.query or parts.fragment)
        if parts.scheme not in ('http', 'https') or not parts.hostname or not has_only_host:
            raise ValueError('must be an address such as http://127.0.0.1:8765')
        if parts.username is not None:
            raise ValueError('must not contain a user; its token comes from token_variable')
        return value.rstrip('/')


def read_fleet(text: str) -> list[FleetRobot]:
    """The robots in text such as ``r1=http://127.0.0.1:8765,r2=http://127.0.0.1:8766``. Raises
    ValueError.
    """
    pairs = [each.partition('=') for each in re.split(r'[,\s]+', text) if each]
    robots = [FleetRobot(name=name, url=url) for name, _, url in pairs]
    if len(robots) > MAX_ROBOTS:
        raise ValueError(f'{len(robots)} robots; at most {MAX_ROBOTS}')
    return unique_names(robots)


def fleet_text(urls: dict[str, str]) -> str:
    return ','.join(f'{name}={url}' for name, url in urls.items())


class HttpConfig(Section):
    """Address of the HTTP API and the page, and the limits for clients."""

    enabled: bool
    host: str = Field(min_length=1)
    port: int = Field(ge=0, le=65535)  # 0: any free port
    hosts: list[str]  # accepted Host names besides loopback
    max_body_bytes: int = Field(ge=1024)
    max_connections: int = Field(ge=1)
    requests_per_s: float = Field(gt=0.0)  # per address; bursts of ten times as many
    camera_hz: float = Field(gt=0.0, le=30.0)
    mcp: bool
    body: str = Field(max_length=40)  # what the page calls the rover's body; empty: nothing
    # of the page /fleet
    fleet: Annotated[list[FleetRobot], AfterValidator(unique_names)] = Field(max_length=MAX_ROBOTS)


class KernelConfig(Section):
    tick_s: float = Field(gt=0.0, le=0.1)
    watchdog_s: Seconds


class TasksConfig(Section):
    db_path: str
    crash_policy: Literal['resume', 'fail']
    cancel_grace_s: Seconds
    ageing_s: float = Field(ge=0.0, le=1e6)
    retention_days: float = Field(gt=0.0, le=3650.0)


def checked_time_zone(value: str) -> str:
    time_zone(value)  # pydantic reports its ValueError with the key
    return value


def checked_tick(value: float) -> float:
    if 900.0 % value:
        raise ValueError('must divide 900 s, such as 60')
    return value


class TopicMessagesConfig(Section):
    """What a message on ``agent.messages`` may do; a message has no sender that could be checked.
    ``per_min``: the most in any 60 s.
    """

    interrupt: bool
    per_min: int = Field(ge=1, le=600)


class PolicyConfig(Section):
    world_view: str = Field(pattern=r'^[a-z][a-z0-9_]*$')
    provider: Literal['routine', 'llm']
    timezone: Annotated[str, AfterValidator(checked_time_zone)]
    tick_s: Annotated[float, Field(ge=1.0, le=900.0), AfterValidator(checked_tick)]
    window_s: float = Field(gt=0.0, le=86400.0)
    timeout_s: Seconds
    cache_s: float = Field(ge=0.0, le=86400.0)
    rejected_s: float = Field(ge=0.0, le=86400.0)
    retry_s: float = Field(ge=0.0, le=86400.0)
    breaker_failures: int = Field(ge=1, le=100)
    breaker_open_s: float = Field(gt=0.0, le=86400.0)
    decisions_kept: int = Field(ge=1, le=1_000_000)
    topic_messages: TopicMessagesConfig


class AgentConfig(Section):
    llm: LlmConfig
    turn: TurnConfig
    kernel: KernelConfig
    tasks: TasksConfig
    policy: PolicyConfig
    knowledge: KnowledgeConfig
    navigation: NavigationConfig
    http: HttpConfig
    recorder: RecorderConfig
    recording: RecordingConfig
    tracing: TracingConfig


# --- Schema of prompts.yaml. The file holds the values -----------------------------------------


# A language is a folder of phrases and texts: agent/language/tables.py reads them.
LANGUAGE_FOLDERS = Path(__file__).parents[2] / 'agent/language/data'
LANGUAGES = tuple(sorted(each.name for each in LANGUAGE_FOLDERS.iterdir() if each.is_dir()))


def checked_language(value: str) -> str:
    if value not in LANGUAGES:
        raise ValueError(f'must be one of {", ".join(LANGUAGES)}')
    return value


Language = Annotated[str, AfterValidator(checked_language)]
TemplateName = Annotated[str, Field(pattern=r'^[a-z][a-z0-9_]{0,39}$')]
DEMO = 'demo_ground_texture'  # the template of :demo


class RobotPrompts(Section):
    embodiment_and_persona: str
    critical_instructions: str
    relevant_context: str
    nuance_and_assumptions: str


class Bootstrap(Section):
    enabled: bool
    text: str


class Vision(Section):
    """``text``: for a model that can see."""

    text: str


class MemoryConfig(Section):
    enabled: bool
    max_events: int = Field(ge=0, le=100)


class Template(Section):
    """A shortcut: the command of its name stands for its text."""

    label: str
    text: str = Field(min_length=1)
    expects: Literal['good_capture', 'answer'] = 'answer'
    translations: dict[Language, Annotated[str, Field(min_length=1)]] = Field(default_factory=dict)

    def text_in(self, language: str) -> str:
        """The text in ``language``; ``text`` if there is no translation."""
        return self.translations.get(language, self.text)


class Prompts(Section):
    robot_system_prompts: RobotPrompts
    bootstrap: Bootstrap
    vision: Vision
    memory: MemoryConfig
    templates: dict[TemplateName, Template]
    default_language: Language = 'en'


def below_own_texts(shipped: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """The values of the shipped file without the translations of each text that ``own`` gives."""
    templates, texts = dict(shipped['templates']), own.get('templates')
    for name, template in texts.items() if isinstance(texts, dict) else ():
        if name in templates and isinstance(template, dict) and 'text' in template:
            templates[name] = {**templates[name], 'translations': {}}
    return {**shipped, 'templates': templates}


# --- Schema of tool_costs.yaml. The file holds the values --------------------------------------


Cost = Annotated[float, Field(ge=0.0, le=1000.0)]


class ToolCosts(Section):
    """``tools``: the cost of each skill, by its name; of one that is not listed: 1."""

    tools: dict[str, Cost]

    def of(self, name: str) -> float:
        return self.tools.get(name, 1.0)
