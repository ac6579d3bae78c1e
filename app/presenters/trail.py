"""What the inspector has shown, to go back to and forward again."""

from __future__ import annotations

MOST = 200


class Trail:
    """Ids in the order in which they were visited, as in a browser: a visit forgets what lay ahead."""

    def __init__(self) -> None:
        self._ids: list[str] = []
        self._at = -1

    def visit(self, thing: str) -> None:
        """`thing` is looked at; "" (nothing) and what is shown already leave no trace."""
        if not thing or thing == self.here:
            return
        del self._ids[self._at + 1 :]
        self._ids.append(thing)
        del self._ids[:-MOST]
        self._at = len(self._ids) - 1

    def forget(self) -> None:
        """Another session begins."""
        self._ids, self._at = [], -1

    @property
    def here(self) -> str:
        """What is looked at."""
        return self._ids[self._at] if self._at >= 0 else ""

    @property
    def has_back(self) -> bool:
        """Whether there is something before."""
        return self._at > 0

    @property
    def has_forward(self) -> bool:
        """Whether there is something after."""
        return self._at + 1 < len(self._ids)

    def back(self) -> str:
        """One back, as far as there is one; what is looked at then."""
        self._at -= self.has_back
        return self.here

    def forward(self) -> str:
        """One forward, as far as there is one; what is looked at then."""
        self._at += self.has_forward
        return self.here
