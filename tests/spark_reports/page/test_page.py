"""The page from tables: what it says first, and that nothing of a session is ever markup. No Spark needed."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shlex
from html.parser import HTMLParser
from typing import Any

import pyarrow as pa
import pytest

from spark_reports.collect import Made
from spark_reports.page import page as pages
from spark_reports.page.charts import chart_data
from spark_reports.page.finding import BAD, GOOD, WARN
from spark_reports.page.findings import find
from spark_reports.page.moments import Moments
from spark_reports.scale import Scale
from spark_reports.session import SessionInfo
from spark_reports.tables import TABLES

S = 1_000_000_000
SCALE = Scale(0, 60 * S, S)
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
    return Made(tables, SCALE)


def render(about: SessionInfo, whole: Made) -> str:
    tables = {name: table.to_pylist() for name, table in whole.tables.items()}
    return pages.render(about, whole, tables, find(tables, whole.scale, whole=whole.whole))


def info(**metadata: Any) -> SessionInfo:
    return SessionInfo("somewhere", {"scenario": "Test", "ended": "finished", **metadata})


def findings(**rows: list[dict[str, Any]]) -> list[Any]:
    tables = {name: table.to_pylist() for name, table in made(**rows).tables.items()}
    return find(tables, SCALE)


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


def hostile(**more: Any) -> dict[str, list[dict[str, Any]]]:
    """Every table with a row whose words are all an attack."""
    plain = {"STRING": EVIL, "BIGINT": S, "INT": 1, "DOUBLE": 0.5, "BOOLEAN": False}
    rows = {}
    for table in TABLES:
        row = {name: plain[kind] for name, kind in (part.split() for part in table.schema.replace("`", "").split(", "))}
        told = {"dimension": "topic", "measure": "delivered", "kind": "fault", "outcome": "refused", "attempt": 2}
        rows[table.name] = [row | {name: value for name, value in told.items() if name in row}]
    rows["totals"] = [{"name": name, "recorded": 0} for name in TOTALS]
    rows["partitions"].append(rows["partitions"][0] | {"partition": 2})
    return rows | more


def test_nothing_of_a_session_is_markup() -> None:
    page = render(info(scenario=EVIL, session_id=EVIL, started_at=EVIL, ended=EVIL, problems=()), made(**hostile()))
    elements = _Elements()
    elements.feed(page)
    tags = [tag for tag, _ in elements.found]
    assert "img" not in tags and "link" not in tags and "iframe" not in tags
    assert tags.count("script") == 3
    assert not [name for _, attributes in elements.found for name in attributes if name.startswith("on")]
    assert "49" not in re.findall(r"<h1>(.*?)</h1>", page, re.S)[0].replace("{{7*7}}", "")
    data = json.loads(re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[0])
    assert data["ownership"]["clients"] == [EVIL]


def test_a_moment_is_a_command_that_a_shell_takes_as_it_is_meant() -> None:
    place = "/tmp/it's $(here) <b>"
    moment = Moments(place).at(42_500_000_000)
    assert moment is not None
    assert moment.command == "python main.py open '/tmp/it'\"'\"'s $(here) <b>' --at 42.5"
    assert shlex.split(moment.command) == ["python", "main.py", "open", place, "--at", "42.5"]
    assert (moment.words, moment.link) == ("00:42.5", "brokerscope:/tmp/it%27s%20%24%28here%29%20%3Cb%3E?at=42.5")
    assert Moments(place).at(None) is None
    assert Moments("s3a://bucket/x").at(0) == (
        "00:00.0",
        "python main.py open s3a://bucket/x --at 0.0",
        "brokerscope:s3a%3A//bucket/x?at=0.0",
    )
    page = render(SessionInfo(place, {}), made(**hostile()))
    elements = _Elements()
    elements.feed(page)
    commands = [a["data-command"] for _, a in elements.found if "data-command" in a]
    assert len(commands) > 10 and all(shlex.split(command or "")[3] == place for command in commands)


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
    assert "http" not in re.sub(r"http://www.w3.org/[a-zA-Z0-9/]*", "", policy)
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
                {
                    **{"group": "q", "cause": "poison", "dead_lettered": 3, "redriven": 2, "first_ns": S},
                    **{"recovered": 1, "died_again": 1, "waiting": 0},
                },
                {
                    **{"group": "q", "cause": "late", "dead_lettered": 1, "redriven": 0, "first_ns": S},
                    **{"recovered": 0, "died_again": 0, "waiting": 0},
                },
            ],
            "dead_letter_keys": [{"group": "q", "key": "order-7", "dead_lettered": 2}],
        },
        [
            "4 messages ended in the dead letters",
            "Most often: poison (75 %, in q). 50 % have the key order-7.",
            "2 were redriven: 1 acknowledged and 1 dead again.",
        ],
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
            ],
            "unserved": [
                {"group": "g", "started_ns": 31 * S, "published": 12},
                {"group": "g", "started_ns": 0, "published": 99},
            ],
        },
        [
            "A rebalance stopped 4 of 6 partitions of g for 3 s",
            "At 00:31.0, because worker-2 crashed. 4 moved, 2 stayed with their owner.",
            "12 messages arrived meanwhile and waited.",
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
        [
            "Partition 0 of t carried 75 % of its messages: key librdkafka/33",
            "The key librdkafka/33 alone is 67 % of the partition.",
        ],
    ),
    "a gap in the recording": (
        {
            "recording": [
                {"first_seq": 64, "last_seq": 127, "missing": 1, "doubled": 0, "from_ns": 2 * S, "to_ns": 3 * S},
                {"first_seq": 640, "last_seq": 703, "missing": 4, "doubled": 2, "from_ns": 5 * S, "to_ns": 6 * S},
            ]
        },
        [
            "5 events are missing from the recording 2 gaps; the first has 1 event, between 00:02.0 and 00:03.0.",
            "2 events are recorded twice The first near number 640, at 00:05.0.",
        ],
    ),
    "a message that broke a rule": (
        {
            "audit": [
                {
                    **{"check": "skipped: x", "messages": 3, "explained": 1, "ok": False, "group": "g", "topic": "t"},
                    **{"partition": 0, "near_offset": 64},
                }
            ],
            "audit_list": [
                {"check": "skipped: x", "group": "g", "topic": "t", "partition": 0, "offset": 70, "explained": True},
                {
                    **{"check": "skipped: x", "group": "g", "topic": "t", "partition": 0, "offset": 77},
                    **{"explained": False, "story": "published by p at 1.000 s", "happened_ns": S},
                },
            ],
        },
        ["2 messages skipped: x The first is t/0 @77 in g: published by p at 1.000 s."],
    ),
    "schema": (
        {
            "refusals": [
                {
                    **{"topic": "t", "subject": "order", "place": "/amount", "outcome": "refused", "messages": 3},
                    **{"producers": 1, "first_ns": S, "last_ns": 2 * S},
                },
                {
                    **{"topic": "t", "subject": "order", "place": "the value", "outcome": "refused", "messages": 1},
                    **{"producers": 1, "first_ns": S, "last_ns": 2 * S},
                },
            ]
        },
        [
            "The schema order refused 4 messages Most often because of /amount (75 %, on t), from 00:01.0 to 00:02.0.",
        ],
    ),
    "a queue that grows": (
        {
            "queues": [
                {"queue": "q", "start_ns": at * S, "waiting": max(at - 40, 0) * 10, "in_flight": 1} for at in range(60)
            ]
        },
        [
            "q was still growing at the end: 190 messages waited",
            "In the last 30 s it went from 0 to 190, 6.33 more a second",
        ],
    ),
    "who did nothing": (
        {
            "consumers": [
                {
                    **{"group": group, "client": client, "from_ns": 0, "to_ns": 60 * S, "delivered": 0},
                    **{"with_partitions_ns": owned, "utilisation": 0.0, "in_hand": 0.0},
                }
                for group, client, owned in (("g", "spare", 0), ("", "bench", None), ("q", "packer", None))
            ]
        },
        [
            "spare, bench and packer did nothing",
            "spare had no partition in g, bench was in no group and packer got nothing from q.",
        ],
    ),
    "who was always busy": (
        {
            "consumers": [
                {
                    **{"group": "q", "client": "packer", "from_ns": 0, "to_ns": 60 * S, "delivered": 9},
                    **{"with_partitions_ns": None, "utilisation": 0.97, "in_hand": 3.25},
                }
            ]
        },
        ["packer was busy at least 95 % of the time packer had 3.2 messages in hand on average."],
    ),
    "what a fault did": (
        {
            "effects": [
                {
                    **{"time_ns": 30 * S, "kind": "fault", "client": "w-1", "cause": "crash", "scope": "g"},
                    **{
                        "window_ns": 3 * S,
                        "delivered_before": 40.0,
                        "delivered_after": 10.0,
                        "p99_before_ns": S // 100,
                    },
                    **{"p99_after_ns": 3 * S, "behind_before": 3, "behind_after": 240},
                },
                {
                    **{"time_ns": S, "kind": "user_action", "client": "c", "cause": "moved c", "scope": "g"},
                    **{"window_ns": 3 * S, "delivered_before": 40.0, "delivered_after": 41.0},
                },
            ]
        },
        [
            "Fault at 00:30.0: crash (w-1)",
            "deliveries went from 40.0 to 10.0 a second, p99 from 10 ms to 3 s and the backlog from 3 to 240.",
        ],
    ),
    "a replay": (
        {
            "latency": [
                {"measure": measure, "messages": 70, "p50_ns": S, "p99_ns": S, "max_ns": 60 * S}
                for measure in ("delivered", "replayed")
            ],
            "latency_by_group": [
                {"measure": measure, "group": "new", "topic": "t", "messages": 70, "p99_ns": S}
                for measure in ("delivered", "replayed")
            ],
            "latency_over_time": [{"measure": "replayed", "start_ns": 7 * S}],
        },
        ["new read 70 messages from before its time They were up to 60 s old when they were read."],
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
    heat = chart_data({name: table.to_pylist() for name, table in made(latency_heat=rows).tables.items()}, SCALE)
    drawn = heat["latency_heat"]["delivered"]
    assert drawn["cells"] == [[0, 0, 7], [1, 2, 7], [1, 4, 1]]
    assert drawn["has_zero"] and len(drawn["labels"]) == 5 and drawn["labels"][2] == 1.0
