# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Shape and limits of the YAML contracts. Values live in config/*.yaml, not here."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

from curiosity_rosa_demo.infra.config.base import (
    breaks,
    Fraction,
    Frame,
    Metres,
    Name,
    Seconds,
    Section,
)
from curiosity_rosa_demo.infra.config.guardrails import Guardrails, Skills
from curiosity_rosa_demo.infra.config.time_zone import time_zone
from curiosity_rosa_demo.infra.config.world import WorldView
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

# --- topics.yaml -----------------------------------------------------------------------------


class Service(Section):
    kind: Literal['service']
    name: Name
    type: str


class TriggerService(Service):
    type: Literal['std_srvs/srv/Trigger']


class EmptyService(Service):
    type: Literal['std_srvs/srv/Empty']


class CaptureService(Service):
    type: Literal['curiosity_rosa_interfaces/srv/CaptureAndScore']


class Images(Section):
    input: Literal['compressed', 'raw']
    input_compressed: Name
    input_raw: Name
    output_capture_compressed: Name


class TraceTopics(Section):
    events: Name


class TfTopics(Section):
    topic: Name
    static_topic: Name
    base_frame: Frame
    world_frame: Frame


class Services(Section):
    capture_and_score: CaptureService


class AdapterServices(Section):
    move_forward: TriggerService
    turn_left: TriggerService
    turn_right: TriggerService
    move_stop: TriggerService
    mast_open: TriggerService
    mast_close: TriggerService
    mast_rotate: TriggerService
    get_status: TriggerService


class CuriosityServices(Section):
    move_forward: EmptyService
    turn_left: EmptyService
    turn_right: EmptyService
    move_stop: EmptyService
    mast_open: EmptyService
    mast_close: EmptyService
    mast_rotate: EmptyService


class RoverTopics(Section):
    cmd_vel: Name
    odometry: Name
    joint_states: Name
    scan: Name
    battery_state: Name
    e_stop: Name


class StatusTopics(Section):
    adapter: Name
    kernel: Name
    diagnostics: Name


class AgentTopics(Section):
    run_task: Name
    speech: Name
    messages: Name


class VizTopics(Section):
    marker_array: Name


class Topics(Section):
    images: Images
    trace: TraceTopics
    tf: TfTopics
    services: Services
    adapter: AdapterServices
    curiosity: CuriosityServices
    rover: RoverTopics
    status: StatusTopics
    agent: AgentTopics
    viz: VizTopics

    def in_namespace(self, namespace: str, *, rover: str = '') -> Topics:
        """These topics with the overlay's own names below ``namespace`` and the rover's below
        ``rover``; frames stay as they are. Raises ValidationError when a name gets too long.
        """
        own, theirs = partial(_below, namespace), partial(_below, rover)
        data = self.model_dump()
        images = data['images']
        images['output_capture_compressed'] = own(images['output_capture_compressed'])
        for section in ('trace', 'viz', 'agent', 'status'):
            data[section] = {key: own(name) for key, name in data[section].items()}
        for service in (*data['services'].values(), *data['adapter'].values()):
            service['name'] = own(service['name'])
        for key in ('input_compressed', 'input_raw'):
            images[key] = theirs(images[key])
        for key in ('topic', 'static_topic'):
            data['tf'][key] = theirs(data['tf'][key])
        data['rover'] = {key: theirs(name) for key, name in data['rover'].items()}
        for service in data['curiosity'].values():
            service['name'] = theirs(service['name'])
        return Topics.model_validate(data)


def _below(namespace: str, name: str) -> str:
    namespace = namespace.strip('/')
    return f'/{namespace}/{name.lstrip("/")}' if namespace else name


# --- thresholds.yaml -------------------------------------------------------------------------


class LightModelConfig(Section):
    x_min: Metres
    x_good: Metres

    @model_validator(mode='after')
    def _rises(self) -> LightModelConfig:
        if self.x_good <= self.x_min:
            raise breaks('x_good', self.x_good, f'must be greater than x_min ({self.x_min})')
        return self


class Quality(Section):
    score_threshold: Fraction


class TraceConfig(Section):
    buffer_size: int = Field(ge=1, le=10_000)


class VizConfig(Section):
    bright_zone_x_min: Metres
    bright_zone_x_max: Metres
    bright_zone_half_width: float = Field(gt=0.0, le=1e4)
    trace_lines: int = Field(ge=1, le=100)
    trail_points: int = Field(ge=2, le=100_000)

    @model_validator(mode='after')
    def _has_width(self) -> VizConfig:
        if self.bright_zone_x_max <= self.bright_zone_x_min:
            rule = f'must be greater than bright_zone_x_min ({self.bright_zone_x_min})'
            raise breaks('bright_zone_x_max', self.bright_zone_x_max, rule)
        return self


class TfConfig(Section):
    max_age_s: Seconds


class CaptureConfig(Section):
    max_image_age_s: Seconds
    wait_s: Seconds
    jpeg_quality: int = Field(ge=1, le=100)
    min_brightness: Fraction
    require_open_mast: bool


class MotionConfig(Section):
    max_duration_s: Seconds
    service_timeout_s: Seconds
    stop_timeout_s: Seconds
    stop_confirm_s: Seconds
    settle_s: Seconds
    still_speed_mps: float = Field(gt=0.0, le=10.0)
    still_turn_radps: float = Field(gt=0.0, le=10.0)
    odometry_max_age_s: Seconds
    heartbeat_max_age_s: Seconds
    stop_unexpected: bool


class MastConfig(Section):
    open_duration_s: Seconds
    close_duration_s: Seconds
    rotate_duration_s: Seconds
    confirm_margin_s: Seconds
    tolerance_rad: float = Field(gt=0.0, le=0.7)
    joint_max_age_s: Seconds


class BatteryConfig(Section):
    low: Fraction
    charged: Fraction

    @model_validator(mode='after')
    def _rises(self) -> BatteryConfig:
        if self.charged <= self.low:
            raise breaks('charged', self.charged, f'must be greater than low ({self.low})')
        return self


class TelemetryConfig(Section):
    odometry_max_age_s: Seconds
    adapter_max_age_s: Seconds
    scan_max_age_s: Seconds
    battery_max_age_s: Seconds
    obstacle_stop_m: float = Field(ge=0.0, le=100.0)


class Thresholds(Section):
    light_model: LightModelConfig
    quality: Quality
    trace: TraceConfig
    viz: VizConfig
    tf: TfConfig
    capture: CaptureConfig
    motion: MotionConfig
    mast: MastConfig
    battery: BatteryConfig
    telemetry: TelemetryConfig


# --- tool_costs.yaml -------------------------------------------------------------------------

Cost = Annotated[float, Field(ge=0.0, le=1000.0)]


class ToolCostTable(Section):
    """Of the nine tools, and of any other skill."""

    model_config = ConfigDict(extra='allow')
    __pydantic_extra__: dict[str, Cost]

    capture_and_score: Cost
    mast_rotate: Cost
    mast_open: Cost
    mast_close: Cost
    move_forward: Cost
    turn_left: Cost
    turn_right: Cost
    move_stop: Cost
    get_status: Cost


class ToolCosts(Section):
    tools: ToolCostTable

    def of(self, name: str) -> float:
        """What a skill costs; one that is not in the table costs 1."""
        return float(getattr(self.tools, name, 1.0))


# --- prompts.yaml ----------------------------------------------------------------------------


class RobotPrompts(Section):
    embodiment_and_persona: str
    critical_instructions: str
    relevant_context: str
    nuance_and_assumptions: str


class Bootstrap(Section):
    enabled: bool
    text: str


class MemoryConfig(Section):
    enabled: bool
    max_events: int = Field(ge=0, le=100)


class Template(Section):
    label: str
    text: str = Field(min_length=1)
    expects: Literal['good_capture', 'answer'] = 'answer'


class Templates(BaseModel):
    """What ``:demo`` says. Further templates are checked and kept; no command reads them."""

    model_config = ConfigDict(frozen=True, extra='allow')
    __pydantic_extra__: dict[str, Template]
    demo_ground_texture: Template


class Prompts(Section):
    robot_system_prompts: RobotPrompts
    bootstrap: Bootstrap
    memory: MemoryConfig
    templates: Templates


# --- agent.yaml ------------------------------------------------------------------------------


Rate = Annotated[float, Field(ge=0.0, le=100.0)]


class LlmConfig(Section):
    provider: str = Field(min_length=1)
    model: str
    base_url: str
    temperature: float = Field(ge=0.0, le=2.0)
    timeout_s: Seconds
    max_retries: int = Field(ge=0, le=10)
    streaming: bool
    fallback: Literal['routine', 'none']

    @model_validator(mode='after')
    def _model_is_named(self) -> LlmConfig:
        if self.provider != 'routine' and not self.model:
            raise breaks('model', self.model, f'must be set when provider is {self.provider!r}')
        return self


class TurnConfig(Section):
    max_steps: int = Field(ge=1, le=1000)
    max_motion_s: Seconds


class KnowledgeConfig(Section):
    folder: str


class NavigationConfig(Section):
    provider: Literal['motions', 'nav2']
    action: Name


class RecorderConfig(Section):
    path: str


class RecordingRates(Section):
    """Hz, at most; 0: none."""

    camera: Rate
    scan: Rate
    joint_states: Rate
    markers: Rate
    odometry: Rate
    battery: Rate


class RecordingConfig(Section):
    folder: str
    rates: RecordingRates


class HttpConfig(Section):
    """The address of the API and the page, and what one client may do."""

    enabled: bool
    host: str = Field(min_length=1)
    port: int = Field(ge=0, le=65535)  # 0: any that is free
    hosts: list[str]  # names under which it may be asked for, besides the loopback's
    max_body_bytes: int = Field(ge=1024)
    max_connections: int = Field(ge=1)
    requests_per_s: float = Field(gt=0.0)  # of one address; a burst of ten times as many
    camera_hz: float = Field(gt=0.0, le=30.0)


class KernelConfig(Section):
    tick_s: float = Field(gt=0.0, le=0.1)
    watchdog_s: Seconds


class TasksConfig(Section):
    db_path: str
    crash_policy: Literal['resume', 'fail']
    cancel_grace_s: Seconds
    ageing_s: float = Field(ge=0.0, le=1e6)
    retention_days: float = Field(gt=0.0, le=3650.0)


def _time_zone(value: str) -> str:
    time_zone(value)  # its ValueError is reported with the key
    return value


class PolicyConfig(Section):
    world_view: str = Field(pattern=r'^[a-z][a-z0-9_]*$')
    provider: Literal['routine', 'llm']
    timezone: Annotated[str, AfterValidator(_time_zone)]
    tick_s: float = Field(ge=1.0, le=3600.0)
    window_s: float = Field(gt=0.0, le=86400.0)
    timeout_s: Seconds
    cache_s: float = Field(ge=0.0, le=86400.0)
    rejected_s: float = Field(ge=0.0, le=86400.0)
    retry_s: float = Field(ge=0.0, le=86400.0)
    breaker_failures: int = Field(ge=1, le=100)
    breaker_open_s: float = Field(gt=0.0, le=86400.0)
    decisions_kept: int = Field(ge=1, le=1_000_000)


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


# --- nodes.yaml ------------------------------------------------------------------------------


class NodeSpec(Section):
    name: Name
    package: str = Field(min_length=1)
    executable: str = Field(min_length=1)
    when: Literal['', 'agent']


class Nodes(Section):
    nodes: list[NodeSpec] = Field(min_length=1)


class Config(Section):
    """All contracts together."""

    topics: Topics
    thresholds: Thresholds
    tool_costs: ToolCosts
    prompts: Prompts
    agent: AgentConfig
    guardrails: Guardrails
    skills: Skills
    nodes: Nodes
    world: WorldView

    @model_validator(mode='after')
    def _motions_fit_the_leash(self) -> Config:
        leash = self.thresholds.motion.max_duration_s
        if self.agent.turn.max_motion_s >= leash:
            rule = f'must be below motion.max_duration_s ({leash}) of thresholds.yaml'
            raise breaks(
                'turn.max_motion_s', self.agent.turn.max_motion_s, rule, file='agent.yaml'
            )
        return self

    def in_namespace(self, namespace: str, *, rover: str = '') -> Config:
        """As Topics.in_namespace; Nav2 is the rover's."""
        topics = self.topics.in_namespace(namespace, rover=rover)
        navigation = self.agent.navigation
        moved = {'action': _below(rover, navigation.action)}
        agent = self.agent.model_copy(update={'navigation': navigation.model_copy(update=moved)})
        return self.model_copy(update={'topics': topics, 'agent': agent})
