# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Virtual dates: datetime.now() of the product's modules is the virtual time."""

from __future__ import annotations

import datetime as datetime_module
import sys
from typing import Any

from missions.threads import EPOCH_S, now_s

PACKAGES = ('curiosity_rosa_demo', 'langgraph')
_real = datetime_module.datetime


class VirtualDatetime(_real):
    @classmethod
    def now(cls, tz: datetime_module.tzinfo | None = None) -> Any:
        return _real.fromtimestamp(EPOCH_S + now_s(), tz)


def install() -> None:
    """Replace the class in all modules of PACKAGES that are loaded."""
    for name, module in list(sys.modules.items()):
        if name.partition('.')[0] in PACKAGES and name != __name__:
            for attribute, value in list(vars(module).items()):
                if value is _real:
                    setattr(module, attribute, VirtualDatetime)
