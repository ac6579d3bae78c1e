"""Every bundled scenario at Fit, on four screens, light and dark: nothing is clipped, covered or cut."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pytest
from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication, QTableView

from app.environment.paths import shipped_scenarios
from tests.app.conftest import Hand
from tests.long_form import some
from widgets.canvas import lettering
from widgets.theme import DARK, LIGHT, Theme, apply_theme

# What the canvas gets of a window: the smallest at first, and with all sides folded on a screen of 4K at scale 2.
WINDOWS = ((1280, 800, 1), (1600, 1000, 1), (1920, 1080, 1), (1920, 1080, 2))


def in_the_viewport(hand: Hand) -> dict[str, QRectF]:
    canvas = hand.canvas
    return {
        name: QRectF(canvas.mapFromScene(QRectF(*rect)).boundingRect())
        for name, rect in canvas._stage.layout.rects.items()
    }


def drawn(hand: Hand, scale: int, theme: Theme) -> QImage:
    """The canvas as on a screen of that scale."""
    canvas = hand.canvas
    canvas.set_view(canvas.view, theme)
    size = canvas.viewport().size()
    image = QImage(size * scale, QImage.Format.Format_ARGB32)
    image.setDevicePixelRatio(scale)
    image.fill(theme.window)
    painter = QPainter(image)
    canvas.render(painter)
    painter.end()
    return image


@pytest.mark.parametrize(
    "path", some(shipped_scenarios(), {"first-session", "share-group", "backpressure-policies", "transactions"})
)
def test_nothing_of_a_bundled_scenario_is_clipped_covered_or_cut(
    open_workbench: Callable[..., Hand], path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand = open_workbench(path.stem)
    hand.pass_time(12)
    elided = lettering.elided
    cut: list[str] = []
    small: list[str] = []

    def note(text: str, name: str, width: int) -> str:
        shown = elided(text, name, width)
        if lettering.face(name).pixelSize() * hand.canvas.zoom < lettering.LEAST_PIXELS:
            small.append(text)
        if shown != text:
            cut.append(text)
        return shown

    monkeypatch.setattr(lettering, "elided", note)
    for width, height, scale in WINDOWS:
        hand.workbench.window.resize(QSize(width, height))
        hand.show()
        hand.canvas.fit()
        QApplication.processEvents()
        seen, boxes = QRectF(hand.canvas.viewport().rect()), in_the_viewport(hand)
        outside = [name for name, box in boxes.items() if not seen.contains(box)]
        assert outside == [], (width, height)
        assert not hand.canvas.horizontalScrollBar().isVisible() and not hand.canvas.verticalScrollBar().isVisible()
        container = hand.canvas._stage.layout.container
        inner = {name: box.adjusted(1, 1, -1, -1) for name, box in boxes.items()}
        for one, other in combinations(boxes, 2):
            if container.get(one) != other and container.get(other) != one:
                assert not inner[one].intersects(inner[other]), (one, other)
        zoom = hand.canvas.zoom
        bounds = hand.canvas._stage.layout.bounds
        filled = max(bounds.w * zoom / seen.width(), bounds.h * zoom / seen.height())
        assert filled > 0.95 or zoom == pytest.approx(hand.canvas.most_fitted), "as large as there is room"
        for theme in (LIGHT, DARK):
            assert drawn(hand, scale, theme).pixelColor(2, 2).name().upper() == theme.window
        assert cut == [] == small, (width, height)


def test_no_header_of_a_table_is_clipped(open_workbench: Callable[..., Hand], qapp: QApplication) -> None:
    hand = open_workbench()
    hand.pass_time(3)
    window = hand.workbench.window
    window.resize(1280, 800)
    for name in window.tabs.panels:
        window.show_tab(name)
        hand.show()
        for table in window.panel(name).findChildren(QTableView):
            header = table.horizontalHeader()
            for place in range(header.count()):
                title = str(table.model().headerData(place, header.orientation()) or "")
                if table.isVisible() and not table.isColumnHidden(place):
                    room = header.sectionSize(place)
                    assert lettering.width_of(title, "body") + 12 <= room, (name, title)
    apply_theme(qapp, LIGHT)


@pytest.mark.parametrize("scenario", ["first-session", "fan-out", "backpressure-policies"])
def test_once_all_have_joined_the_picture_is_nearly_as_large_as_fitted_anew(
    open_workbench: Callable[..., Hand], scenario: str
) -> None:
    hand = open_workbench(scenario)
    hand.workbench.window.resize(QSize(1280, 800))
    for _tenth in range(30):
        hand.pass_time(0.1)
    first = hand.canvas.zoom
    hand.canvas.fit()
    assert first > 0.9 * hand.canvas.zoom
