# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The activity of docs/howto/autonomy.md, added in YAML alone: it loads, is checked, begins."""

from __future__ import annotations

from pathlib import Path
import re
import shutil

from curiosity_rosa_demo.agent.policy.autonomy.activity_tasks import check_world
from curiosity_rosa_demo.agent.skills.registry import make_registry
from curiosity_rosa_demo.infra.config.contracts import Config
from curiosity_rosa_demo.infra.config_loader import ConfigError, load_config, shipped_config_dir
from harness import ROOT
from policy_world import instant, PolicyRun, world_of
import pytest
import yaml

PAGE = (ROOT / 'docs/howto/autonomy.md').read_text(encoding='utf-8')
ADDED, DUE = re.findall(r'```yaml\n(.*?)```', PAGE, re.DOTALL)
NAME = 'photograph_the_horizon'


def with_world(folder: Path, text: str) -> Config:
    shutil.copytree(shipped_config_dir(), folder, dirs_exist_ok=True)
    (folder / 'world_view.yaml').write_text(text, encoding='utf-8')
    config = load_config(folder)
    check_world(config, make_registry(config))
    return config


def test_the_documented_activity_is_done_at_its_time(tmp_path: Path) -> None:
    shipped = yaml.safe_load((shipped_config_dir() / 'world_view.yaml').read_text('utf-8'))
    routine = [*yaml.safe_load(DUE)['routine'], *shipped['routine']]
    config = with_world(tmp_path, ADDED + yaml.safe_dump({'routine': routine}))
    assert set(config.world.activities) == {*shipped['activities'], NAME}

    world = world_of(config.world)
    policy_run = PolicyRun(world, instant('2026-11-23 06:50', world))  # a Monday
    policy_run.until('2026-11-25 00:00')
    assert policy_run.began(NAME) == ['Mon 10:00']
    policy_run.until('2026-11-27 00:00')
    assert policy_run.began(NAME) == ['Mon 10:00', 'Thu 10:00']


@pytest.mark.parametrize(
    ('right', 'wrong', 'told'),
    [
        ('skill: mast_rotate', 'skill: mast_twirl', f'activities.{NAME}.does[1].skill'),
        ('at: [bright_zone]', 'at: [dark_zone]', f'activities.{NAME}.at'),
        ('camera.look', 'camera.smell', f'activities.{NAME}.needs'),
        ('"10:00-11:00"', '"25:00-11:00"', f'activities.{NAME}.window'),
        ('minutes: 5', 'minuts: 5', f'activities.{NAME}.minuts'),
    ],
)
def test_a_slip_in_it_is_named_at_the_start(
    tmp_path: Path, right: str, wrong: str, told: str
) -> None:
    assert right in ADDED
    with pytest.raises(ConfigError) as caught:
        with_world(tmp_path, ADDED.replace(right, wrong))
    assert 'world_view.yaml: ' in str(caught.value)
    assert told in str(caught.value)
