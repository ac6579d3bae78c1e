"""What a connection has been found to be allowed to."""

from __future__ import annotations

from broker_core.listeners.access.access import Access, Kind, Operation, Principal

_MOST_DECISIONS = 1_000


class Permissions:
    """Decisions of the access rules, remembered: they are asked for with every request."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._decided: dict[tuple[str, Operation, Kind, str], bool] = {}

    def check(self, principal: Principal, operation: Operation, kind: Kind, name: str) -> None:
        """Raises FORBIDDEN."""
        key = (principal.name, operation, kind, name)
        allowed = self._decided.get(key)
        if allowed is None:
            if len(self._decided) >= _MOST_DECISIONS:
                self._decided.clear()
            allowed = self._decided[key] = self._access.allows(principal, operation, kind, name)
        if not allowed:
            self._access.check(principal, operation, kind, name)
