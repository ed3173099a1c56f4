# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A report or an index as a browser would see it."""

from __future__ import annotations

from html.parser import HTMLParser
import re
from typing import Any

HOSTILE = '<script>alert(1)</script><img src=x onerror=alert(2)>"\'&\x00\x1b[31m\u202eevil'


class Page(HTMLParser):
    """Tags, attributes and text of a page as a browser would see them; raises on what does not
    nest.
    """

    VOID = frozenset({'meta', 'br', 'img'})

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return ' '.join(self.words)

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for each, attributes in self.tags if each == tag]


def loads_nothing(report_page: Page) -> bool:
    names = {tag for tag, _ in report_page.tags}
    assert names.isdisjoint({'script', 'iframe', 'link', 'object', 'embed', 'form', 'base'})
    for tag, attributes in report_page.tags:
        assert not any(name.startswith('on') for name in attributes), tag
        for name in ('src', 'href', 'xlink:href', 'action'):
            assert re.match(r'data:image/(jpeg|png);base64,|#', attributes.get(name) or '#'), tag
    (policy,) = [m for m in report_page.of('meta') if m.get('http-equiv')]
    assert (policy['content'] or '').startswith("default-src 'none'; img-src data:;")
    return True
