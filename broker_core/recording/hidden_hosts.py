"""Addresses of hosts in what is shown or recorded, each replaced by a name: host-1, host-2, in the order in which they
are met.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final, TypeVar

import msgspec

S = TypeVar("S")
_PORT: Final = r"(?::\d+)?"
_ADDRESS: Final = rf"\b\d{{1,3}}(?:\.\d{{1,3}}){{3}}{_PORT}\b|\[?(?:[0-9a-fA-F]{{1,4}}:){{3,7}}[0-9a-fA-F:]*\]?{_PORT}"


class HiddenHosts:
    """Hides numeric addresses with their ports; and `names` in URLs, before a port, and after "host named"."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._called: dict[str, str] = {}
        self.know(names)

    def know(self, names: Iterable[str]) -> None:
        """These are all the names of hosts from now on."""
        any_of = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True)) or r"(?!)"
        named = rf"(?:(?<=://)|(?<=\bhost named ))(?:{any_of}){_PORT}|\[?(?<![\w.-])(?:{any_of})\]?:\d+"
        self._pattern = re.compile(f"{_ADDRESS}|{named}")

    def text(self, text: str) -> str:
        """`text` with a name of ours for each address."""
        return self._pattern.sub(lambda found: self._called.setdefault(found[0], f"host-{len(self._called) + 1}"), text)

    def struct(self, value: S) -> S:
        """`value` with `text` of every text in it, but for the keys of dicts."""
        return msgspec.convert(self._plain(msgspec.to_builtins(value, builtin_types=(bytes,))), type(value))

    def _plain(self, value: Any) -> Any:
        match value:
            case str():
                return self.text(value)
            case list() | tuple():
                return [self._plain(each) for each in value]
            case dict():
                return {name: self._plain(each) for name, each in value.items()}
        return value
