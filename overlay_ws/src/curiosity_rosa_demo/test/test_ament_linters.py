# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

from configparser import ConfigParser
from pathlib import Path

from ament_copyright.main import main as copyright_main
from ament_flake8.main import main_with_errors
from ament_pep257.main import main as pep257_main
from ament_xmllint.main import main as xmllint_main
import pytest

RULES = Path(__file__).with_name('ament_flake8.ini')

pytestmark = [pytest.mark.linter, pytest.mark.timeout(600)]


@pytest.mark.copyright
def test_copyright() -> None:
    assert copyright_main(argv=['.']) == 0, 'Found errors'


@pytest.mark.flake8
def test_flake8() -> None:
    status, errors = main_with_errors(argv=['--config', str(RULES)])
    assert status == 0, '\n'.join(errors)


@pytest.mark.pep257
def test_pep257() -> None:
    rules = ConfigParser()
    rules.read(RULES)
    ignored = rules['flake8']['extend-ignore'].replace(',', ' ').split()
    docstrings = [code for code in ignored if code.startswith('D')]
    assert pep257_main(argv=['.', '--ignore', *docstrings]) == 0, 'Found errors'


@pytest.mark.xmllint
def test_xmllint() -> None:
    assert xmllint_main(argv=['.']) == 0, 'Found errors'
