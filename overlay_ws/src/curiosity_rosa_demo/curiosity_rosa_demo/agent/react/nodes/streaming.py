# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A model's text as it arrives, a sentence at a time."""

from __future__ import annotations

from collections.abc import Callable
import re
import threading
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler

_SENTENCE_END = re.compile(r'[.!?]\s|[。！？\n]')


class SentenceStream(BaseCallbackHandler):
    """``tell`` gets each sentence once a further letter follows it. The last one is held back
    until ``finish``: it may be the whole answer, which is told as such.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._on_sentence = tell
        self._text = ''
        self._emitted = 0  # characters of it
        self._closed = False
        self._lock = threading.Lock()  # a call that was given up goes on in its thread

    def on_llm_new_token(self, token: Any, **_: Any) -> None:
        with self._lock:
            if self._closed:
                return
            self._text += text_of(token)
            while True:
                found = _SENTENCE_END.search(self._text, self._emitted)
                if found is None or not self._text[found.end() :].strip():
                    return
                self._flush(found.end())

    def finish(self, text: str) -> None:
        """The whole ``text`` is known; a model that does not stream says it only now."""
        with self._lock:
            if not self._emitted:
                self._text = text
            self._flush(len(self._text))

    def close(self) -> None:
        """What comes later is not told."""
        with self._lock:
            self._closed = True

    def _flush(self, to: int) -> None:
        sentence, self._emitted = self._text[self._emitted : to].strip(), to
        if sentence:
            self._on_sentence(sentence)


def text_of(content: Any) -> str:
    """A message's content as text: a string, or the text parts of a list of blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = (part.get('text', '') if isinstance(part, dict) else part for part in content)
        return ''.join(str(part) for part in parts)
    return ''
