from broker_core.access import Acl as Acl, ClientQuota as ClientQuota
from broker_core.broker.publishing import Published as Published
from broker_core.clients.admin import Admin as Admin
from broker_core.clients.batches import Receipt as Receipt
from broker_core.clients.effects import SqliteEffects as SqliteEffects, resume_from as resume_from
from broker_core.clients.group_consumer import GroupConsumer as GroupConsumer
from broker_core.clients.http_broker import HttpBroker as HttpBroker
from broker_core.clients.http_publisher import HttpPublisher as HttpPublisher
from broker_core.clients.http_readers import HttpGroupReader as HttpGroupReader, HttpQueueReader as HttpQueueReader
from broker_core.clients.membership import ConsumerConfig as ConsumerConfig
from broker_core.clients.middleware import (
    Chain as Chain,
    Context as Context,
    Dedupe as Dedupe,
    Filter as Filter,
    Logging as Logging,
    Middleware as Middleware,
    Passage as Passage,
    Routing as Routing,
    Timestamp as Timestamp,
    Transform as Transform,
)
from broker_core.clients.producer import Producer as Producer
from broker_core.clients.producer_config import ProducerConfig as ProducerConfig
from broker_core.clients.queue_consumer import Delivery as Delivery, QueueConsumer as QueueConsumer
from broker_core.clients.message_form import Serializer as Serializer
from broker_core.clients.serializers import (
    AvroSerializer as AvroSerializer,
    BytesSerializer as BytesSerializer,
    JsonSerializer as JsonSerializer,
    MessagePackSerializer as MessagePackSerializer,
    StringSerializer as StringSerializer,
)
from broker_core.clients.simple_queue import (
    Consumption as Consumption,
    Persisted as Persisted,
    SimpleQueue as SimpleQueue,
)
from broker_core.closable import Closable as Closable
from broker_core.engine.broker_host import BrokerHost as BrokerHost
from broker_core.engine.host import Host as Host, HostConfig as HostConfig
from broker_core.errors import BrokerError as BrokerError, ErrorCode as ErrorCode
from broker_core.events import Event as Event, EventKind as EventKind
from broker_core.flow.adaptive import AdaptiveConfig as AdaptiveConfig
from broker_core.flow.config import FlowConfig as FlowConfig
from broker_core.groups.config import GroupConfig as GroupConfig, GroupSettings as GroupSettings
from broker_core.groups.offset_reset import Change as Change, Target as Target
from broker_core.listeners.access.access import (
    Access as Access,
    Principal as Principal,
    PrincipalEntry as PrincipalEntry,
    Rule as Rule,
)
from broker_core.listeners.access.limits import GuardConfig as GuardConfig
from broker_core.listeners.listener import TlsConfig as TlsConfig
from broker_core.listeners.connections import (
    ApiView as ApiView,
    Connection as Connection,
    Connections as Connections,
    RequestView as RequestView,
    Served as Served,
)
from broker_core.listeners.kafka.listener import KafkaListener as KafkaListener
from broker_core.log.config import LogConfig as LogConfig
from broker_core.messages import Message as Message, StoredMessage as StoredMessage
from broker_core.operations.messages import Placed as Placed
from broker_core.operations.request import Request as Request
from broker_core.operations.entry import Operation as Operation
from broker_core.queues.config import QueueConfig as QueueConfig
from broker_core.queues.dead_letter_record import DeadLetterEdit as DeadLetterEdit
from broker_core.queues.dead_letters import (
    PurgeResult as PurgeResult,
    Redrivable as Redrivable,
    Redriven as Redriven,
    RedrivePreview as RedrivePreview,
    RedriveResult as RedriveResult,
    Refused as Refused,
)
from broker_core.queues.lease import Lease as Lease
from broker_core.queues.config import RetryPolicy as RetryPolicy
from broker_core.replies import Reply as Reply
from broker_core.schemas.avro_schema import AvroSchema as AvroSchema
from broker_core.schemas.compatibility import Compatibility as Compatibility, SchemaProblem as SchemaProblem
from broker_core.schemas.diff import SchemaChange as SchemaChange
from broker_core.schemas.json_schema import JsonSchema as JsonSchema
from broker_core.schemas.languages import SchemaKind as SchemaKind
from broker_core.schemas.problem import Problem as Problem
from broker_core.schemas.registry import (
    RegistryState as RegistryState,
    SchemaMetadata as SchemaMetadata,
    SchemaReference as SchemaReference,
    SchemaRegistry as SchemaRegistry,
    SchemaVersion as SchemaVersion,
    SubjectState as SubjectState,
)
from broker_core.schemas.rule import SchemaRule as SchemaRule
from broker_core.snapshots import (
    AttemptView as AttemptView,
    ConnectionView as ConnectionView,
    DeadLetterView as DeadLetterView,
    GateView as GateView,
    GroupView as GroupView,
    LeaseView as LeaseView,
    MemberView as MemberView,
    OffsetView as OffsetView,
    PartitionView as PartitionView,
    QueueView as QueueView,
    RetryView as RetryView,
    SlowReader as SlowReader,
    TopicView as TopicView,
    Totals as Totals,
    WaitView as WaitView,
)

__all__: list[str]
