"""The picture that `brokerscope shot` draws."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QApplication, QLabel

from app.cli.screenshot import draw
from app.environment.paths import find_scenario
from widgets.main_window import MainWindow


def cut(window: MainWindow) -> list[str]:
    """Words that wrap, and have less height than they need."""
    labels = [label for label in window.findChildren(QLabel) if label.isVisible() and label.wordWrap()]
    assert len(labels) > 5
    return [label.text() for label in labels if label.height() < label.heightForWidth(label.width())]


def test_it_is_drawn_when_all_words_have_their_height(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[list[str]] = []
    grab = MainWindow.grab

    def look(window: MainWindow) -> QPixmap:
        found.append(cut(window))
        return grab(window)

    monkeypatch.setattr(MainWindow, "grab", look)
    scenario = find_scenario("first-session")
    draw(scenario, at_s=12, size=(1280, 800), theme="light", seed=None, out=tmp_path / "picture.png")
    assert found == [[]]
