from __future__ import annotations

from broker_core.faults.client_fault import ClientFault
from broker_core.operations.entry import Entry
from broker_core.operations.fields import Name
from broker_core.operations.request import Request, Result
from broker_core.operations.rights import ADMIN, READ, Right


class FaultAnswer(Result, frozen=True, kw_only=True):
    """A fault that lasts; times in nanoseconds since the broker was opened. `what` is what it does, in words."""

    name: str
    what: str
    since_ns: int
    until_ns: int | None


class FaultsAnswer(Result, frozen=True, kw_only=True):
    faults: list[FaultAnswer]


class BeginFault(ClientFault, Request[FaultAnswer], frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which requests of Kafka's clients meet what. All of `client`, `group`, `topic` and `api` must match.

    The effects: "delay" by `delay_ms`; "error" answers with `error`, as NOT_LEADER_OR_FOLLOWER; "drop" closes the
    connection; "lose_reply" serves the request and closes the connection, "cut_reply" in the middle of the reply;
    "throttle" serves it and tells `delay_ms`; "hold" serves it when the fault ends; "leader_change" answers what goes
    to a partition's leader with NOT_LEADER_OR_FOLLOWER, "coordinator_change" what goes to a coordinator with
    NOT_COORDINATOR; "bandwidth" lets request and reply take as long as `bytes_per_s` says, "slice" sends the reply in
    pieces of `slice_bytes`, each after `delay_ms`. A delay varies by up to `jitter_ms`.
    """


class ListFaults(Request[FaultsAnswer], frozen=True, kw_only=True):
    """The faults that clients meet now."""


class EndFault(Request[None], frozen=True, kw_only=True):
    fault: Name


_TAG = "Faults"
_ADMIN = (Right(ADMIN, "broker"),)

ENTRIES = (
    Entry(
        BeginFault,
        "POST /v1/faults",
        "Let requests of Kafka's clients meet a fault",
        _TAG,
        _ADMIN,
        details="It lasts until it is ended, its time is over, or it was met as often as `times` says.",
        created=True,
        errors=(409,),
    ),
    Entry(ListFaults, "GET /v1/faults", "Faults that clients meet now", _TAG, (Right(READ, "broker"),)),
    Entry(
        EndFault,
        "DELETE /v1/faults/{fault}",
        "End a fault; requests that it holds are served",
        _TAG,
        _ADMIN,
        errors=(409,),
    ),
)
