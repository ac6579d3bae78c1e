"""The page from tables: nothing of a session is ever markup, and it needs nothing else. No Spark needed."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shlex
from dataclasses import replace
from functools import partial
from html.parser import HTMLParser
from typing import Any

import pytest
from jinja2 import Environment
from jinja2.meta import find_referenced_templates

import resources
from broker_core.recording.metadata import Metadata
from resources.colours import DARK_HUES, LIGHT_HUES, ink_on
from spark_reports.findings.find import find
from spark_reports.findings.finding import BAD, GOOD
from spark_reports.page import document as documents
from spark_reports.page import page as pages
from spark_reports.page.charts import chart_data
from spark_reports.page.document import moment
from spark_reports.pipeline.collect import Made
from spark_reports.pipeline.tables import TABLES
from spark_reports.sessions.session import SessionInfo
from spark_reports.tables import markers
from tests.spark_reports.page.tables_by_hand import SCALE, TOTALS, S, equal, findings, made, rows_of
from tests.spark_reports.tables.rows import happened as rows_of_events

EVIL = "</script><img src=x onerror=alert(1)>\"'&{{7*7}}"


def render(about: SessionInfo, whole: Made) -> str:
    tables = {name: table.to_pylist() for name, table in whole.tables.items()}
    return pages.render(about, whole, tables, find(tables, whole.scale, whole=whole.whole))


def info(**metadata: Any) -> SessionInfo:
    return SessionInfo("somewhere", Metadata(**{"scenario": "Test", "ended": "finished", **metadata}))


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_a_cluster_has_its_brokers_and_the_story_of_each_incident_in_the_words_of_the_window() -> None:
    story = "node 2 not seen from 8.0 to 12.5; 3 leaders moved; 3 partitions without a leader for 1.5 s"
    told = [(9 * S, False, "node 2 has not been seen since 8.0"), (13 * S, True, story)]
    happened = [
        {"kind": "incident", "time_ns": at, "cause": cause, "detail": json.dumps({"began_ns": 8 * S, "is_over": over})}
        for at, over, cause in told
    ]
    gone = {"kind": "node_gone", "time_ns": 8 * S, "cause": "no answer", "detail": json.dumps({"node": 2})}
    deed = {
        "kind": "user_action",
        "time_ns": 11 * S,
        "cause": "root: redrive 2: done",
        "detail": json.dumps({"deed": {}}),
    }
    other = {"kind": "user_action", "time_ns": 11 * S, "cause": "moved c to g", "detail": "{}"}
    rows = markers.cluster(rows_of_events(gone, *happened, deed, other)).to_dicts()
    assert [row["cause"] for row in rows] == ["no answer", story, "root: redrive 2: done"], (
        "in the order of their times"
    )
    whole = made(cluster=rows)
    noted: dict[str, object] = {"nodes": {"2": {"rack": "b", "controller": True, "leads": 7, "gone": [[8.0, 12.5]]}}}
    noted |= {"under_replicated": [[8.0, 14.5, 31]], "under_replicated_s": 6.5, "leader_changes": 3}
    page = render(info(extra={"cluster": noted}), whole)
    assert "Node 2 not seen from 8.0 to 12.5." in page and "Nothing did harm" not in page
    assert "3 leaders moved" in page and "has not been seen since" not in page and "8.0 s to 12.5 s" in page
    assert "6.5 s in all, 3 changes of leaders" in page and ">31</td>" in page and "Without a leader" not in page
    assert 'id="cluster"' not in render(info(), made())


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


@pytest.mark.promise("25")
def test_nothing_of_a_session_is_markup() -> None:
    page = render(info(scenario=EVIL, session_id=EVIL, started_at=EVIL, ended=EVIL), made(**hostile()))
    elements = _Elements()
    elements.feed(page)
    tags = [tag for tag, _ in elements.found]
    assert "img" not in tags and "link" not in tags and "iframe" not in tags
    assert tags.count("script") == 3
    assert not [name for _, attributes in elements.found for name in attributes if name.startswith("on")]
    assert "49" not in re.findall(r"<h1>(.*?)</h1>", page, re.S)[0].replace("{{7*7}}", "")
    data = json.loads(re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[0])
    assert data["ownership"]["clients"] == [EVIL]


def test_a_moment_is_told_to_the_millisecond() -> None:
    """The workbench opens there: a tenth of a second beside it something else is seen."""
    at = partial(moment, "/sessions/a")
    found = at(12_345_678_901)
    assert found is not None
    assert found.command == "python main.py open /sessions/a --at 12.346"
    assert found.link == "brokerscope:/sessions/a?at=12.346"
    assert [one.command.rpartition(" ")[2] for one in (at(0), at(7 * S), at(1_500_000_000)) if one] == [
        "0.0", "7.0", "1.5",
    ]  # fmt: skip
    assert at(None) is None


def test_a_moment_is_a_command_that_a_shell_takes_as_it_is_meant() -> None:
    place = "/tmp/it's $(here) <b>"
    at = moment(place, 42_500_000_000)
    assert at is not None
    assert at.command == "python main.py open '/tmp/it'\"'\"'s $(here) <b>' --at 42.5"
    assert shlex.split(at.command) == ["python", "main.py", "open", place, "--at", "42.5"]
    assert (at.words, at.link) == ("00:42.5", "brokerscope:/tmp/it%27s%20%24%28here%29%20%3Cb%3E?at=42.5")
    assert moment(place, None) is None
    page = render(SessionInfo(place, Metadata()), made(**hostile()))
    elements = _Elements()
    elements.feed(page)
    commands = [a["data-command"] for _, a in elements.found if "data-link" in a]
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
    assert only.level == GOOD and only.headline == "The recording is whole: its totals are the broker's own"
    assert "does not add up" not in render(info(), made(reconciliation=[equal()]))


def test_problems_of_the_recording_are_on_top() -> None:
    damaged = SessionInfo("x", Metadata(scenario="Test", ended="crashed"), ("messages/part-00001.parquet is damaged.",))
    page = render(damaged, made())
    assert page.index("messages/part-00001.parquet is damaged.") < page.index(">Findings</h2>")


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


def test_the_hues_are_those_of_the_window() -> None:
    page = render(info(), made())
    for hues in (LIGHT_HUES, DARK_HUES):
        assert "".join(f"--c{number}:{hue};--i{number}:{ink_on(hue)};" for number, hue in enumerate(hues)) in page


def test_a_topic_has_the_hue_of_the_window_whatever_its_place_in_the_alphabet() -> None:
    series = [
        {"dimension": "topic", "name": name, "topic": name, "start_ns": 0, "messages_per_s": 1.0} for name in ("a", "z")
    ]
    told = [{"kind": "flow", "name": name, "number": number} for number, name in enumerate(("z", "a"))]
    page = render(info(), made(hues=told, throughput=series, throughput_series=series))
    data = json.loads(re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[0])
    assert {one["name"]: one["hue"] for one in data["throughput"]["topic"]} == {"z": 0, "a": 1}


def test_a_page_is_drawn_of_templates_that_are_compiled_already(monkeypatch: pytest.MonkeyPatch) -> None:
    """That takes as long as all else on the page, and Java is not there yet."""
    documents._environment.cache_clear()
    documents.compile_templates()
    monkeypatch.setattr(Environment, "compile", lambda *_, **__: pytest.fail("a template was not compiled"))
    assert render(info(), made())


def test_all_that_a_template_refers_to_is_compiled_with_it() -> None:
    documents._environment.cache_clear()
    documents.compile_templates()
    environment = documents._environment()
    compiled = {name for _, name in environment.cache or {}}
    texts = [(resources.path("report") / name).read_text(encoding="utf-8") for name in compiled]
    assert compiled >= {name for text in texts for name in find_referenced_templates(environment.parse(text))}


def test_a_share_group_has_the_limits_of_its_scenario() -> None:
    whole = made(share_groups=[{"group": "billing.orders", "topic": "orders", "members": 1}])
    limits = "topics: [orders], record_lock_duration_ms: 1500, delivery_count_limit: 3"
    session = replace(info(), scenario=f"share_groups: [{{name: billing, {limits}}}]")
    page = pages.render(session, whole, rows_of(whole), [])
    row = page.partition('<td class="name">billing.orders</td>')[2].partition("</tr>")[0]
    assert '<td class="n">3</td><td class="n">1.5\N{NO-BREAK SPACE}s</td>' in row
