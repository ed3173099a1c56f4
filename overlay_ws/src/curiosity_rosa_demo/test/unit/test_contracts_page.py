# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""docs/reference/configuration.md has every key of every YAML file; contracts.md beside it names
what the configuration names. What runs is compared in integration/test_contracts_ros.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from contract_pages import (
    CONFIGURATION,
    configuration,
    CONTRACTS,
    interfaces,
    with_parts,
)
from contract_tables import names_of
from curiosity_rosa_demo.infra.config_loader import CONFIG_FILES, load_config, shipped_config_dir
import pytest

AGAIN = 'the page is not what the code says: run scripts/contracts.sh'


@pytest.mark.parametrize(
    ('path', 'parts'), [(CONFIGURATION, configuration), (CONTRACTS, interfaces)]
)
def test_the_pages_are_what_models_files_and_types_say(path: Path, parts: Any) -> None:
    page = path.read_text(encoding='utf-8')
    assert page == with_parts(page, parts(), path.name), AGAIN


def test_no_file_of_the_configuration_is_left_out() -> None:
    files = {path.stem for path in shipped_config_dir().glob('*.yaml')}
    worlds_and_rviz = {'world_view', 'companion', 'stationary', 'rviz'}
    assert set(CONFIG_FILES) == files - worlds_and_rviz
    page = CONFIGURATION.read_text(encoding='utf-8')
    assert all(f'{name}.yaml' in page for name in files)


def test_every_name_of_topics_yaml_is_on_the_page_of_contracts() -> None:
    page = CONTRACTS.read_text(encoding='utf-8')
    topics = load_config().topics
    missing = {
        name for name in names_of(topics) if name.startswith('/') and f'| `{name}` |' not in page
    }
    # The one of two cameras that is not used as shipped.
    assert missing == {topics.images.input_raw}
