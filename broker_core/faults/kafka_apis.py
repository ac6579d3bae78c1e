"""Kafka's names of the APIs whose requests can meet a fault: those that the Kafka listener serves."""

from __future__ import annotations

from typing import Final

JOIN: Final = "JoinGroup"
KAFKA_APIS: Final = (
    "AddOffsetsToTxn",
    "AddPartitionsToTxn",
    "ConsumerGroupDescribe",
    "ConsumerGroupHeartbeat",
    "CreatePartitions",
    "CreateTopics",
    "DeleteGroups",
    "DeleteRecords",
    "DeleteTopics",
    "DescribeCluster",
    "DescribeConfigs",
    "DescribeGroups",
    "DescribeProducers",
    "DescribeTopicPartitions",
    "DescribeTransactions",
    "EndTxn",
    "Fetch",
    "FindCoordinator",
    "Heartbeat",
    "IncrementalAlterConfigs",
    "InitProducerId",
    "JoinGroup",
    "LeaveGroup",
    "ListGroups",
    "ListOffsets",
    "ListTransactions",
    "Metadata",
    "OffsetCommit",
    "OffsetDelete",
    "OffsetFetch",
    "OffsetForLeaderEpoch",
    "Produce",
    "ShareAcknowledge",
    "ShareFetch",
    "ShareGroupDescribe",
    "ShareGroupHeartbeat",
    "SyncGroup",
    "TxnOffsetCommit",
)
