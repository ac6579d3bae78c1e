from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialogButtonBox, QLineEdit, QTreeWidget, QTreeWidgetItem, QWidget

from widgets.boxes import vbox
from widgets.bytes_text import as_plain
from widgets.controls import named, plain_label, set_why_not
from widgets.dialogs.dialog import Dialog
from widgets.i18n import mark, tr

COLUMNS = (mark("Session"), mark("Started"), mark("Lasted"), mark("End"), mark("Folder"))
_WIDTHS = (190, 140, 90, 130, 260)


@dataclass(frozen=True, slots=True)
class SessionLine:
    """One session; `key` is given back when it is chosen, `texts` fill the columns."""

    key: str
    texts: tuple[str, str, str, str, str]
    hint: str = ""


class ChooseSessionDialog(Dialog):
    """`chosen(keys)` with one key, or with `many` if that many are asked for; `browseRequested()` for others."""

    chosen = Signal(list)
    browseRequested = Signal()

    def __init__(
        self,
        title: str,
        about: str,
        lines: Sequence[SessionLine],
        *,
        button: str = "",
        many: int = 1,
        browse: bool = True,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(title, parent, once=True)
        self.resize(900, 460)
        self._many = many
        words = plain_label(about, "muted", self, fill=True)
        self.filter = QLineEdit(self, placeholderText=tr("Filter by name, time or folder"), clearButtonEnabled=True)
        self.filter.setAccessibleName(tr("Filter the sessions"))
        self.list = named(QTreeWidget(self), title)
        self.list.setHeaderLabels([tr(column) for column in COLUMNS])
        self.list.setRootIsDecorated(False)
        self.list.setUniformRowHeights(True)
        if many > 1:
            self.list.setSelectionMode(QTreeWidget.SelectionMode.ExtendedSelection)
        self._items: list[QTreeWidgetItem] = []
        for line in lines:
            item = QTreeWidgetItem(self.list, list(line.texts))
            item.setData(0, Qt.ItemDataRole.UserRole, line.key)
            item.setToolTip(0, as_plain(line.hint or line.texts[4]))
            self._items.append(item)
        for column, width in enumerate(_WIDTHS):
            self.list.setColumnWidth(column, width)
        self.empty = plain_label(
            tr("No session has been recorded yet. Run a scenario; it is recorded automatically."), "muted"
        )
        self.empty.setVisible(not lines)
        self.list.setVisible(bool(lines))
        self.filter.setVisible(bool(lines))
        self.make_buttons(button or tr("Open"))
        if browse:
            other = self.buttons.addButton(tr("Another folder..."), QDialogButtonBox.ButtonRole.ActionRole)
            other.clicked.connect(self.reject)
            other.clicked.connect(self.browseRequested)
        vbox(words, self.filter, (self.list, 1), (self.empty, 1), self.buttons, on=self)
        self.filter.textChanged.connect(self._show_only)
        self.list.itemSelectionChanged.connect(self._judge)
        self.list.itemDoubleClicked.connect(lambda _item, _column: self._accept())
        if lines and many == 1:
            self.list.setCurrentItem(self._items[0])
        self._judge()
        (self.list if lines else self.buttons).setFocus()

    def _selected(self) -> list[str]:
        rows = sorted(self.list.selectedItems(), key=self.list.indexOfTopLevelItem)
        return [str(item.data(0, Qt.ItemDataRole.UserRole)) for item in rows]

    def _judge(self) -> None:
        count = len(self._selected())
        missing = tr("Select {many} of them; {count} are selected.", many=self._many, count=count)
        set_why_not(self.accept_button, "" if count == self._many else missing)

    def _show_only(self, text: str) -> None:
        for item in self._items:
            whole = " ".join(item.text(column) for column in range(len(COLUMNS))).casefold()
            hidden = text.strip().casefold() not in whole
            item.setHidden(hidden)
            if hidden:
                item.setSelected(False)

    def _accept(self) -> None:
        keys = self._selected()
        if len(keys) == self._many:
            self.chosen.emit(keys)
            self.accept()
