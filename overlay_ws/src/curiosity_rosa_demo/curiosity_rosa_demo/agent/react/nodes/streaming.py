# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Splits a model's streamed text into sentences."""

from __future__ import annotations

from collections.abc import Callable
import re
import threading
import time
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler

_SENTENCE_END = re.compile(r'[.!?]\s|[。！？\n]')


LONGEST_WAIT_S, LONGEST_PIECE = 2.0, 200  # of text without the end of a sentence; characters


class SentenceStream(BaseCallbackHandler):
    """Calls ``on_sentence`` with each sentence once more text follows it, and with the words so
    far of one that is long or slow. The last one is held back until ``finish``: it may be the
    turn's answer, which is traced as such. ``steady``: a steady clock in seconds.
    """

    def __init__(
        self, on_sentence: Callable[[str], None], steady: Callable[[], float] = time.monotonic
    ) -> None:
        self._on_sentence, self._clock = on_sentence, steady
        self._since_s = 0.0  # when the text that is held back began
        self._text = ''
        self._emitted = 0  # characters of _text
        self._closed = False
        self._lock = threading.Lock()  # an abandoned call continues in its thread

    def on_llm_new_token(self, token: Any, **_: Any) -> None:
        with self._lock:
            if self._closed:
                return
            if not self._text[self._emitted :].strip():
                self._since_s = self._clock()
            self._text += text_of(token)
            while True:
                found = _SENTENCE_END.search(self._text, self._emitted)
                if found is None or not self._text[found.end() :].strip():
                    break
                self._flush(found.end())
            if found is None:
                self._flush_words()

    def finish(self, text: str) -> None:
        """Emit the rest. ``text`` is the whole text, for a model that does not stream."""
        with self._lock:
            if not self._emitted:
                self._text = text
            self._flush(len(self._text))

    def close(self) -> None:
        """Emit nothing from now on."""
        with self._lock:
            self._closed = True

    def _flush_words(self) -> None:
        """Emit the whole words of a sentence without an end that has become long or old."""
        held = len(self._text) - self._emitted
        if held < LONGEST_PIECE and self._clock() - self._since_s < LONGEST_WAIT_S:
            return
        blank = max(self._text.rfind(' ', self._emitted), self._text.rfind('\t', self._emitted))
        if blank > self._emitted or held >= LONGEST_PIECE:
            self._flush(blank if blank > self._emitted else len(self._text))

    def _flush(self, to: int) -> None:
        sentence, self._emitted = self._text[self._emitted : to].strip(), to
        self._since_s = self._clock()
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
