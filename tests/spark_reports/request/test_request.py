"""Requests on the command line and back."""

from __future__ import annotations

import argparse
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_reports import submit
from spark_reports.errors import ReportError
from spark_reports.jobs.outcome import Outcome
from spark_reports.request.parts import EVERY, PARTS
from spark_reports.request.request import (
    COMPARE,
    FORMATS,
    HISTORY,
    SESSION,
    Request,
    add_arguments,
    arguments_of,
    plain,
    request_of,
    seconds,
)


def parsed(*arguments: str) -> Request:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return request_of(parser.parse_args(arguments))


@given(
    st.lists(st.sampled_from(["/a", "/b c", "s3a://x/y"]), min_size=1, max_size=3, unique=True),
    st.sampled_from([SESSION, COMPARE, HISTORY]),
    st.none() | st.integers(0, 10**17),
    st.none() | st.integers(0, 10**17),
    st.sets(st.sampled_from(FORMATS), min_size=1),
    st.sets(st.sampled_from(list(PARTS)), min_size=1),
)
def test_a_request_survives_its_command_line(
    sessions: list[str], mode: str, from_ns: int | None, to_ns: int | None, formats: set[str], parts: set[str]
) -> None:
    request = Request(tuple(sessions), "/out", mode, from_ns, to_ns, frozenset(formats), "local[3]", frozenset(parts))
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


def test_spark_submit_takes_the_same_parts(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[Request] = []

    def run(request: Request, _work: object) -> tuple[str, Outcome]:
        asked.append(request)
        return "/out/report.html", Outcome()

    monkeypatch.setattr(submit, "_run", run)
    assert submit.main(["/a", "--out", "/out", "--parts", "lag,audit"]) == 0
    assert asked[0].parts == {"lag", "audit"}
    with pytest.raises(SystemExit):
        submit.main(["/a", "--out", "/out", "--parts", "speed"])
    assert "speed is not among throughput" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"parts": frozenset()}, "No part was requested: choose from throughput, latency,"),
        (
            {"mode": HISTORY, "parts": frozenset({"lag", "audit"})},
            "A history does not include lag, audit: choose from throughput, latency, rebalances, queues, dead-letters, "
            "backpressure, events.",
        ),
    ],
)
def test_parts_of_which_no_report_can_be_made_are_one_sentence(change: dict[str, Any], sentence: str) -> None:
    request = Request(("/a",), "/out")
    request.check()
    request._replace(mode=HISTORY, parts=frozenset({"lag", "latency"})).check()
    with pytest.raises(ReportError, match=re.escape(sentence)):
        request._replace(**change).check()


@pytest.mark.parametrize(("text", "ns"), [("42.5", 42_500_000_000), ("0.1", 100_000_000), ("0.000000001", 1), ("0", 0)])
def test_seconds_are_exact(text: str, ns: int) -> None:
    assert seconds(text) == ns


@pytest.mark.parametrize("text", ["-1", "nan", "inf", "soon", "", "1e30"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is not a number of seconds"):
        seconds(text)


@pytest.mark.parametrize(
    ("location", "path"),
    [("file:///a/b", "/a/b"), ("file:/a", "/a"), ("/a", "/a"), ("s3a://b/c", "s3a://b/c"), ("a", "a")],
)
def test_files_of_this_machine_are_plain_paths(location: str, path: str) -> None:
    assert plain(location) == path
