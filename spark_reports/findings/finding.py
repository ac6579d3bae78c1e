from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from resources.outcomes import OUTCOMES
from spark_reports.page import text

BAD, WARN, INFO, GOOD = "bad", "warn", "info", "good"
ORDER = (BAD, WARN, INFO, GOOD)
FAILED_WEIGHS_S: Final = 60.0  # a message that is rejected, lost or a dead letter, as much as one that waits so long


class Harm(NamedTuple):
    """`rejected` messages, whose producer got an error, `lost` ones, that were dropped, evicted or expired, `dead`
    ones, that lie in the dead letters, `delayed` ones that waited `delayed_s`
    each on average, how long `waiting` clients stood still, `waiting_s` in all, and of a backlog how many messages
    waited `at_once` at the most and all of them together, in `message_s`.
    """

    rejected: int = 0
    lost: int = 0
    dead: int = 0
    delayed: int = 0
    delayed_s: float = 0.0
    waiting: int = 0
    waiting_s: float = 0.0
    at_once: int = 0
    message_s: float = 0.0

    @property
    def took_time_s(self) -> float:
        """How long messages and clients waited, besides what failed."""
        return self.delayed * self.delayed_s + self.waiting_s + self.message_s

    @property
    def weight_s(self) -> float:
        """The weight that orders findings: seconds of waiting; a message that got nowhere counts as a minute."""
        return (self.rejected + self.lost + self.dead) * FAILED_WEIGHS_S + self.took_time_s

    def words(self) -> str:
        """3 messages rejected, 22 messages lost, 48 messages delayed by 1.2 s each; "" for none."""
        failed = {OUTCOMES["rejected"].lower(): self.rejected, "lost": self.lost}
        parts = [f"{text.plural(count, 'message')} {word}" for word, count in failed.items() if count]
        if self.dead:
            parts.append(text.plural(self.dead, "message is a dead letter", "messages are dead letters"))
        if self.at_once:
            parts.append(f"up to {text.plural(self.at_once, 'message')} waiting")
        if self.delayed:
            late = f" by {text.duration(self.delayed_s * 1e9)}" if self.delayed_s else ""  # else it is not known
            parts.append(
                f"{text.plural(self.delayed, 'message')} delayed{late}{' each' if late and self.delayed > 1 else ''}"
            )
        if self.waiting:
            waited = text.duration(self.waiting_s * 1e9) + (" in all" if self.waiting > 1 else "")
            parts.append(f"{text.plural(self.waiting, 'client')} waited {waited}")
        return ", ".join(parts)


class Finding(NamedTuple):
    """`level` is bad, warn, info or good; `section` the id of the section that shows it; `time_ns` its moment, if it
    has one. `kind` leads to its remedy. `why` is the cause as far as the data show it, `advice` what to do about it.
    `explained_by` is the kind of the finding that explains it and whose remedy it has; "" for none.
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
    explained_by: str = ""


def by_harm(findings: Sequence[Finding]) -> list[Finding]:
    """Orders findings: unreliable data first, good news last, causes before their effects, and the greatest harm
    first."""

    def place(finding: Finding) -> tuple[int, float, bool, int]:
        last = {BAD: 0, GOOD: 2}.get(finding.level, 1)
        explained = [one.harm.weight_s for one in findings if finding.kind and one.explained_by == finding.kind]
        weight_s = max((finding.harm.weight_s, *explained))
        return last, -weight_s, not explained, ORDER.index(finding.level)

    return sorted(findings, key=place)
