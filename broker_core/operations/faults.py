"""Faults that clients from outside meet."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from broker_core.faults.client_fault import ClientFault, Effect
from broker_core.operations.entry import Entry
from broker_core.operations.fields import Name, Positive, WaitMs
from broker_core.operations.request import Request, Result
from broker_core.operations.rights import ADMIN, READ, Right

Pattern = Annotated[str, Meta(max_length=249, description='A name, with "*" for any characters; "" is every one')]


class FaultAnswer(Result, frozen=True, kw_only=True):
    """A fault that lasts; times in nanoseconds since the broker was opened. `what` is what it does, in words."""

    name: str
    what: str
    since_ns: int
    until_ns: int | None


class FaultsAnswer(Result, frozen=True, kw_only=True):
    """In the order in which they began."""

    faults: list[FaultAnswer]


class BeginFault(Request[FaultAnswer], frozen=True, kw_only=True):
    """Which requests of Kafka's clients meet what. All of `client`, `group`, `topic` and `api` must match.

    The effects: "delay" by `delay_ms`; "error" answers with `error`, as NOT_LEADER_OR_FOLLOWER; "drop" closes the
    connection; "lose_reply" serves the request and closes the connection, "cut_reply" in the middle of the reply;
    "throttle" serves it and tells `delay_ms`; "hold" serves it when the fault ends; "leader_change" answers what goes
    to a partition's leader with NOT_LEADER_OR_FOLLOWER, "coordinator_change" what goes to a coordinator with
    NOT_COORDINATOR; "bandwidth" lets request and reply take as long as `bytes_per_s` says, "slice" sends the reply in
    pieces of `slice_bytes`, each after `delay_ms`. A delay varies by up to `jitter_ms`.
    """

    effect: Effect
    client: Pattern = ""
    group: Pattern = ""
    topic: Pattern = ""
    api: Annotated[str, Meta(max_length=60, examples=["Produce"], description='Kafka\'s name; "" is every API')] = ""
    error: Annotated[str, Meta(max_length=60, examples=["NOT_LEADER_OR_FOLLOWER"])] = ""
    delay_ms: WaitMs | None = None
    jitter_ms: WaitMs | None = None
    bytes_per_s: Positive | None = None
    slice_bytes: Positive | None = None
    skip: Annotated[int, Meta(ge=0, le=1 << 53)] = 0
    every: Positive = 1
    probability: Annotated[float, Meta(ge=0, le=1)] = 1.0
    seed: Annotated[int, Meta(ge=0, le=1 << 53)] = 0
    times: Positive | None = None
    for_s: Annotated[float, Meta(gt=0, le=1e9)] | None = None
    name: Name | None = None

    def fault(self) -> ClientFault:
        """Raises INVALID_CONFIG for what does not go together."""
        return ClientFault(
            effect=self.effect,
            client=self.client,
            group=self.group,
            topic=self.topic,
            api=self.api,
            error=self.error,
            delay_ms=self.delay_ms or 0,
            jitter_ms=self.jitter_ms or 0,
            bytes_per_s=self.bytes_per_s or 0,
            slice_bytes=self.slice_bytes or 0,
            skip=self.skip,
            every=self.every,
            probability=self.probability,
            seed=self.seed,
            times=self.times,
            for_s=self.for_s,
            name=self.name or "",
        )


class ListFaults(Request[FaultsAnswer], frozen=True, kw_only=True):
    """The faults that clients meet now."""


class EndFault(Request[None], frozen=True, kw_only=True):
    """A fault that lasts."""

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
