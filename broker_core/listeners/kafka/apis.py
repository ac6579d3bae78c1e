"""The table of what is served: from it ApiVersions is answered, and every other version is refused.

The oldest and newest versions are those that the message schemas have and today's clients use.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from broker_core.listeners.kafka import (
    add_offsets_to_txn,
    add_partitions_to_txn,
    alter_client_quotas,
    alter_configs,
    alter_replica_log_dirs,
    alter_share_group_offsets,
    alter_user_scram_credentials,
    api_versions,
    consumer_group_describe,
    consumer_group_heartbeat,
    create_acls,
    create_partitions,
    create_topics,
    delegation_tokens,
    delete_acls,
    delete_groups,
    delete_records,
    delete_share_group_offsets,
    delete_topics,
    describe_acls,
    describe_client_quotas,
    describe_cluster,
    describe_configs,
    describe_groups,
    describe_log_dirs,
    describe_producers,
    describe_quorum,
    describe_share_group_offsets,
    describe_topic_partitions,
    describe_transactions,
    describe_user_scram_credentials,
    elect_leaders,
    end_txn,
    fetch,
    find_coordinator,
    heartbeat,
    incremental_alter_configs,
    init_producer_id,
    join_group,
    leave_group,
    list_config_resources,
    list_groups,
    list_offsets,
    list_transactions,
    metadata,
    offset_commit,
    offset_delete,
    offset_fetch,
    offset_for_leader_epoch,
    partition_reassignments,
    produce,
    sasl,
    share_acknowledge,
    share_fetch,
    share_group_describe,
    share_group_heartbeat,
    sync_group,
    txn_offset_commit,
    unregister_broker,
    update_features,
)
from broker_core.listeners.kafka.call import Answer, Call

MOST_ELEMENTS = 20_000  # served in less than a second
Handler = Callable[[Call, Any], Answer]


class Api(NamedTuple):
    """One API and its versions. `handle` is called under the host's lock.

    A request with more than `most_elements` in all its arrays is not read; nor is anything done for it.
    """

    name: str
    key: int
    oldest: int
    newest: int
    handle: Handler
    most_elements: int = MOST_ELEMENTS


def _api_versions(call: Call, request: Any) -> Answer:
    return api_versions.handle(call, request, VERSIONS)


def _on_the_connection(call: Call, request: Any) -> Answer:
    raise AssertionError("the connection itself authenticates")


APIS = (
    Api("Produce", produce.KEY, 3, 13, produce.handle),
    Api("Fetch", fetch.KEY, 4, 18, fetch.handle),
    Api("ListOffsets", list_offsets.KEY, 1, 11, list_offsets.handle),
    Api("Metadata", metadata.KEY, 0, 13, metadata.handle),
    Api("OffsetCommit", offset_commit.KEY, 2, 9, offset_commit.handle),
    Api("OffsetFetch", offset_fetch.KEY, 1, 9, offset_fetch.handle),
    Api("FindCoordinator", find_coordinator.KEY, 0, 6, find_coordinator.handle),
    Api("JoinGroup", join_group.KEY, 0, 9, join_group.handle),
    Api("Heartbeat", heartbeat.KEY, 0, 4, heartbeat.handle),
    Api("LeaveGroup", leave_group.KEY, 0, 5, leave_group.handle),
    Api("SyncGroup", sync_group.KEY, 0, 5, sync_group.handle),
    Api("DescribeGroups", describe_groups.KEY, 0, 6, describe_groups.handle),
    Api("ListGroups", list_groups.KEY, 0, 5, list_groups.handle),
    Api("SaslHandshake", sasl.HANDSHAKE_KEY, 0, 1, _on_the_connection),
    Api("ApiVersions", api_versions.KEY, 0, 4, _api_versions),
    Api("CreateTopics", create_topics.KEY, 2, 7, create_topics.handle),
    Api("DeleteTopics", delete_topics.KEY, 1, 6, delete_topics.handle),
    Api("DeleteRecords", delete_records.KEY, 0, 2, delete_records.handle),
    Api("InitProducerId", init_producer_id.KEY, 0, 5, init_producer_id.handle),
    Api("AddPartitionsToTxn", add_partitions_to_txn.KEY, 0, 5, add_partitions_to_txn.handle),
    Api("AddOffsetsToTxn", add_offsets_to_txn.KEY, 0, 4, add_offsets_to_txn.handle),
    Api("EndTxn", end_txn.KEY, 0, 5, end_txn.handle),
    Api("TxnOffsetCommit", txn_offset_commit.KEY, 0, 5, txn_offset_commit.handle),
    Api("DescribeAcls", describe_acls.KEY, 1, 3, describe_acls.handle),
    Api("CreateAcls", create_acls.KEY, 1, 3, create_acls.handle),
    Api("DeleteAcls", delete_acls.KEY, 1, 3, delete_acls.handle),
    Api("OffsetForLeaderEpoch", offset_for_leader_epoch.KEY, 2, 4, offset_for_leader_epoch.handle),
    Api("DescribeConfigs", describe_configs.KEY, 1, 4, describe_configs.handle, 5_000),
    Api("AlterConfigs", alter_configs.KEY, 0, 2, alter_configs.handle),
    Api("AlterReplicaLogDirs", alter_replica_log_dirs.KEY, 1, 2, alter_replica_log_dirs.handle),
    Api("DescribeLogDirs", describe_log_dirs.KEY, 1, 5, describe_log_dirs.handle),
    Api("SaslAuthenticate", sasl.AUTHENTICATE_KEY, 0, 2, _on_the_connection),
    Api("CreatePartitions", create_partitions.KEY, 0, 3, create_partitions.handle),
    Api("CreateDelegationToken", delegation_tokens.CREATE_KEY, 1, 3, delegation_tokens.refuse),
    Api("RenewDelegationToken", delegation_tokens.RENEW_KEY, 1, 2, delegation_tokens.refuse),
    Api("ExpireDelegationToken", delegation_tokens.EXPIRE_KEY, 1, 2, delegation_tokens.refuse),
    Api("DescribeDelegationToken", delegation_tokens.DESCRIBE_KEY, 1, 3, delegation_tokens.refuse),
    Api("DeleteGroups", delete_groups.KEY, 0, 2, delete_groups.handle),
    Api("ElectLeaders", elect_leaders.KEY, 0, 2, elect_leaders.handle),
    Api("IncrementalAlterConfigs", incremental_alter_configs.KEY, 0, 1, incremental_alter_configs.handle),
    Api("AlterPartitionReassignments", partition_reassignments.ALTER_KEY, 0, 1, partition_reassignments.alter),
    Api("ListPartitionReassignments", partition_reassignments.LIST_KEY, 0, 0, partition_reassignments.list_all),
    Api("OffsetDelete", offset_delete.KEY, 0, 0, offset_delete.handle),
    Api("DescribeClientQuotas", describe_client_quotas.KEY, 0, 1, describe_client_quotas.handle),
    Api("AlterClientQuotas", alter_client_quotas.KEY, 0, 1, alter_client_quotas.handle),
    Api(
        "DescribeUserScramCredentials",
        describe_user_scram_credentials.KEY,
        0,
        0,
        describe_user_scram_credentials.handle,
    ),
    Api("AlterUserScramCredentials", alter_user_scram_credentials.KEY, 0, 0, alter_user_scram_credentials.handle),
    Api("DescribeQuorum", describe_quorum.KEY, 0, 2, describe_quorum.handle),
    Api("UpdateFeatures", update_features.KEY, 0, 2, update_features.handle),
    Api("DescribeCluster", describe_cluster.KEY, 0, 2, describe_cluster.handle),
    Api("ConsumerGroupHeartbeat", consumer_group_heartbeat.KEY, 0, 1, consumer_group_heartbeat.handle),
    Api("ConsumerGroupDescribe", consumer_group_describe.KEY, 0, 1, consumer_group_describe.handle),
    Api("DescribeProducers", describe_producers.KEY, 0, 0, describe_producers.handle),
    Api("UnregisterBroker", unregister_broker.KEY, 0, 0, unregister_broker.handle),
    Api("DescribeTransactions", describe_transactions.KEY, 0, 0, describe_transactions.handle),
    Api("ListTransactions", list_transactions.KEY, 0, 2, list_transactions.handle),
    Api("ListConfigResources", list_config_resources.KEY, 0, 1, list_config_resources.handle),
    Api("DescribeTopicPartitions", describe_topic_partitions.KEY, 0, 0, describe_topic_partitions.handle),
    Api("ShareGroupHeartbeat", share_group_heartbeat.KEY, 1, 1, share_group_heartbeat.handle),
    Api("ShareGroupDescribe", share_group_describe.KEY, 1, 1, share_group_describe.handle),
    Api("ShareFetch", share_fetch.KEY, 1, 2, share_fetch.handle),
    Api("ShareAcknowledge", share_acknowledge.KEY, 1, 2, share_acknowledge.handle),
    Api("DescribeShareGroupOffsets", describe_share_group_offsets.KEY, 0, 1, describe_share_group_offsets.handle),
    Api("AlterShareGroupOffsets", alter_share_group_offsets.KEY, 0, 0, alter_share_group_offsets.handle),
    Api("DeleteShareGroupOffsets", delete_share_group_offsets.KEY, 0, 0, delete_share_group_offsets.handle),
)
VERSIONS = [(api.key, api.oldest, api.newest) for api in APIS]
TABLE = {api.key: api for api in APIS}
