from __future__ import annotations

from broker_core.faults.client_faults import ClientFault
from broker_core.operations.entry import ADMIN, READ, Entry, Right, declaring
from broker_core.operations.fields import Name
from broker_core.operations.request import Request, Result


class FaultAnswer(Result, frozen=True, kw_only=True):
    """A fault that lasts; times in nanoseconds since the broker was opened. `what` is what it does, in words."""

    name: str
    what: str
    since_ns: int
    until_ns: int | None


ENTRIES: list[Entry] = []
_TAG = "Faults"
_ADMIN = (Right(ADMIN, "broker"),)
_entry = declaring(ENTRIES, tag=_TAG)


@_entry(
    "POST /v1/faults",
    "Begin a fault for requests of Kafka clients",
    rights=_ADMIN,
    details="It lasts until it is ended, its time is up, or it has affected `times` requests.",
    created=True,
    errors=(409,),
)
class BeginFault(ClientFault, Request[FaultAnswer], frozen=True, kw_only=True, forbid_unknown_fields=True):
    __doc__ = ClientFault.__doc__


@_entry("GET /v1/faults", "List the active faults", rights=(Right(READ, "broker"),))
class ListFaults(Request[list[FaultAnswer]], frozen=True, kw_only=True):
    """The faults that clients meet now."""


@_entry("DELETE /v1/faults/{fault}", "End a fault; requests that it holds are served", rights=_ADMIN)
class EndFault(Request[None], frozen=True, kw_only=True):
    fault: Name
