"""What the page of a session begins with: a verdict, six figures, one timeline, the worst findings. No Spark needed."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from spark_reports.findings.find import find
from spark_reports.findings.finding import BAD, GOOD, WARN, Finding, Harm
from spark_reports.findings.verdict import verdict
from spark_reports.page import page as pages
from spark_reports.page.charts import OTHERS, chart_data
from spark_reports.page.figures import Figure, first_figures, key_figures
from spark_reports.request.assertions import AssertionVerdict as Judged
from spark_reports.request.parts import EVERY
from spark_reports.scale import Scale
from spark_reports.tables.latency import HEAT_STEPS_PER_DECADE
from spark_reports.text import bare, isolated, visible
from tests.spark_reports.page.tables_by_hand import SCALE, S, made, rows_of
from tests.spark_reports.page.test_page import info

LATE = Finding(WARN, "billing fell 9 messages behind", "", "lag", harm=Harm(at_once=9, message_s=40))
GONE = Finding(WARN, "7 messages were turned away", "", "backpressure", harm=Harm(rejected=4, lost=3))
DEAD = Finding(WARN, "2 messages ended in the dead letters", "", "dead-letters", harm=Harm(dead=2))
BROKEN = Finding(BAD, "1 message delivered out of order", "", "audit")
WELL = Finding(GOOD, "The recording is whole: its totals are the broker's own", "", "totals")


@pytest.mark.parametrize(
    ("findings", "judged", "problems", "level", "sentence"),
    [
        ([WELL], [True], [], GOOD, "No message was lost. Nothing did harm."),
        ([LATE, WELL], [], [], WARN, "No message was lost. billing fell 9 messages behind."),
        (
            [GONE, LATE, DEAD], [], [], BAD,
            "3 messages were lost, 4 were rejected and 2 are left in the dead letters. billing fell 9 messages behind.",
        ),
        ([WELL], [True, False], [], BAD, "No message was lost. Nothing did harm."),
        ([BROKEN, BROKEN, LATE], [], [], BAD,
         "1 message delivered out of order, and 1 more check failed. billing fell 9 messages behind."),
        ([WELL], [], ["A part is gone."], BAD, "The recording is incomplete, so the figures prove nothing."),
    ],
)  # fmt: skip
def test_the_verdict(
    findings: list[Finding], judged: list[bool], problems: list[str], level: str, sentence: str
) -> None:
    asserted = [Judged("p99 < 1 s", holds, "p99 is 2 s") for holds in judged]
    assert verdict(findings, asserted, problems, EVERY) == (level, sentence)


def test_loss_is_not_denied_where_nobody_looked() -> None:
    assert verdict([WELL], [], [], EVERY - {"audit"}).sentence == "Nothing did harm."
    assert "3 messages were lost" in verdict([GONE], [], [], {"throughput"}).sentence


def test_six_figures_stand_first_and_a_bad_number_is_among_them() -> None:
    labels = ("Published", "Delivered", "Acknowledged", "Median latency", "Highest lag", "Rebalances", "Dead-lettered")
    calm = [Figure(label, "1", "", "throughput") for label in (*labels, "Producers blocked")]
    assert [one.label for one in first_figures(calm)] == [label for label in labels if label != "Acknowledged"]
    alarming = [one._replace(alarming=one.label == "Producers blocked") for one in calm]
    shown = [one.label for one in first_figures(alarming)]
    assert len(shown) == 6 and shown[-1] == "Producers blocked" and "Acknowledged" not in shown


def test_how_long_nobody_read_is_said_of_one_partition() -> None:
    made = {"unserved": [{"pause_ns": 136 * S}, {"pause_ns": 9 * S}], "rebalances": [{"stopped": 1}]}
    (figure,) = key_figures(made, SCALE)
    assert bare(figure.note) == "a partition unread for up to 2 min 16 s"


def _rows() -> dict[str, list[dict[str, Any]]]:
    flow = {"dimension": "topic", "topic": "orders", "name": "orders", "messages_per_s": 5.0, "bytes_per_s": 5.0}
    return {
        "throughput": [{**flow, "start_ns": at * S} for at in (0, 1)]
        + [{**flow, "dimension": "producer", "start_ns": 0}],
        "lag": [
            {"group": group, "topic": "orders", "partition": 0, "start_ns": S, "lag": lag}
            for group, lag in (("a", 3), ("b", None), ("c", 4))
        ],
        "dead_letters_over_time": [{"start_ns": 2 * S, "group": "jobs", "dead_lettered": 6, "redriven": 1}],
    }


def test_the_timeline_has_sums_and_leaves_unknown_lag_out() -> None:
    overview = chart_data(rows_of(made(**_rows())), SCALE)["overview"]
    assert overview["published"][:3] == [5.0, 5.0, 0]
    assert overview["lag"][:3] == [None, 7, None]
    assert overview["dead"][:4] == [0, 0, 6, 0]
    assert overview["waiting"] == []


def test_the_first_three_findings_are_open_and_the_page_has_its_timeline() -> None:
    whole = made(**_rows())
    rows = rows_of(whole)
    findings = [GONE._replace(kind="turned-away"), DEAD, LATE, BROKEN, *find(rows, SCALE)]
    page = pages.render(info(), whole, rows, findings, verdicts=[Judged("p99 < 1 s", False, "p99 is 2 s")])
    worst = re.findall(r'<ol class="worst">(.*?)</ol>', page, re.S)[0]
    assert worst.count("<li") == 3 and GONE.headline in worst and BROKEN.headline not in worst
    assert "<b>What to do:</b>" in worst
    assert page.index('class="card verdict bad"') < page.index('id="plot-overview"') < page.index('<ol class="worst">')
    assert "1 of 1 assertions fail" in page


def test_marks_that_turn_text_around_are_visible_wherever_a_name_stands() -> None:
    evil = "safe\u202edetsurt\u2066x"
    rows = _rows()
    rows["throughput_series"] = [
        {"dimension": "topic", "topic": evil, "name": evil, "messages": 5, "messages_per_s": 1.0,
         "peak_messages_per_s": 1.0, "bytes": 5, "bytes_per_s": 1.0}
    ]  # fmt: skip
    rows["throughput"][0] |= {"topic": evil, "name": evil}
    whole = made(**rows)
    page = pages.render(info(scenario=evil), whole, rows_of(whole), [LATE._replace(headline=f"{evil} fell behind")])
    assert "\u202e" not in page and "\u2066" not in page
    assert "safe‹U+202E›detsurt‹U+2066›x fell behind" in page
    data = json.loads(re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[0])
    assert [one["name"] for one in data["throughput"]["topic"]] == ["orders", "safe‹U+202E›detsurt‹U+2066›x"]
    assert visible(isolated("שלום\u2069")) == "\u2068שלום‹U+2069›\u2069", "our own marks stay, and only ours"


def test_what_took_no_time_at_all_has_a_heat_map_of_one_row() -> None:
    """As in virtual time, where each message was delivered at once."""
    heat = [{"measure": "delivered", "start_ns": 0, "row": -100, "from_ns": 0, "messages": 7}]
    drawn = chart_data(rows_of(made(latency_heat=heat)), SCALE)["latency_heat"]["delivered"]
    ratio = 10 ** (1 / HEAT_STEPS_PER_DECADE)
    assert drawn == {"cells": [[0, 0, 7]], "labels": [0.0], "has_zero": True, "at_once_ms": 0.001, "row_ratio": ratio}


def test_the_queues_with_the_most_waiting_are_drawn_and_the_others_as_one() -> None:
    rows = [
        {"queue": f"q{number:02}", "start_ns": 0, "waiting": 100 if number == 11 else 1, "in_flight": number}
        for number in range(12)
    ]
    drawn = chart_data(rows_of(made(queues=rows)), SCALE)["queues"]
    assert [one["name"] for one in drawn] == [*(f"q{number:02}" for number in range(9)), "q11", "2 others"]
    assert drawn[-2]["waiting"][0] == 100
    assert (drawn[-1]["hue"], drawn[-1]["waiting"][0], drawn[-1]["in_flight"][0]) == (OTHERS, 2, 19)


def test_a_client_that_is_busy_all_of_a_short_last_bucket_is_drawn_as_busy_then() -> None:
    scale = Scale(0, 2 * S + S // 10, S)
    times = [{"start_ns": 0, "there_ns": S}, {"start_ns": S, "there_ns": S}, {"start_ns": 2 * S, "there_ns": S // 10}]
    busy = [{"group": "g", "client": "c", "busy_ns": each["there_ns"], **each} for each in times]
    blocked = [{"topic": "t", "blocked_ns": each["there_ns"], "start_ns": each["start_ns"]} for each in times]
    tables = made(consumers=[{"group": "g", "client": "c"}], consumers_over_time=busy, backpressure_over_time=blocked)
    drawn = chart_data(rows_of(tables), scale)
    assert drawn["busy"][0]["busy"] == drawn["backpressure"][0]["blocked"] == [1.0, 1.0, 1.0]
