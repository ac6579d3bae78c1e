"""Requests on the command line and back."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_reports.errors import ReportError
from spark_reports.request.parts import EVERY, PARTS
from spark_reports.request.request import FORMATS, Request, add_arguments, arguments_of, request_of, seconds


def parsed(*arguments: str) -> Request:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return request_of(parser.parse_args(arguments))


@given(
    st.sampled_from(["/a", "/b c"]).map(Path),
    st.none() | st.integers(0, 10**17),
    st.none() | st.integers(0, 10**17),
    st.sets(st.sampled_from(FORMATS), min_size=1),
    st.sets(st.sampled_from(list(PARTS)), min_size=1),
)
def test_a_request_survives_its_command_line(
    session: Path, from_ns: int | None, to_ns: int | None, formats: set[str], parts: set[str]
) -> None:
    request = Request(session, Path("/out"), from_ns, to_ns, frozenset(formats), frozenset(parts), ("-p99 < 5 s",))
    assert parsed(*arguments_of(request)) == request


def test_all_parts_are_asked_for_where_none_is_named() -> None:
    assert parsed("/a", "--out", "/out").parts == EVERY
    assert parsed("/a", "--out", "/out", "--parts", " Latency,dead-letters ").parts == {"latency", "dead-letters"}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("latency,speed", "argument --parts: speed is not among throughput, latency, lag,"),
        ("speed,owners", "argument --parts: owners, speed are not among throughput, latency, lag,"),
        (",", "argument --parts: nothing is not among throughput, latency, lag,"),
    ],
)
def test_a_part_that_there_is_not_is_told_with_those_that_there_are(
    text: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        parsed("/a", "--out", "/out", "--parts", text)
    said = capsys.readouterr().err.splitlines()[-1]
    assert sentence in said and said.endswith(", ".join(PARTS))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"parts": frozenset()}, "No part was requested: choose from throughput, latency,"),
        ({"formats": frozenset()}, "No format was requested: choose from html, csv, parquet."),
        ({"from_ns": 5, "to_ns": 5}, "The part of the session is empty: --from must be before --to."),
    ],
)
def test_of_what_no_report_can_be_made_is_one_sentence(change: dict[str, Any], sentence: str) -> None:
    request = Request(Path("/a"), Path("/out"))
    request.check()
    with pytest.raises(ReportError, match=re.escape(sentence)):
        request._replace(**change).check()


@pytest.mark.parametrize(("text", "ns"), [("42.5", 42_500_000_000), ("0.1", 100_000_000), ("0.000000001", 1), ("0", 0)])
def test_seconds_are_exact(text: str, ns: int) -> None:
    assert seconds(text) == ns


@pytest.mark.parametrize("text", ["-1", "nan", "inf", "soon", "", "1e30"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is not a number of seconds"):
        seconds(text)
