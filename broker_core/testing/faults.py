from __future__ import annotations

import difflib
import fnmatch
import warnings
from collections.abc import Callable, Collection, Mapping
from functools import partial
from itertools import count
from types import TracebackType
from typing import Any, Protocol, Self

import msgspec

from broker_core.clients.admin import Admin
from broker_core.engine.broker_host import BrokerHost
from broker_core.errors import BrokerError, ErrorCode, Suppress, must
from broker_core.faults.client_faults import ClientFault, ClientRequest, Effect, Substitute
from broker_core.faults.kafka_names import MOVED_COORDINATOR
from broker_core.files import BreakableFiles
from broker_core.listeners.connections import Connections
from broker_core.operations.faults import BeginFault, EndFault
from broker_core.operations.groups import HoldMember, KickMember, ReleaseMember
from broker_core.operations.request import check
from broker_core.settings import Positive, PositiveNumber, TimeMsOrZero, checked


class FaultNotMetError(AssertionError):
    """A fault that had to be met has affected no request; the text says what there was."""


class FaultNotMetWarning(UserWarning):
    """A fault of a test has affected no request."""


class ActiveFault:
    """A fault that has begun. It ends by `end`, at the end of a `with` block, or if its requests are used up.

    With `must_fire`, its end raises FaultNotMetError unless it has affected a request. At the end of a test there is a
    FaultNotMetWarning for any other fault that has affected none.
    """

    def __init__(
        self,
        end: Callable[[], object],
        hits: Callable[[], int] | None = None,
        *,
        must_fire: bool = False,
        why_not: Callable[[], str] = str,
    ) -> None:
        self._end: Callable[[], object] | None = end
        self._hits, self._must_fire, self._why_not = hits, must_fire, why_not

    @property
    def hits(self) -> int | None:
        """How many requests it has affected; None for a fault that is not one of requests."""
        return None if self._hits is None else self._hits()

    def end(self) -> None:
        """End it; the second call does nothing."""
        if self._finish() and self._must_fire and not self.hits:
            raise FaultNotMetError(self._why_not())

    def _finish(self) -> bool:
        """Whether it had not ended."""
        end, self._end = self._end, None
        if end is not None:
            end()
        return end is not None

    def told(self) -> str:
        """That it has affected nothing, in words, "" if it has; for the end of a test."""
        return self._why_not() if self.hits == 0 else ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.end()
        else:
            self._finish()


# Of a fault that is over: its requests or its time are used up, or the broker was restarted.
_OVER_ALREADY = Suppress(ErrorCode.UNKNOWN_FAULT, ErrorCode.CLOSED)


class Breakable(Protocol):
    """A broker that can be broken, as `EmbeddedBroker`."""

    host: BrokerHost
    admin: Admin
    connections: Connections
    disk: BreakableFiles | None  # None in memory

    def crash(self) -> None: ...
    def restart(self) -> None: ...


class Faults:
    """Faults of a broker and of the requests of its Kafka clients.

    Keywords select the requests: `client` (its client.id), `group` and `topic`; `*` in a name stands for any
    characters. Of the matching requests, the first `skip` pass; then every `every`-th is affected, with `probability`
    drawn from `seed`, at most `times` of them, for `for_s` seconds of the broker's time. Every run affects the same
    requests. With `must_fire`, FaultNotMetError is raised if the fault ends without having affected any request.
    """

    def __init__(self, broker: Breakable) -> None:
        self._broker = broker
        self._numbers = count(1)
        #: Those that requests can meet.
        self.begun: list[ActiveFault] = []

    # -- of requests

    def error(self, api: str, error: str, **requests: Any) -> ActiveFault:
        """Requests of `api` ("Produce") are answered with `error` ("NOT_LEADER_OR_FOLLOWER"), and not served."""
        return self._begin("error", (api,), error=error, **requests)

    def answer(self, api: str, callback: Callable[[ClientRequest], str | None], **requests: Any) -> ActiveFault:
        """`callback(request)` decides what happens to requests of `api`: it returns the name of an error, "drop", or
        None to serve them.

        `request` has `client`, `api`, `group` and `topics`. The callback must neither wait nor ask the broker.
        """

        def substitute(request: ClientRequest, fault: ClientFault) -> ClientFault | None:
            word = callback(request)
            if word is None:
                return None
            effect: Effect = "drop" if word == "drop" else "error"
            return msgspec.structs.replace(fault, effect=effect, error="" if effect == "drop" else word)

        return self._begin("drop", (api,), substitute=substitute, what=f"answered by the test: {api}", **requests)

    def delay(self, api: str, delay_ms: PositiveNumber, *, jitter_ms: TimeMsOrZero = 0, **requests: Any) -> ActiveFault:
        """Requests of `api` are served after `delay_ms`, give or take `jitter_ms`, on the machine's clock."""
        return self._begin("delay", (api,), delay_ms=delay_ms, jitter_ms=jitter_ms, **requests)

    def bandwidth(self, api: str, bytes_per_s: Positive, **requests: Any) -> ActiveFault:
        """Requests of `api` and their replies take as long as on a line with `bytes_per_s`, per connection."""
        return self._begin("bandwidth", (api,), bytes_per_s=bytes_per_s, **requests)

    def slice(self, api: str, slice_bytes: Positive, delay_ms: PositiveNumber, **requests: Any) -> ActiveFault:
        """Replies to requests of `api` come in pieces of `slice_bytes`, each after `delay_ms`."""
        return self._begin("slice", (api,), slice_bytes=slice_bytes, delay_ms=delay_ms, **requests)

    def drop(self, api: str, **requests: Any) -> ActiveFault:
        """Requests of `api` are not served; their connection is closed."""
        return self._begin("drop", (api,), **requests)

    def lose_reply(self, api: str, **requests: Any) -> ActiveFault:
        """Requests of `api` are served, but the connection is closed instead of sending the reply, so clients retry."""
        return self._begin("lose_reply", (api,), **requests)

    def cut_reply(self, api: str, **requests: Any) -> ActiveFault:
        """Requests of `api` are served, and the connection is closed in the middle of the reply."""
        return self._begin("cut_reply", (api,), **requests)

    def throttle(self, api: str, delay_ms: PositiveNumber, **requests: Any) -> ActiveFault:
        """Replies to requests of `api` tell the client to wait for `delay_ms`, as a quota does."""
        return self._begin("throttle", (api,), delay_ms=delay_ms, **requests)

    def hold(self, api: str, **requests: Any) -> ActiveFault:
        """Requests of `api` are served when the fault ends."""
        return self._begin("hold", (api,), **requests)

    def move_leader(self, topic: str = "", *, times: int | None = 1, **requests: Any) -> ActiveFault:
        """The leader of a partition moves: `times` requests each of Produce and Fetch get NOT_LEADER_OR_FOLLOWER."""
        return self._begin(
            "error", ("Produce", "Fetch"), error="NOT_LEADER_OR_FOLLOWER", topic=topic, times=times, **requests
        )

    def move_coordinator(self, group: str = "", *, times: int | None = 1, **requests: Any) -> ActiveFault:
        """The coordinator of a group moves: for each API that members use, `times` requests get NOT_COORDINATOR."""
        return self._begin("error", MOVED_COORDINATOR, error="NOT_COORDINATOR", group=group, times=times, **requests)

    def duplicate(self, topic: str = "", *, times: int | None = 1, **requests: Any) -> ActiveFault:
        """Messages from a producer without idempotence are stored twice: the reply is lost, and it publishes again."""
        return self._begin("lose_reply", ("Produce",), topic=topic, times=times, **requests)

    def begin(self, fault: BeginFault, *, must_fire: bool = False) -> ActiveFault:
        """Begin a fault in the form that `POST /v1/faults` takes."""
        settings = msgspec.structs.asdict(fault)
        return self._begin(settings.pop("effect"), (settings.pop("api"),), must_fire=must_fire, **settings)

    # -- of groups

    def kick(self, group: str, client: str = "") -> None:
        """Remove the members called `client`, or all members, from `group`: their next request gets UNKNOWN_MEMBER_ID.

        They join again, and what they have not committed is delivered again. Raises UNKNOWN_MEMBER_ID.
        """
        for each in self._members(group, client):
            self._broker.host.ask(KickMember(group=group, client=each))

    def bench(self, group: str, client: str = "") -> ActiveFault:
        """Keep the members called `client`, or all members, out of `group`; when the fault ends, they may rejoin.

        A program sees a rebalance that takes long. Until its next heartbeat tells it, it reads on, as with Kafka, which
        turns away commits of who is no member, not fetches. Raises UNKNOWN_MEMBER_ID.
        """
        host, members = self._broker.host, self._members(group, client)
        for each in members:
            host.ask(HoldMember(group=group, client=each))

        def release() -> None:
            for each in members:
                with _OVER_ALREADY:
                    host.ask(ReleaseMember(group=group, client=each))

        return ActiveFault(release)

    def _members(self, group: str, client: str) -> list[str]:
        there = [member.client for member in self._broker.admin.describe_group(group).members]
        found = [name for name in there if client in {"", name, name.partition("#")[0]}]
        if not found:
            known = ", ".join(there) or "nobody"
            raise BrokerError(
                ErrorCode.UNKNOWN_MEMBER_ID, f"group {group} has no member {client or 'at all'}; in it is {known}"
            )
        return found

    # -- of topics, the disk and the broker

    def full_topic(self, topic: str) -> ActiveFault:
        """`topic` accepts no messages until the fault ends: producers get THROTTLING_QUOTA_EXCEEDED.

        Kafka calls that retriable; librdkafka gives the message up.
        """
        broker = self._broker.host.broker
        found = self._broker.host.call(lambda _now: broker.logs.topic(topic))

        def fill(full: bool) -> None:
            self._broker.host.call(lambda now_ns: broker.backpressure.fill(now_ns, found, full=full))

        def end() -> None:
            with _OVER_ALREADY:
                fill(full=False)

        fill(full=True)
        return ActiveFault(end)

    def full_disk(self) -> ActiveFault:
        """Nothing more can be written to the disk: publishing fails with KAFKA_STORAGE_ERROR. Needs a `durability`."""
        disk = self._disk()
        disk.full = True
        return ActiveFault(lambda: setattr(disk, "full", False))

    @checked
    def slow_disk(self, delay_ms: PositiveNumber) -> ActiveFault:
        """Each disk sync takes `delay_ms` longer, and so does publishing. Needs `durability="fsync"`."""
        disk = self._disk()
        durability = self._broker.host.config.log.durability
        if durability != "fsync":
            raise BrokerError(
                ErrorCode.INVALID_REQUEST,
                f'with durability "{durability}", nobody waits for the disk; use durability="fsync"',
            )
        disk.sync_delay_s = delay_ms / 1_000
        return ActiveFault(lambda: setattr(disk, "sync_delay_s", 0.0))

    def crash(self) -> ActiveFault:
        """The broker is down as after `kill -9`, until the fault ends; see `EmbeddedBroker.crash`."""
        self._broker.crash()
        return ActiveFault(self._broker.restart)

    # -- inside

    def _disk(self) -> BreakableFiles:
        about = 'a broker in memory has no disk; create it with durability="file" or "fsync"'
        return must(self._broker.disk, ErrorCode.INVALID_REQUEST, about)

    def _begin(
        self,
        effect: Effect,
        apis: Collection[str],
        *,
        must_fire: bool = False,
        substitute: Substitute | None = None,
        what: str = "",
        **settings: Any,
    ) -> ActiveFault:
        host = self._broker.host
        faults, begun = host.broker.client_faults, list[ClientFault]()
        given = settings.pop("name", "")
        try:
            for api in apis:
                own = f"{given or effect}-{api.replace('*', '') or 'all'}-{next(self._numbers)}"
                name = given if given and len(apis) == 1 else own
                request = BeginFault(**{"effect": effect, "api": api, **settings, "name": name})
                check(request)
                begun.append(host.call(partial(faults.begin, fault=request, substitute=substitute, what=what)))
        except BaseException:
            _end_all(host, begun)
            raise
        what = what or begun[0].what
        fault = ActiveFault(
            lambda: _end_all(host, begun),
            lambda: sum(faults.met(each.name) for each in begun),
            must_fire=must_fire,
            why_not=lambda: f"no request has met the fault {what!r}{self._nearest(settings)}",
        )
        self.begun.append(fault)
        return fault

    def _nearest(self, asked: Mapping[str, Any]) -> str:
        """Names the existing topics, clients or groups most similar to the one requested; "" if the broker is down."""
        broker = self._broker
        there: dict[str, Collection[str]] = {}
        with _OVER_ALREADY:
            there["topic"] = broker.admin.topics()
            there["group"] = broker.admin.groups()
            there["client"] = dict.fromkeys(view.client for view in broker.connections.views())
        for kind, names in there.items():
            wanted = str(asked.get(kind, ""))
            if wanted and not fnmatch.filter(names, wanted):
                close = difflib.get_close_matches(wanted, names, 1)
                others = f"did you mean {close[0]}?" if close else f"there is {', '.join(names) or 'none'}"
                return f": there is no {kind} {wanted}; {others}"
        return ""


def warn_of_unmet(faults: list[ActiveFault]) -> None:
    """Warn of those that no request has met, at the end of a test, and forget all."""
    for fault in faults:
        if told := fault.told():
            warnings.warn(told, FaultNotMetWarning, stacklevel=2)
    faults.clear()


def _end_all(host: BrokerHost, begun: list[ClientFault]) -> None:
    for each in begun:
        with _OVER_ALREADY:
            if host.broker.client_faults.fault(each.name) is each:  # another one may have its name when it is over
                host.ask(EndFault(fault=each.name))
