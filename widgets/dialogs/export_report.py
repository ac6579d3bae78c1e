from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QFileDialog,
    QGridLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QPushButton,
    QRadioButton,
    QWidget,
)

from widgets.boxes import Gap, hbox, vbox
from widgets.dialogs.dialog import MARGINS, Dialog
from widgets.facts import named, plain_label, set_plain_tip, set_why_not
from widgets.formats import time_of
from widgets.i18n import mark, tr

COLUMNS = 3


@dataclass(frozen=True, slots=True)
class PartChoice:
    """A part of a report: its name, what it is called, and whether a history has anything of it."""

    name: str
    title: str
    in_history: bool = True


class PartsField(QWidget):
    """`changed` when other parts are ticked, or can be."""

    changed = Signal()

    def __init__(self, parts: Sequence[PartChoice], left_out: Collection[str] = (), parent: QWidget | None = None):
        """All but those `left_out` are ticked; all, if none would be left."""
        super().__init__(parent)
        self.setAccessibleName(tr("Parts of the report"))
        self._parts = tuple(parts)
        left_out = left_out if any(part.name not in left_out for part in parts) else ()
        self._put_aside: set[str] = set()  # ticked, but of no use in a history
        self.all_button, self.none_button = QPushButton(tr("All"), self), QPushButton(tr("None"), self)
        for button, name, on in (
            (self.all_button, tr("All parts of the report"), True),
            (self.none_button, tr("No part of the report"), False),
        ):
            button.setProperty("role", "link")
            button.setAutoDefault(False)
            button.setAccessibleName(name)
            button.clicked.connect(lambda _clicked=False, on=on: self.tick_all(on))
        self.boxes = {part.name: QCheckBox(part.title, self) for part in parts}
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
            if box.isEnabled():
                box.setChecked(on)

    def set_history(self, on: bool) -> None:
        """In a history parts of which that has nothing cannot be ticked; their ticks come back after it."""
        for part in self._parts:
            box, known = self.boxes[part.name], part.in_history or not on
            if box.isEnabled() == known:
                continue
            ticked = box.isChecked() or part.name in self._put_aside
            (self._put_aside.discard if known or not ticked else self._put_aside.add)(part.name)
            box.setEnabled(known)
            box.setChecked(known and ticked)
            set_plain_tip(box, "" if known else tr("A history does not include this."))

    def chosen(self) -> frozenset[str]:
        return frozenset(name for name, box in self.boxes.items() if box.isChecked())

    def left_out(self) -> frozenset[str]:
        return frozenset(self.boxes) - self.chosen() - self._put_aside


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


SESSION, COMPARE, HISTORY = "session", "compare", "history"
MOST_COMPARED = 8
SECTION_GAP = 4
FORMATS = (
    ("html", mark("Page for a browser (HTML)"), True),
    ("csv", mark("Tables as CSV"), True),
    ("parquet", mark("Tables as Parquet"), True),
)
_FOLDER = Qt.ItemDataRole.UserRole


@dataclass(frozen=True, slots=True)
class SessionChoice:
    """A recorded session: its folder, what it is called, when and how long it ran."""

    folder: str
    title: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class ReportWish:
    """The chosen report. Times are seconds of session time, None for the beginning or the end."""

    sessions: tuple[str, ...]
    mode: str
    from_s: float | None
    to_s: float | None
    formats: frozenset[str]
    parts: frozenset[str]
    folder: str
    open_when_finished: bool
    assertions: tuple[str, ...] = ()


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
        parts: Sequence[PartChoice],
        chosen: Sequence[str] = (),
        habits: ReportHabits | None = None,
        parent: QWidget | None = None,
        *,
        judge: JudgeAssertions = lambda _assertions, _parts: "",
    ) -> None:
        """`chosen` are the folders of the sessions that are ticked at first; `judge` says what is wrong with assertions
        for a report of some parts, "" for nothing.
        """
        habits = habits or ReportHabits()
        super().__init__(tr("Export report"), parent, modal=True)
        self.list = named(QListWidget(self), tr("Sessions"))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setSizeAdjustPolicy(QListWidget.SizeAdjustPolicy.AdjustToContents)
        for session in sessions:
            item = QListWidgetItem(f"{session.title}   {session.about}".rstrip(), self.list)
            item.setData(_FOLDER, session.folder)
            item.setToolTip(session.folder)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Checked if session.folder in chosen else Qt.CheckState.Unchecked)
        self.compare = QRadioButton(tr("Compare them side by side"), self)
        self.history = QRadioButton(tr("Show their trend over time"), self)
        self.compare.setChecked(True)
        self._modes = QButtonGroup(self)
        self._modes.addButton(self.compare)
        self._modes.addButton(self.history)
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
        self.formats = {name: QCheckBox(tr(words), self) for name, words, _on in FORMATS}
        kept = habits.formats & self.formats.keys()
        for name, _words, on in FORMATS:
            self.formats[name].setChecked(name in kept if kept else on)
        self.folder = named(QLineEdit(folder, self), tr("Folder"))
        self.browse = QPushButton(tr("Browse..."), self)
        self.open_when_finished = QCheckBox(tr("Open the report when it is finished"), self)
        self.open_when_finished.setChecked(habits.open_when_finished)
        self.problem = plain_label("", "muted", self, fill=True)
        self.make_buttons(tr("Export"))
        self._compose()
        self.resize(680, 740)
        self._judge_changes()
        self._judge()

    def _judge_changes(self) -> None:
        texts = (field.textChanged for field in (self.folder, self.assertions, self.from_time, self.to_time))
        boxes = (box.toggled for box in self.formats.values())
        for signal in (*texts, *boxes, self.list.itemChanged, self.parts.changed, self._modes.buttonToggled):
            signal.connect(lambda *_what: self._judge())
        self.browse.clicked.connect(self._browse)

    def _compose(self) -> None:
        begins, ends = plain_label(tr("From"), "", self), plain_label(tr("to"), "", self)
        grid = QGridLayout()
        for place, box in enumerate(self.formats.values()):
            grid.addWidget(box, place // 3, place % 3)
        vbox(
            plain_label(tr("Sessions"), "section", self),
            (self.list, 1),
            hbox(self.compare, self.history, 1),
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
            grid,
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

    def chosen(self) -> tuple[str, ...]:
        items = [self.list.item(place) for place in range(self.list.count())]
        return tuple(
            str(item.data(_FOLDER)) for item in items if item is not None and item.checkState() is Qt.CheckState.Checked
        )

    def tick(self, folder: str, on: bool = True) -> None:
        for place in range(self.list.count()):
            item = self.list.item(place)
            if item is not None and item.data(_FOLDER) == folder:
                item.setCheckState(Qt.CheckState.Checked if on else Qt.CheckState.Unchecked)

    def habits(self) -> ReportHabits:
        formats = frozenset(name for name, box in self.formats.items() if box.isChecked())
        return ReportHabits(formats, self.parts.left_out(), self.open_when_finished.isChecked())

    def mode(self) -> str:
        if len(self.chosen()) < 2:
            return SESSION
        return COMPARE if self.compare.isChecked() else HISTORY

    def _problem(self) -> str:
        count = len(self.chosen())
        if not count:
            return tr("Choose a session.")
        if self.mode() == COMPARE and count > MOST_COMPARED:
            return tr("At most {count} sessions can be compared; show their trend instead.", count=MOST_COMPARED)
        if any(field.text().strip() and _seconds(field) is None for field in (self.from_time, self.to_time)):
            return tr("A time is mm:ss, or a number of seconds.")
        from_s, to_s = _seconds(self.from_time), _seconds(self.to_time)
        if from_s is not None and to_s is not None and from_s >= to_s:
            return tr("The time range is empty: it ends before it begins.")
        if not self.parts.chosen():
            return tr("Choose at least one part.")
        if self.mode() == SESSION and (problem := self._judge_assertions(self._assertions(), self.parts.chosen())):
            return problem
        if not any(box.isChecked() for box in self.formats.values()):
            return tr("Choose at least one form.")
        return folder_problem(self.folder.text())

    def _assertions(self) -> tuple[str, ...]:
        return self.assertions.assertions() if self.mode() == SESSION else ()

    def _judge(self) -> None:
        several = len(self.chosen()) > 1
        self.assertions.setEnabled(self.mode() == SESSION)
        for button in self._modes.buttons():
            button.setEnabled(several)
        self.parts.set_history(self.mode() == HISTORY)
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
                self.mode(),
                _seconds(self.from_time),
                _seconds(self.to_time),
                habits.formats,
                self.parts.chosen(),
                str(Path(self.folder.text().strip()).expanduser()),
                habits.open_when_finished,
                self._assertions(),
            )
        )


def _seconds(field: QLineEdit) -> float | None:
    time_ns = time_of(field.text())
    return None if time_ns is None else time_ns / 1e9
