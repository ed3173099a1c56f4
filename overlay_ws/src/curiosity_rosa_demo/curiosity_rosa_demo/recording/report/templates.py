# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The templates of report and index: HTML without external resources or scripts."""

from __future__ import annotations

import base64
import json
from typing import Any

from curiosity_rosa_demo.domain.ground_figures import ground_figures
from curiosity_rosa_demo.domain.text import clip, count_text
from curiosity_rosa_demo.drawing.colours import css
from curiosity_rosa_demo.recording.report.folded import folded, pages
from curiosity_rosa_demo.recording.report.text import clock, utc, visible
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

# Pictures are data URLs. The browser loads nothing else, whatever the recording contains.
CONTENT_SECURITY_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


TEMPLATES = Environment(
    autoescape=True,
    finalize=lambda value: value if isinstance(value, Markup) else visible(value),
    loader=PackageLoader('curiosity_rosa_demo.recording.report', '.'),
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=StrictUndefined,
)
TEMPLATES.filters.update(
    base64=lambda data: base64.b64encode(data).decode(),
    clip=clip,
    clock=clock,
    count_text=count_text,
    folded=folded,
    ground_figures=ground_figures,
    indented_json=lambda data: json.dumps(data, ensure_ascii=False, indent=1),
    pages=pages,
    utc=utc,
)


def render(template: str, title: str, **values: Any) -> str:
    """All texts are escaped; only Markup, our drawings and the style, is markup."""
    return TEMPLATES.get_template(template).render(
        title=title,
        policy=Markup(CONTENT_SECURITY_POLICY),
        colours=Markup(css()),
        **values,
    )
