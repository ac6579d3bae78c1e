"""The page from tables: what it says first, and that nothing of a session is ever markup. No Spark needed."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from typing import Any

import pyarrow as pa
import pytest

from spark_reports.collect import Made
from spark_reports.page.charts import chart_data
from spark_reports.page.findings import BAD, GOOD, WARN, find
from spark_reports.page.page import render
from spark_reports.session import SessionInfo
from spark_reports.tables import TABLES

S = 1_000_000_000
EVIL = "</script><img src=x onerror=alert(1)>\"'&{{7*7}}"
_ARROW = {"BIGINT": pa.int64(), "INT": pa.int32(), "STRING": pa.string(), "DOUBLE": pa.float64(), "BOOLEAN": pa.bool_()}
TOTALS = (
    "published", "delivered", "acknowledged", "dead_lettered", "redriven", "rejected", "dropped", "expired", "evicted",
    "purged", "redelivered", "rebalances", "events",
)  # fmt: skip


def _schema(ddl: str) -> pa.Schema:
    columns = (part.split() for part in ddl.replace("`", "").split(", "))
    return pa.schema([(name, _ARROW[kind]) for name, kind in columns])


def made(**rows: list[dict[str, Any]]) -> Made:
    """All tables, empty but for `rows`; totals are there as they always are."""
    rows.setdefault("totals", [{"name": name, "recorded": 0} for name in TOTALS])
    tables = {table.name: pa.Table.from_pylist(rows.get(table.name, []), _schema(table.schema)) for table in TABLES}
    assert set(rows) <= set(tables)
    return Made(tables, 60 * S, S)


def info(**metadata: Any) -> SessionInfo:
    return SessionInfo("somewhere", {"scenario": "Test", "ended": "finished", **metadata})


def findings(**rows: list[dict[str, Any]]) -> list[Any]:
    tables = {name: table.to_pylist() for name, table in made(**rows).tables.items()}
    return find(tables, 60 * S)


def equal(name: str = "published", summary: int = 5, recorded: int = 5) -> dict[str, Any]:
    return {
        "name": name, "summary": summary, "recorded": recorded, "difference": recorded - summary,
        "equal": recorded == summary,
    }  # fmt: skip


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_a_session_in_which_nothing_happened_still_has_a_page() -> None:
    page = render(info(), made())
    assert (
        "Nothing was published." in page
        and "Nothing was delivered." in page
        and "No message died." in page
        and "No group rebalanced." in page
    )


def test_nothing_of_a_session_is_markup() -> None:
    place = {"topic": EVIL, "partition": 0, "group": EVIL, "client": EVIL, "cause": EVIL, "key": EVIL, "name": EVIL}
    rate = {"dimension": "topic", "messages": 2, "bytes": 1, "messages_per_s": 1.0, "bytes_per_s": 1.0, "start_ns": 0}
    span = {"from_ns": 0, "to_ns": S, "started_ns": 0, "ended_ns": S, "pause_ns": S, "finished": True, "stopped": 1}
    dead = {"time_ns": 0, "offset": 0, "attempt": 1, "bin": EVIL, "bin_offset": 0, "dead_lettered": 1, "redriven": 0}
    share = {"share": 0.5, "times_even": 1.0, "share_of_partition": 1.0, "share_of_topic": 1.0, "rank": 1}
    lag = {"end_offset": 1, "committed": 0, "lag": 1, "last_lag": 1, "max_lag": 1, "max_lag_ns": 0, "mean_lag": 1.0}
    moved = {"partitions": 1, "moved": 1, "kept": 0, "peak_messages_per_s": 1.0, "kind": "fault", "first_ns": 0}
    row = {**place, **rate, **span, **dead, **share, **lag, **moved}
    hostile = (
        *("throughput", "throughput_series", "dead_letters", "dead_letter_list", "hot_keys", "rebalances", "ownership"),
        *("markers", "lag", "lag_series"),
    )
    columns = {table.name: _schema(table.schema).names for table in TABLES}
    rows = {name: [{key: row[key] for key in columns[name] if key in row}] for name in hostile}
    rows["partitions"] = [{key: row[key] for key in columns["partitions"]} | {"partition": p} for p in (0, 1)]
    page = render(info(scenario=EVIL, session_id=EVIL, problems=()), made(**rows))
    elements = _Elements()
    elements.feed(page)
    tags = [tag for tag, _ in elements.found]
    assert "img" not in tags and "link" not in tags and "iframe" not in tags
    assert tags.count("script") == 3
    assert not [name for _, attributes in elements.found for name in attributes if name.startswith("on")]
    assert "49" not in re.findall(r"<h1>(.*?)</h1>", page, re.S)[0].replace("{{7*7}}", "")
    data = json.loads(re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[0])
    assert data["ownership"]["clients"] == [EVIL]


def test_the_page_needs_nothing_else_and_runs_only_its_own_scripts() -> None:
    page = render(info(), made())
    policy = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)[0]
    scripts = re.findall(r"<script>(.*?)</script>", page, re.S)
    assert len(scripts) == 2
    for script in scripts:
        assert f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" in policy
    assert "default-src 'none'" in policy and "script-src 'unsafe" not in policy
    elements = _Elements()
    elements.feed(page)
    references = [a[name] for _, a in elements.found for name in ("src", "href") if a.get(name)]
    assert references and all(reference.startswith("#") for reference in references if reference)
    anchors = {a["id"] for _, a in elements.found if a.get("id")}
    assert {reference[1:] for reference in references if reference} <= anchors


def test_what_differs_is_said_first_and_loudly() -> None:
    rows = [equal("delivered", 10, 9), equal()]
    worst = findings(reconciliation=rows)[0]
    assert worst.level == BAD and "1 of 2 totals differ" in worst.headline
    assert "delivered 9 instead of 10" in worst.detail
    page = render(info(), made(reconciliation=rows))
    assert page.index("This recording does not add up") < page.index(">Findings</h2>")


def test_what_adds_up_is_said_calmly() -> None:
    (only,) = findings(reconciliation=[equal()])
    assert only.level == GOOD and only.headline == "Everything adds up"
    assert "does not add up" not in render(info(), made(reconciliation=[equal()]))


def test_without_a_summary_nobody_claims_that_it_adds_up() -> None:
    (only,) = findings()
    assert only.level == WARN and "no summary" in only.detail


def test_problems_of_the_recording_are_on_top() -> None:
    damaged = SessionInfo("x", {"scenario": "Test", "ended": "crashed"}, ("messages/part-00001.parquet is damaged.",))
    page = render(damaged, made())
    assert page.index("messages/part-00001.parquet is damaged.") < page.index(">Findings</h2>")


CASES: dict[str, tuple[dict[str, list[dict[str, Any]]], list[str]]] = {
    "dead letters": (
        {
            "dead_letters": [
                {"group": "q", "cause": "poison", "dead_lettered": 3, "redriven": 1, "first_ns": S},
                {"group": "q", "cause": "late", "dead_lettered": 1, "redriven": 0, "first_ns": S},
            ]
        },
        ["4 messages ended in the dead letters", "Most often: poison (75 %, in q). 1 was redriven."],
    ),
    "rebalance": (
        {
            "rebalances": [
                {
                    **{"group": "g", "started_ns": 31 * S, "ended_ns": 34 * S, "pause_ns": 3 * S, "finished": True},
                    **{"cause": "worker-2 crashed", "partitions": 6, "moved": 4, "kept": 2, "stopped": 4},
                },
                {
                    **{"group": "g", "started_ns": 0, "ended_ns": 50 * S, "pause_ns": 50 * S, "finished": True},
                    **{"cause": "start", "partitions": 6, "moved": 6, "kept": 0, "stopped": 0},
                },
            ]
        },
        [
            "A rebalance stopped 4 of 6 partitions of g for 3 s",
            "At 00:31.0, because worker-2 crashed. 4 moved, 2 stayed with their owner.",
        ],
    ),
    "lag": (
        {
            "lag_series": [
                {"group": "g", "topic": "t", "partition": 2, "last_lag": 7, "max_lag": 40, "max_lag_ns": S},
                {"group": "g", "topic": "t", "partition": 3, "last_lag": 2, "max_lag": 5, "max_lag_ns": S},
            ]
        },
        ["g fell 40 messages behind on t/2", "The worst was at 00:01.0. At the end the group was 9 messages behind."],
    ),
    "blocked": (
        {
            "backpressure": [
                {"topic": "t", "client": "p", "cause": "t is full", "from_ns": S, "blocked_ns": 3 * S},
                {"topic": "t", "client": "p", "cause": "", "from_ns": 9 * S, "blocked_ns": 3 * S},
            ]
        },
        ["p was blocked for 6 s on t, 10 % of the session", "The longest wait was 3 s at 00:01.0: t is full."],
    ),
    "refused": (
        {
            "backpressure_series": [
                {"topic": "t", "blocks": 0, "blocked_ns": 0, "rejected": 5, "dropped": 2, "evicted": 0, "expired": 0}
            ]
        },
        ["7 messages were turned away or discarded", "5 refused and 2 dropped, on t."],
    ),
    "skew": (
        {
            "partitions": [
                {"topic": "t", "partition": 0, "messages": 6, "share": 0.75, "times_even": 1.5},
                {"topic": "t", "partition": 1, "messages": 2, "share": 0.25, "times_even": 0.5},
            ],
            "hot_keys": [{"topic": "t", "rank": 1, "key": "librdkafka/33", "partition": 0, "share_of_partition": 0.67}],
        },
        ["Partition 0 of t carried 75 % of its messages", "The key librdkafka/33 alone is 67 % of the partition."],
    ),
    "repeats": (
        {
            "redeliveries": [
                {"group": "q", "topic": "q", "attempt": 1, "delivered": 90},
                {"group": "q", "topic": "q", "attempt": 2, "delivered": 10},
            ]
        },
        ["10 deliveries were repeats, 10 % of all", "Up to attempt 2, in q."],
    ),
}


@pytest.mark.parametrize(("rows", "sentences"), CASES.values(), ids=CASES)
def test_a_finding_is_computed(rows: dict[str, list[dict[str, Any]]], sentences: list[str]) -> None:
    said = " ".join(f"{one.headline} {one.detail}" for one in findings(**rows)).replace("\u00a0", " ")
    for sentence in sentences:
        assert sentence in said


def test_even_partitions_are_no_finding() -> None:
    rows = [{"topic": "t", "partition": p, "messages": 5, "bytes": 1, "share": 0.5, "times_even": 1.0} for p in (0, 1)]
    assert [one.section for one in findings(partitions=rows, reconciliation=[equal()])] == ["reconciliation"]


def test_the_heat_map_keeps_every_message_and_lifts_what_took_no_time() -> None:
    cells = [(0, 0, 1, 5), (0, 20, 316, 2), (1, 48, 1_000_000, 7), (1, 50, 1_778_279, 1)]
    rows = [
        {"measure": "delivered", "start_ns": at * S, "row": row, "from_ns": from_ns, "messages": messages}
        for at, row, from_ns, messages in cells
    ]
    heat = chart_data({name: table.to_pylist() for name, table in made(latency_heat=rows).tables.items()}, 60 * S, S)
    drawn = heat["latency_heat"]["delivered"]
    assert drawn["cells"] == [[0, 0, 7], [1, 2, 7], [1, 4, 1]]
    assert drawn["has_zero"] and len(drawn["labels"]) == 5 and drawn["labels"][2] == 1.0
