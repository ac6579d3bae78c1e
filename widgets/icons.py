from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QGuiApplication, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

import resources
from widgets.theme import px
from widgets.theme_palette import Theme

ICON_FOLDER = Path(resources.__file__).parent / "icons"
# In units: of small buttons, of menus, and of what grows with the type.
FIXED_SIZES, SCALED_SIZES = (14, 16), (14, 16, 18)


@lru_cache(maxsize=512)
def _renderer(name: str, colour: str) -> QSvgRenderer:
    path = ICON_FOLDER / f"{name}.svg"
    if not path.is_file():
        raise KeyError(f"There is no icon named {name!r}; the icons are the files in resources/icons.")
    drawing = path.read_text(encoding="utf-8").replace("currentColor", colour)
    return QSvgRenderer(QByteArray(drawing.encode()))


@lru_cache(maxsize=2048)
def icon_pixmap(name: str, colour: str, size: int, scale: float = 1.0) -> QPixmap:
    """A square picture of `size` units at `scale` device pixels a unit. KeyError for an unknown name."""
    # First what may raise: a painter that an error leaves open brings the program down with its pixmap.
    renderer = _renderer(name, colour)
    pixels = max(1, round(size * scale))
    pixmap = QPixmap(QSize(pixels, pixels))
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    renderer.render(painter, QRectF(0, 0, pixels, pixels))
    painter.end()
    pixmap.setDevicePixelRatio(scale)
    return pixmap


def icon(name: str, theme: Theme, token: str = "text") -> QIcon:
    """The icon in a colour token of the theme, greyed where disabled.

    It is crisp at the scale of the type of now, on each screen there is. KeyError for an unknown icon or token.
    """
    sizes = (*FIXED_SIZES, *map(px, SCALED_SIZES))
    ratios = {screen.devicePixelRatio() for screen in QGuiApplication.screens()}
    pixels = tuple(sorted({round(size * ratio) for size in sizes for ratio in ratios}))
    return _icon(name, theme, token, pixels)


@lru_cache(maxsize=512)
def _icon(name: str, theme: Theme, token: str, sizes: tuple[int, ...]) -> QIcon:
    result = QIcon()
    for mode, colour in ((QIcon.Mode.Normal, theme.colour(token)), (QIcon.Mode.Disabled, theme.disabled)):
        for pixels in sizes:
            result.addPixmap(icon_pixmap(name, colour, pixels), mode)
    return result
