"""The membership of a consumer in the consumer group protocol (KIP-848): heartbeats, and what their replies assign."""

from __future__ import annotations

import contextlib

from broker_core.clients.membership import Membership
from broker_core.clock import ns_from_ms
from broker_core.errors import BrokerError, ErrorCode
from broker_core.groups.consumer_member import JOINING, LEAVING, LEAVING_FOR_A_WHILE, ConsumerHeartbeat
from broker_core.groups.protocol import TopicPartition


class ReconcilingMembership(Membership):
    """A member to which the broker assigns. `generation` is its member epoch; the broker sets the heartbeat interval.

    A static member has its instance id as member id, so that it comes back as itself.
    """

    _interval_ms = 0

    async def join(self, topics: tuple[str, ...], owned: tuple[TopicPartition, ...]) -> tuple[TopicPartition, ...]:
        """Join, or say what it reads now. Returns its assignment, without what it is to give up."""
        joins = not self.member_id or self.generation <= JOINING
        if not self.member_id:
            self.member_id = self._config.instance_id or f"{self._client_id}-{self._loop.now_ns}"
        result = self._broker.groups.consumer_heartbeat(
            self._loop.now_ns,
            self._group,
            ConsumerHeartbeat(
                client_id=self._client_id,
                member_id=self.member_id,
                member_epoch=JOINING if joins else self.generation,
                instance_id=self._config.instance_id,
                rebalance_timeout_ms=round(self._config.rebalance_timeout_ms),
                topics=topics,
                owned=() if joins else owned,
            ),
        )
        self.generation, self._interval_ms = result.member_epoch, result.heartbeat_interval_ms
        assert result.assignment is not None  # it has named its topics
        return result.assignment

    def polled(self) -> None:
        """The broker knows no limit between two polls in this protocol."""

    def forget(self, *, keep_id: bool = False) -> None:
        """Join anew with the next heartbeat, under the same id with `keep_id`."""
        super().forget(keep_id=keep_id)
        self.generation = JOINING

    def start_heartbeat(self) -> None:
        """Send a heartbeat every interval."""
        due_ns = self._loop.now_ns + ns_from_ms(self._interval_ms)
        self._heartbeat = self._loop.timers.at(due_ns, self._beat)

    def _beat(self, now_ns: int) -> None:
        self.start_heartbeat()
        if self.muted:
            return
        try:
            result = self._broker.groups.consumer_heartbeat(
                now_ns,
                self._group,
                ConsumerHeartbeat(client_id=self._client_id, member_id=self.member_id, member_epoch=self.generation),
            )
        except BrokerError as error:
            self._moved_on(error)
            return
        self.generation = result.member_epoch
        if result.assignment is not None:
            self._moved_on(BrokerError(ErrorCode.REBALANCE_IN_PROGRESS, f"{self._client_id} has a new assignment"))

    def _leave(self, member_id: str, cause: str) -> None:
        epoch = LEAVING_FOR_A_WHILE if self._config.instance_id else LEAVING
        said = ConsumerHeartbeat(
            client_id=self._client_id, member_id=member_id, member_epoch=epoch, instance_id=self._config.instance_id
        )
        # The group may have removed it already.
        with contextlib.suppress(BrokerError):
            self._broker.groups.consumer_heartbeat(self._loop.now_ns, self._group, said)
