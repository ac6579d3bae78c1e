"""The table of all requests: their key, their versions, their reply."""

from __future__ import annotations

from typing import Any

import msgspec

from broker_core.wire import body, dead_letters, fetch, groups, produce, queues, schemas, session, topics, watch

ERROR = -1  # the key of a reply that says why there is none


class Api(msgspec.Struct, frozen=True):
    """One request. `repeat`: sent twice it does no more than once, so a client may send it again when a connection is
    lost before the reply came."""

    key: int
    request: type[body.Body]
    reply: type[body.Body]
    repeat: bool = True
    min_version: int = 0
    max_version: int = 0

    @property
    def name(self) -> str:
        """For people."""
        return self.request.__name__


ONCE = False

APIS: tuple[Api, ...] = (
    Api(0, session.Hello, session.HelloReply),
    Api(1, session.Ping, session.Pong),
    Api(2, session.Cancel, body.Done),
    Api(10, topics.Metadata, topics.MetadataReply),
    Api(11, topics.ListTopics, topics.Names),
    Api(12, topics.CreateTopic, body.Done, ONCE),
    Api(13, topics.DeleteTopic, body.Done, ONCE),
    Api(14, topics.AddPartitions, body.Done, ONCE),
    Api(15, topics.ConfigureTopic, body.Done),
    Api(16, topics.DescribeTopic, topics.TopicDescription),
    Api(17, topics.DeleteRecords, topics.StartOffsets),
    Api(18, topics.ListOffsets, topics.Offsets),
    Api(20, produce.InitProducer, produce.ProducerIdentity),
    Api(21, produce.Produce, produce.ProduceReply, ONCE),  # its client repeats it, under the same numbers
    Api(22, produce.LeaveProducer, body.Done),
    Api(30, fetch.Fetch, fetch.Messages),
    Api(31, fetch.ReadRecords, fetch.Messages),
    Api(32, fetch.BeginReading, body.Done),
    Api(33, fetch.StartingOffset, fetch.Offset),
    Api(40, groups.Join, groups.Joined),
    Api(41, groups.Sync, groups.Synced),
    Api(42, groups.Heartbeat, body.Done),
    Api(43, groups.Polled, body.Done),
    Api(44, groups.Leave, body.Done),
    Api(45, groups.Commit, body.Done),
    Api(46, groups.Keep, body.Done),
    Api(47, groups.Committed, fetch.Offset),
    Api(48, groups.ListGroups, topics.Names),
    Api(49, groups.DescribeGroup, groups.GroupDescription),
    Api(50, groups.DeleteGroup, body.Done, ONCE),
    Api(51, groups.ResetOffsets, groups.OffsetChanges, ONCE),
    Api(60, queues.CreateQueue, body.Done, ONCE),
    Api(61, queues.CreateSubscription, body.Done, ONCE),
    Api(62, queues.DeleteQueue, body.Done, ONCE),
    Api(63, queues.ListQueues, topics.Names),
    Api(64, queues.DescribeQueue, queues.QueueDescription),
    Api(65, queues.PurgeQueue, queues.Count, ONCE),
    Api(66, queues.Take, queues.Leases),
    Api(67, queues.Settle, queues.Settled),
    Api(68, queues.Extend, queues.Extended),
    Api(69, queues.ReleaseHolder, queues.Count),
    Api(70, queues.PeekQueue, fetch.Messages),
    Api(80, dead_letters.ListDeadLetters, dead_letters.DeadLetters),
    Api(81, dead_letters.DeadLettersByCause, dead_letters.Causes),
    Api(82, dead_letters.Redrive, dead_letters.RedriveReply, ONCE),
    Api(83, dead_letters.PreviewRedrive, dead_letters.Preview),
    Api(84, dead_letters.PurgeDeadLetters, dead_letters.PurgeReply, ONCE),
    Api(85, dead_letters.UndoRedrive, queues.Count, ONCE),
    Api(86, dead_letters.UndoPurgeDeadLetters, queues.Count, ONCE),
    Api(100, schemas.Schemas, schemas.SchemasReply),
    Api(101, schemas.RegisterSchema, schemas.SchemaRegistered),
    Api(102, schemas.SetCompatibility, body.Done),
    Api(103, schemas.DeleteSchemaVersion, body.Done, ONCE),
    Api(104, schemas.DeleteSubject, schemas.Versions, ONCE),
    Api(105, schemas.SetSchemaRule, body.Done),
    Api(120, watch.TailEvents, watch.Events),
    Api(121, watch.Metrics, watch.MetricsReply),
    Api(122, watch.SlowReaders, watch.SlowReadersReply),
    Api(123, watch.ListDamage, topics.Names),
)

BY_KEY: dict[int, Api] = {api.key: api for api in APIS}
BY_REQUEST: dict[type[Any], Api] = {api.request: api for api in APIS}
