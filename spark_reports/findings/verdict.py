from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from typing import NamedTuple

from spark_reports import text
from spark_reports.findings.finding import BAD, GOOD, INCIDENT, WARN, Finding
from spark_reports.request.assertions import AssertionVerdict

NEEDED_FOR_LOSS = frozenset({"audit", "backpressure"})  # parts without which nobody knows whether a message was lost


class Summary(NamedTuple):
    """`level` is bad, warn or good."""

    level: str
    sentence: str


def verdict(
    findings: Sequence[Finding], judged: Sequence[AssertionVerdict], problems: Sequence[str], parts: Collection[str]
) -> Summary:
    """The summary of a report: of its ordered findings, its assertions, and the problems of the recording."""
    bad = [one for one in findings if one.level == BAD]
    harmful = [one for one in findings if one.level != BAD and (one.harm.weight_s > 0 or one.kind == INCIDENT)]
    told = _soundness(bad, problems) or _loss(harmful, parts)
    if harmful:
        slow = (one for one in harmful if one.level == WARN and (one.harm.took_time_s or one.kind == INCIDENT))
        told += "".join(f" {one.headline}." for one in itertools.islice(slow, 1))
    elif not bad and not problems:
        told += " Nothing did harm."
    if bad or problems or any(one.harm.lost for one in harmful) or any(not one.holds for one in judged):
        return Summary(BAD, told.strip())
    return Summary(WARN if harmful else GOOD, told.strip())


def _soundness(bad: Sequence[Finding], problems: Sequence[str]) -> str:
    if problems:
        return "The recording is incomplete, so the figures prove nothing."
    if not bad:
        return ""
    more = f", and {text.plural(len(bad) - 1, 'more check')} failed" if len(bad) > 1 else ""
    return f"{bad[0].headline}{more}."


def _loss(harmful: Sequence[Finding], parts: Collection[str]) -> str:
    harms = [one.harm for one in harmful]
    lost, rejected, dead = (sum(getattr(one, name) for one in harms) for name in ("lost", "rejected", "dead"))
    if not lost and not set(parts) >= NEEDED_FOR_LOSS:
        return ""
    told = [f"{text.plural(lost, 'message was', 'messages were')} lost" if lost else "No message was lost"]
    told += [f"{text.plural(rejected, 'was', 'were')} rejected"] if rejected else []
    told += [f"{text.plural(dead, 'is', 'are')} left in the dead letters"] if dead else []
    return f"{text.listed(told)}."
