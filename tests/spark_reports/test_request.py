"""Requests on the command line and back."""

from __future__ import annotations

import argparse

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_reports.request import (
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
)
def test_a_request_survives_its_command_line(
    sessions: list[str], mode: str, from_ns: int | None, to_ns: int | None, formats: set[str]
) -> None:
    request = Request(tuple(sessions), "/out", mode, from_ns, to_ns, frozenset(formats), "local[3]")
    assert parsed(*arguments_of(request)) == request


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
