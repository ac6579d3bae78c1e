"""Checks of Avro's binary encoding before it is decoded: every length, index, text and depth.

fastavro's compiled reader recurses without a limit: 18 kB of nested records crash the process. Data that passes these
checks is safe to decode.
"""

from __future__ import annotations

from broker_core.limits import MAX_VALUE_DEPTH, MAX_VALUES
from broker_core.schemas.avro_types import AvroType
from broker_core.schemas.problem import Problem, pointer_to

Path = tuple[object, ...]


class _Wrong(Exception):
    def __init__(self, path: Path, message: str) -> None:
        super().__init__(message)
        self.problem = Problem(pointer_to(*path), message)


def binary_problems(kind: AvroType, data: bytes, at: int = 0) -> list[Problem]:
    """[] where `data` from `at` on is exactly one value of `kind`, otherwise the first problem."""
    check = _BinaryCheck(data, at)
    try:
        check.value(kind, ())
    except _Wrong as wrong:
        return [wrong.problem]
    surplus = len(data) - check.at
    return [Problem("", f"there are {surplus:,} bytes after the end of the value")] if surplus else []


class _BinaryCheck:
    def __init__(self, data: bytes, at: int) -> None:
        self._data = data
        self.at = at
        self._left = MAX_VALUES

    def value(self, kind: AvroType, path: Path) -> None:
        self._left -= 1
        if self._left < 0:
            raise _Wrong(path, f"there are more than {MAX_VALUES:,} values")
        if len(path) > MAX_VALUE_DEPTH:
            raise _Wrong(path, f"it is nested deeper than {MAX_VALUE_DEPTH} levels")
        match kind.kind:
            case "record":
                for field in kind.fields:
                    self.value(field.type, (*path, field.name))
            case "array" | "map":
                self._blocks(kind, path)
            case "union":
                # A branch adds no path component; the depth counts the record inside.
                self.value(kind.inner[self._index(path, len(kind.inner), "branch")], path)
            case "enum":
                self._index(path, len(kind.symbols), "symbol")
            case "null":
                pass
            case _:
                self._plain(kind, path)

    def _plain(self, kind: AvroType, path: Path) -> None:
        match kind.kind:
            case "boolean":
                if self._take(1, path)[0] > 1:
                    raise _Wrong(path, "the byte of a boolean is neither 0 nor 1")
            case "int" | "long":
                self._integer(path, 32 if kind.kind == "int" else 64)
            case "string":
                self._text(path)
            case "bytes":
                self._take(self._length(path), path)
            case _:
                self._take({"float": 4, "double": 8}.get(kind.kind, kind.size), path)

    def _blocks(self, kind: AvroType, path: Path) -> None:
        place = 0
        while count := self._integer(path, 64):
            if count < 0:
                self._length(path)
            for _ in range(abs(count)):
                name: object = place
                if kind.kind == "map":
                    name = self._text(path)
                self.value(kind.inner[0], (*path, name))
                place += 1

    def _take(self, count: int, path: Path) -> bytes:
        end = self.at + count
        if end > len(self._data):
            raise _Wrong(path, f"the data end {end - len(self._data):,} bytes too early")
        taken = self._data[self.at : end]
        self.at = end
        return taken

    def _integer(self, path: Path, bits: int) -> int:
        """A zigzag varint."""
        number = shift = 0
        while True:
            byte = self._take(1, path)[0]
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
            if shift >= 70:
                raise _Wrong(path, "a number has more than ten bytes")
        if number >= 1 << bits:
            raise _Wrong(path, f"a number does not fit into {bits} bits")
        return (number >> 1) ^ -(number & 1)

    def _length(self, path: Path) -> int:
        length = self._integer(path, 64)
        if length < 0:
            raise _Wrong(path, "a length is negative")
        return length

    def _index(self, path: Path, count: int, what: str) -> int:
        index = self._integer(path, 32)
        if not 0 <= index < count:
            raise _Wrong(path, f"there is no {what} {index}; there are {count}")
        return index

    def _text(self, path: Path) -> str:
        try:
            return self._take(self._length(path), path).decode()
        except UnicodeDecodeError:
            raise _Wrong(path, "the text is not UTF-8") from None
