"""A row that is broken into lines: what is in the first does not lie under the button that folds the others."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from widgets.fold_button import FoldButton
from widgets.title_row import TitleRow


class Wide(QLabel):
    """199 pixels, if there is room for it."""

    def sizeHint(self) -> QSize:
        return QSize(199, 20)

    def minimumSizeHint(self) -> QSize:
        return QSize(60, 20)


def test_no_item_of_the_first_line_lies_under_the_button(qtbot: QtBot) -> None:
    box = QWidget()
    qtbot.addWidget(box)
    row = TitleRow(FoldButton("chevron-down", "", box))
    row.setSpacing(6)
    first, second = Wide(box), Wide(box)
    second.setMinimumWidth(150)
    row.addWidget(first)
    row.addWidget(second)
    row.setContentsMargins(0, 0, 0, 0)
    row.set_short(True)
    for width in range(95, 260):
        row.setGeometry(QRect(0, 0, width, 60))
        assert row.fold.isHidden() or first.geometry().right() < row.fold.geometry().left(), width


def test_a_row_is_at_least_as_wide_as_its_first_item_and_the_button(qtbot: QtBot) -> None:
    box = QWidget()
    qtbot.addWidget(box)
    row = TitleRow(FoldButton("chevron-down", "", box))
    row.setSpacing(6)
    row.addWidget(Wide(box))
    row.setContentsMargins(0, 0, 0, 0)
    assert row.minimumSize().width() == 60
    row.set_short(True)
    assert row.minimumSize().width() == 60 + row.spacing() + row.fold.sizeHint().width()
