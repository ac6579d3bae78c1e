"""The states of a transactional id, and which may follow which (KIP-98, KIP-890)."""

from __future__ import annotations

import enum
from collections.abc import Mapping


class TransactionState(enum.StrEnum):
    """Kafka's states under Kafka's names.

    EMPTY: the id has a producer, and no transaction yet.
    ONGOING: partitions or groups belong to its transaction, which ends by the producer's word, by its time-out, or
        because another producer comes with the same id.
    PREPARE_COMMIT, PREPARE_ABORT: it is decided and written down; markers and offsets follow, over a restart too.
    COMPLETE_COMMIT, COMPLETE_ABORT: everything of it is written.
    DEAD: forgotten, because nobody has used the id for long; nothing follows.
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
#: How it ends, by whether it commits: the state that is written down first, and the one when all is done.
ENDING: Mapping[bool, tuple[TransactionState, TransactionState]] = {
    True: (_S.PREPARE_COMMIT, _S.COMPLETE_COMMIT),
    False: (_S.PREPARE_ABORT, _S.COMPLETE_ABORT),
}

_AT_REST = frozenset({_S.EMPTY, _S.COMPLETE_COMMIT, _S.COMPLETE_ABORT})
VALID_PREVIOUS: Mapping[TransactionState, frozenset[TransactionState]] = {
    _S.EMPTY: _AT_REST,  # a producer comes, or comes back
    _S.ONGOING: _AT_REST | {_S.ONGOING},
    _S.PREPARE_COMMIT: frozenset({_S.ONGOING}),
    _S.PREPARE_ABORT: _AT_REST | {_S.ONGOING},  # since KIP-890 a producer may abort what has not begun
    _S.COMPLETE_COMMIT: frozenset({_S.PREPARE_COMMIT}),
    _S.COMPLETE_ABORT: frozenset({_S.PREPARE_ABORT}),
    _S.DEAD: _AT_REST,
}
