# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Decodes sensor_msgs/Image, with cv_bridge where it is installed, else with OpenCV alone.

Both decoders give BGR pixels of 8 bits, or grey ones for mono8 and mono16.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
import logging
from typing import Any, Protocol

from curiosity_rosa_demo.imaging.image_header import check_size, DecodeError
from curiosity_rosa_demo.imaging.score_label import Pixels
import cv2
import numpy as np

SCALE_16_TO_8 = 255.0 / 65535.0  # as cv_bridge does
GREY = ('mono8', 'mono16')


class RawImage(Protocol):
    """The used fields of sensor_msgs/Image."""

    encoding: str
    width: int
    height: int
    step: int
    is_bigendian: int
    data: Any


class RawDecoder(Protocol):
    """Decodes raw images. ``name`` is for people."""

    name: str

    def pixels(self, image: RawImage) -> Pixels:
        """A copy of the pixels: BGR, or grey. Raises DecodeError."""
        ...


@dataclass(frozen=True)
class _Encoding:
    channels: int
    bits: int = 8
    conversion: int | None = None  # OpenCV's, to BGR
    even_width: bool = False


def _with_16_bits(encodings: dict[str, _Encoding]) -> dict[str, _Encoding]:
    wide = {f'{name[:-1]}16': replace(each, bits=16) for name, each in encodings.items()}
    return {**encodings, **wide}


# OpenCV names a Bayer pattern after the second row, ROS after the first.
ENCODINGS: dict[str, _Encoding] = {
    **_with_16_bits(
        {
            'rgb8': _Encoding(3, conversion=cv2.COLOR_RGB2BGR),
            'bgr8': _Encoding(3),
            'rgba8': _Encoding(4, conversion=cv2.COLOR_RGBA2BGR),
            'bgra8': _Encoding(4, conversion=cv2.COLOR_BGRA2BGR),
            'mono8': _Encoding(1),
            'bayer_rggb8': _Encoding(1, conversion=cv2.COLOR_BayerBG2BGR),
            'bayer_bggr8': _Encoding(1, conversion=cv2.COLOR_BayerRG2BGR),
            'bayer_gbrg8': _Encoding(1, conversion=cv2.COLOR_BayerGR2BGR),
            'bayer_grbg8': _Encoding(1, conversion=cv2.COLOR_BayerGB2BGR),
        }
    ),
    'yuv422': _Encoding(2, conversion=cv2.COLOR_YUV2BGR_UYVY, even_width=True),
    'yuv422_yuy2': _Encoding(2, conversion=cv2.COLOR_YUV2BGR_YUY2, even_width=True),
}

ALIASES = {'uyvy': 'yuv422', 'yuyv': 'yuv422_yuy2'}  # newer names, which cv_bridge lacks


class OpenCvDecoder:
    """Reads ENCODINGS. It refuses others with their name, and with what reads more."""

    name = 'OpenCV'

    def pixels(self, image: RawImage) -> Pixels:
        known = ENCODINGS.get(ALIASES.get(image.encoding, image.encoding))
        if known is None:
            raise DecodeError(
                f'encoding {image.encoding[:40]!r} is not supported; supported: '
                f'{", ".join([*ENCODINGS, *ALIASES])}; publish one of these, or install '
                'cv_bridge, which knows more'
            )
        if known.even_width and image.width % 2:
            raise DecodeError(
                f'{image.encoding} has pairs of pixels, and a width of {image.width} is odd'
            )
        rows = packed_rows(image, known.channels * known.bits // 8)
        kind = np.dtype(f'{">" if image.is_bigendian else "<"}u{known.bits // 8}')
        pixels: Any = rows.view(kind).reshape(image.height, image.width, known.channels)
        if known.bits == 16:
            pixels = pixels.astype(np.uint16)
        try:
            if known.conversion is not None:
                pixels = cv2.cvtColor(pixels, known.conversion)
            if known.bits == 16:
                pixels = cv2.convertScaleAbs(pixels, alpha=SCALE_16_TO_8)
        except cv2.error as error:
            raise DecodeError(f'{image.encoding}: {str(error.err).strip()[:200]}') from error
        if known.conversion is None and known.bits == 8:
            pixels = pixels.copy()
        grey = pixels.ndim == 3 and pixels.shape[2] == 1
        return np.asarray(pixels[:, :, 0] if grey else pixels)


@dataclass(frozen=True)
class _Packed:
    """A raw image without padding at the ends of its rows."""

    encoding: str
    width: int
    height: int
    step: int
    is_bigendian: int
    data: Any


class CvBridgeDecoder:
    """Reads what cv_bridge reads.

    cv_bridge takes the rows as pixels, and shifts them if the padding is not a whole number of
    these; it reads only as far as the data go. So it gets rows that are checked and packed.
    """

    name = 'cv_bridge'

    def __init__(self, bridge: Any) -> None:
        """``bridge`` is a cv_bridge.CvBridge, whose CvBridgeError is a TypeError."""
        self._bridge = bridge

    def pixels(self, image: RawImage) -> Pixels:
        encoding = ALIASES.get(image.encoding, image.encoding)
        if encoding in ENCODINGS and ENCODINGS[encoding].even_width and image.width % 2:
            raise DecodeError(
                f'{encoding} has pairs of pixels, and a width of {image.width} is odd'
            )
        try:
            kind, channels = self._bridge.encoding_to_dtype_with_channels(encoding)
            pixel_bytes = np.dtype(kind).itemsize * channels
            packed = _Packed(
                encoding,
                image.width,
                image.height,
                image.width * pixel_bytes,
                image.is_bigendian,
                packed_rows(image, pixel_bytes),
            )
            wanted = 'mono8' if encoding in GREY else 'bgr8'
            pixels: Pixels = self._bridge.imgmsg_to_cv2(packed, desired_encoding=wanted)
        except (TypeError, RuntimeError, ValueError, cv2.error) as error:
            reason = ' '.join(str(error).split())[:200]
            raise DecodeError(f'cv_bridge: encoding {encoding[:40]!r}: {reason}') from error
        return np.array(pixels)


def packed_rows(image: RawImage, pixel_bytes: int) -> Any:
    """The rows without padding, as bytes, not to be written to. Raises DecodeError."""
    width, height, step = image.width, image.height, image.step
    check_size(width, height)
    row = width * pixel_bytes
    if step < row:
        raise DecodeError(
            f'step {step} is too small, a row of {width} {image.encoding} takes {row}'
        )
    data = np.frombuffer(image.data, np.uint8)
    if data.size < step * (height - 1) + row:
        raise DecodeError(f'{data.size} bytes of data, {height} rows of step {step} need more')
    rows = np.lib.stride_tricks.as_strided(
        data, shape=(height, row), strides=(step, 1), writeable=False
    )
    return np.ascontiguousarray(rows)


@cache
def raw_decoder() -> RawDecoder:
    """The decoder of this process: cv_bridge, unless it is missing or cannot be loaded."""
    if find_spec('cv_bridge') is None:
        return OpenCvDecoder()
    try:
        from cv_bridge import CvBridge

        bridge = CvBridge()
        bridge.encoding_to_cvtype2('bgr8')  # loads its library, which may be for another NumPy
    except (ImportError, AttributeError, RuntimeError, SystemError) as error:
        logging.getLogger(__name__).warning(
            'cv_bridge cannot be loaded, OpenCV alone decodes: %s', error
        )
        return OpenCvDecoder()
    return CvBridgeDecoder(bridge)
