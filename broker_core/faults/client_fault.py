from __future__ import annotations

import difflib
import re
from collections.abc import Collection
from functools import cache
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from broker_core.errors import ConfigError
from broker_core.faults.kafka_names import JOIN, KAFKA_APIS, KAFKA_ERRORS
from broker_core.plurals import counted
from broker_core.settings import NotNegative, Positive, Settings, TimeS, WaitMsNumber

Effect = Literal[
    "delay",
    "error",
    "drop",
    "lose_reply",
    "cut_reply",
    "throttle",
    "hold",
    "leader_change",
    "coordinator_change",
    "bandwidth",
    "slice",
]

#: What effects need besides, in the order in which it is typed.
NEEDS: dict[str, tuple[str, ...]] = {
    "error": ("error",),
    "delay": ("delay_ms",),
    "throttle": ("delay_ms",),
    "bandwidth": ("bytes_per_s",),
    "slice": ("slice_bytes", "delay_ms"),
}

_EFFECTS_WITH = {
    **{name: [each for each in NEEDS if name in NEEDS[each]] for names in NEEDS.values() for name in names},
    "jitter_ms": ["delay"],
}
Pattern = Annotated[str, Meta(max_length=249, description='A name, with "*" for any characters; "" is every one')]
_PIECES_PER_S = 20  # of a reply at a bandwidth
_WORDS: dict[str, str] = {
    "drop": "connection dropped",
    "lose_reply": "reply lost",
    "cut_reply": "reply cut in the middle",
    "hold": "held",
    "leader_change": "leader change told",
    "coordinator_change": "coordinator change told",
}
# What a broker answers that has just lost its part: which requests, and with which error of Kafka's.
_CHANGES: dict[str, tuple[frozenset[str], str]] = {
    "leader_change": (
        frozenset({"Produce", "Fetch", "ListOffsets", "OffsetForLeaderEpoch", "DeleteRecords"}),
        "NOT_LEADER_OR_FOLLOWER",
    ),
    "coordinator_change": (
        frozenset(
            {
                "JoinGroup",
                "SyncGroup",
                "Heartbeat",
                "LeaveGroup",
                "ConsumerGroupHeartbeat",
                "OffsetCommit",
                "OffsetFetch",
                "InitProducerId",
                "AddPartitionsToTxn",
                "AddOffsetsToTxn",
                "TxnOffsetCommit",
                "EndTxn",
            }
        ),
        "NOT_COORDINATOR",
    ),
}


class ClientRequest(msgspec.Struct, frozen=True):
    """A request as a listener knows it before serving it.

    `api` is Kafka's name of the API. A heartbeat by which a member joins (KIP-848) is a JoinGroup, too: `joins`.
    """

    client: str
    api: str
    group: str = ""
    topics: Collection[str] = ()
    joins: bool = False


class ClientFault(Settings, frozen=True, kw_only=True):
    """A fault with `effect` on requests that match all of `client`, `group`, `topic` and `api`.

    These four are names with `*` for any characters; "" matches every request. Of the matching requests, the first
    `skip` pass; then each `every`-th is affected, with `probability` as drawn by `seed`, at most `times` of them (None:
    no limit), for `for_s` seconds (None: until the fault is ended).

    - delay: served after `delay_ms`, give or take up to `jitter_ms`, as drawn by `seed`.
    - error: not served; the reply is `error`, one of Kafka's names.
    - drop: not served; the connection is closed.
    - lose_reply: served; the connection is closed instead of a reply, so that the client may retry.
    - cut_reply: served; the connection is closed after half of the reply.
    - throttle: served; the reply has `throttle_time_ms` = `delay_ms`, and the next request waits that long.
    - hold: served when the fault ends.
    - leader_change: what goes to the leader of a partition is not served; the reply is NOT_LEADER_OR_FOLLOWER.
    - coordinator_change: what goes to the coordinator of a group or transactional id is not served; the reply is
      NOT_COORDINATOR.
    - bandwidth: served after the time that its bytes take at `bytes_per_s`; its reply comes at that rate.
    - slice: served; the reply comes in pieces of `slice_bytes`, each after `delay_ms`.

    After a change of leader or coordinator clients look for the new one, which is this broker again. A consumer of
    librdkafka up to 2.16 that is told so while it asks for its offsets (OffsetFetch) does not ask again, and reads
    nothing until its next rebalance; that is its own (issue 5586), with Kafka, too.

    Raises INVALID_CONFIG.
    """

    effect: Effect
    client: Pattern = ""
    group: Pattern = ""
    topic: Pattern = ""
    api: Annotated[str, Meta(max_length=60, examples=["Produce"], description='Kafka\'s name; "" is every API')] = ""
    error: Annotated[str, Meta(max_length=60, examples=["NOT_LEADER_OR_FOLLOWER"])] = ""
    delay_ms: WaitMsNumber = 0
    jitter_ms: WaitMsNumber = 0
    bytes_per_s: NotNegative = 0
    slice_bytes: NotNegative = 0
    skip: NotNegative = 0
    every: Positive = 1
    probability: Annotated[float, Meta(ge=0, le=1)] = 1.0
    seed: NotNegative = 0
    times: Positive | None = None
    for_s: TimeS | None = None
    name: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, effects in _EFFECTS_WITH.items():
            if name in NEEDS.get(self.effect, ()) and not getattr(self, name):
                raise ConfigError(f"effect {self.effect} needs {name}")
            if getattr(self, name) and self.effect not in effects:
                raise ConfigError(f"{name} goes with effect {' or '.join(effects)} alone")
        if self.error and self.error not in KAFKA_ERRORS:
            raise ConfigError(f"error {self.error!r} is none of Kafka's; {_nearest(self.error, KAFKA_ERRORS)}")
        if self.api and not any(_fits(self.api, name) for name in KAFKA_APIS):
            raise ConfigError(f"api {self.api!r} is none of Kafka's here; {_nearest(self.api, KAFKA_APIS)}")

    @property
    def answer(self) -> str:
        """The error of Kafka's that affected requests are answered with; "" for none."""
        return _CHANGES[self.effect][1] if self.effect in _CHANGES else self.error

    def matches(self, request: ClientRequest) -> bool:
        if self.effect in _CHANGES and request.api not in _CHANGES[self.effect][0]:
            return False
        return (
            _fits(self.client, request.client)
            and _fits(self.group, request.group)
            and (_fits(self.api, request.api) or (request.joins and _fits(self.api, JOIN)))
            and (not self.topic or any(_fits(self.topic, topic) for topic in request.topics))
        )

    def late_s(self, request_bytes: int) -> float:
        if self.effect == "bandwidth":
            return request_bytes / self.bytes_per_s
        return self.delay_ms / 1_000 if self.effect == "delay" else 0

    def piece(self, rest_bytes: int) -> tuple[int, float]:
        """With effect bandwidth or slice: how much of a reply is sent next, and after how many seconds."""
        if self.effect == "slice":
            return self.slice_bytes, self.delay_ms / 1_000
        size_bytes = min(rest_bytes, max(1, self.bytes_per_s // _PIECES_PER_S))
        return size_bytes, size_bytes / self.bytes_per_s

    @property
    def what(self) -> str:
        if self.effect == "error":
            effect = self.error
        elif self.effect in {"delay", "throttle"}:
            effect = f"{self.effect} of {self.delay_ms:g} ms"
            effect += f", give or take {self.jitter_ms:g} ms" if self.jitter_ms else ""
        elif self.effect == "bandwidth":
            effect = f"at {self.bytes_per_s} bytes/s"
        elif self.effect == "slice":
            effect = f"reply in pieces of {counted(self.slice_bytes, 'byte')}, each after {self.delay_ms:g} ms"
        else:
            effect = _WORDS[self.effect]
        where = " ".join(
            part
            for part in (
                self.api or "every request",
                self.client and f"of {self.client}",
                self.topic and f"to {self.topic}",
                self.group and f"in {self.group}",
            )
            if part
        )
        often = "" if self.every == 1 else f", every {self.every}."
        often += "" if self.probability == 1 else f", {self.probability:.0%} of them"
        most = "" if self.times is None else f", {counted(self.times, 'time')}"
        return f"{effect}: {where}{often}{most}"


def _nearest(name: str, known: Collection[str]) -> str:
    close = difflib.get_close_matches(name, known, 1)
    return f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"


def _fits(pattern: str, name: str) -> bool:
    return not pattern or _compiled(pattern).fullmatch(name) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(re.escape(pattern).replace(r"\*", ".*"), re.DOTALL)
