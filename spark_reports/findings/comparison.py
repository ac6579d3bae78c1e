from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from resources.measures import AS_LONG, MEASURES, TELLING
from resources.otherwise import Otherwise, done_in_words, otherwise
from spark_reports import text
from spark_reports.findings.finding import BAD, GOOD, INFO, ORDER, WARN, Finding
from spark_reports.findings.settings import Settings
from spark_reports.pipeline.collect import Made
from spark_reports.rows import Rows
from spark_reports.tables.runs import BETTER
from spark_reports.text import change, shown

#: What has a sentence of its own, most telling first; what else differs goes into one.
_TOLD = (
    "p99_ns", "p50_ns", "rebalancing_ns", "moved", "dead_lettered", "turned_away", "redelivered", "blocked_ns",
    "delivered_per_s",
)  # fmt: skip
_JUDGED = ("better", "worse")
_DONE = ("fault", "user_action")
_SHOWN = 4


def comparison_findings(
    runs: Rows, compared: Rows, made: Sequence[Made], labels: Sequence[str], settings: Sequence[Settings] = ()
) -> list[Finding]:
    """The sentences of the comparison, worst first. `settings` are those of each session, if they are known."""
    done = {number: _done_differently(number, made, settings) for number in range(1, len(made))}
    found = [
        *_wrong(made, labels),
        *_unlike(runs),
        *(_did(labels[number], labels[0], told) for number, told in done.items() if told),
        *_differences(compared, done),
        *_groups(made, labels),
    ]
    return sorted(found, key=lambda finding: ORDER.index(finding.level))


def _done_differently(number: int, made: Sequence[Made], settings: Sequence[Settings]) -> list[Otherwise]:
    """Settings and actions of this session that differ from the first."""
    first, this = (settings[one].flat() if settings else {} for one in (0, number))
    return otherwise(this, first, *(_actions(one) for one in (made[number], made[0])))


def _words(one: Otherwise) -> str:
    if one.at_ns is None:
        return f"{one.what} is {one.value or 'not set'} instead of {one.base or 'not set'}"
    return f"{one.what} at {text.clock(one.at_ns)}" if one.done else f"no {one.what} at {text.clock(one.at_ns)}"


def _actions(one: Made) -> Mapping[str, int]:
    found: dict[str, int] = {}
    for row in one.rows("markers"):
        if row["kind"] in _DONE:
            found.setdefault(done_in_words(row["cause"] or row["kind"], row["client"] or ""), row["time_ns"])
    return found


def _did(label: str, first: str, done: Sequence[Otherwise]) -> Finding:
    told = text.listed([_words(one) for one in done], _SHOWN)
    return Finding(INFO, f"What differed in {label} from {first}", f"{told}.", "sessions")


def _wrong(made: Sequence[Made], labels: Sequence[str]) -> Iterator[Finding]:
    """A session that is not whole or broke a rule is no fair comparison; told as far as somebody looked."""
    for one, label in zip(made, labels, strict=True):
        broken = [row["check"] for row in one.rows("audit") if not row["ok"]]
        unequal = [row["name"] for row in one.rows("reconciliation") if not row["equal"]]
        missing = sum(row["missing"] for row in one.rows("recording"))
        parts = [f"messages were {check.split(':')[0]}" for check in broken]
        parts += [f"{text.plural(len(unequal), 'total differs', 'totals differ')} from the broker's"] if unequal else []
        parts += [f"{text.plural(missing, 'event is', 'events are')} missing from the recording"] if missing else []
        if parts:
            yield Finding(BAD, f"{label} is not sound", f"{text.listed(parts, 4)}.".capitalize(), "sessions")


def _unlike(runs: Rows) -> Iterator[Finding]:
    scenarios = sorted({row["scenario"] for row in runs})
    if len(scenarios) > 1:
        yield Finding(
            WARN, "These are different scenarios", f"{text.listed(scenarios)}: differences may not mean anything.",
            "sessions",
        )  # fmt: skip
    seconds = [row["length_ns"] for row in runs if row["length_ns"]]
    if seconds and max(seconds) > min(seconds) * (1 + AS_LONG):
        yield Finding(
            INFO, "Their lengths differ", f"From {text.duration(min(seconds))} to {text.duration(max(seconds))}: "
            "rates and percentiles can be compared; totals cannot, and are not judged.", "sessions",
        )  # fmt: skip


def _differences(compared: Rows, done: Mapping[int, Sequence[Otherwise]]) -> Iterator[Finding]:
    """Every figure that the table `comparison` calls better or worse, and no other."""
    names = {row["session"]: row["name"] for row in compared}
    judged = [row for row in compared if row["verdict"] in _JUDGED]
    for measure in _TOLD:
        for row in (one for one in judged if one["measure"] == measure):
            better = row["verdict"] == "better"
            label, value, base = MEASURES[measure].label, shown(measure, row["value"]), shown(measure, row["base"])
            yield Finding(
                GOOD if better else WARN,
                f"{label}: {value} in {row['name']}, {base} in {names[0]}",
                f"That is {row['verdict']}: {change(row['change'], row['difference'])}.",
                "figures",
                why=_because(done.get(row["session"], ())),
            )
    for session, verdict in ((session, verdict) for session in names for verdict in _JUDGED):
        rest = [row for row in judged if (row["session"], row["verdict"]) == (session, verdict)]
        told = [
            f"{MEASURES[row['measure']].label} ({change(row['change'], row['difference'])})"
            for row in rest
            if row["measure"] not in _TOLD
        ]
        if told:
            also = "Also" if len(told) < len(rest) else "Only this is"
            level = GOOD if verdict == "better" else WARN
            yield Finding(level, f"{also} {verdict} in {names[session]}", f"{text.listed(told, _SHOWN)}.", "figures")
    if not judged and len(names) > 1 and any(row["measure"] in BETTER for row in compared):
        headline = "No figure differs by more than a tenth and by more than chance would explain"
        yield Finding(GOOD, headline, "The differences below may be chance.", "figures")


def _because(done: Sequence[Otherwise]) -> str:
    """As far as the data show: where one thing alone was otherwise."""
    if not done:
        return ""
    if len(done) == 1:
        return f"One thing was different: {_words(done[0])}."
    words = text.listed([_words(one) for one in done], _SHOWN)
    return f"{len(done)} things were different, and the data do not show which one it was: {words}."


def _groups(made: Sequence[Made], labels: Sequence[str]) -> Iterator[Finding]:
    """Which group did best at rebalancing, over all sessions: that is what assignors are compared for."""
    rows = [
        (row["unserved_ns"], row["changed"], row["group"], label)
        for one, label in zip(made, labels, strict=True)
        for row in one.rows("groups")
        if row["rebalances"] > 1
    ]
    if len(rows) < 2:
        return
    best, worst = min(rows), max(rows)
    if worst[0] > best[0] * (1 + TELLING):
        several = len(set(labels)) > 1

        def place(row: tuple[int, int, str, str]) -> str:
            return f"{row[2]} in {row[3]}" if several else row[2]

        yield Finding(
            INFO,
            f"{place(worst)} left partitions without a reader for {text.duration(worst[0])} in all",
            f"{place(best)} only for {text.duration(best[0])}; {text.plural(worst[1], 'partition')} changed owner "
            f"there, {best[1]} here.",
            "groups",
        )
