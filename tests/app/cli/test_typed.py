"""Lines of standard input."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import IO

import pytest

from app.cli.produce import typed_lines


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> IO[bytes]:
    """What is written here is typed."""
    reading, writing = os.pipe()
    monkeypatch.setattr(sys, "stdin", os.fdopen(reading, encoding="utf-8"))
    return os.fdopen(writing, "wb", buffering=0)


def test_lines_come_without_their_ends_and_the_last_needs_none(pipe: IO[bytes]) -> None:
    pipe.write(b"one\r\n\ntwo\xff\nthree")
    pipe.close()
    assert list(typed_lines(lambda: None)) == [b"one", b"", b"two\xff", b"three"]


def test_what_was_read_is_given_before_it_waits_for_more(pipe: IO[bytes]) -> None:
    seen: list[object] = []

    def before_waiting() -> None:
        seen.append("waiting")
        if seen.count("waiting") == 1:
            pipe.write(b"tw")
        elif seen.count("waiting") == 2:
            pipe.write(b"o\n")
        else:
            pipe.close()

    pipe.write(b"one\n")
    for line in typed_lines(before_waiting):
        seen.append(line)
    assert seen == [b"one", "waiting", "waiting", b"two", "waiting"]


def test_a_line_may_be_longer_than_what_is_read_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "typed").write_bytes(b"x" * 200_000 + b"\nend\n")
    monkeypatch.setattr(sys, "stdin", (tmp_path / "typed").open(encoding="utf-8"))
    assert [len(line) for line in typed_lines(lambda: None)] == [200_000, 3]


def test_nothing_typed_is_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    for text in (b"", b"one\n"):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text), encoding="utf-8"))
        assert list(typed_lines(lambda: None)) == [line for line in text.split() if line]
