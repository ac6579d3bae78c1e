"""Where a message is for one of its readers, why it was delivered again, and what is judged of it.

These are the words of window, report, test kit, command line and pages. `broker_core.recording.account` applies them.
"""

from __future__ import annotations

from typing import Literal, NamedTuple


class State(NamedTuple):
    """`title` heads a column. `loss`: messages in this state are lost. `open`: they are not done."""

    title: str
    about: str
    loss: bool = False
    open: bool = False


#: Each message is, for each reader, in one of these. The order is that of tables.
STATES = {
    "waiting": State("Waiting", "not delivered, or given back", open=True),
    "in_hand": State("In hand", "delivered to its owner, who has not acknowledged it", open=True),
    "acknowledged": State("Acknowledged", "delivered, and acknowledged or committed"),
    "skipped_by_reset": State("Skipped by a reset", "offsets were reset beyond it, and it was never acknowledged"),
    "skipped_by_reader": State(
        "Skipped by its reader", "its reader committed beyond it, and was never given it", loss=True
    ),
    "before_it_began": State("Before it began", "it was there before its reader, which began behind it"),
    "dead_lettered": State("Dead-lettered", "moved to the dead letters"),
    "aborted": State("Aborted", "of a transaction that was aborted"),
    "expired": State("Expired", "its time to live was over before it was acknowledged", loss=True),
    "evicted": State("Evicted", "discarded to make room before it was acknowledged", loss=True),
    "purged": State("Purged", "purged by a user before it was acknowledged", loss=True),
    "deleted": State("Deleted", "deleted from the log before it was acknowledged", loss=True),
    "compacted": State("Compacted", "removed by compaction, at most so many"),
}


class Reason(NamedTuple):
    """Why a message was given back, or is delivered again: `title` in a cell, `about` what its owner did, behind its
    name. `fault`: it counts as delivered twice."""

    title: str
    about: str
    fault: bool


MEMBER_LEFT, FELL_SILENT, MOVED = "member left", "member fell silent", "partition moved"
NACKED, LEASE_OVER, CONNECTION_LOST = "nacked", "lease ran out", "connection lost"
RELEASED, RESET, ACKNOWLEDGED, BESIDE = "released", "offsets reset", "acknowledged", "read beside"

REASONS = {
    MEMBER_LEFT: Reason("Member left", "left without acknowledging it", True),
    FELL_SILENT: Reason("Member fell silent", "missed a deadline", True),
    MOVED: Reason("Partition moved", "lost the partition in a rebalance", True),
    CONNECTION_LOST: Reason("Connection lost", "lost its connection to the broker", True),
    LEASE_OVER: Reason("Lease expired", "let its lease run out", True),
    ACKNOWLEDGED: Reason("Acknowledged before", "acknowledged it", True),
    NACKED: Reason("Nacked", "gave it back as not done", False),
    RELEASED: Reason("Released", "gave it back untouched", False),
    RESET: Reason("Offsets reset", "was reset to before it", False),
    BESIDE: Reason("Read beside another", "has it, too: each was told to read the partition", False),
}

VerdictName = Literal["nothing_lost", "nothing_twice", "everything_done", "commits_are_sound", "in_order"]


class Promise(NamedTuple):
    """What a verdict says: `words` where it holds, `broken` with the `count` of messages where it does not."""

    words: str
    broken: str


VERDICTS: dict[VerdictName, Promise] = {
    "nothing_lost": Promise("no message was lost", "lost: {count:,}"),
    "nothing_twice": Promise("no message was delivered twice", "delivered twice: {count:,}"),
    "everything_done": Promise(
        "everything is acknowledged or dead-lettered", "not yet acknowledged or dead-lettered: {count:,}"
    ),
    "commits_are_sound": Promise(
        "only messages that were delivered were committed", "committed and never delivered: {count:,}"
    ),
    "in_order": Promise("the order of each key was kept", "delivered out of the order of their key: {count:,}"),
}
