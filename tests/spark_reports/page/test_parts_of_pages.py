"""Pages of some parts of a report: they hold together, and have nothing of the others. No Spark needed."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spark_reports.findings.find import find
from spark_reports.page import page as pages
from spark_reports.page.figures import key_figures
from spark_reports.pipeline.collect import Made
from spark_reports.request.parts import EVERY, PARTS, in_order, tables_of
from tests.long_form import examples
from tests.spark_reports.findings.test_findings import CASES
from tests.spark_reports.page.tables_by_hand import SCALE, S, made, only, rows_of
from tests.spark_reports.page.test_page import hostile, info

SOME = st.sets(st.sampled_from(list(PARTS)), min_size=1).map(frozenset)
ONE_BY_ONE = [frozenset({name}) for name in PARTS]


def full() -> Made:
    """A session in which everything happened."""
    base = hostile()
    rows = dict(base)
    for case, _sentences in CASES.values():
        rows |= {name: [base[name][0] | row for row in told] for name, told in case.items()}
    late = {"group": "late", "topic": "t", "partition": 0}
    rows["lag"] = [late | {"start_ns": at * S, "end_offset": 3 * at, "lag": 2 * at} for at in range(60)]
    return made(**rows)


def anchors(page: str) -> tuple[set[str], set[str]]:
    """(ids of sections, everything that links lead to)."""
    markup = re.sub(r"<script.*?</script>", "", page, flags=re.S)
    assert set(re.findall(r'href="#([^"]*)"', markup)) <= set(re.findall(r'id="([^"]*)"', markup))
    return set(re.findall(r'<section id="([^"]*)"', markup)), set(re.findall(r'href="#([^"]*)"', markup))


def session_page(parts: frozenset[str]) -> str:
    one = only(full(), parts)
    rows = rows_of(one)
    return pages.render(info(), one, rows, find(rows, SCALE, parts=parts))


@pytest.mark.parametrize("parts", [*ONE_BY_ONE, EVERY], ids=lambda parts: "-".join(in_order(parts)[:2]))
def test_a_page_has_the_sections_that_were_asked_for_and_no_others(parts: frozenset[str]) -> None:
    page = session_page(parts)
    sections, links = anchors(page)
    assert sections == parts
    assert parts <= links <= parts | {"findings"}
    navigation = re.findall(r'<li><a href="#([^"]*)">', page.partition("</nav>")[0])
    assert navigation == ["findings", *in_order(parts)]
    files = re.findall(r"<li><code>(\w+)</code></li>", page)
    assert files == sorted([*tables_of(parts), "findings"])
    assert ("only</dd>" in page) == (parts != EVERY)


@settings(max_examples=15, deadline=None)
@given(SOME)
def test_any_choice_of_parts_holds_together(parts: frozenset[str]) -> None:
    page = session_page(parts)
    sections, _links = anchors(page)
    assert sections == parts
    data = json.loads(re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[0])
    assert bool(data["rebalances"]) == ("rebalances" in parts)
    told = "Shaded bands are rebalances" in page
    assert told == ("rebalances" in parts and not parts.isdisjoint(pages.OVER_TIME))


@settings(max_examples=examples(30), deadline=None)
@given(SOME)
def test_findings_of_some_parts_are_those_of_the_whole_that_are_about_them(parts: frozenset[str]) -> None:
    whole = find(rows_of(full()), SCALE)
    # Of the first ones there is none; nobody is said to have done nothing where events are missing.
    silent = {"throughput", "share-groups", "keys", "cluster", "consumers"}
    assert {finding.section for finding in whole} == EVERY - silent
    some = find(rows_of(only(full(), parts)), SCALE, parts=parts)
    # What a sentence says besides comes from as many tables as were asked for.
    assert [one.headline for one in some] == [one.headline for one in whole if one.section in parts]


def test_who_did_nothing_is_told_without_the_part_that_tells_of_gaps() -> None:
    """The recording is looked at all the same, for with a gap in it nobody could say so; it is not written."""
    idle = CASES["who did nothing"][0]
    whole = only(made(**idle), frozenset({"consumers"}))
    assert "recording" in whole.tables and "recording" not in whole.written()
    assert [one.section for one in find(rows_of(whole), SCALE, parts=whole.parts)] == ["consumers"]
    gap = {"from_ns": 0, "to_ns": S, "first_seq": 0, "last_seq": 9, "missing": 8, "doubled": 0}
    torn = only(made(**idle, recording=[gap]), whole.parts)
    assert find(rows_of(torn), SCALE, parts=whole.parts) == []


def test_where_nothing_stands_out_the_page_says_so() -> None:
    one = only(made(), frozenset({"rebalances"}))
    page = pages.render(info(), one, rows_of(one), [])
    assert page.index(">Findings</h2>") < page.index("Nothing in this report stands out.")


@pytest.mark.parametrize(
    ("parts", "labels"),
    [
        ({"throughput"}, ["Published", "Delivered"]),
        ({"latency"}, ["Median latency"]),
        ({"latency", "totals"}, ["Acknowledged", "Median latency"]),
        ({"audit", "recording"}, []),
        (
            {"lag", "rebalances", "dead-letters", "backpressure"},
            ["Highest lag", "Rebalances", "Dead-lettered", "Producers blocked"],
        ),
    ],
)
def test_a_key_figure_is_there_where_its_tables_are(parts: set[str], labels: list[str]) -> None:
    some = rows_of(only(full(), frozenset(parts)))
    assert [figure.label for figure in key_figures(some, SCALE)] == labels
    page = session_page(frozenset(parts))
    assert ('class="figures card"' in page) == bool(labels)
