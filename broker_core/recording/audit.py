"""Verdicts on what has happened in a broker: is anything lost, was anything delivered twice, is the order kept?

The account and the history checker are asked. What a verdict names is shown with its life: the events of the message,
from its publishing on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

from broker_core.events import Event, describe
from broker_core.filters.error import Sentence
from broker_core.plurals import counted
from broker_core.recording.account import NOBODY
from broker_core.recording.checker import Checker
from broker_core.recording.judged import Judged, judge
from broker_core.recording.verdicts import Finding, Keys, Order, answer, findings
from broker_core.recording.violation import MAX_HISTORY, life_of
from resources.account import VERDICTS, VerdictName

MAX_FINDINGS = 20  # with their lives

#: The names of all verdicts that `Audit` has.
JUDGED = (*VERDICTS, "at_least_once")


class Verdict:
    """Whether a promise holds: true or false, with an explanation. Its `repr` begins with what is wrong."""

    def __init__(
        self,
        promise: str,
        findings: Sequence[Finding],
        looked_at: str,
        denied: Callable[[Verdict], object],
        answer: str = "",
    ) -> None:
        """`looked_at` is how much was judged, `answer` what is said if the promise is broken. `denied(self)` is called
        when a test finds that it does not hold.
        """
        self._denied = denied
        self.promise = promise
        self.findings = tuple(findings)
        self._looked_at = looked_at
        self._answer = answer

    @property
    def holds(self) -> bool:
        return not self.findings

    def __bool__(self) -> bool:
        if not self.holds:
            self._denied(self)
        return self.holds

    @property
    def explanation(self) -> str:
        """The verdict in words and what it looked at, then the first findings, each with the events of its message."""
        lines = [f"{self.promise if self.holds else self._answer} ({self._looked_at})"]
        for finding in self.findings[:MAX_FINDINGS]:
            lines += [f"- {finding.what}", *(f"    {describe(event)}" for event in finding.life)]
        if len(self.findings) > MAX_FINDINGS:
            lines.append(f"- and {len(self.findings) - MAX_FINDINGS} more")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.explanation

    def __repr__(self) -> str:
        if self.holds:
            return f"<{self.explanation}>"
        others = f", and {len(self.findings) - 1} more" if len(self.findings) > 1 else ""
        return f"<{self._answer}; {self.findings[0].what}{others}>"


class Audit:
    """Judges what has happened to messages up to a moment.

    Acknowledged messages count as done: if a consumer commits before it does the work and then crashes, the work is
    lost, but no verdict notices; `given_schedule` does.
    """

    def __init__(
        self,
        events: Sequence[Event],
        *,
        max_attempts: Mapping[str, int],
        keys: Keys,
        denied: Callable[[Verdict], object] = lambda _verdict: None,
        compacting: Iterable[str] = (),
    ) -> None:
        """`events` are all up to now; `denied` gets false verdicts. `compacting` are topics of which no event tells."""
        self._compacting = frozenset(compacting)
        self._denied = denied
        self._events = events
        self._max_attempts = dict(max_attempts)
        self._keys = keys

    # -- verdicts

    def nothing_lost(self) -> Verdict:
        """Every accepted message is acknowledged, dead-lettered or can still be read; no reader skipped it. Messages
        that were evicted, expired, purged or deleted unread are lost; refused messages, and what somebody's reset of
        offsets passed over, are not. Acknowledged messages count as done, see the class.
        """
        return self._verdict("nothing_lost")

    def nothing_twice(self) -> Verdict:
        """No message was given to a group or queue again after it was acknowledged, or after its owner left, fell
        silent, or lost the partition, the lease or the connection: it may have been handled twice. Retries after a
        nack, redriven messages, resets of offsets, and what the same owner fetches again do not count.
        """
        return self._verdict("nothing_twice")

    def at_least_once(self) -> Verdict:
        """Nothing is lost, and the broker keeps all its guarantees."""
        violated = [
            Finding(Sentence(each.promise), each.history) for each in self._judged.violations if not each.is_loss
        ]
        lost = [self._with_life(each) for each in findings(self._judged.account)["nothing_lost"]]
        promise, broken = "everything is delivered at least once", "lost, or against a guarantee of the broker"
        count = sum(each.messages for each in (*lost, *violated))
        return Verdict(promise, [*lost, *violated], self._looked_at, self._denied, f"{broken}: {count:,}")

    def in_order(self) -> Verdict:
        """The first deliveries of messages with the same key to each group are in the order in which they were
        published."""
        return self._verdict("in_order")

    def everything_done(self, by: str = "") -> Verdict:
        """Every message has at least one reader, and nothing is waiting or in hand. With `by`, only messages read by
        that group or queue count. Readers that assign partitions by hand and never commit are done with what they were
        given; a group that was deleted is judged as it was then.
        """
        return self._verdict("everything_done", by)

    def commits_are_sound(self) -> Verdict:
        """No group has committed an offset beyond the end of a partition, or beyond all that it was ever given."""
        return self._verdict("commits_are_sound")

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """All of them by name."""
        return {name: getattr(self, name)() for name in JUDGED}

    def __repr__(self) -> str:
        return f"<audit of {self._looked_at}>"

    # -- inside

    @cached_property
    def _judged(self) -> Judged:
        checker = Checker(max_attempts=self._max_attempts, unseen_seeks=True)
        checker.account.compacting |= self._compacting
        return judge(self._events, checker, Order(self._keys))

    def _verdict(self, name: VerdictName, by: str = "") -> Verdict:
        judged = self._judged
        found = [self._with_life(each) for each in findings(judged.account, judged.order, by)[name]]
        by_whom = f" by {by}" if by else ""
        promise, told = f"{VERDICTS[name].words}{by_whom}", f"{answer(name, found)}{by_whom}"
        return Verdict(promise, found, self._looked_at, self._denied, told)

    def _with_life(self, finding: Finding) -> Finding:
        if finding.place is None:
            return finding
        return finding._replace(life=tuple(life_of(self._events, *finding.place)[-MAX_HISTORY:]))

    @cached_property
    def _looked_at(self) -> str:
        account = self._judged.account
        readers, outside = {row.reader for row in account.rows()} - {NOBODY}, account.outside
        told = f"; group {', '.join(sorted(outside))} was read outside the group, not judged" if outside else ""
        return f"{counted(account.published, 'message')} with {counted(len(readers), 'reader')}{told}"
