# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What scripts/release.sh checks: versions, licences, the bill of materials, the archive."""

from __future__ import annotations

from email.message import Message
import os
from pathlib import Path
import shutil
import subprocess
from typing import Any

from release.bill import bill_problems, pinned_packages
from release.licences import licences_in
from release.versions import declared_versions, version_problems

ROOT = Path(__file__).resolve().parents[2]
PINNED = (ROOT / 'docker/requirements.txt').read_text()


# --- versions ------------------------------------------------------------------------------------


def repository(folder: Path, version: str, heading: str) -> Path:
    package = folder / 'overlay_ws/src/one'
    package.mkdir(parents=True)
    (package / 'package.xml').write_text(f'<package><version>{version}</version></package>')
    (package / 'setup.py').write_text(f"setup(\n    version='{version}',\n)\n")
    (folder / 'CHANGELOG.md').write_text(f'# Changelog\n\n## {heading}\n\n- It works.\n')
    return folder


def test_a_version_that_differs_is_named(tmp_path: Path) -> None:
    one, unreleased = (
        repository(tmp_path / name, '1.2.3', name) for name in ('1.2.3', 'Unreleased')
    )
    wrong: list[tuple[str, list[str]]] = []
    for root, asked, problem in (
        (one, '1.2.4', 'overlay_ws/src/one/package.xml has version 1.2.3, not 1.2.4'),
        (unreleased, '1.2.3', 'CHANGELOG.md begins with'),
        (one, 'latest', "'latest' is no version"),
        (one, '1.2.3; ls', 'is no version'),
    ):
        problems = version_problems(root, asked, snapshot=False)
        if problem not in '\n'.join(problems):
            wrong.append((problem, problems))
    assert wrong == []
    versions = declared_versions(ROOT)
    assert (len(versions), len(set(versions.values()))) == (9, 1)
    assert version_problems(ROOT, versions.popitem()[1], snapshot=True) == []
    assert version_problems(unreleased, '1.2.3', snapshot=True) == []
    assert 'CHANGELOG.md begins with' in str(version_problems(one, '1.2.30', snapshot=False))


# --- licences ------------------------------------------------------------------------------------


METADATA: list[tuple[str, dict[str, Any], str, str]] = [
    ('new', {'License_Expression': 'BSD-3-Clause'}, 'BSD-3-Clause', ''),
    ('osi', {'Classifier': ['License :: OSI Approved :: MIT License']}, 'MIT', ''),
    ('spdx', {'License': 'MPL-2.0 AND MIT'}, 'MPL-2.0 AND MIT', ''),
    ('old', {'License': '3-Clause BSD License'}, 'BSD-3-Clause', ''),
    ('two', {'License': 'MIT License, Apache License, Version 2.0'}, 'Apache-2.0', ''),
    ('gpl', {'License': 'GPLv3+'}, 'GPL', 'gpl 1.0 has the licence GPL'),
    ('asks', {'License': 'ask me'}, '', "asks 1.0 names no licence that is known: 'ask me'"),
    ('none', {}, '', "none 1.0 names no licence that is known: ''"),
    ('stdiomask', {'License_Expression': 'MIT'}, 'MIT', 'stdiomask must not be shipped'),
]


def test_a_licence_is_read_from_new_and_old_metadata_and_a_bad_one_is_named(
    tmp_path: Path,
) -> None:
    for name, fields, _, _ in METADATA:
        info = tmp_path / f'{name}-1.0.dist-info'
        info.mkdir(parents=True)
        message = Message()
        for key, value in {'Name': name, 'Version': '1.0', **fields}.items():
            message[key.replace('_', '-')] = value[0] if isinstance(value, list) else value
        (info / 'METADATA').write_text(message.as_string())
    found = {each.name: (each.licence, each.problem) for each in licences_in(tmp_path)}
    assert found == {name: (licence, problem) for name, _, licence, problem in METADATA}


# --- the bill of materials -----------------------------------------------------------------------


def test_a_bill_of_what_is_pinned_is_good_without_what_nothing_imports() -> None:
    pinned = pinned_packages(PINNED)
    components = [{'name': name, 'version': version} for name, version in pinned.items()]
    bill = {'bomFormat': 'CycloneDX', 'components': components}
    assert bill_problems(bill, pinned) == ['stdiomask must not be shipped']
    bill['components'] = [each for each in components if each['name'] != 'stdiomask']
    assert bill_problems(bill, pinned) == []
    dockerfile = (ROOT / 'docker/Dockerfile').read_text()
    assert "grep -v '^stdiomask==' /tmp/docker/requirements.txt" in dockerfile
    assert '--no-deps' in dockerfile
    words = ('import stdiomask', 'import pyinputplus', 'from pyinputplus')
    sources = [*ROOT.glob('overlay_ws/src/*/*/**/*.py'), *ROOT.glob('standalone/*/**/*.py')]
    ours = set(sources) - {Path(__file__).resolve()}
    assert [path for path in ours if any(word in path.read_text() for word in words)] == []


# --- the script ----------------------------------------------------------------------------------


def test_the_archive_is_the_commit_and_has_no_key(tmp_path: Path) -> None:
    root = repository(tmp_path / 'clone', '1.2.3', '1.2.3 - today')
    (root / 'scripts').mkdir()
    shutil.copy(ROOT / 'scripts/release.sh', root / 'scripts')
    no_caches = shutil.ignore_patterns('__pycache__')
    tools = ROOT / 'standalone/release'
    shutil.copytree(tools, root / 'standalone/release', ignore=no_caches)
    (root / '.gitignore').write_text('/run/\n/.env\n__pycache__/\n')
    (root / '.env').write_text('OPENAI_API_KEY=sk-1\n')
    user = ('-c', 'user.name=t', '-c', 'user.email=t@t.invalid')
    for words in (('init', '-q'), ('add', '-A'), ('commit', '-qm', 'all')):
        subprocess.run(['git', *user, *words], cwd=root, check=True, timeout=30)

    def release(*arguments: str) -> str:
        done = subprocess.run(
            [str(root / 'scripts/release.sh'), *arguments],
            capture_output=True,
            text=True,
            env={**os.environ, 'PIP_INDEX_URL': 'http://127.0.0.1:9/', 'PIP_RETRIES': '0'},
            timeout=60,
        )
        return done.stderr

    assert 'has version 1.2.3, not 1.2.4' in release('1.2.4')
    assert not (root / 'run').exists()
    release('1.2.3')  # it goes on to the packages, of which there are none here
    archive = root / 'run/release/curiosity-rosa-1.2.3.tar.gz'
    first = archive.read_bytes()
    listed = subprocess.run(
        ['tar', '-tzf', str(archive)], capture_output=True, text=True, check=True
    )
    names = listed.stdout.splitlines()
    assert 'curiosity-rosa-1.2.3/scripts/release.sh' in names
    assert not [name for name in names if '.env' in name or '.git/' in name]
    release('1.2.3')
    assert archive.read_bytes() == first
    (root / 'new.txt').touch()
    assert 'the working tree has changes' in release('1.2.3')
