"""The page's own script in a real browser: plots are drawn and linked, tables are sorted, dark and paper have their
colours. Skipped where no Chromium is installed. No Spark needed.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from spark_reports.findings.finding import WARN, Finding
from spark_reports.page import page
from spark_reports.page.charts import NO_TIME_NS
from spark_reports.tables.latency import HEAT_STEPS_PER_DECADE
from tests.spark_reports.page.tables_by_hand import S, made, rows_of
from tests.spark_reports.page.test_page import info, render

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")

#: Behind the page's own scripts: it does what a reader would, and writes down what came of it.
STEPS = r"""
const found = {};
const chart = (id) => echarts.getInstanceByDom(document.getElementById(id));
const zoom = (id) => { const { start, end } = chart(id).getOption().dataZoom[0]; return [start, end]; };
const card = () => getComputedStyle(document.querySelector(".card")).backgroundColor;
const column = (table, at) => [...table.tBodies[0].rows].map((row) => row.cells[at].textContent.trim());
const plots = [...document.querySelectorAll(".plot")];
found.drawn = plots.filter((box) => box.querySelector("svg path")).map((box) => box.id);
found.card = card();

const whole = document.querySelector(".whole");
found.whole = [whole.hidden];
chart("plot-throughput").dispatchAction({ type: "dataZoom", dataZoomIndex: 0, start: 25, end: 50 });
found.zoomed = [zoom("plot-throughput"), zoom("plot-latency"), zoom("plot-lag")];
found.words = whole.textContent;
found.whole.push(whole.hidden);
whole.click();
found.back = [zoom("plot-throughput"), zoom("plot-latency"), zoom("plot-lag")];
found.whole.push(whole.hidden);

const point = (id, share) => {
  const box = document.getElementById(id).querySelector("div"), at = box.getBoundingClientRect();
  const where = { clientX: at.left + at.width * share, clientY: at.top + at.height / 2, bubbles: true };
  box.dispatchEvent(new MouseEvent(share === null ? "mouseout" : "mousemove", where));
};
const marks = () => [...document.querySelectorAll(".crosshair")].map((mark) => mark.parentElement.id);
point("plot-throughput", 0.5);
found.pointed = marks();
point("plot-throughput", null);
found.away = marks();

const { formatter } = chart("plot-heat").getOption().tooltip[0];
found.heat = [0, 2].map((row) => formatter({ value: [0, row, 5] }));

const table = [...document.querySelectorAll("table.sortable")].find((one) => one.textContent.includes("quick"));
const heads = [...table.tHead.rows[0].cells];
const by = (name) => heads.findIndex((head) => head.textContent.trim() === name);
found.sorted = ["p99", "p99", "Group or queue"].map((name) => {
  heads[by(name)].querySelector("button").click();
  return [heads[by(name)].getAttribute("aria-sort"), column(table, 0)];
});

dispatchEvent(new Event("beforeprint"));
const svg = document.querySelector("#plot-throughput svg");
found.printed = [document.documentElement.dataset.theme, card(), svg.hasAttribute("viewBox")];
dispatchEvent(new Event("afterprint"));
found.after = [document.documentElement.dataset.theme ?? "", card()];
document.body.insertAdjacentHTML("beforeend", "<pre id=found></pre>");
document.getElementById("found").textContent = JSON.stringify(found);
"""


def _page() -> str:
    """A minute with two topics that pause in the middle, and groups of which one is slow, one not there at first."""
    at = [*range(20), *range(40, 60)]
    flows = [
        {"dimension": dimension, "topic": name, "name": name, "start_ns": second * S, "messages_per_s": rate,
         "bytes_per_s": rate, "messages": 5, "bytes": 5}
        for dimension in ("topic", "consumer") for name, rate in (("orders", 5.0), ("mails", 2.0)) for second in at
    ]  # fmt: skip
    late = [
        {"measure": "delivered", "start_ns": second * S, **{f"p{p}_ns": p * 1e6 for p in (50, 90, 99, 999)},
         "max_ns": S, "messages": 5} for second in at
    ]  # fmt: skip
    heat = [
        {"measure": "delivered", "start_ns": 0, "row": row, "from_ns": from_ns, "messages": 5}
        for row, from_ns in ((0, 1), (6 * HEAT_STEPS_PER_DECADE, 1_000_000))
    ]
    lag = [
        {"group": "slow", "topic": "orders", "partition": 0, "start_ns": second * S, "lag": second}
        for second in range(60)
    ]
    groups = [
        {"group": name, "kind": "group", "delivered": 5, "p50_ns": p99_ns, "p99_ns": p99_ns}
        for name, p99_ns in (("quick", 9e6), ("slow", 120 * S), ("new", None), ("middling", 10 * S))
    ]
    whole = made(
        throughput=flows, throughput_series=[row for row in flows if row["start_ns"] == 0],
        latency_over_time=late, latency=late[:1], groups=groups, latency_heat=heat,
        latency_by_group=[{**late[0], "group": "slow", "topic": "orders"}],
        lag=lag, lag_series=[{**lag[-1], "last_lag": 59, "max_lag": 59, "max_lag_ns": 59 * S}],
    )  # fmt: skip
    return render(info(), whole)


def _browse(page: Path, *flags: str) -> tuple[str, str]:
    """The document after its scripts have run, and what the browser says of it."""
    assert CHROMIUM is not None
    command = [
        *(CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,900"),
        *("--enable-logging=stderr", "--virtual-time-budget=2000", f"--user-data-dir={page.parent / 'profile'}"),
        *(*flags, "--dump-dom", page.as_uri()),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    return done.stdout, "\n".join(line for line in done.stderr.splitlines() if "CONSOLE" in line)


def _done(tmp_path: Path, *flags: str, shown: str = "", steps: str = STEPS) -> dict[str, Any]:
    """What `steps` found. The page's own policy lets no script in but its two, so it is taken out for them."""
    page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", shown or _page())
    path = tmp_path / "page.html"
    body, _, end = page.rpartition("</body>")
    path.write_text(f"{body}<script>{steps}</script></body>{end}", encoding="utf-8")
    document, said = _browse(path, *flags)
    found = re.search(r'<pre id="found">(.*?)</pre>', document, re.S)
    assert found, said
    return dict(json.loads(found[1]))


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return _done(tmp_path_factory.mktemp("light"))


def test_every_plot_is_drawn(done: dict[str, Any]) -> None:
    assert {"plot-throughput", "plot-latency", "plot-lag"} <= set(done["drawn"])


def test_plots_over_time_show_the_same_part_of_it(done: dict[str, Any]) -> None:
    assert done["zoomed"] == [[25, 50]] * 3
    assert done["words"] == "00:15.0 to 00:30.0: show all of the time"
    assert done["back"] == [[0, 100]] * 3
    assert done["whole"] == [True, False, True]


def test_the_moment_under_the_pointer_is_marked_in_the_others(done: dict[str, Any]) -> None:
    assert {"plot-latency", "plot-lag"} <= set(done["pointed"])
    assert "plot-throughput" not in done["pointed"]
    assert done["away"] == []


def test_the_rows_of_the_heat_map_are_the_durations_that_were_counted(done: dict[str, Any]) -> None:
    at_once, first = done["heat"]
    assert f"below {NO_TIME_NS / 1e3:g} µs:" in at_once
    assert f"1 ms to {10 ** (1 / HEAT_STEPS_PER_DECADE):.3g} ms:" in first


def test_a_table_is_sorted_by_what_its_cells_mean(done: dict[str, Any]) -> None:
    """9 ms before 10 s before 2 min, however they are written; what is not known comes last either way."""
    down, up, words = done["sorted"]
    assert down == ["descending", ["slow", "middling", "quick", "new"]]
    assert up == ["ascending", ["quick", "middling", "slow", "new"]]
    assert words == ["ascending", ["middling", "new", "quick", "slow"]]


def test_paper_is_light_whatever_the_screen_is(done: dict[str, Any], tmp_path: Path) -> None:
    dark = _done(tmp_path, "--blink-settings=preferredColorScheme=0")
    assert dark["card"] != done["card"] == "rgb(255, 255, 255)"
    for found in (done, dark):
        assert found["printed"] == ["light", done["card"], True]
        assert found["after"] == ["", found["card"]]


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="pdftotext is not installed")
def test_what_to_do_is_folded_on_the_screen_and_printed(tmp_path: Path) -> None:
    findings = [Finding(WARN, f"Reader {number} is slow", "", "consumers", kind="slow-reader") for number in range(5)]
    path, whole = tmp_path / "page.html", made()
    path.write_text(page.render(info(), whole, rows_of(whole), findings), encoding="utf-8")
    _browse(path, f"--print-to-pdf={tmp_path / 'page.pdf'}")
    told = subprocess.run(["pdftotext", tmp_path / "page.pdf", "-"], capture_output=True, text=True, check=True).stdout
    printed = " ".join(told.split())
    assert printed.count("Find out why a message takes it longer than the others") == len(findings)
    assert printed.count("Kafka: max.poll.records") == len(findings)
    assert '<details class="remedy">' in path.read_text(encoding="utf-8")


def test_the_policy_of_the_page_lets_its_own_scripts_run(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(_page(), encoding="utf-8")
    document, said = _browse(path)
    assert said == ""
    assert re.search(r'id="plot-throughput".*?<svg.*?<path', document, re.S)
