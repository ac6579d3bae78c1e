"""The dialog that stands open."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtWidgets import QDialog, QWidget

D = TypeVar("D", bound=QDialog)


def open_dialog(window: QWidget, kind: type[D]) -> D:
    """The one dialog of that kind that is visible."""
    (found,) = [dialog for dialog in window.findChildren(kind) if dialog.isVisible()]
    return found
