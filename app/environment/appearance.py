from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication

from app.environment.settings import Settings
from widgets.canvas.canvas import Canvas
from widgets.canvas.zoom_view import Sight
from widgets.icons import icon
from widgets.main_window import MainWindow
from widgets.theme import SCALES, THEMES, apply_theme, current_theme, scale
from widgets.window_layout import PRESENTATION, WindowLayout

SYSTEM = "system"
PRESENTATION_SCALE = 1.5
LAYOUT_AGAIN_MS = 300


def apply_named_theme(app: QApplication, theme: str, factor: float | None) -> None:
    """`apply_theme` by its name: light, dark or system."""
    if theme == SYSTEM:
        theme = "dark" if app.styleHints().colorScheme() is Qt.ColorScheme.Dark else "light"
    apply_theme(app, THEMES[theme], factor)


class Appearance(QObject):
    changed = Signal()

    def __init__(
        self,
        app: QApplication,
        settings: Settings,
        set_icons: Callable[[Callable[[str], QIcon]], object],
        window: MainWindow,
        canvas: Canvas,
        *,
        theme: str,
    ) -> None:
        """`set_icons` dresses the actions anew; `theme` is what the program was started with: light, dark or system."""
        super().__init__(window)
        self._app, self._settings, self._set_icons = app, settings, set_icons
        self._window, self._canvas = window, canvas
        self.theme = theme
        self._before: tuple[float, WindowLayout, bool, Sight] | None = None
        set_icons(lambda name: icon(name, current_theme()))
        canvas.set_reduced_motion(settings.reduced_motion)
        canvas.set_type_scale(scale())
        app.styleHints().colorSchemeChanged.connect(self._follow_system)

    def choose_theme(self, name: str) -> None:
        self.theme = name
        self._settings.theme = name
        self._restyle()

    def toggle_theme(self) -> None:
        self.choose_theme("light" if current_theme().name == "dark" else "dark")

    def choose_scale(self, factor: float) -> None:
        if not self.presenting:  # which ends with the size of before
            self._settings.scale = factor
        self._restyle(factor)

    def step_scale(self, by: int) -> None:
        """The next larger (1) or smaller (-1) size of type; the last one stays."""
        place = min(range(len(SCALES)), key=lambda at: abs(SCALES[at] - scale())) + by
        self.choose_scale(SCALES[min(max(place, 0), len(SCALES) - 1)])

    def choose_motion(self, reduced: bool) -> None:
        self._settings.reduced_motion = reduced
        self._canvas.set_reduced_motion(reduced)

    @property
    def presenting(self) -> bool:
        return self._before is not None

    def present(self) -> None:
        """Large type, full screen, the canvas and what it teaches; and back again."""
        if self._before is None:
            window = self._window
            self._before = scale(), window.present_layout(), window.isMaximized(), self._canvas.sight
            self._restyle(max(PRESENTATION_SCALE, scale()))
            window.showFullScreen()
            self._lay_out(PRESENTATION)
            self._canvas.fit()
        else:
            (factor, layout, maximized, sight), self._before = self._before, None
            self._restyle(factor)
            (self._window.showMaximized if maximized else self._window.showNormal)()
            self._lay_out(layout, sight)

    def _lay_out(self, layout: WindowLayout, sight: Sight | None = None) -> None:
        presenting = self.presenting

        def give() -> None:
            if self.presenting is presenting:
                self._window.set_layout(layout)
                if sight is not None:
                    self._canvas.come_back(sight)

        give()
        # The window manager gives the window its new size a moment later; shares are of that.
        QTimer.singleShot(LAYOUT_AGAIN_MS, self._window, give)

    def _follow_system(self) -> None:
        if self.theme == SYSTEM:
            self._restyle()

    def _restyle(self, factor: float | None = None) -> None:
        apply_named_theme(self._app, self.theme, factor)
        self._set_icons(lambda wanted: icon(wanted, current_theme()))
        self._canvas.set_view(self._canvas.view, current_theme())
        self._canvas.set_type_scale(scale())
        self.changed.emit()
