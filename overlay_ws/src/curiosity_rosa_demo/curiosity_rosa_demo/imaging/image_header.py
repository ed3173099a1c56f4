# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Size of a compressed picture, read from its header: a decompression bomb is never decoded."""

from __future__ import annotations

MAX_PIXELS = 64_000_000

_PNG = b'\x89PNG\r\n\x1a\n'
_SOI, _EOI = b'\xff\xd8', b'\xff\xd9'
_SOS = 0xDA
# Start-of-frame markers hold the size. C4, C8 and CC are other markers (ITU-T T.81, table B.1).
_SOF = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_MARKERS_WITHOUT_LENGTH = frozenset({0x01, *range(0xD0, 0xD8)})


class ImageError(Exception):
    """A picture cannot be processed. The message is the reason that a capture reports."""

    what = 'Image cannot be processed'

    def __init__(self, reason: object) -> None:
        super().__init__(f'{self.what}: {reason}')


class DecodeError(ImageError):
    what = 'Image cannot be decoded'


class EncodeError(ImageError):
    what = 'Image cannot be encoded'


def is_jpeg(data: bytes) -> bool:
    return data.startswith(_SOI)


def picture_size(data: bytes) -> tuple[int, int]:
    """Width and height in pixels of a JPEG or PNG.

    Raises DecodeError for another format, an invalid header, a truncated picture, and a picture of
    more than MAX_PIXELS.
    """
    if not data:
        raise DecodeError('the message holds no data')
    if is_jpeg(data):
        size = _jpeg_size(data)
    elif data.startswith(_PNG):
        size = _png_size(data)
    else:
        raise DecodeError(f'neither JPEG nor PNG, it starts with {data[:4].hex(" ")}')
    check_size(*size)
    return size


def check_size(width: int, height: int) -> None:
    if width < 1 or height < 1:
        raise DecodeError(f'{width} x {height} is no size')
    if width * height > MAX_PIXELS:
        raise DecodeError(f'{width} x {height} is more than {MAX_PIXELS // 1_000_000} megapixels')


def _jpeg_size(data: bytes) -> tuple[int, int]:
    size: tuple[int, int] | None = None
    at = 2
    while at + 9 <= len(data):
        if data[at] != 0xFF:
            raise DecodeError(f'no JPEG marker at byte {at}')
        marker = data[at + 1]
        if marker == _SOS:
            # Byte stuffing keeps the end marker out of the compressed data, and an end marker
            # before the first scan belongs to a thumbnail. Decoders fill missing data and only
            # warn.
            if data.rfind(_EOI, at) < 0:
                raise DecodeError('it is cut off')
            break
        if marker == 0xFF:  # fill byte
            at += 1
            continue
        if marker in _SOF and size is None:
            height, width = data[at + 5 : at + 7], data[at + 7 : at + 9]
            size = int.from_bytes(width, 'big'), int.from_bytes(height, 'big')
        if marker in _MARKERS_WITHOUT_LENGTH:
            at += 2
        else:
            at += 2 + int.from_bytes(data[at + 2 : at + 4], 'big')
    else:
        raise DecodeError('it is cut off before the picture begins')
    if size is None:
        raise DecodeError('it does not say its size')
    return size


def _png_size(data: bytes) -> tuple[int, int]:
    if len(data) < 24 or data[12:16] != b'IHDR':
        raise DecodeError('it is cut off before the picture begins')
    return int.from_bytes(data[16:20], 'big'), int.from_bytes(data[20:24], 'big')
