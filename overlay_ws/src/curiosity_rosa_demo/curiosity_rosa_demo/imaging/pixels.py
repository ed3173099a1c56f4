# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Messages of a camera to pixels, and pixels to JPEG, with OpenCV."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from curiosity_rosa_demo.domain.pictures import WHOLE
from curiosity_rosa_demo.imaging.image_header import (
    check_size,
    DecodeError,
    EncodeError,
    ImageError,
    is_jpeg,
    picture_size,
)
import cv2
import numpy as np
import numpy.typing as npt
from sensor_msgs.msg import CompressedImage, Image

Pixels = npt.NDArray[np.uint8]  # BGR, or grey in two dimensions

SCALE_16_TO_8 = 255.0 / 65535.0  # as cv_bridge does
# Channels and OpenCV's conversion to BGR of what has 8 or 16 bits. OpenCV names a Bayer pattern
# after the second row, ROS after the first.
_LAYOUTS = {
    'rgb': (3, cv2.COLOR_RGB2BGR),
    'bgr': (3, None),
    'rgba': (4, cv2.COLOR_RGBA2BGR),
    'bgra': (4, cv2.COLOR_BGRA2BGR),
    'mono': (1, None),
    'bayer_rggb': (1, cv2.COLOR_BayerBG2BGR),
    'bayer_bggr': (1, cv2.COLOR_BayerRG2BGR),
    'bayer_gbrg': (1, cv2.COLOR_BayerGR2BGR),
    'bayer_grbg': (1, cv2.COLOR_BayerGB2BGR),
}
_REDUCED = (
    (8, cv2.IMREAD_REDUCED_COLOR_8),
    (4, cv2.IMREAD_REDUCED_COLOR_4),
    (2, cv2.IMREAD_REDUCED_COLOR_2),
)
ENCODINGS: dict[str, tuple[int, int, int | None]] = {  # channels, bits, conversion
    **{f'{name}{bits}': (n, bits, to) for bits in (8, 16) for name, (n, to) in _LAYOUTS.items()},
    'yuv422': (2, 8, cv2.COLOR_YUV2BGR_UYVY),
    'uyvy': (2, 8, cv2.COLOR_YUV2BGR_UYVY),
    'yuv422_yuy2': (2, 8, cv2.COLOR_YUV2BGR_YUY2),
    'yuyv': (2, 8, cv2.COLOR_YUV2BGR_YUY2),
}


def pixels_of(message: CompressedImage | Image) -> Pixels:
    """A copy of the pixels. Raises DecodeError."""
    if isinstance(message, CompressedImage):
        return decode_picture(bytes(message.data))
    return raw_pixels(message)


def decode_picture(data: bytes, least_px: int = WHOLE) -> Pixels:
    """The pixels of a JPEG or PNG, BGR; one of each 2 x 2, 4 x 4 or 8 x 8 if the longer side keeps
    ``least_px``: a JPEG is decoded in a fraction of the time then. Raises DecodeError.
    """
    longest = max(picture_size(data))  # refused before it is decoded
    size = next((flag for part, flag in _REDUCED if longest >= part * least_px), cv2.IMREAD_COLOR)
    flags = size | cv2.IMREAD_IGNORE_ORIENTATION  # a robot's camera has none to trust
    with _opencv(DecodeError):
        pixels = cv2.imdecode(np.frombuffer(data, np.uint8), flags)
    if pixels is None:
        raise DecodeError('the compressed data is corrupt')
    return pixels  # type: ignore[return-value]


def raw_pixels(image: Image) -> Pixels:
    """A copy of the pixels. Raises DecodeError, for an unknown encoding with those that are
    supported.
    """
    encoding, width, height, step = image.encoding, image.width, image.height, image.step
    if encoding not in ENCODINGS:
        raise DecodeError(
            f'encoding {encoding[:40]!r} is not supported; supported: {", ".join(ENCODINGS)}; '
            'publish one of these'
        )
    channels, bits, conversion = ENCODINGS[encoding]
    check_size(width, height)
    if channels == 2 and width % 2:
        raise DecodeError(f'{encoding} has pairs of pixels, and a width of {width} is odd')
    row = width * channels * bits // 8
    if step < row:
        raise DecodeError(f'step {step} is too small, a row of {width} {encoding} takes {row}')
    data = np.frombuffer(image.data, np.uint8)
    if data.size < step * (height - 1) + row:
        raise DecodeError(f'{data.size} bytes of data, {height} rows of step {step} need more')
    kind = np.dtype(f'{">" if image.is_bigendian else "<"}u{bits // 8}')
    strides = (step, channels * kind.itemsize, kind.itemsize)
    padded: Any = np.ndarray((height, width, channels), kind, data, strides=strides)
    pixels: Any = padded.astype(kind.newbyteorder('='), order='C')
    if channels == 1:
        pixels = pixels[:, :, 0]
    with _opencv(DecodeError):
        if conversion is not None:
            pixels = cv2.cvtColor(pixels, conversion)
        if bits == 16:
            pixels = cv2.convertScaleAbs(pixels, alpha=SCALE_16_TO_8)
    return np.asarray(pixels)


def scaled_jpeg(data: bytes, longest_px: int, quality: int) -> bytes:
    """A JPEG or PNG as a JPEG whose longer side has at most ``longest_px``. Raises ImageError."""
    if max(picture_size(data)) <= longest_px and is_jpeg(data):
        return data
    return encode_jpeg(shrunk(decode_picture(data), longest_px), quality)


def shrunk(pixels: Pixels, longest_px: int) -> Pixels:
    """The pixels with a longer side of at most ``longest_px``."""
    height, width = pixels.shape[:2]
    if (part := longest_px / max(width, height)) >= 1.0:
        return pixels
    size = (max(1, round(width * part)), max(1, round(height * part)))
    small: Any = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    return np.asarray(small)


def encode_jpeg(pixels: Pixels, quality: int) -> bytes:
    """The pixels as a JPEG; ``quality`` is 1 to 100. Raises EncodeError."""
    with _opencv(EncodeError):
        done, data = cv2.imencode('.jpg', pixels, [cv2.IMWRITE_JPEG_QUALITY, quality])
    if not done:
        raise EncodeError(f'OpenCV made no JPEG of {pixels.shape[1]} x {pixels.shape[0]}')
    return data.tobytes()


@contextmanager
def _opencv(refusal: type[ImageError]) -> Iterator[None]:
    """What OpenCV refuses is refused in its words."""
    try:
        yield
    except cv2.error as error:
        raise refusal(str(getattr(error, 'err', '') or error).strip()[:200]) from error
