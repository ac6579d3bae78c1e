from __future__ import annotations

from pathlib import Path

import msgspec

from broker_core.files import private
from widgets.i18n import tr

MOST = 1_000
MOST_CHARS = 200


class Bookmark(msgspec.Struct, frozen=True):
    time_ns: int
    name: str


class Bookmarks:
    """The bookmarks of one session, in the order of time; in memory alone if `folder` is None."""

    def __init__(self, folder: Path | None = None) -> None:
        self._path = None if folder is None else folder / "bookmarks.json"
        self._marks: list[Bookmark] = []
        self.problem = ""
        if self._path is not None and self._path.is_file():
            try:
                self._marks = msgspec.json.decode(self._path.read_bytes(), type=list[Bookmark])[:MOST]
            except (OSError, msgspec.MsgspecError) as error:
                self.problem = tr("The bookmarks in {path} cannot be read: {error}.", path=self._path, error=error)
        self._marks.sort(key=lambda mark: mark.time_ns)

    def all(self) -> tuple[Bookmark, ...]:
        return tuple(self._marks)

    def add(self, time_ns: int, name: str) -> Bookmark:
        """One more. Raises OSError if it cannot be kept, ValueError if there are too many."""
        if len(self._marks) >= MOST:
            raise ValueError(tr("A session has at most {count:,} bookmarks; remove some first.", count=MOST))
        mark = Bookmark(time_ns, _plain(name))
        self._marks = sorted([*self._marks, mark], key=lambda one: one.time_ns)
        self._save()
        return mark

    def at(self, time_ns: int) -> Bookmark | None:
        return next((mark for mark in self._marks if mark.time_ns == time_ns), None)

    def rename(self, mark: Bookmark, name: str) -> None:
        new = Bookmark(mark.time_ns, _plain(name))
        self._marks = [new if one == mark else one for one in self._marks]
        self._save()

    def remove(self, mark: Bookmark) -> None:
        self._marks = [one for one in self._marks if one != mark]
        self._save()

    def _save(self) -> None:
        if self._path is not None:
            private.replace(self._path, msgspec.json.format(msgspec.json.encode(self._marks), indent=2))


def _plain(name: str) -> str:
    return " ".join(name.split())[:MOST_CHARS] or tr("Bookmark")
