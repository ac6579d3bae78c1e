"""A session as one page: what it may do, what it has, and what is said where it cannot be made."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PySide6.QtCore import Qt

import resources
from app.cli.main import main
from app.commands.recordings import RecordingHandlers
from app.commands.reports import ReportHandlers
from app.environment.paths import find_scenario
from app.pages import page
from app.pages.happenings import Happenings
from app.pages.moments import WITHOUT, PagePart
from app.sessions.stored import StoredSession
from broker_core.clock import NS_PER_S
from broker_core.events import Event, EventKind
from broker_core.recording.hidden_hosts import HiddenHosts
from tests.app.conftest import Hand
from tests.app.pages.read_page import Page, packed
from tests.app.sessions.open_dialog import open_dialog
from widgets.dialogs.form import FormDialog
from widgets.panels.jobs import JobsPanel

NASTY = '<img src=x onerror="alert(1)"> \u202e&amp;</script>'
SCENARIO = f"""
title: {json.dumps(NASTY)}
about: Names that are no markup.
until_s: 4
topics: [{{name: orders, partitions: 2}}]
queues: [{{name: jobs, config: {{max_attempts: 1}}}}]
producers:
- {{name: shop, to: orders, arrivals: {{kind: rate, per_s: 20, keys: 3}}}}
- {{name: clerk, to: jobs, arrivals: {{kind: rate, per_s: 5, keys: 3}}}}
groups: [{{name: readers, topics: [orders]}}]
consumers: [{{name: reader, group: readers}}]
workers: [{{name: hand, processing: {{mean_ms: 20}}, queue: jobs, failures: [{{cause: it broke, rate: 1}}]}}]
schedule:
- {{at_s: 2, do: {{action: crash, client: reader-1}}}}
"""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session of four seconds, with names that are no markup."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "nasty.yaml").write_text(SCENARIO, encoding="utf-8")
    assert main(["run", str(folder / "nasty.yaml"), "--session", str(folder / "session")]) == 0
    return folder / "session"


class Tags(HTMLParser):
    """The attributes of all elements."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [(name, value or "") for name, value in attrs]


WHOLE = PagePart()


def made(session: Path, wanted: PagePart = WHOLE) -> Page:
    return Page(page.page_of(StoredSession(session), wanted, lambda _done, _message: None).decode())


@pytest.fixture(scope="module")
def whole(session: Path) -> Page:
    return made(session)


@pytest.mark.promise("25")
def test_it_may_run_what_is_in_it_and_nothing_else(whole: Page) -> None:
    found = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', whole.text)
    assert found is not None
    policy = html.unescape(found[1])
    sources = [
        re.search(r"<style>(.*?)</style>", whole.text, re.S),
        re.search(r"<script>(.*?)</script>", whole.text, re.S),
    ]
    style, script = (
        f"'sha256-{base64.b64encode(hashlib.sha256(source[1].encode()).digest()).decode()}'"
        for source in sources
        if source is not None
    )
    charts = packed(whole.text, "echarts")
    library = f"'sha256-{base64.b64encode(hashlib.sha256(charts.encode()).digest()).decode()}'"
    assert policy == f"default-src 'none'; script-src {script} {library}; style-src {style}"
    assert charts == resources.path("report", "echarts.min.js").read_text(encoding="utf-8")
    # Nothing is asked for by an address, and nothing makes markup of text.
    tags = Tags()
    tags.feed(whole.text)
    assert {name for name, _ in tags.found} & {"src", "srcset", "action", "style", "onclick", "onerror"} == set()
    assert all(value.startswith("#i-") for name, value in tags.found if name == "href")
    code = f"{sources[0]}{whole.text[whole.text.rindex('<script>') :]}"
    assert (
        re.findall(
            r"url\((?!#)|@import|innerHTML|insertAdjacent|document\.write|eval\(|fetch\(|https?:(?!//www.w3.org/2000/svg)",
            code,
        )
        == []
    )


def test_no_text_is_a_python_object(whole: Page) -> None:
    assert "built-in method" not in whole.text and "object at 0x" not in html.unescape(whole.text)
    assert 'title="Copy a link to this moment"' in whole.text


def test_an_event_is_listed_with_all_that_it_names() -> None:
    def ids(event: Event) -> list[str]:
        found = Happenings([0], NS_PER_S, keys=False, shown=str)
        found(event)
        return found.events[0]["ids"]

    blocked = Event(0, 5, EventKind.PRODUCER_BLOCKED, "mails", client="notifier")
    assert ids(blocked) == ["topic:mails", "producer:notifier"]
    owners = {"before": [], "after": [["mails", 0, "mailer-1"], ["mails", 1, "mailer-1"]], "started_ns": 0}
    completed = Event(0, 5, EventKind.REBALANCE_COMPLETED, "", group="mailers", detail=owners)
    assert ids(completed) == ["group:mailers", "lane:mails/0", "consumer:mailer-1", "lane:mails/1"]


def test_names_are_text(whole: Page) -> None:
    assert whole.data["title"] == NASTY.replace("\u202e", "\\u202e")
    assert "<img" not in whole.text and "\u202e" not in whole.text
    assert html.escape(NASTY.replace("\u202e", "\\u202e"), quote=False)[:20] in whole.text


def test_it_has_each_second_and_the_end_in_the_words_of_the_window(whole: Page) -> None:
    assert whole.moments_ms == [0.0, 1000.0, 2000.0, 3000.0, 4000.0]
    there = whole.at(3_999)
    assert there["clock"] == "00:03.000"
    assert there["scene"]["boxes"]["group:readers"]["state"] == ["stable", "stable", "Stable"]
    assert there["facts"]["topic:orders"]["name"] == "orders"
    assert re.fullmatch(r"Published 2\d", there["facts"]["topic:orders"]["second"])
    assert whole.at(0)["cards"] and there["scene"]["boxes"]["consumer:reader-1"]["state"][2] == "Crashed"
    words = [event["state"][2] for event in whole.data["events"]]
    assert words[0] == "Session started" and words[-1] == "Session ended" and "Dead-lettered" in words
    for strip in whole.data["timeline"]["strips"]:
        (chart,) = [chart for chart in whole.data["charts"] if chart["key"] == strip["key"]]
        places = {round(at_s * 1000): at for at, at_s in enumerate(chart["times_s"])}
        for at_ms, level in strip["samples"]:
            assert level == max(curve["values"][places[at_ms]] or 0 for curve in chart["curves"])
        assert strip["most"] == max(level for _at_ms, level in strip["samples"]) > 0
    assert [strip["key"] for strip in whole.data["timeline"]["strips"]] == ["lag"], (
        "no queue ever has one that is ready"
    )
    assert {chart["title"] for chart in whole.data["charts"]} >= {"Published", "Consumer lag", "Queue depth"}


def test_it_opens_where_something_is_and_says_what_its_rates_are_of(tmp_path: Path, whole: Page) -> None:
    late = "title: Late\nabout: Nothing at first.\nuntil_s: 4\nschedule:\n"
    creates = "- {at_s: 2.5, do: {action: create_topic, name: t}}\n"
    (tmp_path / "late.yaml").write_text(late + creates, encoding="utf-8")
    assert main(["run", str(tmp_path / "late.yaml"), "--session", str(tmp_path / "session")]) == 0
    late_one = made(tmp_path / "session")
    assert late_one.data["open_ms"] == 3000 and late_one.at(2000)["scene"]["notice"]
    assert whole.data["open_ms"] == 0
    assert whole.at(3000)["rates"].startswith("Rates are the mean of the last ")
    assert whole.at(0)["rates"] == ""  # and not "of the last 0 ms"
    script = resources.path("session_page", "page.js").read_text(encoding="utf-8")
    assert "data.open_ms, {" in script and "now.rates" in script


def test_a_part_of_it_without_keys(session: Path, whole: Page) -> None:
    part = made(session, PagePart(1.5, 3.25, ("keys", "hosts")))
    assert part.moments_ms == [1500.0, 2000.0, 3000.0, 3250.0]
    assert all(1500 <= event["ms"] <= 3250 for event in part.data["events"])
    assert part.at(3_000)["facts"] == {
        **whole.at(3_000)["facts"],
        **{
            name: {**facts, "second": part.at(3_000)["facts"][name]["second"]}
            for name, facts in whole.at(3_000)["facts"].items()
        },
    }
    assert "Left out: payloads, keys of messages, addresses of hosts." in part.text
    letters = [event["about"] for event in whole.data["events"] if event["state"][2] == "Dead-lettered"]
    assert letters and all("key " in about for about in letters)
    assert not any("key " in event["about"] for event in part.data["events"])


def test_an_account_at_a_time_after_the_end_is_refused(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    for command in ("audit", "open"):
        assert main([command, str(session), "--at", "9"]) == 2
        assert "--at 9 is after the end of the session, which lasts" in capsys.readouterr().err
    assert main(["audit", str(session), "--at", "3"]) != 2


def test_addresses_are_left_out() -> None:
    said = HiddenHosts().text("a at 10.0.0.7:9092, b at [2001:db8:0:0:0:0:0:1]:80, 00:31.250 of 1.2 s, 10.0.0.7:9092")
    assert said == "a at host-1, b at host-2, 00:31.250 of 1.2 s, host-1"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["{folder}/nowhere", "--out", "{out}"], 3, "nowhere"),
        (["{session}", "--out", "{out}", "--from", "9"], 2, "--from 9 is after the end of the session, which lasts"),
        (["{session}", "--out", "{out}", "--from", "3", "--to", "2"], 2, "empty; --from must be before --to"),
        (["{session}", "--out", "{out}", "--from", "2", "--to", "2"], 2, "the part of the session is empty"),
        (["{session}", "--out", "{out}", "--to", "0"], 2, "empty; --from must be before --to"),
        (["{session}", "--out", "{folder}"], 2, "is a folder; name a file in it"),
        (["{session}", "--out", "{folder}/none/a.html"], 3, "create it first"),
        (["{session}", "--out", "/dev/full"], 4, "No space left on device"),
    ],
)
def test_what_cannot_be_made_is_one_sentence(
    session: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], code: int, said: str
) -> None:
    out = tmp_path / "page.html"
    assert main(["share", *(word.format(session=session, folder=tmp_path, out=out) for word in words)]) == code
    told = capsys.readouterr().err
    assert said in told and told.count("\n") == 1
    assert not out.exists() and list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_the_page_before(
    session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(_before: object, _after: object) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "page.html").write_text("before")
    monkeypatch.setattr("os.replace", full)
    assert main(["share", str(session), "--out", str(tmp_path / "page.html"), "--to", "1"]) == 4
    assert "page.html cannot be written: No space left on device." in capsys.readouterr().err
    assert [path.read_text() for path in tmp_path.iterdir()] == ["before"]


def test_what_is_not_whole_is_made_and_said(session: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(session, tmp_path / "torn")
    next((tmp_path / "torn" / "messages").glob("*.parquet")).write_bytes(b"PAR1")
    capsys.readouterr()
    assert main(["share", str(tmp_path / "torn"), "--out", str(tmp_path / "page.html")]) == 3
    told = capsys.readouterr()
    assert told.out == f"{tmp_path / 'page.html'}\n" and "the recording is incomplete: " in told.err
    assert "This recording is incomplete." in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_of_one_that_is_too_large_it_says_which_part_would_do(
    session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(page, "MOST_BYTES", 400_000)
    assert main(["share", str(session), "--out", str(tmp_path / "page.html")]) == 2
    assert "--from 0 --to 2 would do" in capsys.readouterr().err
    monkeypatch.setattr(page, "MOST_BYTES", 10_000)
    assert main(["share", str(session), "--out", str(tmp_path / "page.html")]) == 2
    assert "--from 0 --to 0 would do" not in capsys.readouterr().err


def test_it_is_made_from_the_window_and_opened_there(
    open_workbench: Callable[..., Hand], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand = open_workbench(record=True)
    hand.pass_time(2)
    workbench = hand.workbench
    workbench.registry.trigger("session_page")
    dialog = open_dialog(workbench.window, FormDialog)
    dialog.set_values({"to_s": 0.0})
    assert "part of the session is empty" in dialog.problem.text() and not dialog.accept_button.isEnabled()
    dialog.close()
    workbench.family(RecordingHandlers).make_page(tmp_path / "page.html", PagePart())
    hand.wait_until(lambda: not workbench.jobs.running)
    shown = Page((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert shown.moments_ms[-1] > 1_000 and "The session was still running when this page was made." in shown.text
    assert "Written to" in workbench.window.hint.sentence.text()
    opened: list[Path] = []
    monkeypatch.setattr(ReportHandlers, "_open", lambda _self, path: opened.append(path))
    (row,) = workbench.window.tab(JobsPanel).rows
    hand.qtbot.mouseClick(row.open_button, Qt.MouseButton.LeftButton)
    assert opened == [tmp_path / "page.html"]


def test_it_begins_with_what_its_report_has_found(session: Path, tmp_path: Path) -> None:
    tables = tmp_path / "report" / "tables"
    tables.mkdir(parents=True)
    found = [("warn", NASTY, "It was behind.", "Because of it.", "Do {less}."), ("good", "All is well", "", "", "")]
    rows = pa.Table.from_pylist(
        [dict(zip(("level", "headline", "detail", "why", "advice"), one, strict=True)) for one in found]
    )
    pq.write_table(rows, tables / "findings.parquet")
    command = ["share", str(session), "--out", str(tmp_path / "page.html"), "--report", str(tmp_path / "report")]
    assert main(command) == 0
    shown = (tmp_path / "page.html").read_text(encoding="utf-8")
    first = shown[shown.index('<details class="found">') : shown.index("</details>")]
    assert "<img" not in first and first.count("<li>") == 2
    assert "It was behind. Because of it." in first and "What to do: Do {less}." in first and "and 1 more" in first
    (tables / "findings.parquet").unlink()
    assert main(command) != 0


def test_what_is_left_out_has_one_list() -> None:
    from app.cli.sessions import LEFT_OUT

    assert tuple(WITHOUT) == LEFT_OUT


def test_the_page_that_the_readme_links_is_that_of_today() -> None:
    shown = Page(resources.path("pictures", "first-session.html").read_text(encoding="utf-8"))
    assert shown.data["title"] == "First session" and len(shown.moments_ms) == 301
    assert shown.at(150_400)["facts"]["group:mailers"]["name"] == "mailers"
    assert f"<script>{page._text('page.js')}</script>" in shown.text, "make page makes it again"
    assert page._text("page.css") in shown.text, "make page makes it again"


@pytest.mark.long
def test_first_session_is_small_enough_for_a_ticket(tmp_path: Path) -> None:
    main(["run", str(find_scenario("first-session")), "--session", str(tmp_path / "session")])
    assert page.share(tmp_path / "session", tmp_path / "page.html", PagePart()).size_bytes < 720_000


CHROMIUM = shutil.which("chromium")


def drawn_by_browser(address: str) -> str:
    """The elements of a page after its script has run."""
    return subprocess.run(
        [
            *(str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000"),
            *("--dump-dom", address),
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout


@pytest.mark.long
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_a_browser_shows_what_is_in_it(session: Path, tmp_path: Path, whole: Page) -> None:
    page.share(session, tmp_path / "page.html", PagePart())
    for seconds, select in ((0.0, "orders"), (2.4, "readers"), (3.9, "queue:jobs")):
        shown = drawn_by_browser(f"{(tmp_path / 'page.html').as_uri()}#t={seconds}&select={select}")
        assert 'data-drawn="true"' in shown
        there = whole.at(seconds * 1000)
        name = next(name for name in there["facts"] if name.endswith(select) and not name.startswith("lane:"))
        drawn = html.unescape(re.sub(r"<[^>]*>", "\n", shown[shown.index('id="canvas"') : shown.index("<footer")]))
        for section in there["facts"][name]["sections"]:
            for row in section["rows"]:
                assert row["label"] in drawn and row["value"] in drawn
        for box in there["scene"]["boxes"].values():
            assert box["name"] in drawn
        if seconds % 1:
            assert f"state of 00:0{int(seconds)}" in drawn


@pytest.mark.long
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_the_next_event_is_where_its_effect_shows(tmp_path: Path, whole: Page) -> None:
    letters = [event for event in whole.data["events"] if event["state"][2] == "Dead-lettered"]
    letter = letters[len(letters) // 2]
    press = f"""<script>setTimeout(() => {{
        document.querySelector('[data-tab=events]').click();
        document.querySelector('[data-event="{whole.data["events"].index(letter)}"]').click();
        document.querySelector('#next').click();
        document.querySelector('#previous').click();
    }}, 1000)</script>"""
    without_policy = re.sub(r"<meta http-equiv=[^>]*>", "", whole.text)
    (tmp_path / "page.html").write_text(without_policy.replace("</body>", f"{press}</body>"), encoding="utf-8")
    shown = drawn_by_browser((tmp_path / "page.html").as_uri())
    found = re.search(r'<output id="clock"[^>]*>([^<]*)', shown)
    told = re.search(r'<p id="told"[^>]*>([^<]*)', shown)
    assert found is not None and told is not None
    first_with_it = next(moment for moment in whole.moments_ms if moment >= letter["ms"])
    assert found[1] == whole.at(first_with_it)["clock"]
    assert letter["about"] in html.unescape(told[1])
