from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, TypeVar

from broker_core.broker.access import StoredAccess
from broker_core.broker.backpressure import Backpressure
from broker_core.broker.catalog import Catalog
from broker_core.broker.cleaning import Cleaning
from broker_core.broker.conditions import Conditions
from broker_core.broker.corruption_report import CorruptionReport
from broker_core.broker.delivery_record import DeliveryRecord
from broker_core.broker.durability import Durability
from broker_core.broker.fetches import Fetches
from broker_core.broker.group_offsets import GroupOffsets
from broker_core.broker.held_members import HeldMembers
from broker_core.broker.logs import Logs
from broker_core.broker.publishing import Publishing
from broker_core.broker.queues import Queues
from broker_core.broker.recently_deleted import RecentlyDeleted
from broker_core.broker.redrive import Redrives
from broker_core.broker.schemas import Schemas
from broker_core.broker.session_clock import SessionClock
from broker_core.broker.share_groups import ShareGroups
from broker_core.broker.topic_redrives import TopicRedrives
from broker_core.broker.topics import Topics
from broker_core.broker.transaction_ports import TransactionPorts
from broker_core.broker.views import RecentEvents, Views
from broker_core.errors import ErrorCode, must
from broker_core.events import BROKER_CRASH, EventKind, EventStream
from broker_core.faults.client_faults import ClientFaults
from broker_core.files import FileSystem
from broker_core.groups.commits import Reads
from broker_core.groups.config import GroupConfig
from broker_core.groups.coordinator import GroupCoordinator
from broker_core.groups.offsets import OffsetStore
from broker_core.limits import UNDO_WINDOW_MS
from broker_core.log.config import LogConfig
from broker_core.log.growth import Growth
from broker_core.log.producers import ProducerIds
from broker_core.operations.observe import VerdictAnswer
from broker_core.operations.request import ADMIN_CLIENT, Request
from broker_core.replies import Reply
from broker_core.snapshots import MAX_LEASES, MAX_LETTERS, Snapshot
from broker_core.timers import Timers
from broker_core.transactions.coordinator import TransactionCoordinator

T = TypeVar("T")

#: `handler(broker, now_ns, request, client)` returns the result, or a reply that is settled with it.
Handlers = dict[type[Request[Any]], Callable[[Any, int, Any, str], Any]]


class Broker:
    """A monitor: calls come from one thread at a time, and what cannot be answered at once is a parked `Reply`."""

    def __init__(
        self,
        files: FileSystem,
        timers: Timers,
        events: EventStream,
        offsets: OffsetStore,
        *,
        handlers: Handlers,
        log_config: LogConfig,
        group_config: GroupConfig,
        epoch_ms: int,
        undo_window_ms: float = UNDO_WINDOW_MS,
    ) -> None:
        """`handlers` answer operations. `epoch_ms` is the Unix time of session time 0, for the timestamps on disk.

        What is deleted can be brought back for `undo_window_ms`; with 0 its files are removed at once.
        """
        self._handlers = handlers
        self._events = events
        self.recent = RecentEvents(events)
        self.producer_ids = ProducerIds()
        self.client_faults = ClientFaults(events, timers)
        self.recently_deleted = RecentlyDeleted(timers, undo_window_ms=undo_window_ms)
        self.corruption = CorruptionReport(events, lambda: offsets.corruption)
        logs = self.logs = Logs(files, self.recently_deleted, log_config, epoch_ms=epoch_ms)
        self.durability = Durability(files, logs, self.corruption.add)
        self.cleaning = Cleaning(logs, self.durability, self.corruption, events)
        self.delivery_record = DeliveryRecord(events, logs.partition, lambda: self.groups)  # which come later
        logs.on_removed(lambda topic: self.delivery_record.forget_topic(topic.name))
        self.fetches = Fetches(self.delivery_record, timers, logs.partition)
        self.growth = Growth(timers)
        logs.on_removed(lambda topic: self.growth.removed(topic.name))
        self.groups = GroupCoordinator(
            events,
            timers,
            offsets,
            Reads(
                end_offset=lambda topic, partition: logs.partition(topic, partition).end_offset,
                partitions_of=logs.partitions_there,
                topic_names=logs.plain_names,
                start_offset=logs.start_offset,
                markers_between=logs.markers_between,
                position=self.delivery_record.position,
                held=self.delivery_record.held,
                published_ns=logs.published_ns,
                on_new_generation=logs.make_room,
            ),
            group_config,
        )
        self.held = HeldMembers(self.groups, self.client_faults, events)
        self.offsets = GroupOffsets(logs, self.groups, self.delivery_record, offsets, events)
        self.transactions = TransactionCoordinator(
            events,
            timers,
            self.durability.states,
            TransactionPorts(logs, self.durability, self.offsets, self.fetches, self.growth, self.producer_ids),
            epoch_ms=epoch_ms,
        )
        self.backpressure = Backpressure(logs, self.groups, self.delivery_record, events, timers)
        self.schemas = Schemas(logs, events)
        self.topics = Topics(
            logs, self.schemas, self.backpressure, self.groups, self.offsets, self.recently_deleted, events
        )
        self.queues = Queues(
            logs, self.durability, self.backpressure, self.groups, self.recently_deleted, events, timers
        )
        self.publishing = Publishing(
            logs, self.schemas, self.durability, self.transactions.check_append, self.fetches, self.growth, events
        )
        self.share_groups = ShareGroups(logs, self.queues, self.publishing, self.groups.configs, events, timers)
        self.redrives = Redrives(logs, self.queues, self.schemas, self.publishing, self.durability, timers)
        self.topic_redrives = TopicRedrives(logs, self.publishing, self.offsets, self.schemas, timers, events)
        self.clock = SessionClock(timers, events, epoch_ms, self._heard_from_all, self._clean)
        self.access = StoredAccess(events)
        self.views = Views(logs, self.topics, self.queues, self.groups, self.delivery_record, self.recently_deleted)

        #: Adds to a snapshot what only the owner of the broker knows, such as the clients that it runs.
        self.complete: Callable[[Snapshot], Snapshot] = lambda snapshot: snapshot
        #: Answers AuditBroker at a time; None if events are not kept.
        self.auditor: Callable[[int], list[VerdictAnswer]] | None = None
        self.conditions = Conditions(self, events, timers)

    def handle(self, now_ns: int, request: Request[T], client: str = ADMIN_CLIENT) -> Reply[T]:
        """The reply to an operation of the catalogue, which `client` asks for; it may be settled later.

        Raises the errors of the call behind it, and INVALID_REQUEST for what only a listener answers.
        """
        handler = next((self._handlers[kind] for kind in type(request).__mro__ if kind in self._handlers), None)
        why_not = f"{type(request).__name__} can only be answered by a listener"
        found = must(handler, ErrorCode.INVALID_REQUEST, why_not)(self, now_ns, request, client)
        return found if isinstance(found, Reply) else Reply.of(found)

    def snapshot(self, now_ns: int, *, max_leases: int = MAX_LEASES, max_dead_letters: int = MAX_LETTERS) -> Snapshot:
        """The state, with at most so many leases and dead letters of each queue: by default as keyframes have it."""
        views = self.views
        return self.complete(
            Snapshot(
                time_ns=now_ns,
                events=self._events.count,
                topics=tuple(views.topic(now_ns, name) for name in self.topics.names()),
                groups=self.groups.views(now_ns),
                queues=tuple(views.queue(now_ns, name, max_leases, max_dead_letters) for name in self.queues.names()),
                actors=self.held.views(),
                rebalances=tuple(self.groups.history.views),
                totals=views.totals(),
                faults=tuple(self.client_faults.views().values()),
                transactions=self.transactions.views(),
                acls=self.access.acls.all,
                quotas=self.access.quotas.all,
                users=tuple(credential.user for credential in self.access.credentials.all),
            )
        )

    def catalog(self) -> Catalog:
        return Catalog(
            topics=self.topics.entries(),
            queues=self.queues.entries(),
            subscriptions=self.queues.subscription_entries(),
            producers=self.producer_ids.state(),
            schemas=self.schemas.registry.state(),
            share_groups=self.share_groups.entries(),
            acls=self.access.acls.all,
            scram_credentials=self.access.credentials.all,
            client_quotas=self.access.quotas.all,
        )

    def restore(self, now_ns: int, catalog: Catalog) -> None:
        self.schemas.restore(catalog.schemas)
        for topic in catalog.topics:
            self.topics.restore(now_ns, topic)
        for queue in catalog.queues:
            self.queues.restore(now_ns, queue)
            self.schemas.apply(self.logs.topic(queue.name), queue.schema)
        for subscription in catalog.subscriptions:
            self.queues.restore_subscription(now_ns, subscription)
        for group in catalog.share_groups:
            self.share_groups.restore(group)
        self.access.restore(*catalog.acls, *catalog.scram_credentials, *catalog.client_quotas)
        self.producer_ids.restore(catalog.producers)
        self.transactions.restore()
        self.groups.restore(now_ns)

    def _heard_from_all(self, now_ns: int) -> None:
        self.groups.heard_from_all(now_ns)
        self.share_groups.heard_from_all(now_ns)

    def _clean(self, now_ns: int) -> None:
        """Do all that is due after the clock was moved, and compactions to their end."""
        self.cleaning.clean(now_ns)
        while self.cleaning.compact(now_ns):
            pass
        self.transactions.expire(now_ns)

    def crashed(self, now_ns: int) -> None:
        """The process dies: say who was in a group. The last call."""
        self._events.emit(now_ns, EventKind.FAULT, cause="the broker crashed", detail={"fault": BROKER_CRASH})
        for group in self.groups.groups():
            for member_id, client in self.groups.clients(group).items():
                self._events.emit(
                    now_ns,
                    EventKind.MEMBER_LEFT,
                    group=group,
                    client=client,
                    cause="the broker crashed",
                    detail={"member_id": member_id},
                )

    def close(self) -> None:
        with contextlib.ExitStack() as steps:  # every step runs, the last one first
            steps.callback(self.durability.close)
            steps.callback(self.logs.close)
            steps.callback(self.recently_deleted.close)
            steps.callback(self.offsets.store.close)
