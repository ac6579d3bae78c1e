"""Which hue each series of a plot has: that of its name, in the window and on every plot."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any


class Numbering:
    """Numbers of flows (topics, queues and groups) and of readers; names without a number get the next ones."""

    def __init__(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """`rows` of the table `hues`."""
        self._numbers: defaultdict[str, dict[str, int]] = defaultdict(dict)
        for row in rows:
            self._numbers[row["kind"]][row["name"]] = row["number"]

    def flow(self, name: str) -> int:
        """The number of a topic, queue or group."""
        return self._of("flow", name)

    def reader(self, name: str) -> int:
        """The number of a client that reads."""
        return self._of("reader", name)

    def _of(self, kind: str, name: str) -> int:
        known = self._numbers[kind]
        return known.setdefault(name, len(known))
