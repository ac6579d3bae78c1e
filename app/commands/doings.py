"""What commands do, by the kind of action: a source that has no such thing disables the command, in its own words."""

from __future__ import annotations

from typing import Any, Final

from broker_core.engine.runner import Engine
from broker_core.simulation.actions import alerts, clients, dead_letters, faults, groups, queues, topics
from broker_core.simulation.simulation import Simulation

TIME: Final = ("run", "fast", "express", "step", "continue")  # of which the past has its own, too
DOES: Final[dict[str, type[Any]]] = {
    **dict.fromkeys(TIME, Engine),
    **dict.fromkeys(("run_until", "restart", "restart_new_seed", "listener_kafka", "listener_http"), Simulation),
    "set_alert": alerts.SetAlert,
    "remove_alert": alerts.RemoveAlert,
    "add_consumer": clients.AddConsumer,
    "add_producer": clients.AddProducer,
    "add_worker": clients.AddWorker,
    "duplicate_client": clients.DuplicateClient,
    "remove_client": clients.RemoveClient,
    "set_rate": clients.SetProducerRate,
    "set_processing": clients.SetProcessingTime,
    "redrive_selected": dead_letters.Redrive,
    "redrive_all": dead_letters.Redrive,
    "try_redrive": dead_letters.Redrive,
    "stop_redrive": dead_letters.StopRedrive,
    "edit_letter": dead_letters.EditDeadLetter,
    "purge_selected": dead_letters.PurgeDeadLetters,
    "purge_all": dead_letters.PurgeDeadLetters,
    "crash": faults.Crash,
    "restart_client": faults.Restart,
    "pause_client": faults.Pause,
    "slow_client": faults.SlowDown,
    "drop_heartbeats": faults.DropHeartbeats,
    "fill_disk": faults.FillDisk,
    "jump_clock": faults.JumpClock,
    "fail_matching": faults.FailMatching,
    "break_requests": faults.BreakRequests,
    "end_faults": faults.EndRequestFault,
    "move_consumer": groups.MoveConsumer,
    "bench_consumer": groups.MoveConsumer,
    "create_group": groups.CreateGroup,
    "subscribe_group": groups.SubscribeGroup,
    "unsubscribe_group": groups.UnsubscribeGroup,
    "delete_group": groups.DeleteGroup,
    "reset_offsets": groups.ResetOffsets,
    "seek": groups.Seek,
    "ack_lease": queues.AckLease,
    "nack_lease": queues.NackLease,
    "dead_lease": queues.NackLease,
    "extend_lease": queues.ExtendLease,
    "release_lease": queues.ReleaseLease,
    "create_queue": queues.CreateQueue,
    "create_subscription": queues.CreateSubscription,
    "purge_queue": queues.PurgeQueue,
    "delete_queue": queues.DeleteQueue,
    "create_topic": topics.CreateTopic,
    "add_partitions": topics.AddPartitions,
    "configure_topic": topics.ConfigureTopic,
    "delete_records": topics.DeleteRecords,
    "delete_topic": topics.DeleteTopic,
    "set_flow": topics.SetFlow,
    "produce": topics.Produce,
}
