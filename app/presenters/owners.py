"""Which hue and which letter a consumer has: the same everywhere, from its first sight to the end of the session."""

from __future__ import annotations

from collections.abc import Iterable

from app.sessions.collectors.hues import HueCollector
from broker_core.snapshots import Snapshot


class Owners:
    """Hands out hue numbers and badge letters, first come first served, and never takes one back."""

    def __init__(self) -> None:
        self._numbers = HueCollector().readers
        self._met: Snapshot | None = None

    def follow(self, hues: HueCollector) -> None:
        """Another session begins, whose readers `hues` numbers: forget everybody."""
        self._numbers = hues.readers
        self._met = None

    def meet(self, names: Iterable[str]) -> None:
        """Give every new name the next number; "" is nobody and gets none."""
        for name in names:
            if name:
                self._numbers.of(name)

    def meet_all(self, snapshot: Snapshot) -> None:
        """Meet who reads in a snapshot: actors in the order of the scenario, then members that no actor stands for."""
        if snapshot is self._met:
            return
        self._met = snapshot
        self.meet(actor.name for actor in snapshot.actors if actor.role != "producer")
        for group in snapshot.groups:
            self.meet(member.client for member in group.members)

    def __contains__(self, name: str) -> bool:
        return name in self._numbers

    def hue(self, name: str) -> int:
        """The number of the owner's hue, from 0 without end (the theme takes it modulo its palette); -1 for ""."""
        return self._numbers.of(name) if name else -1

    def letter(self, name: str) -> str:
        """A, B, ... Z, AA, AB, ...; "" for nobody."""
        number = self.hue(name)
        letters = ""
        while number >= 0:
            number, rest = divmod(number, 26)
            letters = chr(ord("A") + rest) + letters
            number -= 1
        return letters
