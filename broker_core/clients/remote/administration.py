"""The half of the remote face that changes what there is and looks at it. All of it waits for the broker."""

from __future__ import annotations

from typing import Any

from broker_core.broker.views import SlowReader
from broker_core.clients.remote.known_topics import KnownTopics
from broker_core.clients.remote.link import Link
from broker_core.clients.remote.registry import RemoteRegistry
from broker_core.errors import BrokerError
from broker_core.flow.config import FlowConfig
from broker_core.log.config import LogConfig
from broker_core.log.partitioners import PartitionerKind
from broker_core.queues.config import QueueConfig
from broker_core.queues.subscription import BacklogPolicy
from broker_core.schemas.compatibility import Compatibility, SchemaKind
from broker_core.schemas.registry import SchemaVersion
from broker_core.schemas.rule import SchemaRule
from broker_core.snapshots import TopicView
from broker_core.wire import queues as queues_api
from broker_core.wire import topics as topics_api
from broker_core.wire import watch as watch_api
from broker_core.wire.body import Done
from broker_core.wire.schemas import SetSchemaRule


class RemoteAdministration:
    """Topics, queues, schemas."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._known = KnownTopics(
            lambda names: link.ask(topics_api.Metadata(names), topics_api.MetadataReply, repeat=True)
        )
        self._registry: RemoteRegistry | None = None

    def create_topic(
        self,
        now_ns: int,
        name: str,
        partitions: int,
        *,
        partitioner: PartitionerKind = "crc32",
        flow: FlowConfig | None = None,
        log: LogConfig | None = None,
        schema: SchemaRule | None = None,
    ) -> None:
        """See `Broker.create_topic`."""
        self._change(name, topics_api.CreateTopic(name, partitions, partitioner, flow, log, schema))

    def delete_topic(self, now_ns: int, name: str) -> None:
        """See `Broker.delete_topic`."""
        self._change(name, topics_api.DeleteTopic(name))

    def add_partitions(self, now_ns: int, name: str, total: int) -> None:
        """See `Broker.add_partitions`."""
        self._change(name, topics_api.AddPartitions(name, total))

    def configure_topic(
        self, now_ns: int, name: str, *, log: LogConfig | None = None, flow: FlowConfig | None = None
    ) -> None:
        """See `Broker.configure_topic`."""
        self._change(name, topics_api.ConfigureTopic(name, log, flow))

    def set_schema(self, now_ns: int, name: str, rule: SchemaRule | None, *, client: str = "") -> None:
        """See `Broker.set_schema`."""
        self._change(name, SetSchemaRule(name, rule))

    def create_queue(
        self,
        now_ns: int,
        name: str,
        config: QueueConfig,
        *,
        flow: FlowConfig | None = None,
        log: LogConfig | None = None,
    ) -> None:
        """See `Broker.create_queue`."""
        self._change(name, queues_api.CreateQueue(name, config, flow, log))

    def subscribe(
        self,
        now_ns: int,
        name: str,
        topic: str,
        config: QueueConfig,
        *,
        max_messages: int | None = None,
        policy: BacklogPolicy = "drop_newest",
    ) -> None:
        """See `Broker.subscribe`."""
        self._change(name, queues_api.CreateSubscription(name, topic, config, max_messages, policy))

    def delete_queue(self, now_ns: int, name: str) -> None:
        """See `Broker.delete_queue`."""
        self._change(name, queues_api.DeleteQueue(name))

    def _change(self, name: str, body: Any) -> None:
        try:
            self._link.ask(body, Done, repeat=False)
        finally:
            self._known.forget(name)

    def delete_records(self, now_ns: int, name: str, partition: int, before_offset: int) -> int:
        """See `Broker.delete_records`."""
        body = topics_api.DeleteRecords(name, {partition: before_offset})
        return self._link.ask(body, topics_api.StartOffsets, repeat=True).offsets[partition]

    def topic_names(self) -> tuple[str, ...]:
        """See `Broker.topic_names`."""
        return self._link.ask(topics_api.ListTopics(), topics_api.Names, repeat=True).names

    def topic_view(self, now_ns: int, name: str) -> TopicView:
        """See `Broker.topic_view`."""
        return self._description(name).view

    def topic_config(self, name: str) -> LogConfig:
        """See `Broker.topic_config`; as it is noted, where it is."""
        try:
            return self._known.get(name).info.log
        except BrokerError:
            return self._description(name).log

    def flow_config(self, name: str) -> FlowConfig | None:
        """See `Broker.flow_config`."""
        return self._description(name).flow

    def schema_rule(self, name: str) -> SchemaRule | None:
        """See `Broker.schema_rule`."""
        return self._description(name).rule

    def partitioner_kind(self, name: str) -> PartitionerKind:
        """See `Broker.partitioner_kind`."""
        return self._description(name).partitioner

    def _description(self, name: str) -> topics_api.TopicDescription:
        return self._link.ask(topics_api.DescribeTopic(name), topics_api.TopicDescription, repeat=True)

    def slow_readers(self, now_ns: int, max_lag: int | None, max_lag_ns: int | None) -> tuple[SlowReader, ...]:
        """See `Broker.slow_readers`."""
        body = watch_api.SlowReaders(max_lag, max_lag_ns)
        return self._link.ask(body, watch_api.SlowReadersReply, repeat=True).readers

    # -- schemas

    @property
    def schemas(self) -> RemoteRegistry:
        """The broker's registry as it is now. Waits."""
        known = self._registry
        self._registry = RemoteRegistry.of(self._link) if known is None else known.renewed()
        return self._registry

    def register_schema(
        self, now_ns: int, subject: str, text: str, kind: SchemaKind = SchemaKind.JSON, *, client: str = ""
    ) -> SchemaVersion:
        """See `Broker.register_schema`. Waits."""
        return self.schemas.register(subject, text, kind)

    def set_schema_compatibility(
        self, now_ns: int, mode: Compatibility | None, subject: str = "", *, client: str = ""
    ) -> None:
        """See `Broker.set_schema_compatibility`. Waits."""
        self.schemas.set_compatibility(mode, subject)

    def delete_schema_version(self, now_ns: int, subject: str, version: int, *, client: str = "") -> None:
        """See `Broker.delete_schema_version`. Waits."""
        self.schemas.delete_version(subject, version)

    def delete_schemas(self, now_ns: int, subject: str, *, client: str = "") -> tuple[int, ...]:
        """See `Broker.delete_schemas`. Waits."""
        return self.schemas.delete_subject(subject)
