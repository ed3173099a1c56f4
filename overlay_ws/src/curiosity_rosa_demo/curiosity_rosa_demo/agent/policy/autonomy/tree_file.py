# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Writes the behaviour tree to a file: as DOT, and as an image where graphviz is installed."""

from __future__ import annotations

from pathlib import Path
import shutil
import subprocess

from curiosity_rosa_demo.domain.outcome import Outcome
from curiosity_rosa_demo.domain.text import one_line

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
