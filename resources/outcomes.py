"""What becomes of messages that find no room, by the kind of event: one word each, in window and report."""

from __future__ import annotations

OUTCOMES = {
    "rejected": "Rejected",  # not stored, and the producer was told
    "dropped": "Dropped",  # not stored, and nobody was told
    "evicted": "Evicted",  # stored, and taken out for another message
    "expired": "Expired",  # stored, and too old when its turn came
}


def in_words(counts: dict[str, int]) -> str:
    """As in "3 rejected, 12 evicted"; "" where all are 0."""
    return ", ".join(f"{counts[kind]:,} {word.lower()}" for kind, word in OUTCOMES.items() if counts.get(kind))
