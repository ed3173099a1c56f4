# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Replace the build machine's Python paths in the ROS wheels' CMake files by this environment's
own.

The wheels of ros-* carry paths below /opt/python/cpXY-cpXY in <venv>/share/*/cmake. CMake
would look for Python.h and NumPy's headers there. Run it with the environment's own interpreter;
repeating it changes nothing.
"""

from pathlib import Path
import re
import sys
import sysconfig

import numpy

BUILD_PREFIX = r'/opt/python/cp\d+-cp\d+'
SITE = sysconfig.get_path('purelib')
MENDS = (
    (re.compile(BUILD_PREFIX + r'/lib/python[\d.]+/site-packages/numpy/_?core/include'),
     numpy.get_include()),
    (re.compile(BUILD_PREFIX + r'/include/python[\d.]+'), sysconfig.get_path('include')),
    (re.compile(BUILD_PREFIX + r'/lib/python[\d.]+/site-packages'), SITE),
)  # fmt: skip


def main() -> None:
    for file in Path(sys.prefix, 'share').glob('*/cmake/*'):
        if file.is_file():
            text = mended = file.read_text(encoding='utf-8')
            for pattern, replacement in MENDS:
                mended = pattern.sub(lambda _, new=replacement: new, mended)
            if mended != text:
                file.write_text(mended, encoding='utf-8')


if __name__ == '__main__':
    main()
