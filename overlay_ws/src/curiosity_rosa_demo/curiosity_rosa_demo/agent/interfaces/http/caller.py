# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Who makes a request, as its query says: for display only."""

from __future__ import annotations

from typing import Annotated

from curiosity_rosa_demo.domain.origin import caller_text
from fastapi import Depends, Query

OPERATOR = Query(description='your name, for the others to see; at most 40 characters are shown')
CLIENT = Query(description='what you use, such as page; lower-case letters, digits and hyphens')


async def _caller(
    operator: Annotated[str, OPERATOR] = '', client: Annotated[str, CLIENT] = ''
) -> str:
    """No value is refused: that could block a stop. A coroutine, since others need a thread."""
    return caller_text(client, operator)


async def _operator(operator: Annotated[str, OPERATOR] = '') -> str:
    return operator


Caller = Annotated[str, Depends(_caller)]
Operator = Annotated[str, Depends(_operator)]
