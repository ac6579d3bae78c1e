"""What must hold when a run is over."""

from __future__ import annotations

from broker_core.recording.checker import Checker
from broker_core.recording.verdicts import findings
from broker_core.recording.violation import Violation, life_of


def finish(checker: Checker) -> None:
    """Everything must have come to an end, in what is neither compacted nor deleted. Raises `Violation`."""
    account = checker.account
    there = {row.reader for row in account.rows() if row.source not in account.compacting}
    gone = {row.reader for row in account.rows() if row.was_deleted}
    for finding in findings(account)["everything_done"]:
        if finding.reader in there - gone and finding.reader and finding.place:
            raise Violation(finding.what, life_of(checker._history.events, *finding.place))
