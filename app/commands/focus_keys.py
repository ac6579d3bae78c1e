from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QTabBar,
    QTextEdit,
    QTreeView,
)

_MODIFIERS = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier
EDITING = {Qt.Key.Key_A, Qt.Key.Key_C, Qt.Key.Key_V, Qt.Key.Key_X, Qt.Key.Key_Y, Qt.Key.Key_Z}
_ENDS = {Qt.Key.Key_Home, Qt.Key.Key_End}
_ALONG = {Qt.Key.Key_Left, Qt.Key.Key_Right, *_ENDS}
_TEXT_FIELDS = (QLineEdit, QAbstractSpinBox, QTextEdit, QPlainTextEdit)
_MOVE_ALONG = (QTreeView, QAbstractSlider, QTabBar, QComboBox)


def belongs_to_focus(event: QKeyEvent) -> bool:
    """True for a key press that the focused widget must have before any shortcut."""
    focus = QApplication.focusWidget()
    if focus is None or event.modifiers() & _MODIFIERS or Qt.Key.Key_F1 <= event.key() <= Qt.Key.Key_F35:
        return False
    if isinstance(focus, _TEXT_FIELDS):
        return not (isinstance(focus, QLineEdit | QTextEdit | QPlainTextEdit) and focus.isReadOnly())
    if isinstance(focus, QComboBox) and focus.isEditable():
        return True
    if event.key() in _ALONG:
        return isinstance(focus, _MOVE_ALONG) or (event.key() in _ENDS and isinstance(focus, QAbstractItemView))
    return event.key() == Qt.Key.Key_Space and isinstance(focus, QAbstractButton | QComboBox)
