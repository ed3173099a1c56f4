# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""JPEG to packed YUV planes and back, with libjpeg-turbo. This skips the colour conversion, which
is half of the work of decoder and encoder and which darkening does not need.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from curiosity_rosa_demo.imaging.image_header import DecodeError, EncodeError
import numpy as np
import numpy.typing as npt
import turbojpeg

Pixels = npt.NDArray[np.uint8]

_PAD = 4  # bytes to which PyTurboJPEG pads every row of a plane when it encodes
_SUBSAMPLINGS = {
    turbojpeg.TJSAMP_444,
    turbojpeg.TJSAMP_422,
    turbojpeg.TJSAMP_420,
    turbojpeg.TJSAMP_GRAY,
    turbojpeg.TJSAMP_440,
    turbojpeg.TJSAMP_411,
}


class _StrictTurboJPEG(turbojpeg.TurboJPEG):  # type: ignore[misc]
    """Treats the warnings of libjpeg as errors. PyTurboJPEG would return incomplete planes."""

    def _TurboJPEG__report_error(self, handle: Any) -> None:
        raise OSError(self._TurboJPEG__get_error_string(handle))


@dataclass(frozen=True)
class Planes:
    """One picture. The planes are views of ``packed``, whose rows have the encoder's padding."""

    packed: Pixels
    luma: Pixels
    chroma: tuple[Pixels, Pixels] | None  # Cb and Cr, None when grey
    subsampling: int


class YuvJpeg:
    """Codec between JPEG and Planes. Thread-safe.
    Raises OSError, RuntimeError or AttributeError when libjpeg-turbo is missing or too old.
    """

    def __init__(self) -> None:
        self._codec: Any = _StrictTurboJPEG()

    def decode(self, data: bytes, width: int, height: int) -> Planes | None:
        """The planes of a JPEG; None when it is not supported here (CMYK, RGB, rare subsamplings).
        Raises DecodeError.
        """
        try:
            header = self._codec.decode_header(data)
        except OSError:  # for example an unknown subsampling: leave the decision to OpenCV
            return None
        if header[:2] != (width, height) or header[2] not in _SUBSAMPLINGS:
            return None
        if header[3] not in (turbojpeg.TJCS_YCbCr, turbojpeg.TJCS_GRAY):
            return None
        try:
            packed, shapes = self._codec.decode_to_yuv(
                data, pad=_PAD, flags=turbojpeg.TJFLAG_LIMITSCANS
            )
        except OSError as error:
            raise DecodeError(str(error)) from error
        planes = []
        at = 0
        for rows, columns in shapes[: 1 if header[3] == turbojpeg.TJCS_GRAY else 3]:
            stride = -(-columns // _PAD) * _PAD
            planes.append(packed[at : at + rows * stride].reshape(rows, stride)[:, :columns])
            at += rows * stride
        chroma = (planes[1], planes[2]) if len(planes) == 3 else None
        return Planes(packed, planes[0], chroma, header[2])

    def encode(self, planes: Planes, quality: int) -> bytes:
        height, width = planes.luma.shape
        try:
            data: bytes = self._codec.encode_from_yuv(
                planes.packed, height, width, quality=quality, jpeg_subsample=planes.subsampling
            )
        except OSError as error:
            raise EncodeError(str(error)) from error
        return data
