from __future__ import annotations

import shlex
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from spark_reports.page import text
from spark_reports.session import is_remote


class Moment(NamedTuple):
    """`words` are read; `command` opens the workbench there, typed in a terminal; `link` says the same to a program."""

    words: str
    command: str
    link: str


class Moments:
    def __init__(self, location: str) -> None:
        self._place = location if is_remote(location) else str(Path(location).absolute())

    def at(self, time_ns: int | None) -> Moment | None:
        """The moment `time_ns` of session time; None for none."""
        if time_ns is None:
            return None
        seconds = f"{time_ns / 1e9:.3f}".rstrip("0").removesuffix(".") if time_ns % 10**9 else f"{time_ns // 10**9}.0"
        return Moment(
            text.clock(time_ns),
            f"python main.py open {shlex.quote(self._place)} --at {seconds}",
            f"brokerscope:{quote(self._place)}?at={seconds}",
        )
