from __future__ import annotations

from typing import Any

import msgspec

from broker_core.access import ROW_TYPES, AccessTable, Acl, Acls, ClientQuota, ScramCredential
from broker_core.events import EventStream
from broker_core.flow.client_quotas import ClientQuotas

Row = Acl | ClientQuota | ScramCredential


class Access:
    """The ACLs, quotas and SCRAM users of a broker. The event of a change has the row in its detail, without keys."""

    def __init__(self, events: EventStream) -> None:
        self.acls = Acls()
        self.quotas = ClientQuotas()
        self.credentials: AccessTable[ScramCredential] = AccessTable()
        self._stores: dict[type, Any] = {Acl: self.acls, ClientQuota: self.quotas, ScramCredential: self.credentials}
        self._events = events

    def restore(self, *rows: Row) -> None:
        """`put` without events."""
        for row in rows:
            self._stores[type(row)].put(row)

    def put(self, now_ns: int, row: Row, client: str) -> None:
        self.restore(row)
        self._tell(now_ns, row, client, removed=False)

    def remove(self, now_ns: int, row: Row, client: str) -> None:
        self._stores[type(row)].remove(row)
        self._tell(now_ns, row, client, removed=True)

    def _tell(self, now_ns: int, row: Row, client: str, *, removed: bool) -> None:
        shown = row.user if isinstance(row, ScramCredential) else row
        word = next(word for word, kind in ROW_TYPES.items() if kind is type(shown))
        detail = {"access": word, "removed": removed, "row": msgspec.to_builtins(shown)}
        self._events.emit_action(now_ns, client=client, cause=shown.told(removed), detail=detail)
