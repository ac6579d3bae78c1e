"""A filter of dead letters."""

from __future__ import annotations

from collections.abc import Iterator

from broker_core.settings import CallArguments, NotNegative, Whole
from broker_core.snapshots import DeadLetterView


class DeadLetterFilter(CallArguments, frozen=True):
    """A conjunction of conditions; "" and None match any. `text` is searched in key, value and headers, as UTF-8.

    `since_ns` and `until_ns` (inclusive, session time) refer to the time of dead-lettering.
    """

    queue: str = ""
    cause: str = ""
    text: str = ""
    min_redrives: NotNegative = 0
    since_ns: Whole | None = None
    until_ns: Whole | None = None

    def accepts(self, dead_letter: DeadLetterView) -> bool:
        """Whether `dead_letter` matches."""
        wanted = self.text.encode()
        return (
            (not self.queue or dead_letter.queue == self.queue)
            and (not self.cause or dead_letter.cause == self.cause)
            and dead_letter.redrives >= self.min_redrives
            and (self.since_ns is None or dead_letter.dead_ns >= self.since_ns)
            and (self.until_ns is None or dead_letter.dead_ns <= self.until_ns)
            and (not wanted or any(wanted in part for part in _parts(dead_letter)))
        )


def _parts(dead_letter: DeadLetterView) -> Iterator[bytes]:
    yield dead_letter.key or b""
    yield dead_letter.value or b""
    for name, value in dead_letter.headers:
        yield name.encode()
        yield value
