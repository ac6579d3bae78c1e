from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import QDialogButtonBox, QLineEdit, QListWidget, QListWidgetItem, QSplitter, QWidget

from widgets.boxes import scrolled, vbox
from widgets.bytes_text import contained
from widgets.cells import PAD, CellDelegate, Index
from widgets.controls import named, plain_label
from widgets.dialogs.dialog import Dialog
from widgets.drawing import draw_text
from widgets.facts import SectionsView
from widgets.i18n import tr
from widgets.icons import icon_pixmap
from widgets.name_search import fit
from widgets.theme import Theme, ui_font

_ID = Qt.ItemDataRole.UserRole
_FACTS = Qt.ItemDataRole.UserRole + 1
_ICON = 14


@dataclass(frozen=True, slots=True)
class ScenarioFacts:
    """A scenario as texts; `holds` says in a line what runs in it.

    `steps` is how many steps its lesson has, 0 for no lesson; `steps_done` of them were done once.
    """

    id: str
    title: str
    about: str
    watch: tuple[str, ...] = ()
    try_: tuple[str, ...] = ()
    holds: str = ""
    steps: int = 0
    steps_done: int = 0

    @property
    def progress(self) -> str:
        if not self.steps:
            return ""
        if self.steps_done == self.steps:
            return tr("Lesson: done")
        if self.steps_done:
            return tr("Lesson: {done} of {count} steps done", done=self.steps_done, count=self.steps)
        return tr("Lesson: {count} steps", count=self.steps)

    @property
    def short_progress(self) -> str:
        """The same, as short as a list needs it; "" for a lesson that was not begun, too."""
        if not self.steps_done:
            return ""
        if self.steps_done == self.steps:
            return tr("Done")
        return tr("{done} of {count}", done=self.steps_done, count=self.steps)


class _ProgressDelegate(CellDelegate):
    def draw(self, painter: QPainter, rect: QRect, index: Index, theme: Theme) -> None:
        facts: ScenarioFacts = index.data(_FACTS)
        inner = QRectF(rect).adjusted(PAD, 0, -PAD, 0)
        if words := facts.short_progress:
            name, colour = ("check", theme.stable) if facts.steps_done == facts.steps else ("processing", theme.accent)
            picture = icon_pixmap(name, colour, _ICON, painter.device().devicePixelRatioF())
            used = draw_text(painter, inner, words, ui_font(12), theme.muted, Qt.AlignmentFlag.AlignRight)
            inner.setRight(inner.right() - used - _ICON - 4)
            painter.drawPixmap(QPointF(inner.right(), inner.center().y() - _ICON / 2), picture)
        self.text(painter, inner.adjusted(0, 0, -PAD, 0), str(index.data() or ""), theme.text)


class ScenarioPicker(Dialog):
    """`chosen(id)` to open a scenario, `editRequested(id)` to change a copy of it."""

    chosen = Signal(str)
    editRequested = Signal(str)

    def __init__(self, scenarios: Sequence[ScenarioFacts], current: str = "", parent: QWidget | None = None) -> None:
        """`current` is the id of the one that is open."""
        super().__init__(tr("Scenarios"), parent)
        self.resize(900, 560)
        self._scenarios = {facts.id: facts for facts in scenarios}
        self.filter_field = QLineEdit(self, placeholderText=tr("Search titles and texts"), clearButtonEnabled=True)
        self.filter_field.setAccessibleName(tr("Search the scenarios"))
        self.filter_field.textChanged.connect(self._filter)
        self.filter_field.installEventFilter(self)
        self.list = named(QListWidget(self), tr("Scenarios"))
        self.list.setItemDelegate(_ProgressDelegate(self.list))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._fill(scenarios)
        self.list.currentItemChanged.connect(lambda _item, _old: self._show())
        self.list.itemDoubleClicked.connect(lambda _item: self._accept())
        self._nothing = plain_label(tr("No scenario contains these words."), "muted", self)
        self._nothing.hide()
        left = QWidget(self)
        vbox(self.filter_field, self._nothing, (self.list, 1), on=left, margins=(0, 0, 0, 0), spacing=8)
        split = QSplitter(Qt.Orientation.Horizontal, self)
        split.addWidget(left)
        split.addWidget(self._reading())
        split.setStretchFactor(1, 1)
        split.setSizes([320, 550])
        split.setChildrenCollapsible(False)
        self.make_buttons(tr("Open"))
        self.edit_button = self.buttons.addButton(tr("Edit a copy..."), QDialogButtonBox.ButtonRole.ActionRole)
        self.edit_button.clicked.connect(self._edit)
        vbox((split, 1), self.buttons, on=self, margins=(16, 16, 16, 16), spacing=12)
        self.select(current or (scenarios[0].id if scenarios else ""))
        self.filter_field.setFocus()

    def _reading(self) -> QWidget:
        inner = QWidget(self)
        self.title = plain_label("", "title", inner, wrap=True)
        self.holds = plain_label("", "muted", inner, fill=True)
        self.progress = plain_label("", "muted", inner)
        self.about = plain_label("", "", inner, fill=True)
        self.sections = SectionsView(inner)
        texts = (self.title, self.holds, self.progress, self.about)
        vbox(*texts, self.sections, 1, on=inner, margins=(16, 0, 8, 8), spacing=8)
        return scrolled(inner, self)

    def current(self) -> str:
        item = self.list.currentItem()
        return "" if item is None else str(item.data(_ID))

    def select(self, scenario_id: str) -> None:
        for place in range(self.list.count()):
            item = self.list.item(place)
            if item is not None and item.data(_ID) == scenario_id:
                self.list.setCurrentItem(item)

    def _fill(self, scenarios: Iterable[ScenarioFacts]) -> None:
        for facts in scenarios:
            item = QListWidgetItem(contained(facts.title), self.list)
            item.setData(_ID, facts.id)
            item.setData(_FACTS, facts)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, ". ".join(filter(None, (facts.title, facts.progress))))

    def _filter(self, text: str) -> None:
        before = self.current()
        found = [(_fit(facts, text), facts) for facts in self._scenarios.values()] if text.strip() else []
        ranked = sorted(((rank, facts) for rank, facts in found if rank is not None), key=lambda one: one[0])
        shown = [facts for _rank, facts in ranked] if text.strip() else list(self._scenarios.values())
        self.list.clear()
        self._fill(shown)
        self._nothing.setVisible(not shown)
        if shown:
            self.select(shown[0].id if text.strip() else before or shown[0].id)
        self._show()

    def _show(self) -> None:
        facts = self._scenarios.get(self.current())
        self.accept_button.setEnabled(facts is not None)
        self.edit_button.setEnabled(facts is not None)
        facts = facts or ScenarioFacts("", "", "")
        self.title.setText(contained(facts.title))
        self.holds.setText(facts.holds)
        self.progress.setText(facts.progress)
        self.progress.setVisible(bool(facts.progress))
        self.about.setText(contained(facts.about))
        lists = ((tr("What to watch"), facts.watch), (tr("What to try"), facts.try_))
        self.sections.set_sections(
            [(title, [(f"{at}.", line) for at, line in enumerate(lines, 1)]) for title, lines in lists if lines]
        )

    def _accept(self) -> None:
        if chosen := self.current():
            self.accept()
            self.chosen.emit(chosen)

    def _edit(self) -> None:
        if chosen := self.current():
            self.accept()
            self.editRequested.emit(chosen)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.filter_field and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()))
            if step is not None:
                self.list.setCurrentRow(min(max(self.list.currentRow() + step, 0), self.list.count() - 1))
                return True
        return super().eventFilter(watched, event)


def _fit(facts: ScenarioFacts, text: str) -> int | None:
    texts = (facts.about, facts.holds, *facts.watch, *facts.try_)
    fits = [fit(text, name, *texts) for name in (facts.title, facts.id.replace("-", " "), facts.id)]
    return min((rank for rank in fits if rank is not None), default=None)
