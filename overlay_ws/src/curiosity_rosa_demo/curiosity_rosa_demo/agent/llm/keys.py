# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""Names of the environment variables with the providers' keys, and texts without the keys."""

from __future__ import annotations

import os
import re
from urllib.parse import urlsplit

from curiosity_rosa_demo.domain.text import clip, printable
from curiosity_rosa_demo.infra.config.agent import LlmConfig

# Environment variables of LangChain's integrations; for others <PROVIDER>_API_KEY is assumed.
KEY_NAMES = {
    'openai': 'OPENAI_API_KEY',
    'azure_openai': 'AZURE_OPENAI_API_KEY',
    'anthropic': 'ANTHROPIC_API_KEY',
    'google_genai': 'GOOGLE_API_KEY',
    'mistralai': 'MISTRAL_API_KEY',
    'groq': 'GROQ_API_KEY',
    'deepseek': 'DEEPSEEK_API_KEY',
    'xai': 'XAI_API_KEY',
}
HIDDEN = '[hidden]'
RUN_CHARS = 5  # a word with this many characters of a secret in a row is hidden
_LOOKS_LIKE_A_KEY = re.compile(r'\b(?:sk|pk|gsk|xai|hf|bearer)[-_ ]+\S{8,}', re.I)


def key_name(provider: str) -> str:
    """The environment variable with the key of ``provider``."""
    return KEY_NAMES.get(provider, f'{provider.upper()}_API_KEY')


def quoted(text: str, llm: LlmConfig) -> str:
    """``text`` of a server on one clipped line, with neither the key nor what looks like one."""
    words = _LOOKS_LIKE_A_KEY.sub(HIDDEN, printable(text)).split()
    parts = {part for secret in _secrets(llm) for part in _runs(secret)}
    return clip(' '.join(HIDDEN if any(p in word for p in parts) else word for word in words))


def _secrets(llm: LlmConfig) -> list[str]:
    try:
        url = urlsplit(llm.base_url)
        of_url = [url.username, url.password, url.query]
    except ValueError:
        of_url = [llm.base_url]
    return [each for each in (os.environ.get(key_name(llm.provider)), *of_url) if each]


def _runs(secret: str) -> list[str]:
    """Every run of RUN_CHARS of a secret. A shorter one, such as ``none``, protects nothing."""
    return [secret[i : i + RUN_CHARS] for i in range(len(secret) - RUN_CHARS + 1)]
