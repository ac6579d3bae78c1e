"""Faults of a broker under test, each as a call and as a context manager."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from broker_core.engine.host import BrokerHost
from broker_core.errors import BrokerError, ErrorCode
from broker_core.faults.client_fault import Effect
from broker_core.files import BreakableFiles
from broker_core.flow.config import FlowConfig
from broker_core.operations.faults import BeginFault, EndFault
from broker_core.operations.groups import HoldMember, KickMember, ReleaseMember
from broker_core.settings import PositiveNumber, checked

if TYPE_CHECKING:
    from broker_core.testing.embedded_broker import EmbeddedBroker

# Without OffsetFetch: librdkafka 2.16 does not ask again when that is told NOT_COORDINATOR, and reads nothing from then
# on (its issue 5586).
_OF_COORDINATOR = ("JoinGroup", "SyncGroup", "Heartbeat", "ConsumerGroupHeartbeat", "OffsetCommit")
_OF_LEADER = ("Produce", "Fetch")


class ActiveFault:
    """A fault that has begun. It ends by `end`, at the end of a `with` block, or where its requests are used up."""

    def __init__(self, end: Callable[[], object]) -> None:
        self._end: Callable[[], object] | None = end

    def end(self) -> None:
        """End it; the second call does nothing."""
        end, self._end = self._end, None
        if end is not None:
            end()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()


class Faults:
    """What can go wrong with a broker and the requests of its Kafka clients.

    Which requests, by keyword: `client` (its client.id), `group`, `topic`, names with `*` for any characters. Of those
    that match, the first `skip` pass; then each `every`-th is affected, with `probability` as drawn by `seed`, at most
    `times` of them, for `for_s` seconds of the broker's time. The same requests are affected in each run.
    """

    def __init__(self, broker: EmbeddedBroker) -> None:
        self._broker = broker
        self._numbers = count(1)

    # -- of requests

    def error(self, api: str, error: str, **requests: Any) -> ActiveFault:
        """Requests of `api` ("Produce") are answered with `error` ("NOT_LEADER_OR_FOLLOWER"), and not served."""
        return self._begin("error", (api,), error=error, **requests)

    def delay(self, api: str, delay_ms: PositiveNumber, **requests: Any) -> ActiveFault:
        """Requests of `api` are served after `delay_ms` on the machine's clock."""
        return self._begin("delay", (api,), delay_ms=delay_ms, **requests)

    def drop(self, api: str, **requests: Any) -> ActiveFault:
        """Requests of `api` are not served; their connection is closed."""
        return self._begin("drop", (api,), **requests)

    def lose_reply(self, api: str, **requests: Any) -> ActiveFault:
        """Requests of `api` are served, and the connection is closed instead of a reply, so that clients retry."""
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
        """The leader of a partition moves: of Produce and Fetch, `times` each get NOT_LEADER_OR_FOLLOWER."""
        return self._begin("error", _OF_LEADER, error="NOT_LEADER_OR_FOLLOWER", topic=topic, times=times, **requests)

    def move_coordinator(self, group: str = "", *, times: int | None = 1, **requests: Any) -> ActiveFault:
        """The coordinator of a group moves: of each API of members, `times` requests get NOT_COORDINATOR."""
        return self._begin("error", _OF_COORDINATOR, error="NOT_COORDINATOR", group=group, times=times, **requests)

    def duplicate(self, topic: str = "", *, times: int | None = 1, **requests: Any) -> ActiveFault:
        """What a producer without idempotence publishes is stored twice: the reply is lost, and it publishes again."""
        return self._begin("lose_reply", ("Produce",), topic=topic, times=times, **requests)

    # -- of groups

    def kick(self, group: str, client: str = "") -> None:
        """Remove the members called `client`, or all, from `group`: their next request gets UNKNOWN_MEMBER_ID.

        They join again, and what they have not committed is delivered again. Raises UNKNOWN_MEMBER_ID.
        """
        for each in self._members(group, client):
            self._broker.host.ask(KickMember(group=group, client=each))

    def bench(self, group: str, client: str = "") -> ActiveFault:
        """Hold the members called `client`, or all, outside `group`; when it ends, they may join again.

        A program sees a rebalance that takes long. Raises UNKNOWN_MEMBER_ID.
        """
        host, members = self._broker.host, self._members(group, client)
        for each in members:
            host.ask(HoldMember(group=group, client=each))

        def release() -> None:
            for each in members:
                with _over_already():
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
        """`topic` takes no message until it ends: producers get THROTTLING_QUOTA_EXCEEDED.

        Kafka calls that retriable; librdkafka gives the message up.
        """
        admin = self._broker.admin
        before = admin.flow_config(topic)
        admin.configure_topic(topic, flow=FlowConfig(max_bytes=1, policy="reject"))
        return ActiveFault(lambda: admin.configure_topic(topic, flow=before or FlowConfig()))

    def full_disk(self) -> ActiveFault:
        """Nothing more can be written to the disk: publishing fails with KAFKA_STORAGE_ERROR. Needs a `durability`."""
        disk = self._disk()
        disk.full = True
        return ActiveFault(lambda: setattr(disk, "full", False))

    @checked
    def slow_disk(self, delay_ms: PositiveNumber) -> ActiveFault:
        """Each sync of the disk takes `delay_ms` longer, so that publishing does. Needs `durability="fsync"`."""
        disk = self._disk()
        durability = self._broker.host.config.log.durability
        if durability != "fsync":
            raise BrokerError(
                ErrorCode.INVALID_REQUEST,
                f'with the durability "{durability}" nobody waits for the disk; use durability="fsync"',
            )
        disk.sync_delay_s = delay_ms / 1_000
        return ActiveFault(lambda: setattr(disk, "sync_delay_s", 0.0))

    def crash(self) -> ActiveFault:
        """The broker is gone as by `kill -9`, until the fault ends; see `EmbeddedBroker.crash`."""
        self._broker.crash()
        return ActiveFault(self._broker.restart)

    # -- inside

    def _disk(self) -> BreakableFiles:
        disk = self._broker.disk
        if disk is None:
            raise BrokerError(
                ErrorCode.INVALID_REQUEST, 'a broker in memory has no disk; make it with durability="file" or "fsync"'
            )
        return disk

    def _begin(self, effect: Effect, apis: Iterable[str], **settings: Any) -> ActiveFault:
        host = self._broker.host
        names: list[str] = []
        try:
            for api in apis:
                # The name of a fault that is over may be given to another one.
                name = f"{effect}-{api}-{next(self._numbers)}"
                names.append(host.ask(BeginFault(effect=effect, api=api, name=name, **settings)).name)
        except BaseException:
            _end_all(host, names)
            raise
        return ActiveFault(lambda: _end_all(host, names))


def _end_all(host: BrokerHost, names: list[str]) -> None:
    for name in names:
        with _over_already():
            host.ask(EndFault(fault=name))


@contextlib.contextmanager
def _over_already() -> Iterator[None]:
    """Ignore that a fault is over: its requests or its time are used up, or the broker was restarted."""
    try:
        yield
    except BrokerError as error:
        if error.code not in {ErrorCode.INVALID_REQUEST, ErrorCode.CLOSED}:
            raise
