"""What is done to a running session, as plain values: recorded with their session time, and played again the same.

A person does them, or the schedule of a scenario. Each has a `sentence` for the timeline and the status bar.
"""

from __future__ import annotations

from broker_core.simulation.actions.action import encoded
from broker_core.simulation.actions.clients import (
    AddConsumer,
    AddProducer,
    AddWorker,
    DuplicateClient,
    RemoveClient,
    RestoreClient,
    SetProcessingTime,
    SetProducerRate,
)
from broker_core.simulation.actions.dead_letters import (
    EditDeadLetter,
    PurgeDeadLetters,
    Redrive,
    RedriveMatching,
    RevertDeadLetter,
    StopRedrive,
    UndoPurgeDeadLetters,
    UndoRedrive,
)
from broker_core.simulation.actions.faults import (
    AnyFault,
    BreakRequests,
    Crash,
    DropHeartbeats,
    EndFaults,
    EndRequestFault,
    EndRule,
    FailMatching,
    Fault,
    FillDisk,
    JumpClock,
    Outcome,
    Pause,
    Restart,
    SlowDown,
)
from broker_core.simulation.actions.groups import (
    CreateGroup,
    DeleteGroup,
    MoveConsumer,
    ResetOffsets,
    RestoreGroup,
    Seek,
    SetAssignor,
    SetOffsets,
    SubscribeGroup,
    UnsubscribeGroup,
)
from broker_core.simulation.actions.queues import (
    AckLease,
    CreateQueue,
    CreateSubscription,
    DeleteQueue,
    ExtendLease,
    NackLease,
    PurgeQueue,
    ReleaseLease,
    UndoPurgeQueue,
)
from broker_core.simulation.actions.topics import (
    AddPartitions,
    ConfigureTopic,
    CreateTopic,
    DeleteRecords,
    DeleteTopic,
    Produce,
    RegisterSchema,
    RestoreDeleted,
    SetFlow,
)

ClientAction = (
    AddConsumer
    | AddProducer
    | AddWorker
    | DuplicateClient
    | RemoveClient
    | RestoreClient
    | SetProducerRate
    | SetProcessingTime
)
GroupAction = (
    MoveConsumer
    | CreateGroup
    | DeleteGroup
    | RestoreGroup
    | SubscribeGroup
    | UnsubscribeGroup
    | SetAssignor
    | ResetOffsets
    | SetOffsets
    | Seek
)
TopicAction = (
    CreateTopic
    | DeleteTopic
    | RestoreDeleted
    | AddPartitions
    | ConfigureTopic
    | SetFlow
    | DeleteRecords
    | Produce
    | RegisterSchema
)
QueueAction = (
    CreateQueue
    | CreateSubscription
    | DeleteQueue
    | PurgeQueue
    | UndoPurgeQueue
    | AckLease
    | NackLease
    | ExtendLease
    | ReleaseLease
)
DeadLetterAction = (
    Redrive
    | RedriveMatching
    | StopRedrive
    | UndoRedrive
    | EditDeadLetter
    | RevertDeadLetter
    | PurgeDeadLetters
    | UndoPurgeDeadLetters
)
RuleAction = FailMatching | EndRule | BreakRequests | EndRequestFault
UserAction = ClientAction | GroupAction | TopicAction | QueueAction | DeadLetterAction | RuleAction | AnyFault

__all__ = [
    "AckLease",
    "AddConsumer",
    "AddPartitions",
    "AddProducer",
    "AddWorker",
    "AnyFault",
    "BreakRequests",
    "ClientAction",
    "ConfigureTopic",
    "Crash",
    "CreateGroup",
    "CreateQueue",
    "CreateSubscription",
    "CreateTopic",
    "DeadLetterAction",
    "DeleteGroup",
    "DeleteQueue",
    "DeleteRecords",
    "DeleteTopic",
    "DropHeartbeats",
    "DuplicateClient",
    "EditDeadLetter",
    "EndFaults",
    "EndRequestFault",
    "EndRule",
    "ExtendLease",
    "FailMatching",
    "Fault",
    "FillDisk",
    "GroupAction",
    "JumpClock",
    "MoveConsumer",
    "NackLease",
    "Outcome",
    "Pause",
    "Produce",
    "PurgeDeadLetters",
    "PurgeQueue",
    "QueueAction",
    "Redrive",
    "RedriveMatching",
    "RegisterSchema",
    "ReleaseLease",
    "RemoveClient",
    "ResetOffsets",
    "Restart",
    "RestoreClient",
    "RestoreDeleted",
    "RestoreGroup",
    "RevertDeadLetter",
    "RuleAction",
    "Seek",
    "SetAssignor",
    "SetFlow",
    "SetOffsets",
    "SetProcessingTime",
    "SetProducerRate",
    "SlowDown",
    "StopRedrive",
    "SubscribeGroup",
    "TopicAction",
    "UndoPurgeDeadLetters",
    "UndoPurgeQueue",
    "UndoRedrive",
    "UnsubscribeGroup",
    "UserAction",
    "encoded",
]
