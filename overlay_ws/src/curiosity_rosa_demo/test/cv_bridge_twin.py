# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the overlay uses of cv_bridge's Python, for machines without it: PyPI has none.

It follows core.py and cv_bridge.cpp of ros-perception/vision_opencv: the same messages in, the
same arrays and errors out, and the same fault with padding that is no whole number of pixels.
test_raw_image.py runs its cases with the real one, too, where that is installed.
"""

from __future__ import annotations

import sys
from typing import Any

import cv2
import numpy as np

CHANNELS = {'mono': 1, 'rgb': 3, 'bgr': 3, 'rgba': 4, 'bgra': 4, 'bayer_rggb': 1}
CHANNELS.update({'bayer_bggr': 1, 'bayer_gbrg': 1, 'bayer_grbg': 1})
TO_BGR = {
    'rgb': cv2.COLOR_RGB2BGR,
    'rgba': cv2.COLOR_RGBA2BGR,
    'bgra': cv2.COLOR_BGRA2BGR,
    'mono': cv2.COLOR_GRAY2BGR,
    'bayer_rggb': cv2.COLOR_BAYER_BG2BGR,
    'bayer_bggr': cv2.COLOR_BAYER_RG2BGR,
    'bayer_gbrg': cv2.COLOR_BAYER_GR2BGR,
    'bayer_grbg': cv2.COLOR_BAYER_GB2BGR,
    'yuv422': cv2.COLOR_YUV2BGR_UYVY,
    'yuv422_yuy2': cv2.COLOR_YUV2BGR_YUY2,
}
DEPTHS = {'8U': 'uint8', '16U': 'uint16', '32F': 'float32'}


class CvBridgeError(TypeError):
    pass


class CvBridge:
    def encoding_to_dtype_with_channels(self, encoding: str) -> tuple[str, int]:
        if encoding in ('yuv422', 'yuv422_yuy2'):
            return 'uint8', 2
        depth, _, channels = encoding.partition('C')
        if depth in DEPTHS:
            return DEPTHS[depth], int(channels or 1)
        colour, bits = _parts(encoding)
        if colour not in CHANNELS or bits not in (8, 16):
            raise CvBridgeError(f'Unrecognized image encoding [{encoding}]')
        return f'uint{bits}', CHANNELS[colour]

    def imgmsg_to_cv2(self, img_msg: Any, desired_encoding: str) -> Any:
        name, channels = self.encoding_to_dtype_with_channels(img_msg.encoding)
        kind = np.dtype(name).newbyteorder('>' if img_msg.is_bigendian else '<')
        shape: tuple[int, ...] = (img_msg.height, img_msg.step // kind.itemsize // channels)
        if channels > 1:
            shape = (*shape, channels)
        pixels: Any = np.ndarray(shape=shape, dtype=kind, buffer=img_msg.data)
        pixels = np.ascontiguousarray(pixels[:, : img_msg.width])
        if img_msg.is_bigendian == (sys.byteorder == 'little'):
            pixels = pixels.astype(kind.newbyteorder('='))
        return _converted(pixels, img_msg.encoding, desired_encoding)


def _converted(pixels: Any, encoding: str, wanted: str) -> Any:
    colour, bits = _parts(encoding)
    if colour not in TO_BGR and colour != 'bgr':
        raise CvBridgeError(f'[{encoding}] is not a color format. but [{wanted}] is.')
    try:
        if wanted == 'bgr8' and colour in TO_BGR:
            pixels = cv2.cvtColor(pixels, TO_BGR[colour])
    except cv2.error as error:
        raise CvBridgeError(str(error)) from error
    return cv2.convertScaleAbs(pixels, alpha=255.0 / 65535.0) if bits == 16 else pixels


def _parts(encoding: str) -> tuple[str, int]:
    """The colour and the bits, of rgb16 for example."""
    if encoding in TO_BGR:
        return encoding, 8
    colour = encoding.rstrip('0123456789')
    return colour, int(encoding[len(colour) :] or 0)
