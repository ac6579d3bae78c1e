"""Which dead letters somebody means."""

from __future__ import annotations

from collections.abc import Iterator

from broker_core.settings import NotNegative, Question, Whole
from broker_core.snapshots import DeadLetterView


class DeadLetterFilter(Question, frozen=True):
    """All conditions must hold; "" and None mean any. `text` is looked for in key, value and headers, as UTF-8.

    `since_ns` and `until_ns` are inclusive and mean the time of death.
    """

    queue: str = ""
    cause: str = ""
    text: str = ""
    min_redrives: NotNegative = 0
    since_ns: Whole | None = None
    until_ns: Whole | None = None

    def accepts(self, letter: DeadLetterView) -> bool:
        """True where `letter` is one of them."""
        wanted = self.text.encode()
        return (
            (not self.queue or letter.queue == self.queue)
            and (not self.cause or letter.cause == self.cause)
            and letter.redrives >= self.min_redrives
            and (self.since_ns is None or letter.dead_ns >= self.since_ns)
            and (self.until_ns is None or letter.dead_ns <= self.until_ns)
            and (not wanted or any(wanted in part for part in _parts(letter)))
        )


def _parts(letter: DeadLetterView) -> Iterator[bytes]:
    yield letter.key or b""
    yield letter.value or b""
    for name, value in letter.headers:
        yield name.encode()
        yield value
