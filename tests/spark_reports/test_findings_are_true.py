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
from spark_reports.collect import make_tables
from spark_reports.findings.find import find
from spark_reports.findings.finding import Finding
from spark_reports.findings.settings import Settings
from spark_reports.page import text
from spark_reports.session import inspect
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
        self.end_ns = max(int(inspect(str(folder)).metadata["duration_ns"]), self.rows[-1]["time_ns"])

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

    @why(r"Everything adds up")
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

    @why(r"(\S+) (?:was|consumers were) busy at least 95")
    def busy(self, found: re.Match[str], finding: Finding) -> None:
        """Who had something that was not finished in nearly all looks from the first delivery on."""
        name = found[1] if not found[1].isdigit() else re.split(r", | and |\. ", finding.detail)[0]
        in_hand, looks, at = 0, Counter[bool](), 0
        first = next(self.of("delivered", client=name))["time_ns"]
        for row in self.rows:
            while at < row["time_ns"]:
                looks[in_hand > 0] += at > first
                at += S // 10
            if row["client"] == name and row["attempt"] is not None and row["kind"] == "delivered":
                in_hand += row["count"]
            elif row["client"] == name and row["kind"] in {"acknowledged", "nacked", "released", "lease_expired"}:
                in_hand = max(0, in_hand - row["count"])
        assert looks[True] >= 0.9 * looks.total()

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

    @why(r"(\S+) fell (?:at most )?([\d,]+) messages? behind on (?:one partition, )?(\S+)/(\d+)")
    def fell_behind(self, found: re.Match[str], finding: Finding) -> None:
        assert finding.time_ns is not None
        then = self.at(finding.time_ns if finding.time_ns < self.end_ns else None)
        assert then.lag(found[1], found[3], int(found[4])) == number(found[2])
        left = re.search(r"At the end the group was (?:at most )?([\d,]+) messages? behind", finding.detail)
        assert (self.all.group_lag(found[1]) or 0) == (number(left[1]) if left else 0)
        waited = re.search(r"Nobody read the partition for (.+) before", finding.why)
        if waited:
            gaps = [gap for gap in self.all.all_gaps(found[1]) if gap.place == (found[3], int(found[4]))]
            assert waited[1] in {text.duration(gap.lasted_ns(self.end_ns)) for gap in gaps}

    @why(r"(?:The lag of (?P<group>\S+) on \S+|(?P<queue>\S+)) was still growing at the end: ([\d,]+) messages?")
    def growing(self, found: re.Match[str], finding: Finding) -> None:
        name = found["group"] or found["queue"]
        half = self.at(self.end_ns - (self.end_ns - (finding.time_ns or 0)) // 2)
        if found["group"]:
            assert self.all.group_lag(name) == number(found[3]) > (half.group_lag(name) or 0)
        else:
            assert self.all.queues[name].waiting() == number(found[3]) > half.queues[name].waiting()

    @why(r"Nobody read (\d+) of (\d+) partitions of (\S+) for (.+?)(?:, until the end)?$")
    def outage(self, found: re.Match[str], finding: Finding) -> None:
        gaps = self.all.all_gaps(found[3])
        (started_ns,) = {
            gap.revoked_ns for gap in gaps if gap.start_ns == finding.time_ns and self._lasts(gap, found[4])
        }
        near = [gap for gap in gaps if self._lasts(gap, found[4])]
        assert len({gap.place for gap in near}) >= int(found[1]), started_ns
        struck = re.match(
            r"(\S+) (had crashed|stood still|did not respond), and the group noticed (.+) later", finding.why
        )
        if struck:
            left = {
                text.duration(row["time_ns"] - (finding.time_ns or 0))
                for row in self.of("member_left", client=struck[1], group=found[3])
                if row["time_ns"] >= (finding.time_ns or 0)
            }
            assert struck[3] in left

    def _lasts(self, gap: Any, told: str) -> bool:
        ends = told.split(" to ")
        return _ns(ends[0]) * 0.99 <= gap.lasted_ns(self.end_ns) <= _ns(ends[-1]) * 1.01

    @why(r"([\d,]+) messages? ended in the dead letters")
    def dead(self, found: re.Match[str], finding: Finding) -> None:
        assert self.count("dead_lettered") == number(found[1])
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

    @why(r"Partition (\d+) of (\S+) carried (.+?) of its messages(?:: key (.+))?$")
    def hot(self, found: re.Match[str], finding: Finding) -> None:
        topic = self.all.topics[found[2]]
        assert (
            text.share(self.count("published", topic=found[2], partition=int(found[1])) / topic.published) == found[3]
        )
        if found[4]:
            keys = topic.at(int(found[1])).keys
            key, most = keys.most_common(1)[0]
            assert (key or b"").decode() == found[4]
            of_all = self.count("published", topic=found[2], partition=int(found[1]))
            assert text.share(most / of_all) in finding.why

    @why(r"The alert (.+) was raised ([\d,]+) times?")
    def alerted(self, found: re.Match[str], finding: Finding) -> None:
        raised = list(self.of("alert_raised", cause=found[1]))
        over = list(self.of("alert_over", cause=found[1]))
        assert len(raised) == number(found[2])
        assert ("lasted to the end" in finding.detail) == (len(over) < len(raised))

    @why(r"(\S+) holds (\S+) back")
    def held_back(self, found: re.Match[str], finding: Finding) -> None:
        owner = {place: spans[-1].owner for place, spans in self.all.groups[found[2]].spans.items() if spans}
        means: dict[str, list[float]] = {}
        for (topic, partition), client in owner.items():
            levels = [level.get(("lag", f"{found[2]} {topic} {partition}"), 0.0) for level in self.all.levels]
            means.setdefault(client, []).append(sum(levels) / len(levels))
        mean = {client: sum(lags) / len(lags) for client, lags in means.items()}
        assert all(mean[found[1]] > 2 * lag for client, lag in mean.items() if client != found[1])

    @why(r"(\S+) cannot grow: (\d+) partitions? for (\d+) members")
    def cannot_grow(self, found: re.Match[str], finding: Finding) -> None:
        group = self.all.groups[found[1]]
        assert len(self.all.read_by(found[1])) == int(found[2]) and len(group.members) >= int(found[3])
        left = re.search(r"was (?:at most )?([\d,]+) messages? behind", finding.detail)
        assert left and self.all.group_lag(found[1]) == number(left[1])

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

    @why(r"(?:Fault|User action|Damage|Offsets reset|Client stopped|Member left) at (\S+): (.+)")
    def disturbed(self, found: re.Match[str], finding: Finding) -> None:
        then = [
            row for row in self.rows if row["time_ns"] == finding.time_ns and row["kind"] in {"fault", "user_action"}
        ]
        assert then
        scope = re.search(r"within (.+?)(?: in (\S+))?: (.+)", finding.detail)
        assert scope and finding.time_ns is not None
        rates = re.search(r"deliveries went from ([\d.,]+) to ([\d.,]+) a second", scope[3])
        if rates:
            width = _ns(scope[1])
            fields = {"group": scope[2]} if scope[2] else {}
            for shift, told in ((-width, rates[1]), (0, rates[2])):
                from_ns = finding.time_ns + shift
                seen = self.count("delivered", from_ns, from_ns + width, **fields) * S / width
                assert seen == pytest.approx(float(told.replace(",", "")), rel=0.2, abs=2.0)

    @why(r"The workers of (\S+) were idle .+ of the time while messages waited")
    def hands_free(self, found: re.Match[str], finding: Finding) -> None:
        mine = {row["client"] for row in self.of("delivered", group=found[1])}
        assert all({row["group"] for row in self.of("delivered", client=client)} == {found[1]} for client in mine)

    @why(r"The rate limit of (\S+) was never reached")
    def unreached(self, found: re.Match[str], finding: Finding) -> None:
        assert not any(
            "takes at most" in row["cause"] for row in self.rows if found[1] in {row["topic"], row["client"]}
        )


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
    found = find(rows, made.scale, whole=made.whole, parts=made.parts, settings=Settings(info.scenario))
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
