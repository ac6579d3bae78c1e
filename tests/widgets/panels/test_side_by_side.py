from __future__ import annotations

from itertools import pairwise

import pytest
from PySide6.QtCore import QRect
from PySide6.QtWidgets import QApplication, QListWidget, QWidget
from pytestqt.qtbot import QtBot

from widgets.side_by_side import side_by_side


@pytest.mark.parametrize(("width", "seen"), [(900, 3), (500, 2), (320, 1)])
def test_no_part_of_a_panel_lies_over_another(qtbot: QtBot, width: int, seen: int) -> None:
    around = QWidget()
    qtbot.addWidget(around)
    parts = QListWidget(), QListWidget(), QListWidget()
    for part, least in zip(parts, (110, 260, 220), strict=True):
        part.setMinimumWidth(least)
    split = side_by_side(around, *parts, stretch=(0, 1, 0), widths=(160, 900, 300), collapsible=True)
    around.show()
    for each in (900, 320, width):
        split.resize(each, 200)
        QApplication.processEvents()
    shown = [QRect(one.pos(), one.size()) for one in parts if one.isVisible()]
    assert len(shown) == seen and parts[1].isVisible()
    assert all(before.right() < after.left() for before, after in pairwise(shown))
    assert shown[-1].right() < width
