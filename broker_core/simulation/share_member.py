from __future__ import annotations

import contextlib

from broker_core.broker.share_groups import JOINING, LEAVING
from broker_core.clock import ns_from_ms
from broker_core.errors import BrokerError
from broker_core.simulation.specs import ShareGroupSpec
from broker_core.simulation.worker import SubscriberActor
from broker_core.timers import Timer


class ShareMemberActor(SubscriberActor):
    """Takes messages of all partitions of its topics, one at a time, each on a lock; and says that it is there.

    Who crashes is a member until its session times out; its message is delivered to another when the lock expires.
    """

    def __init__(self, spec: ShareGroupSpec, name: str) -> None:
        super().__init__(spec, name)
        self.share_group = spec
        self._epoch = JOINING
        self._heartbeat: Timer | None = None

    def start(self) -> None:
        self._epoch = JOINING
        self._beat(self.loop.now_ns)
        super().start()

    def crash(self) -> None:
        super().crash()
        self._stop_heartbeat()

    def retire(self) -> None:
        super().retire()
        self._stop_heartbeat()
        # Its session may have timed out.
        with contextlib.suppress(BrokerError):
            self._say(self.loop.now_ns, LEAVING)

    def _beat(self, now_ns: int) -> None:
        if not self.paused:
            try:
                self._epoch = self._say(now_ns, self._epoch)
            except BrokerError:
                # It stood still for longer than its session lasts: it joins again.
                self._epoch = self._say(now_ns, JOINING)
        due_ns = now_ns + ns_from_ms(self.share_group.heartbeat_interval_ms)
        self._heartbeat = self.loop.timers.at(due_ns, self._beat)

    def _say(self, now_ns: int, epoch: int) -> int:
        spec = self.share_group
        told = self.broker.share_groups.heartbeat(now_ns, spec.name, self.name, epoch, self.name, spec.topics)
        return told.epoch

    def _stop_heartbeat(self) -> None:
        if self._heartbeat is not None:
            self._heartbeat.cancel()
            self._heartbeat = None
