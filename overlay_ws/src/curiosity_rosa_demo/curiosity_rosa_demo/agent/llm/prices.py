# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""The price of a call: llm.prices of agent.yaml, or the offline data of genai-prices."""

from __future__ import annotations

from decimal import Decimal

from curiosity_rosa_demo.agent.llm.usage import Tokens
from curiosity_rosa_demo.infra.config.agent import LlmConfig, LOCAL

FREE_PROVIDERS = ('routine', LOCAL)
MILLION = Decimal(1_000_000)
# LangChain's names of providers that genai-prices calls otherwise.
_PROVIDER_IDS = {
    'azure_openai': 'azure',
    'bedrock': 'aws',
    'bedrock_converse': 'aws',
    'google_genai': 'google',
    'google_vertexai': 'google',
    'mistralai': 'mistral',
    'xai': 'x-ai',
}


def call_cost(llm: LlmConfig, tokens: Tokens) -> Decimal | None:
    """The cost of a call in ``llm.prices.currency``; None: the price of the model is unknown."""
    if llm.provider in FREE_PROVIDERS:
        return Decimal(0)
    prices = llm.prices
    if prices.input is None or prices.output is None:
        return _published_cost(llm, tokens)
    cached = prices.input if prices.cached is None else prices.cached
    parts = (
        (tokens.input - tokens.cached, prices.input),
        (tokens.cached, cached),
        (tokens.output, prices.output),
    )
    return sum((number * Decimal(str(price)) for number, price in parts), Decimal(0)) / MILLION


def _published_cost(llm: LlmConfig, tokens: Tokens) -> Decimal | None:
    """At a server of its own a model has no published price, whatever its name. The data comes
    with the package: nothing is fetched.
    """
    try:
        from genai_prices import calc_price, Usage
    except ImportError:
        return None
    usage = Usage(
        input_tokens=tokens.input,
        output_tokens=tokens.output,
        cache_read_tokens=tokens.cached or None,
    )
    try:
        if llm.base_url:
            return calc_price(usage, llm.model, provider_api_url=llm.base_url).total_price
        provider = _PROVIDER_IDS.get(llm.provider, llm.provider)
        return calc_price(usage, llm.model, provider_id=provider).total_price
    except (LookupError, ValueError):
        return None
