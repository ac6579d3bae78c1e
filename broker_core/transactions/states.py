"""The states of a transactional id and their transitions (KIP-98, KIP-890)."""

from __future__ import annotations

import enum
from collections.abc import Mapping


class TransactionState(enum.StrEnum):
    """The states of Kafka, with its names.

    EMPTY: the id has a producer and no transaction yet.
    ONGOING: the transaction has partitions or groups. It ends by the producer, by its timeout, or when another producer
        is initialized with the same id.
    PREPARE_COMMIT, PREPARE_ABORT: the decision is written; markers and offsets follow, also after a restart.
    COMPLETE_COMMIT, COMPLETE_ABORT: everything is written.
    DEAD: forgotten, because the id has expired. Final.
    """

    EMPTY = "Empty"
    ONGOING = "Ongoing"
    PREPARE_COMMIT = "PrepareCommit"
    PREPARE_ABORT = "PrepareAbort"
    COMPLETE_COMMIT = "CompleteCommit"
    COMPLETE_ABORT = "CompleteAbort"
    DEAD = "Dead"


_S = TransactionState
PREPARED = frozenset({_S.PREPARE_COMMIT, _S.PREPARE_ABORT})
UNFINISHED = PREPARED | {_S.ONGOING}
#: By whether it commits: (prepared state, complete state).
ENDING: Mapping[bool, tuple[TransactionState, TransactionState]] = {
    True: (_S.PREPARE_COMMIT, _S.COMPLETE_COMMIT),
    False: (_S.PREPARE_ABORT, _S.COMPLETE_ABORT),
}

_AT_REST = frozenset({_S.EMPTY, _S.COMPLETE_COMMIT, _S.COMPLETE_ABORT})
VALID_PREVIOUS: Mapping[TransactionState, frozenset[TransactionState]] = {
    _S.EMPTY: _AT_REST,  # a producer is initialized
    _S.ONGOING: _AT_REST | {_S.ONGOING},
    _S.PREPARE_COMMIT: frozenset({_S.ONGOING}),
    _S.PREPARE_ABORT: _AT_REST | {_S.ONGOING},  # since KIP-890 a producer may abort without a transaction
    _S.COMPLETE_COMMIT: frozenset({_S.PREPARE_COMMIT}),
    _S.COMPLETE_ABORT: frozenset({_S.PREPARE_ABORT}),
    _S.DEAD: _AT_REST,
}
