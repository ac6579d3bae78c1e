from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QButtonGroup,
    QPlainTextEdit,
    QStackedLayout,
    QToolButton,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from widgets.boxes import hbox, vbox
from widgets.bytes_text import Shown, escaped, hex_dump, json_of, readable
from widgets.controls import named, plain_label, toggle_button
from widgets.i18n import mark, tr
from widgets.long_text import wrap_for
from widgets.theme import mono_font

TREE_ITEMS = 5_000
TREE_DEPTH = 60
VALUE_CHARS = 2_000
VIEWS = (mark("Text"), mark("JSON"), mark("Hex"))


class PayloadView(QWidget):
    """`set_data(bytes or None)`; the chosen view is kept."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.data: bytes | None = None
        self._is_set = False
        self._notes: dict[int, str] = {}
        self.text, self.hex = self._editor(tr("Payload as text")), self._editor(tr("Payload in hex"))
        self.hex.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.tree = named(QTreeWidget(self, columnCount=2), tr("Payload as JSON"))
        self.tree.setHeaderLabels([tr("Name"), tr("Value")])
        self.tree.setUniformRowHeights(True)
        self.tree.setFont(mono_font())
        self.tree.setMinimumHeight(60)
        self.stack = QStackedLayout()
        for view in (self.text, self.tree, self.hex):
            self.stack.addWidget(view)
        self.buttons: list[QToolButton] = []
        self._group, self._views = QButtonGroup(self), hbox(spacing=2)
        self._group.idClicked.connect(self.show_view)
        self.copy = QToolButton(self)
        self.copy.setText(tr("Copy"))
        self.copy.setToolTip(tr("The whole payload as text, even if only part of it is shown"))
        self.copy.clicked.connect(self._copy)
        self.tools = hbox(self.copy, spacing=2)
        whole = hbox(self._views, 1, self.tools, spacing=2)
        self.note = plain_label("", "muted", self, wrap=True)
        vbox(whole, (self.stack, 1), self.note, on=self, margins=(0, 0, 0, 0), spacing=4)
        for name in VIEWS:
            self._add_button(tr(name))
        self.set_data(None)

    def _add_button(self, name: str) -> None:
        button = toggle_button(name, self)
        self._group.addButton(button, len(self.buttons))
        self._views.addWidget(button)
        self.buttons.append(button)

    def add_page(self, name: str, page: QWidget) -> None:
        self.stack.addWidget(page)
        self._add_button(name)

    def _editor(self, name: str) -> QPlainTextEdit:
        editor = named(QPlainTextEdit(self, readOnly=True), name)
        editor.setFont(mono_font())
        editor.setMinimumHeight(60)
        editor.setWordWrapMode(editor.wordWrapMode().WrapAnywhere)
        return editor

    def set_data(self, data: bytes | None) -> None:
        if self._is_set and data == self.data:
            return
        self.data, self._is_set = data, True
        self._notes.clear()
        is_json = bool(data) and json_of(data or b"")[0]
        self.buttons[1].setEnabled(is_json)
        self.copy.setEnabled(data is not None)
        chosen = self.stack.currentIndex()
        self.show_view(0 if chosen == 1 and not is_json else chosen)

    def show_view(self, place: int) -> None:
        """0 text, 1 JSON, 2 hex, then the pages that were added."""
        self.buttons[place].setChecked(True)
        self.stack.setCurrentIndex(place)
        if place not in self._notes and place < len(VIEWS):
            self._notes[place] = (self._fill_text, self._fill_tree, self._fill_hex)[place](self.data or b"")
        self.note.setText(self._notes.get(place, ""))
        self.note.setVisible(bool(self.note.text()))

    def _fill_text(self, data: bytes) -> str:
        shown = readable(data)
        wrap_for(self.text, shown.text)
        self.text.setPlainText(shown.text)
        if not data:
            return tr("There is no value (a tombstone).") if self.data is None else tr("The value is empty.")
        return _cut(shown, data)

    def _fill_hex(self, data: bytes) -> str:
        shown = hex_dump(data)
        self.hex.setPlainText(shown.text)
        return _cut(shown, data)

    def _fill_tree(self, data: bytes) -> str:
        self.tree.clear()
        note = _fill(self.tree.invisibleRootItem(), json_of(data)[1])
        self.tree.expandToDepth(1)
        self.tree.resizeColumnToContents(0)
        self.tree.setColumnWidth(0, min(220, self.tree.columnWidth(0)))
        return note

    def _copy(self) -> None:
        data = self.data or b""
        QGuiApplication.clipboard().setText(readable(data, len(data)).text)


def _cut(shown: Shown, data: bytes) -> str:
    if shown.shown_bytes >= len(data):
        return ""
    return tr("The first {shown:,} of {whole:,} bytes are shown.", shown=shown.shown_bytes, whole=len(data))


def _fill(root: QTreeWidgetItem, value: Any) -> str:
    count, note = 0, ""
    todo: list[tuple[QTreeWidgetItem, str, Any, int]] = [(root, "", value, 0)]
    # Depth first by hand: data may be nested deeper than Python calls itself.
    while todo:
        parent, name, found, depth = todo.pop()
        count += 1
        if count > TREE_ITEMS:
            return tr("Only the first {count} values are shown.", count=f"{TREE_ITEMS:,}")
        item = QTreeWidgetItem([_plain(name), _plain(_value_text(found))])
        item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsEditable)
        parent.addChild(item)
        if depth >= TREE_DEPTH:
            if isinstance(found, dict | list) and found:
                note = tr("Values nested more than {levels} levels deep are not shown.", levels=TREE_DEPTH)
            continue
        if isinstance(found, dict):
            todo += [(item, str(key), below, depth + 1) for key, below in reversed(found.items())]
        elif isinstance(found, list):
            todo += [(item, f"[{place}]", found[place], depth + 1) for place in range(len(found) - 1, -1, -1)]
    return note


def _value_text(value: Any) -> str:
    if isinstance(value, dict):
        return "{}" if not value else tr("{count} fields", count=f"{len(value):,}")
    if isinstance(value, list):
        return "[]" if not value else tr("{count} items", count=f"{len(value):,}")
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value)


def _plain(text: str) -> str:
    cut = text[:VALUE_CHARS]
    if not cut.isprintable():
        cut = "".join(char if char.isprintable() else escaped(char) for char in cut)
    return cut if len(text) <= VALUE_CHARS else cut + f"… ({len(text):,})"
