# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The interfaces of seed 003: its models built by position, its own YAML contracts loaded."""

from __future__ import annotations

import inspect
import logging
from pathlib import Path
import shutil

from curiosity_rosa_demo.domain.models import (
    CaptureResult,
    LightScore,
    MastState,
    Model,
    NEED_TO_CLOSE_MAST,
    RoverPose,
    Stamp,
    ToolResult,
    TraceEvent,
    TraceKind,
)
from curiosity_rosa_demo.domain.serde import from_json, to_json
from curiosity_rosa_demo.infra.config_loader import ConfigError, load_config, shipped_config_dir
from pydantic import ValidationError
import pytest

# Section 4.1: the fields in their order; those after the bar have a default.
MODELS = {
    RoverPose: 'x frame_id | stamp',
    MastState: 'is_open | yaw_rad',
    LightScore: 'score is_good |',
    CaptureResult: 'score is_good image_topic | stamp',
    ToolResult: 'ok | error_reason data',
    TraceEvent: 'event_id ts kind message | tool_name ok error_reason score data',
}
BUILT = [
    RoverPose(1.0, 'odom', Stamp(3, 4)),
    MastState(True, 0.5),
    MastState(True),
    LightScore(0.8, True),
    CaptureResult(0.8, True, '/capture/image_raw/compressed', Stamp(3, 4)),
    ToolResult(False, NEED_TO_CLOSE_MAST, {'mast_is_open': True}),
    ToolResult(True),
    TraceEvent('e1', 12.5, 'RESULT', 'captured', 'capture_and_score', True, None, 0.8, {'a': 1}),
]

# Section 7, word for word.
THRESHOLDS = """\
light_model:
  x_min: 0.0
  x_good: 5.0         # ここ以降 score=1.0

quality:
  score_threshold: 0.8

trace:
  buffer_size: 30     # 直近N件（Visualizer/Memoryに利用）

viz:
  bright_zone_x_min: 5.0   # デフォルトは x_good と同値にする運用
  bright_zone_x_max: 10.0  # 表示用（シミュレーション上の無限をRVizで表せないため）
"""
TOPICS = """\
images:
  input_compressed: "/image_raw/compressed"
  output_capture_compressed: "/capture/image_raw/compressed"

trace:
  events: "/trace/events"

tf:
  base_frame: "base_footprint"
  world_frame: "odom"

services:
  capture_and_score:
    kind: "service"
    name: "/capture_and_score"
    type: "curiosity_rosa_demo/srv/CaptureAndScore"

adapter:
  # Adapterが公開する（toolsが叩く）I/F
  move_forward: { kind: "service", name: "/adapter/move_forward", type: "std_srvs/srv/Trigger" }
  turn_left:    { kind: "service", name: "/adapter/turn_left",    type: "std_srvs/srv/Trigger" }
  turn_right:   { kind: "service", name: "/adapter/turn_right",   type: "std_srvs/srv/Trigger" }
  move_stop:    { kind: "service", name: "/adapter/move_stop",    type: "std_srvs/srv/Trigger" }

  mast_open:    { kind: "service", name: "/adapter/mast_open",    type: "std_srvs/srv/Trigger" }
  mast_close:   { kind: "service", name: "/adapter/mast_close",   type: "std_srvs/srv/Trigger" }
  mast_rotate:  { kind: "service", name: "/adapter/mast_rotate",  type: "std_srvs/srv/Trigger" }

  get_status:   { kind: "service", name: "/adapter/get_status",   type: "std_srvs/srv/Trigger" }

curiosity:
  # Curiosityデモ既存Service（Adapterが呼ぶ実体）
  move_forward: { kind: "service", name: "/move_forward", type: "std_srvs/srv/Empty" }
  turn_left:    { kind: "service", name: "/turn_left",    type: "std_srvs/srv/Empty" }
  turn_right:   { kind: "service", name: "/turn_right",   type: "std_srvs/srv/Empty" }
  move_stop:    { kind: "service", name: "/move_stop",    type: "std_srvs/srv/Empty" }

  mast_open:    { kind: "service", name: "/mast_open",    type: "std_srvs/srv/Empty" }
  mast_close:   { kind: "service", name: "/mast_close",   type: "std_srvs/srv/Empty" }
  mast_rotate:  { kind: "service", name: "/mast_rotate",  type: "std_srvs/srv/Empty" }

viz:
  marker_array: "/visualization_marker_array"
"""
TOOL_COSTS = """\
tools:
  capture_and_score: 1
  mast_rotate: 2
  mast_open: 2
  mast_close: 2
  move_forward: 5
  turn_left: 2
  turn_right: 2
  move_stop: 1
  get_status: 1
"""
PROMPTS = """\
robot_system_prompts:
  embodiment_and_persona: |
    You are an exploration rover operating in a simulated Mars environment.

  critical_instructions: |
    - Execute tools sequentially, one at a time.
    - Prefer real measurements from tools over assumptions.
    - If a move action fails with "Need to close mast", you must close the mast before moving.

  relevant_context: |
    - The camera image may be dark depending on rover position.
    - Bright area starts at X >= 5.0m (configurable).

  nuance_and_assumptions: |
    - Start with low-cost observation attempts (capture, rotate) before high-cost movement.

bootstrap:
  enabled: true
  text: |
    You have access only to the provided tools.
    Use capture_and_score first to understand the situation.

memory:
  enabled: true
  max_events: 10

templates:
  demo_ground_texture:
    label: "Analyze ground texture"
    text: "地面のテクスチャを調査して（Analyze the ground texture）"
  rover_status:
    label: "Rover status"
    text: "現在のローバーの状態を教えて"
"""
CONTRACTS = {
    'thresholds': THRESHOLDS,
    'topics': TOPICS,
    'tool_costs': TOOL_COSTS,
    'prompts': PROMPTS,
}


@pytest.mark.parametrize('model', MODELS, ids=lambda model: model.__name__)
def test_the_fields_come_in_the_published_order(model: type[Model]) -> None:
    required, _, optional = MODELS[model].partition('|')
    published = [*required.split(), *optional.split()]
    assert list(model.model_fields)[: len(published)] == published
    for name, field in model.model_fields.items():
        assert field.is_required() is (name in required.split())


@pytest.mark.parametrize('built', BUILT, ids=repr)
def test_what_is_built_by_position_is_what_is_built_by_name(built: Model) -> None:
    assert type(built)(**dict(built)) == built
    assert from_json(type(built), to_json(built)) == built


def test_what_is_built_by_position_is_validated() -> None:
    assert TraceEvent('e1', 0.0, 'ACT', 'drive').kind is TraceKind.ACT
    with pytest.raises(ValidationError, match='error_reason must say why'):
        ToolResult(False)
    with pytest.raises(ValidationError, match='less than or equal to 1'):
        LightScore(1.5, True)
    with pytest.raises(ValidationError, match='frame_id'):
        RoverPose(1.0)
    with pytest.raises(TypeError, match='LightScore takes at most 2'):
        LightScore(0.5, True, 'more')
    with pytest.raises(TypeError, match='LightScore got score by position and by name'):
        LightScore(0.5, score=0.5)


def folder_with(folder: Path, **contracts: str) -> Path:
    """The shipped contracts with these in place of their own."""
    shutil.copytree(shipped_config_dir(), folder, dirs_exist_ok=True)
    for name, text in contracts.items():
        (folder / f'{name}.yaml').write_text(text, encoding='utf-8')
    return folder


def test_the_published_contracts_load(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, 'curiosity_rosa.config'):
        config = load_config(folder_with(tmp_path, **CONTRACTS))
    assert config.topics == load_config().topics
    assert config.thresholds.quality.score_threshold == 0.8
    assert config.tool_costs.of('move_forward') == 5
    assert config.prompts.memory.max_events == 10
    assert (
        'dark depending on rover position' in config.prompts.robot_system_prompts.relevant_context
    )
    [hint] = caplog.messages
    assert hint == inspect.cleandoc(
        f"""event=read_as file={tmp_path / 'topics.yaml'} key=services.capture_and_score.type
        value=curiosity_rosa_demo/srv/CaptureAndScore
        read_as=curiosity_rosa_interfaces/srv/CaptureAndScore
        hint='write that: a Python package of ROS cannot define services, so they have a package
        of their own'"""
    ).replace('\n', ' ')


def test_the_shipped_contracts_need_no_hint(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, 'curiosity_rosa.config'):
        load_config()
    assert caplog.messages == []


@pytest.mark.parametrize(
    'topics',
    [
        'services: {capture_and_score: {type: other/srv/CaptureAndScore}}',
        'services: {capture_and_score: curiosity_rosa_demo/srv/CaptureAndScore}',
        'adapter: {move_stop: {type: curiosity_rosa_demo/srv/CaptureAndScore}}',
    ],
)
def test_any_other_type_is_refused_as_before(tmp_path: Path, topics: str) -> None:
    with pytest.raises(ConfigError, match=r'topics\.yaml'):
        load_config(folder_with(tmp_path, topics=topics))
