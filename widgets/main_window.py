"""The window: toolbar, canvas, right side, timeline, tabs and status bar, composed of the parts that it is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from PySide6.QtCore import QByteArray, QPoint, QRect, QSettings, Qt, Signal
from PySide6.QtGui import QAction, QCloseEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QMainWindow, QMenu, QSplitter, QTabWidget, QVBoxLayout, QWidget

from widgets.hint_bar import HintBar
from widgets.navigator import Navigator
from widgets.panels.inspector import InspectorPanel
from widgets.panels.lesson import LessonPanel
from widgets.panels.panel import Panel
from widgets.panels.rebalances import RebalancesPanel
from widgets.right_side import RightSide
from widgets.ring import Ring
from widgets.status_bar import StatusBar
from widgets.timeline import Timeline
from widgets.tint import FrameTint
from widgets.toolbar import Toolbar
from widgets.window_layout import Shares, WindowLayout

LAYOUT_VERSION = 2
# Below this the canvas needs the room more than the navigator does, until the user says otherwise.
NAVIGATOR_FROM_WIDTH = 1200
LEAST_SIZE = (960, 640)


# A line, a command, or a menu within a menu: its title and what it holds.
Entry = QAction | None | tuple[str, Sequence[QAction | None]]


@dataclass(frozen=True)
class Parts:
    """What the window is composed of: what stands beside the canvas, then the panels of the tabs in their order."""

    canvas: QWidget
    navigator: Navigator
    lesson: LessonPanel
    inspector: InspectorPanel
    rebalances: RebalancesPanel
    panels: Sequence[Panel]


P = TypeVar("P", bound=Panel)


class MainWindow(QMainWindow):
    """The composed window. `menus` holds (title, actions); None among the actions is a line.

    With `settings`, size and layout are restored when it is made and saved when it closes.
    """

    closing = Signal()
    tabShown = Signal(str)
    sidesShown = Signal(bool, bool, bool)
    """navigator, right side, tabs: which of them are shown."""

    def __init__(
        self,
        parts: Parts,
        actions: Mapping[str, QAction],
        menus: Sequence[tuple[str, Sequence[Entry]]] = (),
        settings: QSettings | None = None,
    ) -> None:
        super().__init__()
        self.setObjectName("workbench")
        self.setWindowTitle("Brokerscope")
        self.setMinimumSize(*LEAST_SIZE)
        self.parts = parts
        #: Asked before the window closes; False keeps it open.
        self.may_close: Callable[[], bool] = lambda: True
        self._settings = settings
        self.toolbar = Toolbar(actions, self)
        self.addToolBar(self.toolbar)
        self.status = StatusBar(self)
        self.setStatusBar(self.status)
        self.timeline = Timeline(self)
        self.tabs = QTabWidget(self)
        self.tabs.setDocumentMode(True)
        self.tabs.setUsesScrollButtons(True)
        self._named = {panel.info.name: panel for panel in parts.panels}
        for panel in self._named.values():
            self.tabs.addTab(panel, panel.title)
        self.tabs.setCurrentWidget(self._named[WindowLayout().tab])
        self.tabs.currentChanged.connect(lambda _place: self._on_tab())
        self._compose()
        self.set_menus(menus)
        self.resize(1280, 800)
        self._restored = self.restore()
        parts.canvas.setFocus()

    def _compose(self) -> None:
        self.right_split = QSplitter(Qt.Orientation.Vertical)
        self.right_split.addWidget(self.parts.inspector)
        self.right_split.addWidget(self.parts.rebalances)
        self.right = RightSide(self.parts.lesson, self.right_split)
        self.right.setMinimumWidth(240)
        self.top = QSplitter(Qt.Orientation.Horizontal)
        self.top.addWidget(self.parts.navigator)
        self.top.addWidget(self.parts.canvas)
        self.top.addWidget(self.right)
        self.top.setStretchFactor(1, 1)
        upper = QWidget(self)
        column = QVBoxLayout(upper)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.hint = HintBar(upper)
        self.hint.answered.connect(self.parts.canvas.setFocus)
        column.addWidget(self.hint)
        column.addWidget(self.top, 1)
        column.addWidget(self.timeline)
        self.whole = QSplitter(Qt.Orientation.Vertical, self)
        self.whole.addWidget(upper)
        self.whole.addWidget(self.tabs)
        self.whole.setStretchFactor(0, 3)
        self.whole.setStretchFactor(1, 2)
        for split in (self.whole, self.top, self.right_split):
            split.setChildrenCollapsible(False)
        self.tabs.setMinimumHeight(150)
        self.parts.canvas.setMinimumSize(320, 160)
        self.setCentralWidget(self.whole)
        self.tint = FrameTint(self, self.whole)
        self.ring = Ring(self)
        self.top.setSizes([236, 724, 320])
        self.whole.setSizes([510, 220])
        self.right_split.setSizes([300, 200])

    def set_menus(self, menus: Sequence[tuple[str, Sequence[Entry]]]) -> None:
        """Build the menu bar anew."""
        bar = self.menuBar()
        bar.clear()
        taken: set[str] = set()
        for title, entries in menus:
            menu = bar.addMenu(_with_mnemonic(title, taken))
            menu.setToolTipsVisible(True)
            fill_menu(menu, entries)

    def show_tab(self, name: str) -> None:
        """Bring a tab to the front with the focus, and the tabs back where they are hidden; KeyError if unknown."""
        self.toggle_bottom(True)
        self.tabs.setCurrentWidget(self._named[name])
        self._named[name].focus_body()

    def _on_tab(self) -> None:
        """Qt hands the focus of a page that goes to any button of the next one: Space would press it."""
        # It comes as well while the window is being destroyed, when nothing may be asked of the window itself.
        focus, panel = QApplication.focusWidget(), self._named.get(self.shown_tab())
        if focus is not None and panel is not None and panel.isAncestorOf(focus):
            panel.focus_body()
        self.tabShown.emit(self.shown_tab())

    def shown_tab(self) -> str:
        """The name of the tab in front."""
        current = self.tabs.currentWidget()
        return next((name for name, panel in self._named.items() if panel is current), "")

    def panel(self, name: str) -> Panel:
        """A panel by the name of its tab."""
        return self._named[name]

    def tab(self, kind: type[P]) -> P:
        """The panel of that class; KeyError where it is no tab."""
        found = self._named[kind.info.name]
        assert isinstance(found, kind)
        return found

    def set_tab_count(self, name: str, number: int) -> None:
        """A count behind the title of a tab, 0 for none: so that a hidden panel says that it has something."""
        place = self.tabs.indexOf(self._named[name])
        text = f"{self._named[name].title}  {number:,}" if number else self._named[name].title
        if self.tabs.tabText(place) != text:
            self.tabs.setTabText(place, text)

    def place_of_tab(self, name: str) -> QRect:
        """Where the tab of a panel is, in the window; KeyError if unknown, empty while the tabs are hidden."""
        bar = self.tabs.tabBar()
        where = bar.tabRect(self.tabs.indexOf(self._named[name]))
        return QRect(bar.mapTo(self, where.topLeft()), where.size()) if bar.isVisible() else QRect()

    def place_of_action(self, action: QAction) -> QRect:
        """Where an action can be clicked, in the window: its button in the toolbar, else its menu in the menu bar."""
        button = self.toolbar.button(action)
        if button is not None and button.isVisible():
            return QRect(button.mapTo(self, QPoint(0, 0)), button.size())
        bar = self.menuBar()
        holding = next((one for one in bar.actions() if _holds(one, action)), None)
        if holding is None:
            return QRect()
        where = bar.actionGeometry(holding)
        return QRect(bar.mapTo(self, where.topLeft()), where.size())

    def focus_filter(self) -> bool:
        """Put the cursor into the filter of the panel in front."""
        return self._named[self.shown_tab()].focus_filter() if self.tabs.isVisible() else False

    def toggle_left(self, on: bool) -> None:
        """Show or hide the navigator."""
        self.parts.navigator.setVisible(on)
        self._report_sides()

    def toggle_right(self, on: bool) -> None:
        """Show or hide lesson, inspector and rebalances."""
        self.right.setVisible(on)
        self._report_sides()

    def toggle_bottom(self, on: bool) -> None:
        """Show or hide the tabs."""
        self.tabs.setVisible(on)
        self._report_sides()

    def _report_sides(self) -> None:
        sides = (self.parts.navigator, self.right, self.tabs)
        self.sidesShown.emit(*(side.isVisibleTo(self) for side in sides))

    def present_layout(self) -> WindowLayout:
        """What is shown now."""
        return WindowLayout(
            left=self.parts.navigator.isVisibleTo(self),
            right_side=self.right.isVisibleTo(self),
            bottom=self.tabs.isVisibleTo(self),
            tab=self.shown_tab(),
            top=_shares_of(self.top),
            right=_shares_of(self.right_split),
            whole=_shares_of(self.whole),
        )

    def set_layout(self, layout: WindowLayout) -> None:
        """Show what a layout says; `sidesShown` tells which sides those are."""
        self.parts.navigator.setVisible(layout.left)
        self.right.setVisible(layout.right_side)
        self.tabs.setVisible(layout.bottom)
        if layout.tab in self._named:
            self.tabs.setCurrentWidget(self._named[layout.tab])
        for split, shares in ((self.top, layout.top), (self.right_split, layout.right), (self.whole, layout.whole)):
            _share_out(split, shares)
        self._restored = True
        self.sidesShown.emit(layout.left, layout.right_side, layout.bottom)

    def save(self) -> None:
        """Write size and layout to the settings."""
        if self._settings is None:
            return
        store = self._settings
        store.setValue("window/version", LAYOUT_VERSION)
        store.setValue("window/geometry", self.saveGeometry())
        for name, split in self._splits().items():
            store.setValue(f"window/{name}", split.saveState())
        store.setValue("window/tab", self.shown_tab())
        store.setValue("window/navigator", int(self.parts.navigator.isVisibleTo(self)))
        store.sync()

    def restore(self) -> bool:
        """Take size and layout from the settings; False where there are none that fit."""
        store = self._settings
        if store is None or str(store.value("window/version", "")) != str(LAYOUT_VERSION):
            return False
        geometry = store.value("window/geometry")
        if isinstance(geometry, QByteArray):
            self.restoreGeometry(geometry)
        for name, split in self._splits().items():
            state = store.value(f"window/{name}")
            if isinstance(state, QByteArray):
                split.restoreState(state)
        self.parts.navigator.setVisible(str(store.value("window/navigator", "1")) != "0")
        tab = str(store.value("window/tab", ""))
        if tab in self._named:
            self.tabs.setCurrentWidget(self._named[tab])
        return True

    def _splits(self) -> dict[str, QSplitter]:
        return {"whole": self.whole, "top": self.top, "right": self.right_split}

    def showEvent(self, event: QShowEvent) -> None:
        """The first time, the navigator is there where there is room for it."""
        super().showEvent(event)
        if not self._restored:
            self._restored = True
            self.toggle_left(self.width() >= NAVIGATOR_FROM_WIDTH)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Save the layout and emit `closing`; ignored while `may_close()` is False."""
        if not self.may_close():
            event.ignore()
            return
        self.save()
        self.closing.emit()
        super().closeEvent(event)


def _holds(entry: QAction, action: QAction) -> bool:
    """Whether an entry is that action, or a menu that has it at any depth."""
    menu = entry.menu()
    if not isinstance(menu, QMenu):
        return entry is action
    return any(_holds(inner, action) for inner in menu.actions())


def _with_mnemonic(title: str, taken: set[str]) -> str:
    """`title` with the first letter marked that no menu beside it opens with: Alt and it open this one."""
    place = next((at for at, letter in enumerate(title) if letter.isalnum() and letter.lower() not in taken), None)
    if place is None:
        return title
    taken.add(title[place].lower())
    return f"{title[:place]}&{title[place:]}"


def _share_out(split: QSplitter, shares: Shares) -> None:
    """Give what is shown its part of the room that there is: Qt shortens sizes that are too large all alike."""
    room = split.width() if split.orientation() is Qt.Orientation.Horizontal else split.height()
    parts = [split.widget(place) for place in range(split.count())]
    shown = [0.0 if part is None or part.isHidden() else share for part, share in zip(parts, shares, strict=False)]
    whole = sum(shown) or 1.0
    split.setSizes([round(room * share / whole) for share in shown])


def _shares_of(split: QSplitter) -> Shares:
    sizes = split.sizes()
    whole = sum(sizes) or 1
    return tuple(round(size / whole, 4) for size in sizes)


def fill_menu(menu: QMenu, entries: Sequence[Entry]) -> None:
    """Actions into a menu; None is a line, and lines do not double; (title, actions) is a menu within it."""
    for entry in entries:
        if isinstance(entry, tuple):
            inner = menu.addMenu(entry[0])
            inner.setToolTipsVisible(True)
            fill_menu(inner, entry[1])
        elif entry is not None:
            menu.addAction(entry)
        elif menu.actions() and not menu.actions()[-1].isSeparator():
            menu.addSeparator()
