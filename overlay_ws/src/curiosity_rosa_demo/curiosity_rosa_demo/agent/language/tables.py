# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The words, patterns and texts of each language, read once from its folder below ``data``.

A language is a folder with ``words.yaml`` (of orders), ``hearing.yaml`` (patterns of stops,
answers and questions) and ``texts.yaml`` (what the agent says).
"""

from __future__ import annotations

from functools import cache
import re
from typing import Any

from curiosity_rosa_demo.agent.language.fold import CJK, fold
from curiosity_rosa_demo.domain.text import count_text
from curiosity_rosa_demo.infra.config.agent import LANGUAGE_FOLDERS, LANGUAGES
import yaml

DEFAULT = 'en'  # of a text that has no mark of another language
_WHOLE = ('stop_whole', 'clear', 'approve', 'reject', 'resume')
_AT_WORDS = ('stop', 'stop_mask')  # no match starts inside a Latin word: many times faster
_OTHER_STOPS = {  # of the words of stops.yaml
    'stop': r'(?<!\w)(?:{anywhere})(?!\w)|{inside}',
    'stop_whole': r'(?:(?:{alone})[ ,]*)+',
}
_WORD_START = f'(?:(?<![a-z0-9])(?=[a-z0-9])|(?![a-z0-9{CJK}]))'


@cache
def table(language: str, name: str) -> dict[str, Any]:
    """The tables of ``data/LANGUAGE/NAME.yaml``; of the frames, which all languages share, with
    '' as the language.
    """
    loader = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)
    with (LANGUAGE_FOLDERS / language / f'{name}.yaml').open(encoding='utf-8') as file:
        tables: dict[str, Any] = yaml.load(file, loader)
    return tables


def lines_of(block: str) -> list[str]:
    """The lines of a block of YAML; a line that is indented goes on with the one before."""
    return [line for line in re.sub(r'\n +', '', block).split('\n') if line]


@cache
def pattern(name: str, language: str) -> re.Pattern[str] | None:
    """The pattern ``name``, such as ``stop`` or ``topics.mast``, for folded text of ``language``:
    any of its lines. ``{part}`` stands for one of its ``parts``. None: it has none.
    """
    tables = table(language, 'hearing')
    block: Any = tables
    for key in name.split('.'):
        block = block.get(key)
        if block is None:
            return None
    either = _with_parts('|'.join(lines_of(block)), tables['parts'])
    if name in _WHOLE:
        fill = _with_parts('{fill}', tables['parts'])
        either = f'(?:{fill})*(?:{either}) ?(?:{fill})*'
    if name in _AT_WORDS and not re.search(f'[{CJK}]', either):
        either = f'{_WORD_START}(?:{either})'
    return re.compile(fold(either))


def _with_parts(text: str, parts: dict[str, str]) -> str:
    def part(match: re.Match[str]) -> str:
        return _with_parts('|'.join(lines_of(parts[match[1]])), parts)

    return re.sub(r'\{([a-z_]+)\}', part, text)


@cache
def patterns(name: str) -> tuple[re.Pattern[str], ...]:
    """The pattern ``name`` of each language that has it; of a stop, of languages without a
    folder, too.
    """
    found = [pattern(name, language) for language in LANGUAGES]
    if name in _OTHER_STOPS:
        found.append(re.compile(fold(_OTHER_STOPS[name].format(**_other_stops()))))
    return tuple(each for each in found if each is not None)


def _other_stops() -> dict[str, str]:
    lists = table('', 'stops').items()
    return {
        name: '|'.join(each for words in languages.values() for each in words.split(' | '))
        for name, languages in lists
    }


def finds(name: str, text: str) -> bool:
    return any(each.search(text) for each in patterns(name))


def is_wholly(name: str, text: str) -> bool:
    return any(each.fullmatch(text) for each in patterns(name))


def replaced(name: str, by: str, text: str) -> str:
    for each in patterns(name):
        text = each.sub(by, text)
    return text


@cache
def _marks(language: str) -> re.Pattern[str]:
    return re.compile(table(language, 'hearing')['marks'], re.IGNORECASE)


def detect_language(text: str) -> str:
    """The first language whose marks are in ``text``, such as kana; else DEFAULT."""
    others = (each for each in LANGUAGES if each != DEFAULT)
    return next((each for each in others if _marks(each).search(text)), DEFAULT)


def say(key: str, language: str, /, **values: Any) -> str:
    """The text ``key``, such as ``reply.mast``, in ``language``. Only the texts of the tables are
    format strings; text from tools and users is always a value. A count gets its noun. What a
    language has no text for is said in the default one.
    """
    section, _, name = key.partition('.')
    texts = table(language, 'texts')
    if name not in texts.get(section, {}):
        texts = table(DEFAULT, 'texts')
    nouns = texts.get('nouns', {})
    shown = {
        each: count_text(value, nouns[each]) if each in nouns and isinstance(value, int) else value
        for each, value in values.items()
    }
    text: str = texts[section][name]
    return text.format(**shown)
