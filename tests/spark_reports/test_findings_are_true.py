"""Every finding of the bundled scenarios, and why it is true: its figures counted again in the plain events."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import resources
from spark_reports import text
from spark_reports.findings.find import find
from spark_reports.findings.finding import Finding
from spark_reports.pipeline.collect import make_tables
from spark_reports.sessions.session import inspect
from tests.figures.recount.reading import rows_of, scenario_of
from tests.figures.recount.session import Recount
from tests.long_form import some
from tests.processes import run
from tests.spark_reports.test_wrong import Silent

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parents[2]
SCENARIOS = sorted(path.stem for path in resources.path("scenarios").glob("*.yaml"))
S = 1_000_000_000
Row = dict[str, Any]
Check = Callable[[re.Match[str], Finding], None]
CHECKS: list[tuple[re.Pattern[str], str]] = []


def number(words: str) -> int:
    """12,207 as a number."""
    return int(words.replace(",", ""))


def why(sentence: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Marks what says why a headline that is `sentence` is true."""

    def keep(check: Callable[..., None]) -> Callable[..., None]:
        CHECKS.append((re.compile(sentence), check.__name__))
        return check

    return keep


class Truth:
    """The events of one session."""

    def __init__(self, folder: Path) -> None:
        self.rows = rows_of(folder)
        self.scenario = scenario_of(folder)
        self.all = self.at(None)
        self.end_ns = max(inspect(str(folder)).metadata.duration_ns or 0, self.rows[-1]["time_ns"])

    def at(self, time_ns: int | None) -> Recount:
        """All that happened before that time."""
        counted = Recount(self.scenario)
        for row in self.rows:
            if time_ns is not None and row["time_ns"] >= time_ns:
                break
            counted.add(row)
        return counted

    def of(self, kind: str, **fields: Any) -> Iterator[Row]:
        """The events of a kind with these values."""
        for row in self.rows:
            if row["kind"] == kind and all(row[name] == value for name, value in fields.items()):
                yield row

    def count(self, kind: str, from_ns: int = 0, to_ns: int = 1 << 62, **fields: Any) -> int:
        """How many messages these events are about."""
        return sum(row["count"] for row in self.of(kind, **fields) if from_ns <= row["time_ns"] < to_ns)

    # -- findings

    @why(r"The recording is whole")
    def adds_up(self, _found: re.Match[str], finding: Finding) -> None:
        assert sum(row["count"] for row in self.rows if row["kind"] == "published") == self.all.totals["published"]
        assert finding.level == "good"

    @why(r"([\d,]+) messages? w(?:as|ere) turned away or discarded")
    def turned_away(self, found: re.Match[str], finding: Finding) -> None:
        counts = {kind: self.count(kind) for kind in ("rejected", "dropped", "evicted", "expired")}
        counts["rejected"] -= sum(row["count"] for row in self.of("rejected") if row["cause"].startswith("schema "))
        for told, kind in re.findall(r"([\d,]+) (rejected|dropped|evicted|expired)", finding.detail):
            assert counts[kind] == number(told)
        assert number(found[1]) == sum(counts.values())
        largest = re.search(r" ([\d,]+) of them because (\S+) was full", finding.detail)
        if largest:
            refused = [row for row in self.rows if row["kind"] in counts and "full" in row["cause"]]
            assert sum(row["count"] for row in refused if row["topic"] == largest[2]) >= number(largest[1])

    @why(r"(\S+) was blocked for (.+) on (\S+), (.+) of the session")
    def blocked(self, found: re.Match[str], finding: Finding) -> None:
        waited, since = 0, None
        for row in self.rows:
            if (row["client"], row["topic"]) == (found[1], found[3]):
                if row["kind"] == "producer_blocked":
                    since = row["time_ns"]
                elif row["kind"] == "producer_unblocked":
                    waited, since = waited + row["time_ns"] - since, None
        waited += 0 if since is None else self.end_ns - since
        assert (text.duration(waited), text.share(waited / self.end_ns)) == (found[2], found[4])

    def _unfinished(self, reader: str) -> int:
        """The most messages that the reader had not finished at one time, however often it fetched them."""
        topics = {row["topic"] for row in self.of("delivered", group=reader)}
        most = left = 0
        for row in self.rows:
            if row["kind"] == "published" and row["topic"] in topics:
                left += row["count"]
            elif row["group"] == reader and row["kind"] in {"acknowledged", "dead_lettered", "expired", "evicted"}:
                left -= row["count"]
            most = max(most, left)
        return most

    def _waited(self, reader: str, finding: Finding) -> None:
        assert 0 < finding.harm.at_once <= self._unfinished(reader)
        assert finding.harm.message_s <= finding.harm.at_once * self.end_ns / S

    def _each_s(self, reader: str) -> dict[str, float]:
        """The longest that a message took each of its members: from when the one before was done, or it came."""
        free, longest = Counter[str](), Counter[str]()
        in_hand = Counter[str]()
        for row in self.rows:
            client = row["client"]
            if row["group"] != reader or row["kind"] not in {"delivered", "acknowledged", "nacked", "lease_expired"}:
                continue
            if row["kind"] == "delivered":
                free[client] = free[client] if in_hand[client] else row["time_ns"]
                in_hand[client] += row["count"]
                continue
            in_hand[client] = max(0, in_hand[client] - row["count"])
            if row["kind"] != "lease_expired":
                longest[client] = max(longest[client], (row["time_ns"] - free[client]) // row["count"])
            free[client] = row["time_ns"]
        return {client: took_ns / S for client, took_ns in longest.items()}

    @why(r"(\S+) holds (\S+) back: ")
    def held_back(self, found: re.Match[str], finding: Finding) -> None:
        self._waited(found[2], finding)
        each = self._each_s(found[2])
        told = re.search(r"back: (.+) a message, the others (.+)", found.string)
        assert told and _ns(told[1]) > 1.5 * _ns(told[2])
        assert each[found[1]] * S >= 0.99 * _ns(told[1])

    @why(r"More (?:comes|came) to (\S+) ")
    def too_much(self, found: re.Match[str], finding: Finding) -> None:
        self._waited(found[1], finding)

    @why(r"(\S+) was (?:behind|still growing at the end): up to ([\d,]+) messages? waited")
    def not_shown(self, found: re.Match[str], finding: Finding) -> None:
        self._waited(found[1], finding)
        assert "not shown" in finding.why

    @why(r"The readers of (\S+) were slow|(?:Retries take .+ of the deliveries of|Messages of) (\S+)")
    def slow(self, found: re.Match[str], finding: Finding) -> None:
        self._waited(found[1] or found[2], finding)

    @why(r"(\S+) read again from (\S+) on")
    def read_again(self, found: re.Match[str], finding: Finding) -> None:
        assert any(text.clock(row["time_ns"]) == found[2] for row in self.of("offsets_reset", group=found[1]))

    @why(r"The key (\S+) of (\S+) is too much for one reader of (\S+): partition \S+/(\d+) carried (.+)")
    def hot_key(self, found: re.Match[str], finding: Finding) -> None:
        self._waited(found[3], finding)
        assert self.all.topics[found[2]].at(int(found[4])).keys.most_common(1)[0][0] == found[1].encode()

    @why(r"(\S+) went without (\S+) for (.+)|(\S+) was away from (\S+) (\d+) times")
    def away(self, found: re.Match[str], finding: Finding) -> None:
        group, client = found[1] or found[5], found[2] or found[4]
        self._waited(group, finding)
        gone = [row for kind in ("fault", "member_left", "client_stopped") for row in self.of(kind, client=client)]
        assert len(gone) >= int(found[6] or 1)

    @why(r"Nobody read (\S+) for (.+)")
    def nobody(self, found: re.Match[str], finding: Finding) -> None:
        self._waited(found[1], finding)
        times = [row["time_ns"] for kind in ("acknowledged", "nacked") for row in self.of(kind, group=found[1])]
        moments = sorted([0, *times])
        each = [later - one for one, later in zip(moments, [*moments[1:], self.end_ns], strict=True)]
        assert sum(gap for gap in each if gap > S) >= 0.8 * _ns(found[2])

    @why(r"(\S+) (?:fell behind while|rebalanced) (\d+)")
    def in_turn(self, found: re.Match[str], finding: Finding) -> None:
        self._waited(found[1], finding)
        assert self.count("rebalance_started", group=found[1]) == 0 or any(self.of("member_left", group=found[1]))

    @why(r"(\S+) cannot grow: (\d+) partitions? for (\d+) members")
    def cannot_grow(self, found: re.Match[str], finding: Finding) -> None:
        self._waited(found[1], finding)
        assert len(self.all.read_by(found[1])) == int(found[2]) < int(found[3])

    @why(r"Partition (\S+)/(\d+) is too much for one reader of (\S+): it carried (.+)")
    def hot_partition(self, found: re.Match[str], finding: Finding) -> None:
        self._waited(found[3], finding)

    @why(r"(\S+ .*|\S+) did nothing")
    def did_nothing(self, found: re.Match[str], finding: Finding) -> None:
        for name in re.split(r", | and ", found[1]):
            assert self.count("delivered", client=name) == 0 and any(self.of("client_started", client=name))

    @why(r"(?:Half of the messages were delivered (?:within (?P<half>.+?)|at once), )?99.% (?:of|within (?P<most>.+))")
    def late(self, found: re.Match[str], finding: Finding) -> None:
        """Without what a group read from before its time; the buckets of the report are 4.4 % wide."""
        since: dict[str, int] = {}
        for row in self.of("member_joined"):
            since.setdefault(row["group"], row["time_ns"])
        every = sorted(
            (row["time_ns"] - row["published_ns"], row["count"])
            for row in self.of("delivered", attempt=1)
            if row["published_ns"] >= since.get(row["group"], 0)
        )
        quantiles: dict[float, int] = {}
        total, passed = sum(count for _, count in every), 0
        for late_ns, count in every:
            passed += count
            for share in (0.5, 0.99):
                if passed >= share * total:
                    quantiles.setdefault(share, late_ns)
        for share, told in ((0.5, found["half"]), (0.99, found["most"])):
            assert quantiles[share] == pytest.approx(_ns(told or "0 s"), rel=0.08, abs=S // 1000)

    @why(r"(\S+) read ([\d,]+) messages? from before (?:its|their) time")
    def replayed(self, found: re.Match[str], finding: Finding) -> None:
        joined_ns = next(self.of("member_joined", group=found[1]))["time_ns"]
        older = sum(
            row["count"] for row in self.of("delivered", group=found[1], attempt=1) if row["published_ns"] < joined_ns
        )
        assert older >= number(found[2]) > 0

    @why(r"([\d,]+) messages? of .+ ended in the dead letters")
    def dead(self, found: re.Match[str], finding: Finding) -> None:
        deaths = re.search(r"([\d,]+) times in all", finding.headline)
        assert self.count("dead_lettered") == number(deaths[1] if deaths else found[1])
        causes = Counter((row["cause"], row["group"]) for row in self.of("dead_lettered"))
        (cause, group), most = causes.most_common(1)[0]
        assert f"Most often: {cause or 'no cause given'}" in finding.detail and f"in {group}" in finding.detail
        assert text.share(most / causes.total()) in finding.detail

    @why(r"Retries in (\S+) helped (?:nobody|([\d,]+) of ([\d,]+) times)")
    def retried(self, found: re.Match[str], finding: Finding) -> None:
        again = [row for row in self.of("delivered", group=found[1]) if row["attempt"] > 1]
        tried = re.match(r"([\d,]+) further attempts?", finding.detail)
        assert tried and sum(row["count"] for row in again) == number(tried[1])

    @why(r"([\d,]+) leases? of (\S+) expired, (.+) of all")
    def expired(self, found: re.Match[str], finding: Finding) -> None:
        gone = self.count("lease_expired", group=found[2])
        ended = sum(
            self.count(kind, group=found[2]) for kind in ("acknowledged", "nacked", "released", "dead_lettered")
        )
        assert gone == number(found[1])
        assert text.share(gone / (gone + ended)) == found[3] or ended > gone

    @why(r"([\d,]+) deliver(?:y was a repeat|ies were repeats), (.+) of all")
    def repeated(self, found: re.Match[str], finding: Finding) -> None:
        assert self.all.totals["redelivered"] == number(found[1])
        assert text.share(number(found[1]) / self.all.totals["delivered"]) == found[2]

    @why(r"The alert (.+) was raised ([\d,]+) times?")
    def alerted(self, found: re.Match[str], finding: Finding) -> None:
        raised = list(self.of("alert_raised", cause=found[1]))
        over = list(self.of("alert_over", cause=found[1]))
        assert len(raised) == number(found[2])
        assert ("lasted to the end" in finding.detail) == (len(over) < len(raised))

    @why(r"([\d,]+) messages? w(?:as|ere) deleted before (\S+) got (?:it|them)")
    def deleted(self, found: re.Match[str], finding: Finding) -> None:
        gone = 0
        for (group, topic, partition), read in self.all.read.items():
            if group == found[2]:
                log = self.all.topics[topic].at(partition)
                known = read | self.all.aborted[group, topic, partition] | self.all.passed[group, topic, partition]
                gone += len({*range(min(read), log.start)} - known - log.markers)
        assert gone == number(found[1])

    @why(r"The schema (\S+) refused ([\d,]+) messages?|Schemas refused ([\d,]+) messages?")
    def refused(self, found: re.Match[str], finding: Finding) -> None:
        away = [row for kind in ("rejected", "dead_lettered") for row in self.of(kind)]
        assert sum(row["count"] for row in away if row["cause"].startswith("schema ")) == number(found[2] or found[3])

    @why(r"The transaction (\S+) held up (\S+) for (.+)")
    def held_up(self, found: re.Match[str], finding: Finding) -> None:
        began = [
            row["time_ns"] for row in self.of("transaction_started") if row["detail"]["transactional_id"] == found[1]
        ]
        ended = [
            row["time_ns"] for row in self.of("transaction_ended") if row["detail"]["transactional_id"] == found[1]
        ]
        assert finding.time_ns is not None
        first = max(at for at in began if at <= finding.time_ns)
        end = min((at for at in ended if at > finding.time_ns), default=self.end_ns)
        assert _ns(found[3]) * 0.99 <= end - first
        read = [
            row for row in self.of("delivered", group=found[2]) if finding.time_ns + S // 100 < row["time_ns"] < end
        ]
        assert all(row["published_ns"] <= finding.time_ns for row in read)

    @why(r"(?:Nothing|Little|\S.*?) was published after (\S+): (.+)")
    def stopped(self, found: re.Match[str], finding: Finding) -> None:
        at_ns = finding.time_ns or 0
        window = re.search(r"within (.+?), what", finding.detail)
        assert window
        before, after = (
            self.count("published", at_ns + shift, at_ns + shift + _ns(window[1])) for shift in (-_ns(window[1]), 0)
        )
        assert after < before / 2


def _ns(words: str) -> int:
    """2 min 05 s, 14.8 ms, in nanoseconds."""
    units = {"ns": 1, "µs": 1_000, "ms": 1_000_000, "s": S, "min": 60 * S, "h": 3600 * S}
    return round(sum(float(value) * units[unit] for value, unit in re.findall(r"([\d.]+)\s(ns|µs|ms|s|min|h)", words)))


@pytest.mark.parametrize("scenario", some(SCENARIOS, {"group-protocols", "poison-message"}))
def test_every_finding_is_true_of_the_session(spark: SparkSession, tmp_path: Path, scenario: str) -> None:
    folder = tmp_path / "session"
    command = [sys.executable, str(ROOT / "main.py"), "run", scenario, "--session", str(folder), "--speed", "max"]
    run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    info = inspect(str(folder))
    made = make_tables(spark, info, Silent())
    rows = {name: table.to_pylist() for name, table in made.tables.items()}
    found = find(rows, made.scale, whole=made.whole, parts=made.parts, scenario=info.scenario)
    truth = Truth(folder)
    assert found
    for finding in found:
        hold(truth, finding)


def hold(truth: Truth, finding: Finding) -> None:
    """One of the checks knows the sentence, and it is so."""
    headline = finding.headline.replace("\u2068", "").replace("\u2069", "")
    known = [(match, name) for pattern, name in CHECKS if (match := pattern.match(headline))]
    assert known, f"nothing says why this is true: {headline}"
    for match, name in known[:1]:
        getattr(truth, name)(match, finding)
