"""The journal of deeds of this user, beside the recordings: an undo finds in it what was before, in any process."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from broker_core.decoding import from_json
from broker_core.errors import BrokerError, ErrorCode
from broker_core.files import private
from broker_core.guarded.deeds import Deed
from broker_core.guarded.offsets import OffsetsPlan


class DeedJournal:
    """Lines of JSON in `path`, which only its owner can read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, deed: Deed) -> None:
        """On the disk when this returns. Raises STORAGE_ERROR: then nothing may be done."""
        try:
            private.make_directory(self.path.parent)
            place = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            with open(place, "ab") as file:
                file.write(msgspec.json.encode(deed) + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise BrokerError(ErrorCode.STORAGE_ERROR, f"{self.path}: {error.strerror or error}") from error

    def read(self) -> list[Deed]:
        """The oldest first. A line that a crash has cut off is left out."""
        found = []
        for line in self.path.read_bytes().splitlines() if self.path.exists() else ():
            try:
                found.append(from_json(line, Deed))
            except msgspec.DecodeError:
                continue
        return found

    def last_reset(self, cluster: str, group: str) -> OffsetsPlan | None:
        """The plan of the last reset of a group that was done, or that may have been; None if there is none."""
        plans = (deed.plan for deed in reversed(self.read()) if deed.outcome in {"begun", "done"})
        resets = (plan for plan in plans if isinstance(plan, OffsetsPlan))
        return next((plan for plan in resets if (plan.cluster, plan.group) == (cluster, group)), None)
