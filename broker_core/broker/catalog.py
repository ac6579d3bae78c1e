"""The catalog: what a restart needs besides logs and offsets, as a plain, versioned value."""

from __future__ import annotations

from typing import Literal

import msgspec

from broker_core.access import Acl, ClientQuota, ScramCredential
from broker_core.flow.config import FlowConfig
from broker_core.groups.config import GroupSettings
from broker_core.log.config import LogConfig
from broker_core.log.partitioners import PartitionerKind
from broker_core.log.producers import ProducerIdsState
from broker_core.queues.config import QueueConfig
from broker_core.schemas.registry import RegistryState
from broker_core.schemas.rule import SchemaRule
from broker_core.settings import LimitPolicy

VERSION: Literal[1] = 1


class TopicEntry(msgspec.Struct, frozen=True):
    """A topic. `has_bin`: it has a dead-letter queue, whether or not its schema still dead-letters what it refuses.

    `id` is in hexadecimal digits, see `topic_ids`; `kafka_settings` as in `Topic`.
    """

    name: str
    partitions: int
    partitioner: PartitionerKind
    log: LogConfig
    flow: FlowConfig | None = None
    schema: SchemaRule | None = None
    has_bin: bool = False
    id: str = ""
    kafka_settings: dict[str, str] = {}


class QueueEntry(msgspec.Struct, frozen=True):
    name: str
    config: QueueConfig
    log: LogConfig
    flow: FlowConfig | None = None
    schema: SchemaRule | None = None
    id: str = ""


class SubscriptionEntry(msgspec.Struct, frozen=True):
    name: str
    topic: str
    config: QueueConfig
    max_messages: int | None
    policy: LimitPolicy


class ShareGroupEntry(msgspec.Struct, frozen=True):
    """A group of any kind with settings (`config`, `kafka_settings` as in `GroupSettingsByName`), or a share group with
    the topics that it has subscribed to."""

    name: str
    config: GroupSettings | None = None
    topics: tuple[str, ...] = ()
    kafka_settings: dict[str, str] = {}
    is_share: bool = False  # a share group, which is there until it is deleted, with topics or without


class Catalog(msgspec.Struct, frozen=True):
    version: Literal[1] = VERSION
    topics: tuple[TopicEntry, ...] = ()
    queues: tuple[QueueEntry, ...] = ()
    subscriptions: tuple[SubscriptionEntry, ...] = ()
    producers: ProducerIdsState = ProducerIdsState()
    schemas: RegistryState = RegistryState()
    share_groups: tuple[ShareGroupEntry, ...] = ()
    acls: tuple[Acl, ...] = ()
    scram_credentials: tuple[ScramCredential, ...] = ()
    client_quotas: tuple[ClientQuota, ...] = ()
