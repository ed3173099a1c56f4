# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""The camera on the mast, drawn without a screen (EGL)."""

from __future__ import annotations

import os

from curiosity_physics.model import Built, VISUAL_GROUP
from curiosity_physics.worlds import RELIEF_GROUP, WORLD_GROUP
from curiosity_stand_in.camera import SIZE
from curiosity_stand_in.frames import CAMERA_FRAME
from curiosity_stand_in.robot import Floats
import mujoco
import numpy as np
from numpy.typing import NDArray

MISSING = (
    'no OpenGL without a screen: apt-get install libegl1 libegl-mesa0 libgl1-mesa-dri, '
    'and scripts/setup.sh --physics'
)


class Camera:
    """Make it, use it and close it in one thread. Raises RuntimeError where EGL is missing."""

    def __init__(self, built: Built) -> None:
        os.environ['MUJOCO_GL'] = os.environ['PYOPENGL_PLATFORM'] = 'egl'
        self._model, self._data = built.model, mujoco.MjData(built.model)
        try:
            self._renderer = mujoco.Renderer(built.model, SIZE, SIZE)
        except Exception as error:  # PyOpenGL and EGL raise what they like
            raise RuntimeError(f'{MISSING} ({error})') from None
        self._option = mujoco.MjvOption()
        self._option.geomgroup[:] = 0
        self._option.geomgroup[[WORLD_GROUP, RELIEF_GROUP, VISUAL_GROUP]] = 1

    def draw(self, configuration: Floats) -> NDArray[np.uint8]:
        """The picture, SIZE x SIZE in RGB, of the moment with these positions."""
        self._data.qpos[:] = configuration
        mujoco.mj_kinematics(self._model, self._data)
        mujoco.mj_camlight(self._model, self._data)
        self._renderer.update_scene(self._data, CAMERA_FRAME, self._option)
        return np.asarray(self._renderer.render(), np.uint8)

    def close(self) -> None:
        self._renderer.close()
