# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Size of a compressed picture, read from its header: a decompression bomb is never decoded."""

from __future__ import annotations

from io import BytesIO

MAX_PIXELS = 64_000_000
_JPEG, _PNG = b'\xff\xd8', b'\x89PNG\r\n\x1a\n'
_JPEG_END = b'\xff\xd9'


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
    return data.startswith(_JPEG)


def picture_size(data: bytes) -> tuple[int, int]:
    """Width and height in pixels of a JPEG or PNG.

    Raises DecodeError for another format, an invalid header, a truncated picture, and a picture of
    more than MAX_PIXELS.
    """
    # Not Image.open, which warns of large pictures. Not at the start of the agent.
    from PIL.JpegImagePlugin import JpegImageFile
    from PIL.PngImagePlugin import PngImageFile

    if not data:
        raise DecodeError('the message holds no data')
    if not data.startswith((_JPEG, _PNG)):
        raise DecodeError(f'neither JPEG nor PNG, it starts with {data[:4].hex(" ")}')
    stream = BytesIO(data)
    try:
        reader = JpegImageFile if is_jpeg(data) else PngImageFile
        size: tuple[int, int] = reader(stream).size  # reads up to the pixels
    except (OSError, SyntaxError, ValueError) as error:
        raise DecodeError(f'its header is cut off or corrupt: {error}') from error
    # Byte stuffing keeps the end marker out of the compressed data, and one before the pixels
    # belongs to a thumbnail. Decoders fill in what is missing, and only warn.
    if is_jpeg(data) and data.rfind(_JPEG_END, stream.tell()) < 0:
        raise DecodeError('it is cut off')
    check_size(*size)
    return size


def check_size(width: int, height: int) -> None:
    if width < 1 or height < 1:
        raise DecodeError(f'{width} x {height} is no size')
    if width * height > MAX_PIXELS:
        raise DecodeError(f'{width} x {height} is more than {MAX_PIXELS // 1_000_000} megapixels')
