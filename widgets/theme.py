from __future__ import annotations

import gc
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from string import Template

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QPalette
from PySide6.QtWidgets import QApplication

import resources
from resources.colours import ink_on, mix
from widgets.theme_palette import DARK, LIGHT, Theme
from widgets.theme_states import StateStyle, state_style

__all__ = ["DARK", "LIGHT", "StateStyle", "Theme", "ink_on", "mix", "state_style"]  # what others define, too

RESOURCE_FOLDER = Path(resources.__file__).parent
UI_FAMILY = "Inter"
MONO_FAMILY = "JetBrains Mono"
BASE_PIXELS = 13
SCALES = (0.9, 1.0, 1.15, 1.3, 1.5, 1.75, 2.0)
THEMES = {theme.name: theme for theme in (LIGHT, DARK)}

_LENGTH = re.compile(r"\b(\d+)px")

_PALETTE_ROLES = (
    (QPalette.ColorRole.Window, "window"),
    (QPalette.ColorRole.WindowText, "text"),
    (QPalette.ColorRole.Base, "surface"),
    (QPalette.ColorRole.AlternateBase, "sunken"),
    (QPalette.ColorRole.Text, "text"),
    (QPalette.ColorRole.Button, "surface"),
    (QPalette.ColorRole.ButtonText, "text"),
    (QPalette.ColorRole.ToolTipBase, "raised"),
    (QPalette.ColorRole.ToolTipText, "text"),
    (QPalette.ColorRole.PlaceholderText, "muted"),
    (QPalette.ColorRole.Highlight, "accent_fill"),
    (QPalette.ColorRole.HighlightedText, "on_accent"),
    (QPalette.ColorRole.Link, "accent"),
    (QPalette.ColorRole.LinkVisited, "accent"),
    (QPalette.ColorRole.Light, "surface"),
    (QPalette.ColorRole.Midlight, "hover"),
    (QPalette.ColorRole.Mid, "border"),
    (QPalette.ColorRole.Dark, "border_strong"),
    (QPalette.ColorRole.Shadow, "border_strong"),
    (QPalette.ColorRole.BrightText, "failure"),
)


@lru_cache(maxsize=1024)
def qcolour(colour: str, alpha: int = 255) -> QColor:
    """A shared QColor for "#RRGGBB"; `alpha` 0..255. Do not change it in place."""
    result = QColor(colour)
    result.setAlpha(alpha)
    return result


class _Applied(QObject):
    """The theme applied last. Every frame reads it hundreds of times: a property of the application would cost 1 ms."""

    changed = Signal()
    theme: Theme = LIGHT
    scale: float = 1.0


_applied = _Applied()


def scale() -> float:
    """How much larger than designed everything is written; 1 until a theme was applied with another."""
    return _applied.scale


def px(length: float) -> int:
    """A length of the design in pixels of now."""
    return round(length * scale())


@lru_cache(maxsize=1)
def _load_fonts() -> frozenset[str]:
    families: set[str] = set()
    for path in sorted((RESOURCE_FOLDER / "fonts").glob("*.[ot]tf")):
        handle = QFontDatabase.addApplicationFont(str(path))
        families.update(QFontDatabase.applicationFontFamilies(handle))
    return frozenset(families)


def ui_font(
    pixels: int = BASE_PIXELS, weight: QFont.Weight = QFont.Weight.Normal, *, tabular: bool = False, scaled: bool = True
) -> QFont:
    """The face of the window, `pixels` high; the system's own if the shipped one did not load.

    `tabular` gives all digits one width, so that counting figures do not wobble. What is drawn through a transformation
    of its own, as the canvas is, asks for it not `scaled`.
    """
    return _font(px(pixels) if scaled else pixels, weight, tabular)


@lru_cache(maxsize=128)
def _font(pixels: int, weight: QFont.Weight, tabular: bool) -> QFont:
    """Kept, as a frame asks hundreds of times; whoever changes one takes a copy."""
    font = QFont(UI_FAMILY) if UI_FAMILY in _load_fonts() else QFont()
    font.setPixelSize(pixels)
    font.setWeight(weight)
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    if tabular:
        font.setFeature(QFont.Tag("tnum"), 1)
    return font


def tabular_font(pixels: int = 13, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
    """The face of the window with figures of one width, so that columns of numbers line up."""
    return ui_font(pixels, weight, tabular=True)


def mono_font() -> QFont:
    loaded = MONO_FAMILY in _load_fonts()
    font = QFont(MONO_FAMILY) if loaded else QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setPixelSize(px(BASE_PIXELS - 1))
    return font


@lru_cache(maxsize=8)
def style_sheet(theme: Theme, factor: float = 1.0) -> str:
    """The one style sheet of the program, its tokens filled in and its lengths made `factor` times as long."""
    text = (RESOURCE_FOLDER / "themes" / "workbench.qss").read_text(encoding="utf-8")
    values = {field.name: getattr(theme, field.name) for field in fields(theme) if field.name != "owner_hues"}
    if factor != 1.0:
        # Lines stay as thin as they are.
        text = _LENGTH.sub(lambda found: f"{round(int(found[1]) * factor)}px" if int(found[1]) > 2 else found[0], text)
    return Template(text).substitute(values, controls=(RESOURCE_FOLDER / "icons" / "controls").as_posix())


def _palette(theme: Theme) -> QPalette:
    palette = QPalette()
    for role, token in _PALETTE_ROLES:
        palette.setColor(role, qcolour(theme.colour(token)))
    greyed = qcolour(theme.disabled)
    for role in (QPalette.ColorRole.WindowText, QPalette.ColorRole.Text, QPalette.ColorRole.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, role, greyed)
    return palette


def apply_theme(app: QApplication, theme: Theme, factor: float | None = None) -> None:
    """Give the whole program the fonts, palette and style sheet of `theme`; call again to change it.

    `factor` says how much larger than designed everything is written from now on; None leaves it as it is.
    """
    if factor is not None:
        _applied.scale = factor
    sheet = style_sheet(theme, scale())
    if theme is _applied.theme and app.styleSheet() == sheet:
        return  # it takes a second where windows are open
    with _no_widget_collected():
        # Qt needs four times as long to replace a style sheet as to take it off and put another on.
        app.setStyleSheet("")
        if app.style().objectName().lower() != "fusion":
            app.setStyle("Fusion")
        app.setFont(ui_font())
        app.setPalette(_palette(theme))
        # Before the style sheet, whose change makes widgets ask for the theme of now.
        _applied.theme = theme
        app.setStyleSheet(sheet)
    _applied.changed.emit()


@contextmanager
def _no_widget_collected() -> Iterator[None]:
    """Qt goes through a list of all widgets there are, and crashes if one of them is deleted on the way."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


@contextmanager
def styled_at_end(app: QApplication) -> Iterator[None]:
    """Styles widgets that are made inside once, at the end, not whenever what holds them is put into something else."""
    sheet = app.styleSheet()
    with _no_widget_collected():
        app.setStyleSheet("")
    try:
        yield
    finally:
        with _no_widget_collected():
            app.setStyleSheet(sheet)
        _applied.changed.emit()


def follow_theme(call: Callable[[], object]) -> None:
    """Call a method of a QObject now, and whenever all widgets have got another theme or size of type."""
    call()
    _applied.changed.connect(call)


def current_theme() -> Theme:
    """The theme last applied to the running application, light if none was."""
    return _applied.theme
