"""Advice for each kind of finding: the settings, by their names here and elsewhere, and a scenario that shows it."""

from __future__ import annotations

from typing import Final, NamedTuple

import resources
from spark_reports.findings.finding import Finding


class Remedy(NamedTuple):
    """`scenario` shows it; `here` is the setting in a scenario, the others its names elsewhere, "" for none."""

    advice: str
    scenario: str
    here: str
    kafka: str
    rabbitmq: str = ""
    sqs: str = ""


REMEDIES: Final = {kind: Remedy(**found) for kind, found in resources.table("report", "remedies.toml").items()}


def remedy_of(finding: Finding) -> Remedy | None:
    """The remedy for `finding`, with the finding's own advice if it has some; None if its kind has no remedy."""
    known = REMEDIES.get(finding.kind)
    return known._replace(advice=finding.advice) if known and finding.advice else known
