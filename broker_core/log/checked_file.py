from __future__ import annotations

import struct

import crc32c

from broker_core.files import FileSystem

_FRAME = struct.Struct("<4sI")  # magic, CRC-32C of the body
_MAGIC = b"BSC1"  # the same as in the parts of a recording, where a CRC-32 follows


def write_checked(files: FileSystem, path: str, body: bytes, *, durable: bool) -> None:
    """Replace the file at `path` by `body` and its CRC-32C. With `durable`, wait for the disk."""
    files.write_whole(path, _FRAME.pack(_MAGIC, crc32c.crc32c(body)) + body, durable=durable)


def read_checked(files: FileSystem, path: str) -> bytes | None:
    """The body of a file by `write_checked`; None if the checksum does not match. The file must exist."""
    data = files.read(path, 0, files.size(path))
    if len(data) < _FRAME.size:
        return None
    magic, checksum = _FRAME.unpack_from(data)
    body = data[_FRAME.size :]
    return body if magic == _MAGIC and checksum == crc32c.crc32c(body) else None
