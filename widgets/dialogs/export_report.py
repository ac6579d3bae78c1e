from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QFileDialog,
    QGridLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QPushButton,
    QWidget,
)

from widgets.boxes import Gap, hbox, vbox
from widgets.controls import named, plain_label, set_why_not
from widgets.dialogs.dialog import MARGINS, Dialog
from widgets.formats import time_of
from widgets.i18n import mark, tr

COLUMNS = 3


class PartsField(QWidget):
    """`changed` when other parts are ticked."""

    changed = Signal()

    def __init__(self, parts: Mapping[str, str], left_out: Collection[str] = (), parent: QWidget | None = None) -> None:
        """`parts` are titles by name. All but those `left_out` are ticked; all, if none would be left."""
        super().__init__(parent)
        self.setAccessibleName(tr("Parts of the report"))
        left_out = () if parts.keys() <= set(left_out) else left_out
        self.all_button, self.none_button = QPushButton(tr("All"), self), QPushButton(tr("None"), self)
        for button, name, on in (
            (self.all_button, tr("All parts of the report"), True),
            (self.none_button, tr("No part of the report"), False),
        ):
            button.setProperty("role", "link")
            button.setAutoDefault(False)
            button.setAccessibleName(name)
            button.clicked.connect(lambda _clicked=False, on=on: self.tick_all(on))
        self.boxes = {name: QCheckBox(title, self) for name, title in parts.items()}
        for name, box in self.boxes.items():
            box.setChecked(name not in left_out)
            box.toggled.connect(lambda _on: self.changed.emit())
        self._compose()

    def _compose(self) -> None:
        head = hbox(plain_label(tr("Parts"), "section", self), 1, self.all_button, self.none_button, spacing=14)
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(4)
        rows = -(-len(self.boxes) // COLUMNS)
        for place, box in enumerate(self.boxes.values()):
            grid.addWidget(box, place % rows, place // rows)
        for column in range(COLUMNS):
            grid.setColumnStretch(column, 1)
        vbox(head, grid, on=self, margins=(0, 0, 0, 0), spacing=6)

    def tick_all(self, on: bool) -> None:
        for box in self.boxes.values():
            box.setChecked(on)

    def chosen(self) -> frozenset[str]:
        return frozenset(name for name, box in self.boxes.items() if box.isChecked())

    def left_out(self) -> frozenset[str]:
        return frozenset(self.boxes) - self.chosen()


ASSERTION_LINES = 2


class AssertionsField(QPlainTextEdit):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(tr("Assertions"))
        self.setPlaceholderText(
            tr('p99 < 200 ms, or lag("billing") < 100: one per line; the report says which are met')
        )
        self.setTabChangesFocus(True)
        self.setFixedHeight(self.fontMetrics().lineSpacing() * ASSERTION_LINES + 2 * self.frameWidth() + 24)

    def assertions(self) -> tuple[str, ...]:
        return tuple(line.strip() for line in self.toPlainText().splitlines() if line.strip())


SECTION_GAP = 4
FORMATS = {
    "html": mark("Page for a browser (HTML)"),
    "csv": mark("Tables as CSV"),
    "parquet": mark("Tables as Parquet"),
}
_FOLDER = Qt.ItemDataRole.UserRole


@dataclass(frozen=True, slots=True)
class SessionChoice:
    """A recorded session: its folder, what it is called, when and how long it ran."""

    folder: str
    title: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class ReportWish:
    """The chosen report, to be written into `folder`. Times are of the session, None for its beginning or end."""

    session: str
    folder: str
    from_ns: int | None
    to_ns: int | None
    formats: frozenset[str]
    parts: frozenset[str]
    assertions: tuple[str, ...]
    open_when_finished: bool


@dataclass(frozen=True, slots=True)
class ReportHabits:
    formats: frozenset[str] = frozenset()
    left_out: frozenset[str] = frozenset()
    open_when_finished: bool = True


JudgeAssertions = Callable[[tuple[str, ...], frozenset[str]], str]


def folder_problem(text: str) -> str:
    """Why a report cannot be written there, in one sentence; "" if it can."""
    if not text.strip():
        return tr("Choose a folder for the report.")
    folder = Path(text.strip()).expanduser()
    if not folder.is_absolute():
        return tr("Enter the absolute path of the folder.")
    if folder.exists() and not folder.is_dir():
        return tr("This is a file, not a folder; choose a folder.")
    parent = next((one for one in (folder, *folder.parents) if one.exists()), None)
    if parent is None or not parent.is_dir() or not os.access(parent, os.W_OK):
        return tr("That folder is not writable; choose another one.")
    return ""


class ExportReportDialog(Dialog):
    """`exportRequested(ReportWish)` on Export."""

    exportRequested = Signal(object)

    def __init__(
        self,
        folder: str,
        sessions: Sequence[SessionChoice],
        parts: Mapping[str, str],
        chosen: str,
        habits: ReportHabits | None = None,
        parent: QWidget | None = None,
        *,
        judge: JudgeAssertions = lambda _assertions, _parts: "",
    ) -> None:
        """`parts` are titles by name, `chosen` is the folder of the session that is selected at first; `judge` says
        what is wrong with assertions for a report of some parts, "" for nothing.
        """
        habits = habits or ReportHabits()
        super().__init__(tr("Export report"), parent, modal=True)
        self.list = named(QListWidget(self), tr("Session"))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setSizeAdjustPolicy(QListWidget.SizeAdjustPolicy.AdjustToContents)
        for session in sessions:
            item = QListWidgetItem(f"{session.title}   {session.about}".rstrip(), self.list)
            item.setData(_FOLDER, session.folder)
            item.setToolTip(session.folder)
            if session.folder == chosen:
                self.list.setCurrentItem(item)
        self.from_time, self.to_time = QLineEdit(self), QLineEdit(self)
        for field, hint, name in (
            (self.from_time, tr("beginning"), tr("From session time")),
            (self.to_time, tr("end"), tr("To session time")),
        ):
            field.setPlaceholderText(hint)
            field.setAccessibleName(name)
            field.setToolTip(tr("mm:ss or seconds; empty for everything"))
            field.setMaximumWidth(110)
        self.parts = PartsField(parts, habits.left_out, self)
        self._judge_assertions = judge
        self.assertions = AssertionsField(self)
        self.formats = {name: QCheckBox(tr(words), self) for name, words in FORMATS.items()}
        kept = habits.formats & self.formats.keys()
        for name, box in self.formats.items():
            box.setChecked(name in kept or not kept)
        self.folder = named(QLineEdit(folder, self), tr("Folder"))
        self.browse = QPushButton(tr("Browse..."), self)
        self.open_when_finished = QCheckBox(tr("Open the report when it is finished"), self)
        self.open_when_finished.setChecked(habits.open_when_finished)
        self.problem = plain_label("", "muted", self, fill=True)
        self.make_buttons(tr("Export"))
        self._compose()
        self.resize(680, 740)
        self._connect_signals()
        self._judge()

    def _connect_signals(self) -> None:
        texts = (field.textChanged for field in (self.folder, self.assertions, self.from_time, self.to_time))
        boxes = (box.toggled for box in self.formats.values())
        for signal in (*texts, *boxes, self.list.currentItemChanged, self.parts.changed):
            signal.connect(lambda *_what: self._judge())
        self.browse.clicked.connect(self._browse)

    def _compose(self) -> None:
        begins, ends = plain_label(tr("From"), "", self), plain_label(tr("to"), "", self)
        vbox(
            plain_label(tr("Session"), "section", self),
            (self.list, 1),
            Gap(SECTION_GAP),
            plain_label(tr("Session time"), "section", self),
            hbox(begins, self.from_time, ends, self.to_time, 1),
            Gap(SECTION_GAP),
            self.parts,
            Gap(SECTION_GAP),
            plain_label(tr("Assertions"), "section", self),
            self.assertions,
            Gap(SECTION_GAP),
            plain_label(tr("Forms"), "section", self),
            hbox(*self.formats.values(), 1),
            Gap(SECTION_GAP),
            plain_label(tr("Folder"), "section", self),
            hbox((self.folder, 1), self.browse),
            self.open_when_finished,
            self.problem,
            plain_label(tr("It runs as a job; closing this dialog does not stop it."), "muted", self),
            self.buttons,
            on=self,
            margins=MARGINS,
            spacing=8,
        )

    def chosen(self) -> str:
        """The folder of the selected session; "" for none."""
        item = self.list.currentItem()
        return "" if item is None else str(item.data(_FOLDER))

    def habits(self) -> ReportHabits:
        formats = frozenset(name for name, box in self.formats.items() if box.isChecked())
        return ReportHabits(formats, self.parts.left_out(), self.open_when_finished.isChecked())

    def _problem(self) -> str:
        if not self.chosen():
            return tr("Choose a session.")
        begin, end = self.from_time.text().strip(), self.to_time.text().strip()
        from_ns, to_ns = time_of(begin), time_of(end)
        if (begin and from_ns is None) or (end and to_ns is None):
            return tr("A time is mm:ss, or a number of seconds.")
        if from_ns is not None and to_ns is not None and from_ns >= to_ns:
            return tr("The time range is empty: it ends before it begins.")
        if not self.parts.chosen():
            return tr("Choose at least one part.")
        if problem := self._judge_assertions(self.assertions.assertions(), self.parts.chosen()):
            return problem
        if not any(box.isChecked() for box in self.formats.values()):
            return tr("Choose at least one form.")
        return folder_problem(self.folder.text())

    def _judge(self) -> None:
        problem = self._problem()
        folder = Path(self.folder.text().strip()).expanduser()
        there = not problem and (folder / "report.html").exists()
        self.problem.setText(problem or (tr("An existing report is replaced.") if there else ""))
        set_why_not(self.accept_button, problem)

    def _browse(self) -> None:
        found = QFileDialog.getExistingDirectory(self, tr("Folder for the report"), self.folder.text())
        if found:
            self.folder.setText(found)

    def _accept(self) -> None:
        if not self.accept_button.isEnabled():
            return
        self.accept()
        habits = self.habits()
        self.exportRequested.emit(
            ReportWish(
                self.chosen(),
                str(Path(self.folder.text().strip()).expanduser()),
                time_of(self.from_time.text()),
                time_of(self.to_time.text()),
                habits.formats,
                self.parts.chosen(),
                self.assertions.assertions(),
                habits.open_when_finished,
            )
        )
