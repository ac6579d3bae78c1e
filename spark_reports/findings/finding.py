from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from resources.outcomes import OUTCOMES
from spark_reports import text

BAD, WARN, INFO, GOOD = "bad", "warn", "info", "good"
INCIDENT: Final = "incident"  # the kind of a finding about a cluster, whose harm to messages is not known
ORDER = (BAD, WARN, INFO, GOOD)
LOST: Final = "lost"  # the kind of what the account finds lost
FAILED_WEIGHS_S: Final = 60.0  # a message that is rejected, lost or a dead letter, as much as one that waits so long


class Harm(NamedTuple):
    """`rejected` messages, whose producer got an error, `lost` ones, that were dropped, evicted, expired or deleted
    unread, `dead` ones, that lie in the dead letters; `delayed` ones, up to `at_once` at the same time, that waited
    `message_s` in all; and `waiting` producers, that stood still for `waiting_s` in all, each with a message at least.
    """

    rejected: int = 0
    lost: int = 0
    dead: int = 0
    delayed: int = 0
    at_once: int = 0
    message_s: float = 0.0
    waiting: int = 0
    waiting_s: float = 0.0

    @property
    def took_time_s(self) -> float:
        """Messages x seconds that they waited, besides those that failed."""
        return self.message_s + self.waiting_s

    @property
    def weight_s(self) -> float:
        """The weight that orders findings: messages x seconds; a message that got nowhere counts as a minute."""
        return (self.rejected + self.lost + self.dead) * FAILED_WEIGHS_S + self.took_time_s

    def words(self) -> str:
        """3 messages rejected, 22 messages lost, 48 messages waited 1.2 s each; "" for none."""
        failed = {OUTCOMES["rejected"].lower(): self.rejected, "lost": self.lost}
        parts = [f"{text.plural(count, 'message')} {word}" for word, count in failed.items() if count]
        if self.dead:
            parts.append(text.plural(self.dead, "message is a dead letter", "messages are dead letters"))
        if self.delayed:
            late = f" waited {text.duration(self.message_s / self.delayed * 1e9)}" if self.message_s else " delayed"
            each = " on average" if self.message_s and self.delayed > 1 else ""
            most = f", up to {self.at_once:,} at once" if self.at_once > 1 else ""
            parts.append(f"{text.plural(self.delayed, 'message')}{late}{each}{most}")
        if self.waiting:
            waited = text.duration(self.waiting_s * 1e9) + (" in all" if self.waiting > 1 else "")
            parts.append(f"{text.plural(self.waiting, 'producer')} waited {waited}")
        return ", ".join(parts)


class Finding(NamedTuple):
    """`level` is bad, warn, info or good; `section` the id of the section that shows it; `time_ns` its moment, if it
    has one. `kind` leads to its remedy. `why` is the cause as far as the data show it, `advice` what to do about it.
    """

    level: str
    headline: str
    detail: str
    section: str
    time_ns: int | None = None
    kind: str = ""
    why: str = ""
    advice: str = ""
    harm: Harm = Harm()


def by_harm(findings: Sequence[Finding]) -> list[Finding]:
    """The findings in order: unreliable data first, then by harm, the greatest first; good news last."""

    def place(finding: Finding) -> tuple[int, float, int]:
        last = {BAD: 0, GOOD: 2}.get(finding.level, 1)
        return last, -finding.harm.weight_s, ORDER.index(finding.level)

    return sorted(findings, key=place)
