from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from spark_reports import text
from spark_reports.findings.finding import Finding
from spark_reports.findings.verdict import verdict
from spark_reports.page.charts import chart_data
from spark_reports.page.comparison_page import comparison_data
from spark_reports.page.figures import key_figures
from spark_reports.page.history_page import history_data, in_order
from spark_reports.paper.cells import comparison_table, cost_table, printed, runs_table, trends_table, verdicts_told
from spark_reports.paper.paper import Paper
from spark_reports.paper.plots import Plot, comparison_plots, history_plots, overview, plots
from spark_reports.pipeline.collect import Made
from spark_reports.request.assertions import Verdict
from spark_reports.request.parts import EVERY, IN_HISTORY, titles
from spark_reports.rows import Rows, Tables
from spark_reports.sessions.session import SessionInfo

# The tables that a reader of paper looks for; all of them are in the CSV and Parquet files.
_TABLES = (
    ("reconciliation", "Totals and reconciliation", ()),
    (
        "share_groups", "Share groups and subscriptions",
        ("group", "topic", "members", "delivered", "acknowledged", "released", "dead_lettered", "last_unfinished"),
    ),
    (
        "transactions", "Transactions",
        ("transactional_id", "client", "committed", "aborted", "timed_out", "open", "mean_open_ns", "longest_open_ns"),
    ),
    ("cluster", "Cluster", ("time_ns", "kind", "cause")),
    ("account", "Account of every message", ()),
    ("verdicts", "Verdicts", ("promise", "holds", "because")),
    ("again", "Delivered again", ("reader", "source", "why", "messages", "before", "after", "first_ns")),
    ("deleted_unread", "Deleted unread", ("group", "topic", "partition", "messages", "cause", "first_ns", "last_ns")),
    ("latency", "Latency", ()),
    ("rebalances", "Rebalances", ("started_ns", "group", "cause", "generation_after", "moved", "kept", "pause_ns")),
    ("groups", "Groups and queues", ("group", "clients", "delivered", "acknowledged", "repeated", "dead_lettered",
                                     "p50_ns", "p99_ns", "max_behind", "last_behind", "unserved_ns")),
    ("consumers", "Consumers", ("group", "client", "delivered", "acknowledged", "busy_ns", "idle_ns", "utilisation",
                                "each_p50_ns", "each_p99_ns")),
    ("leases", "Leases", ()),
    ("dead_letters", "Dead letters by cause", ()),
    ("hot_keys", "Hot keys", ("topic", "rank", "key", "partition", "messages", "share_of_partition", "share_of_topic")),
    ("refusals", "Refused by schemas", ()),
)  # fmt: skip


def session_paper(
    info: SessionInfo, made: Made, tables: Tables, findings: Sequence[Finding], verdicts: Sequence[Verdict] = ()
) -> Paper:
    rows = {name: list(found) for name, found in tables.items() if name in made.shown()}
    figures = [(figure.label, figure.value) for figure in key_figures(rows, made.scale)]
    answer = verdict(findings, verdicts, info.problems, made.parts)
    lacks = "".join(f" {problem}" for problem in info.problems[:1])
    return Paper(
        str(info.metadata.get("scenario") or info.location),
        _about(info, made.parts),
        figures,
        findings,
        [
            *([verdicts_told(verdicts)] if verdicts else []),
            *(
                printed(title, rows[name], _filled(rows[name]) if name == "account" else columns)
                for name, title, columns in _TABLES
                if rows.get(name)
            ),
            *([cost_table(rows["cost"])] if rows.get("cost") else []),
        ],
        _plots([("", made, rows)]),
        verdict=answer._replace(sentence=f"{answer.sentence}{lacks}{_asserted(verdicts)}"),
        overview=None if made.scale.is_moment else overview(chart_data(rows, made.scale)),
    )


def _filled(account: Rows) -> list[str]:
    """The columns of the account without the states in which no message is."""
    return [name for name in account[0] if name in ("published", "lost") or any(row[name] for row in account)]


def _asserted(verdicts: Sequence[Verdict]) -> str:
    failing = sum(not one.holds for one in verdicts)
    if failing:
        return f" {failing} of {text.plural(len(verdicts), 'assertion')} failed."
    return f" {text.plural(len(verdicts), 'assertion')} held." if verdicts else ""


def comparison_paper(
    labels: Sequence[str], tables: Mapping[str, Any], made: Sequence[Made], findings: Sequence[Finding]
) -> Paper:
    each = [
        (label, one, {name: table.to_pylist() for name, table in one.tables.items()})
        for label, one in zip(labels, made, strict=True)
    ]
    return Paper(
        "Comparison",
        f"{labels[0]} beside " + "; ".join(labels[1:]) + _only(made[0].parts),
        [],
        findings,
        [comparison_table(tables["comparison"].to_pylist(), labels), runs_table(tables["runs"].to_pylist())],
        [*(("", plot) for plot in comparison_plots(comparison_data(made, labels))), *_plots(each)],
        tables_first=True,
    )


def history_paper(tables: Tables, findings: Sequence[Finding], parts: frozenset[str] = EVERY) -> Paper:
    """Trends over many sessions, of the figures of `parts`."""
    count = len(tables["runs"])
    return Paper(
        "History",
        f"{count:,} recorded sessions, oldest first" + (_only(parts & IN_HISTORY, IN_HISTORY) or "."),
        [],
        findings,
        [trends_table(in_order(tables["trends"])), runs_table(tables["runs"])],
        [("", plot) for plot in history_plots(history_data(tables["runs"]))],
    )


def _about(info: SessionInfo, asked: frozenset[str]) -> str:
    known = info.metadata
    parts = [
        f"seed {known['seed']}" if known.get("seed") is not None else "",
        f"started {known['started_at']}" if known.get("started_at") else "",
        f"recorded in {info.location}",
    ]
    return ", ".join(part for part in parts if part) + _only(asked)


def _only(asked: frozenset[str], all_parts: frozenset[str] = EVERY) -> str:
    return "" if asked == all_parts else f". Only {text.listed(titles(asked), len(all_parts))}."


def _plots(each: Sequence[tuple[str, Made, Tables]]) -> list[tuple[str, Plot]]:
    return [(heading, plot) for heading, made, rows in each for plot in plots(chart_data(rows, made.scale))]
