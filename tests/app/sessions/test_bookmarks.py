"""The bookmarks of a session and its file."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.sessions.bookmarks import Bookmarks


def test_a_session_has_no_more_bookmarks_than_the_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("app.sessions.bookmarks.MOST", 2)
    marks = Bookmarks(tmp_path)
    marks.add(7, "later")
    marks.add(5, "first")
    with pytest.raises(ValueError, match="at most 2 bookmarks"):
        marks.add(6, "one too many")
    assert [mark.name for mark in marks.all()] == ["first", "later"]
    assert Bookmarks(tmp_path).all() == marks.all()
