"""Which hue and which letter a consumer has: the same everywhere, from its first sight to the end of the session."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from app.presenters.columns import Column, Row, Sizing
from app.sessions.collectors.hues import HueCollector
from broker_core.snapshots import Snapshot
from widgets.canvas.view import Party
from widgets.roles import Role


class Owners:
    """Hands out hue numbers and badge letters, first come first served, and never takes one back."""

    def __init__(self) -> None:
        self.attach(HueCollector())

    def attach(self, hues: HueCollector) -> None:
        """Another session begins, whose readers `hues` numbers: forget those of the session before."""
        self._numbers = hues.readers
        self._last: Snapshot | None = None

    def update(self, names: Iterable[str]) -> None:
        for name in names:
            if name:
                self._numbers.of(name)

    def update_all(self, snapshot: Snapshot) -> None:
        """Number the readers of a snapshot: actors in the order of the scenario, then members without an actor."""
        if snapshot is self._last:
            return
        self._last = snapshot
        self.update(actor.name for actor in snapshot.actors if actor.role != "producer")
        for group in snapshot.groups:
            self.update(member.client for member in group.members)

    def __contains__(self, name: str) -> bool:
        return name in self._numbers

    def hue(self, name: str) -> int:
        """The number of the owner's hue, from 0 without end (the theme takes it modulo its palette); -1 for ""."""
        return self._numbers.of(name) if name else -1

    def letter(self, name: str) -> str:
        number = self.hue(name)
        letters = ""
        while number >= 0:
            number, rest = divmod(number, 26)
            letters = chr(ord("A") + rest) + letters
            number -= 1
        return letters

    def party(self, name: str) -> Party:
        return Party(name, self.hue(name), self.letter(name))

    def owner_column(
        self,
        title: str,
        name: Callable[[Row], str],
        sizing: Sizing,
        *,
        nobody: str = "",
        known: bool = False,
        **more: Any,
    ) -> Column[Row]:
        """A column of owners with their hue and badge; `nobody` stands for "". With `known` not every name is one's."""

        def owner(row: Row) -> str:
            return found if (found := name(row)) in self or not known else ""

        roles: dict[int, Callable[[Row], object]] = {
            Role.HUE: lambda row: self.hue(found) if (found := owner(row)) else None,
            Role.BADGE: lambda row: self.letter(owner(row)) or None,
        }
        return Column(title, lambda row: name(row) or nobody, sizing, "chip", roles=roles, **more)
