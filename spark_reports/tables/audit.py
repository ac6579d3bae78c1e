"""Where each message is for each reader, and what is judged of it, as the window has it."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import polars as pl

from broker_core.filters.error import Sentence
from broker_core.recording.account import Account, Again, Row
from broker_core.recording.verdicts import Finding, Order, answer, findings, is_judged
from resources.account import STATES, VERDICTS, VerdictName
from spark_reports.tables.details import PLACE, deletions
from spark_reports.tables.schema import columns, rows

_STATES = ", ".join(f"{name} BIGINT" for name in STATES)
ACCOUNT_SCHEMA = f"source STRING, reader STRING, published BIGINT, redriven BIGINT, {_STATES}, lost BIGINT"
VERDICTS_SCHEMA = "verdict STRING, promise STRING, holds BOOLEAN, answer STRING, because STRING"
AGAIN_SCHEMA = (
    "reader STRING, source STRING, why STRING, messages BIGINT, partition INT, offset BIGINT, before STRING, "
    "after STRING, first_ns BIGINT, last_ns BIGINT"
)
SCHEMA = (
    "check STRING, messages BIGINT, ok BOOLEAN, `group` STRING, topic STRING, partition INT, offset BIGINT, "
    "because STRING"
)
#: The verdicts that are rules, which no session has to break, and what breaks one.
CHECKS: dict[VerdictName, str] = {
    "nothing_lost": "lost before they were acknowledged",
    "commits_are_sound": "committed without ever having been delivered",
}
FETCHED_AGAIN = "fetched again"
LISTED = 500


class JudgedAccount:
    """The account with its findings, made once."""

    def __init__(self, account: Account, order: Order | None, problems: tuple[str, ...] = ()) -> None:
        """Where the recording has `problems`, nothing is judged."""
        self.account, self.problems = account, problems
        self.rows: list[Row] = account.rows()
        self.findings: dict[VerdictName, list[Finding]] = findings(account, order)
        self.known = {name: not problems and is_judged(name, order) for name in VERDICTS}


def account(judged: JudgedAccount) -> pl.DataFrame:
    """One row per source and reader."""
    found = [
        (row.source, row.reader, row.published, row.redriven, *(row.counts[name] for name in STATES), row.lost)
        for row in judged.rows
    ]
    return rows(ACCOUNT_SCHEMA, found)


def verdicts(judged: JudgedAccount) -> pl.DataFrame:
    """One row per verdict; `holds` is null where nothing is judged."""
    found: list[tuple[object, ...]] = []
    for name, promise in VERDICTS.items():
        because, known = judged.findings[name], judged.known[name]
        told = "; ".join(each.what for each in because[:LISTED]) if known else "; ".join(judged.problems)
        holds, said = (not because, str(answer(name, because))) if known else (None, None)
        found.append((name, promise.words, holds, said, told))
    return rows(VERDICTS_SCHEMA, found)


def audit(judged: JudgedAccount) -> pl.DataFrame:
    """One row per rule of `CHECKS`: how many messages broke it, the first place, and why."""
    found: list[tuple[object, ...]] = []
    account = judged.account
    messages: dict[VerdictName, int] = {
        "nothing_lost": account.lost(judged.rows),
        "commits_are_sound": sum(each.committed - each.limit for each in account.unsound),
    }
    for name, check in CHECKS.items():
        because = judged.findings[name] if judged.known[name] else []
        first = next((each for each in because if each.place is not None), Finding(Sentence("")))
        what = (because[0] if because else first).what
        found.append(
            (check, messages[name] if because else 0, not because, first.reader, *(first.place or (None,) * 3), what)
        )
    return rows(SCHEMA, found)


def again(judged: JudgedAccount) -> pl.DataFrame:
    """One row per reader, source and reason of what was delivered or fetched again, with its first place."""
    each: dict[tuple[str, str, str], list[Again]] = defaultdict(list)
    for one in (*judged.account.again, *judged.account.fetched_again):
        each[one.reader, one.source, one.why or FETCHED_AGAIN].append(one)
    found: list[tuple[object, ...]] = []
    for (reader, source, why), mine in each.items():
        first, times = mine[0], [one.event.time_ns for one in mine]
        place = (first.partition, first.offset, first.before, first.after)
        found.append((reader, source, why, sum(one.messages for one in mine), *place, min(times), max(times)))
    return rows(AGAIN_SCHEMA, found)


DELETED_SCHEMA = (
    "`group` STRING, topic STRING, partition INT, messages BIGINT, at_most BOOLEAN, first_offset BIGINT, "
    "last_offset BIGINT, cause STRING, first_ns BIGINT, last_ns BIGINT, waiting_s DOUBLE"
)


def deleted(judged: JudgedAccount, control: pl.DataFrame, rollup: pl.DataFrame) -> pl.DataFrame:
    """One row per reader and partition: what the log lost before the reader had acknowledged it. `waiting_s` is how
    long it had waited until then, messages x seconds, by when its time bucket was published.
    """
    runs: list[tuple[object, ...]] = [
        (row.reader, row.source, each.partition, each.first, each.end, row.source in judged.account.compacting)
        for row in judged.rows
        for each in row.places
        if each.delivery.state == "deleted"
    ]
    lost = rows("`group` STRING, topic STRING, partition INT, low BIGINT, high BIGINT, at_most BOOLEAN", runs)
    cut = (
        lost.join(deletions(control), on=PLACE[1:])
        .with_columns(low=pl.max_horizontal("low", "offset"), high=pl.min_horizontal("high", "end"))
        .filter(pl.col("high") > pl.col("low"))
    )
    born = _born_ns(cut, rollup)
    times = (
        cut.with_columns(s=(pl.col("high") - pl.col("low")) * (pl.col("time_ns") - born) / 1e9)
        .group_by(PLACE)
        .agg(
            pl.col("cause").unique().sort().str.join(", "),
            pl.col("time_ns").min().alias("first_ns"),
            pl.col("time_ns").max().alias("last_ns"),
            pl.col("s").sum().alias("waiting_s"),
        )
    )
    return (
        lost.group_by(PLACE)
        .agg(
            (pl.col("high") - pl.col("low")).sum().alias("messages"),
            pl.col("at_most").first(),
            pl.col("low").min().alias("first_offset"),
            pl.col("high").max().alias("last_offset") - 1,
        )
        .join(times, on=PLACE, how="left")
        .sort("messages", *PLACE, descending=[True, False, False, False])
        .select(name for name, _ in columns(DELETED_SCHEMA))
    )


def _born_ns(runs: pl.DataFrame, rollup: pl.DataFrame) -> pl.Series:
    """When the middle of each run of `runs` was published."""
    published = rollup.filter(pl.col("kind") == "published").sort("first_offset")
    found = np.zeros(runs.height)
    middle = ((runs["low"] + runs["high"] - 1) / 2).to_numpy()
    for topic, partition in runs.select("topic", "partition").unique().iter_rows():
        mine = published.filter((pl.col("topic") == topic) & (pl.col("partition") == partition))
        at = ((runs["topic"] == topic) & (runs["partition"] == partition)).to_numpy()
        if mine.height:
            offsets = np.column_stack((mine["first_offset"], mine["reached_offset"] - 1)).ravel()
            found[at] = np.interp(middle[at], offsets, np.column_stack((mine["first_ns"], mine["last_ns"])).ravel())
    return pl.Series(found)
